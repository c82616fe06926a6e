# The few kinds of target in this project, so that every room is declared in the same few words.

# Usage requirements that all our code shares.
add_library(homa_options INTERFACE)
target_compile_features(homa_options INTERFACE cxx_std_20)
target_include_directories(homa_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
set_property(GLOBAL PROPERTY HOMA_LIBRARIES homa_options)

if(HOMA_DEVELOPER)
  set(warnings -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wno-missing-field-initializers -Werror)
  # Consumers of an installed libhoma choose their own warnings.
  target_compile_options(homa_options INTERFACE "$<BUILD_INTERFACE:${warnings}>")

  find_program(HOMA_CCACHE ccache)
  if(HOMA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${HOMA_CCACHE})
  endif()
endif()

# Release builds optimise across files: a small call then costs 5 % less. Fat objects, so that an installed library links
# without it as well. Tests do without, for the sake of their linking time.
option(HOMA_LTO "Optimise Release builds across files (g++)" ON)
if(HOMA_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION_RELEASE ON)
  set(CMAKE_CXX_COMPILE_OPTIONS_IPO -flto=auto -ffat-lto-objects)
endif()
function(homa_link_without_lto name)
  set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE OFF)
  target_link_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-lto>)
endfunction()

if(HOMA_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "HOMA_FUZZ needs Clang; use `cmake --preset fuzz` or `./dev fuzz`")
  endif()
  add_custom_target(fuzzers)
endif()

# homa_add_library(homa_wire SOURCES a.cc b.cc DEPENDS homa_base): a static library, or an interface one without sources.
function(homa_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC homa_options ${ARG_DEPENDS})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE homa_options ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY HOMA_LIBRARIES ${name})
endfunction()

# homa_add_test(wire_test SOURCES ... DEPENDS ...): a GoogleTest binary, each case known to ctest.
# The label is the room under tests/, so `ctest -L unit` runs tests/unit.
function(homa_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME label)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE homa_options ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  homa_link_without_lto(${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${label})
endfunction()

# homa_add_fuzzer(frame_fuzzer SOURCES frame_fuzzer.cc DEPENDS homa_wire): one LLVMFuzzerTestOneInput.
# Under HOMA_FUZZ a libFuzzer binary. Otherwise the same source with a main of ours, run as tests, so that no fuzz target
# rots: on pseudo-random inputs, and on the files of corpus/<name>/ beside it, where past failures are kept.
function(homa_add_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE homa_options ${ARG_DEPENDS})
  homa_link_without_lto(${name})
  if(HOMA_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
    return()
  endif()
  target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
  target_link_libraries(${name} PRIVATE homa_base)
  add_test(NAME ${name}.random COMMAND ${name})
  set_property(TEST ${name}.random PROPERTY LABELS fuzz)
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
    add_test(NAME ${name}.corpus COMMAND ${name} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
    set_property(TEST ${name}.corpus PROPERTY LABELS fuzz)
  endif()
endfunction()

# The three kinds of target in this project, so that every room is declared in the same few words.

# Usage requirements that all our code shares.
add_library(homa_options INTERFACE)
target_compile_features(homa_options INTERFACE cxx_std_20)
target_include_directories(homa_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
if(HOMA_DEVELOPER)
  target_compile_options(homa_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wold-style-cast -Wno-missing-field-initializers -Werror)
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
endfunction()

# homa_add_test(wire_test SOURCES ... DEPENDS ...): a GoogleTest binary, each case known to ctest.
function(homa_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE homa_options ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()

# What a consumer gets: the target homa::homa, by add_subdirectory() or by find_package(homa). Nothing of tests or tools.
# src/api declares the target `homa`: rooms and homa_options linked PRIVATE, so that src/ stays out of a consumer's include
# path, and PUBLIC only $<BUILD_INTERFACE:.../include> and C++20.

if(NOT TARGET homa)
  return()
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(NOT TARGET homa::homa)
  add_library(homa::homa ALIAS homa)
endif()

# `homa` links the rooms' static libraries, so they travel with it; only `homa` is meant to be named by a consumer.
get_property(libraries GLOBAL PROPERTY HOMA_LIBRARIES)
list(APPEND libraries homa)
list(REMOVE_DUPLICATES libraries)
install(TARGETS ${libraries} EXPORT homaTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/homa)
install(EXPORT homaTargets NAMESPACE homa:: DESTINATION ${package_dir})
configure_package_config_file(cmake/homaConfig.cmake.in ${PROJECT_BINARY_DIR}/homaConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/homaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/homaConfig.cmake ${PROJECT_BINARY_DIR}/homaConfigVersion.cmake
  DESTINATION ${package_dir})

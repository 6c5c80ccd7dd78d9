# Installs libraries, headers and .td files, and writes the package that `find_package(Inlay)` finds in an install tree or
# in this build tree.
include(CMakePackageConfigHelpers)

set(INLAY_CMAKE_INSTALL_DIR lib/cmake/inlay)
install(DIRECTORY include/inlay DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/inlay DESTINATION include FILES_MATCHING PATTERN "*.inc"
  PATTERN CMakeFiles EXCLUDE)
if(EXISTS ${PROJECT_SOURCE_DIR}/include/inlay-c)
  install(DIRECTORY include/inlay-c DESTINATION include)
endif()

install(EXPORT InlayTargets NAMESPACE Inlay:: DESTINATION ${INLAY_CMAKE_INSTALL_DIR})
export(EXPORT InlayTargets NAMESPACE Inlay:: FILE ${PROJECT_BINARY_DIR}/InlayTargets.cmake)
configure_package_config_file(cmake/InlayConfig.cmake.in InlayConfig.cmake
  INSTALL_DESTINATION ${INLAY_CMAKE_INSTALL_DIR})
write_basic_package_version_file(InlayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/InlayConfig.cmake ${PROJECT_BINARY_DIR}/InlayConfigVersion.cmake
  DESTINATION ${INLAY_CMAKE_INSTALL_DIR})

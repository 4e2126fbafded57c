# SPDX-License-Identifier: Apache-2.0
# The functions at the begin and the end of a package of rclrt.

set(RCLRT_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

# rclrt_package(): call it after project(). Reads the version from package.xml. Sets the options for
# compiling, linking and installing every target of the package.
macro(rclrt_package)
  file(READ ${PROJECT_SOURCE_DIR}/package.xml rclrt_manifest)
  if(NOT rclrt_manifest MATCHES "<version>(([0-9]+)\\.([0-9]+)\\.([0-9]+))</version>")
    message(FATAL_ERROR "${PROJECT_SOURCE_DIR}/package.xml: has no <version>; expected as in 1.2.3")
  endif()
  set(PROJECT_VERSION ${CMAKE_MATCH_1})
  set(PROJECT_VERSION_MAJOR ${CMAKE_MATCH_2})
  set(PROJECT_VERSION_MINOR ${CMAKE_MATCH_3})
  set(PROJECT_VERSION_PATCH ${CMAKE_MATCH_4})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/package.xml)

  file(REMOVE ${PROJECT_BINARY_DIR}/not_found.txt)  # see rclrt_find_optional

  option(BUILD_SHARED_LIBS "Libraries are shared: all users in a process have one state" ON)
  option(BUILD_TESTING "Build the tests" ON)
  if(BUILD_TESTING)
    enable_testing()
  endif()
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
  # Programs lie in bin/ and lib/<package>/, libraries in lib/.
  if(NOT DEFINED CMAKE_INSTALL_RPATH)
    set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/..;$ORIGIN/../lib")
    set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
  # The dynamic linker resolves every symbol before main, because a lookup at the first call would take
  # a lock on the real-time path. There is no PLT within a library for the same reason.
  add_link_options(-Wl,-z,now -Wl,-Bsymbolic-functions -Wl,--as-needed)
  set(RCLRT_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wno-missing-field-initializers)  # designated initializers leave other members at their defaults
  # GCC 12 reports false overruns within std::string (GCC bugs 105329 and 105651) if <string> is
  # precompiled, and at -O3.
  set(RCLRT_NO_FALSE_OVERRUNS "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict>"
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-stringop-overread>")
  list(APPEND RCLRT_WARNINGS "$<$<CONFIG:Release>:${RCLRT_NO_FALSE_OVERRUNS}>")
  # GCC collects garbage less often than with its default of at most 128 MiB. A build takes an eighth
  # less CPU time, and each compiler up to 512 MiB.
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>")
  set(RCLRT_LINKER "" CACHE STRING "Linker for -fuse-ld, such as mold; empty: the compiler's own")
  if(RCLRT_LINKER)
    add_link_options(-fuse-ld=${RCLRT_LINKER})
  endif()
endmacro()

# rclrt_find(PACKAGES...): finds required packages. Skips packages that this build makes itself, as in
# the build of the Python wheel.
macro(rclrt_find)
  foreach(rclrt_name ${ARGN})
    if(NOT TARGET ${rclrt_name}::${rclrt_name})
      find_package(${rclrt_name} REQUIRED)
    endif()
  endforeach()
endmacro()

# rclrt_find_optional(NAME CONSEQUENCE): finds an optional package. CONSEQUENCE is a sentence on the
# functions that are missing without it. If the package is not found, the sentence is printed, and
# written to not_found.txt after the package's name. tools/build repeats it at its end, and
# configures again when the package is installed.
macro(rclrt_find_optional name consequence)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    set(rclrt_notice "was not found")
    if(${name}_CONSIDERED_CONFIGS)
      set(rclrt_notice "cannot be used (${${name}_NOT_FOUND_MESSAGE})")
    endif()
    set(rclrt_notice "${PROJECT_NAME}: ${name} ${rclrt_notice}: ${consequence}")
    string(REGEX REPLACE "[ \n]+" " " rclrt_notice "${rclrt_notice}")  # a line of the file
    message(NOTICE "${rclrt_notice}")
    file(APPEND ${PROJECT_BINARY_DIR}/not_found.txt "${name} ${rclrt_notice}\n")
  endif()
endmacro()

# rclrt_install_manifest(): installs package.xml and the entry by which ROS finds the package.
function(rclrt_install_manifest)
  install(FILES ${PROJECT_SOURCE_DIR}/package.xml DESTINATION share/${PROJECT_NAME})
  file(WRITE ${PROJECT_BINARY_DIR}/${PROJECT_NAME}.marker "")
  install(FILES ${PROJECT_BINARY_DIR}/${PROJECT_NAME}.marker
    DESTINATION share/ament_index/resource_index/packages RENAME ${PROJECT_NAME})
endfunction()

# rclrt_install_package([DEPENDENCIES NAMES...] [STATIC_DEPENDENCIES NAMES...]): the last call of a
# package with a library. Installs the headers and the files that find_package() of another project
# reads. STATIC_DEPENDENCIES are used in no header; users of a static library need them for linking.
# A package that has found ament_cmake is exported by ament, all others by CMake alone.
macro(rclrt_install_package)
  cmake_parse_arguments(rclrt_arg "" "" "DEPENDENCIES;STATIC_DEPENDENCIES" ${ARGN})
  set(rclrt_dependencies ${rclrt_arg_DEPENDENCIES})
  if(NOT BUILD_SHARED_LIBS)
    list(APPEND rclrt_dependencies ${rclrt_arg_STATIC_DEPENDENCIES})
  endif()
  install(DIRECTORY include/ DESTINATION include/${PROJECT_NAME})
  if(ament_cmake_FOUND)
    ament_export_targets(export_${PROJECT_NAME} HAS_LIBRARY_TARGET)
    ament_export_dependencies(${rclrt_dependencies})
    ament_package()
  else()
    _rclrt_install_config(${rclrt_dependencies})
    rclrt_install_manifest()
  endif()
endmacro()

function(_rclrt_install_config)
  include(CMakePackageConfigHelpers)
  set(destination share/${PROJECT_NAME}/cmake)
  set(find_dependencies "")
  foreach(name ${ARGN})
    string(APPEND find_dependencies "find_dependency(${name})\n")
  endforeach()
  configure_package_config_file(${RCLRT_CMAKE_DIR}/Config.cmake.in
    ${PROJECT_BINARY_DIR}/${PROJECT_NAME}Config.cmake INSTALL_DESTINATION ${destination})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/${PROJECT_NAME}ConfigVersion.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/${PROJECT_NAME}Config.cmake
    ${PROJECT_BINARY_DIR}/${PROJECT_NAME}ConfigVersion.cmake DESTINATION ${destination})
  install(EXPORT export_${PROJECT_NAME} NAMESPACE ${PROJECT_NAME}:: DESTINATION ${destination}
    FILE ${PROJECT_NAME}Targets.cmake)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Libraries and programs.

# rclrt_add_library(SOURCES... [PUBLIC LIBRARIES...] [PRIVATE LIBRARIES...] [PRECOMPILE HEADERS...]):
# the library with the package's name, and its alias <package>::<package>. It is shared unless
# BUILD_SHARED_LIBS is off. Its public headers mark exported symbols with <PACKAGE>_EXPORT of the
# generated <package's include directory>/export.hpp; all other symbols are hidden.
# If tests are built, the target <package>_internals is a static library of the same objects, for
# tests of symbols that are not exported. Link one of the two, never both.
function(rclrt_add_library)
  cmake_parse_arguments(arg "" "" "PUBLIC;PRIVATE;PRECOMPILE" ${ARGN})
  set(name ${PROJECT_NAME})
  _rclrt_export_header(export_directory)

  add_library(${name}_objects OBJECT ${arg_UNPARSED_ARGUMENTS})
  rclrt_compile_together(${name}_objects)
  _rclrt_library_usage(${name}_objects)
  target_include_directories(${name}_objects PRIVATE src)
  # Calls of our own functions cannot be replaced from outside, so they can be inlined.
  target_compile_options(${name}_objects PRIVATE ${RCLRT_WARNINGS} -fno-semantic-interposition)
  target_link_libraries(${name}_objects PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  if(arg_PRECOMPILE)
    target_compile_options(${name}_objects PRIVATE ${RCLRT_NO_FALSE_OVERRUNS})
    target_precompile_headers(${name}_objects PRIVATE ${arg_PRECOMPILE})
  endif()

  add_library(${name} $<TARGET_OBJECTS:${name}_objects>)
  add_library(${name}::${name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  _rclrt_library_usage(${name})
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})

  if(BUILD_TESTING)
    add_library(${name}_internals STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}_objects>)
    set_target_properties(${name}_internals PROPERTIES LINKER_LANGUAGE CXX)
    _rclrt_library_usage(${name}_internals)
    target_include_directories(${name}_internals INTERFACE src)
    target_link_libraries(${name}_internals PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  endif()

  install(FILES ${PROJECT_BINARY_DIR}/include/${export_directory}/export.hpp
    DESTINATION include/${name}/${export_directory})
  install(TARGETS ${name} EXPORT export_${name}
    ARCHIVE DESTINATION lib LIBRARY DESTINATION lib RUNTIME DESTINATION bin)
endfunction()

# rclrt_compile_together(TARGET [FILES]): compiles FILES files of the target at once (default: 8, all
# with 0), because most of the compile time is spent on the same headers. -DCMAKE_UNITY_BUILD=OFF
# compiles each file alone.
function(rclrt_compile_together target)
  set(files 8)
  if(ARGC GREATER 1)
    set(files ${ARGV1})
  endif()
  if(NOT DEFINED CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
    # GCC treats the files that CMake includes as headers, and warns about anonymous namespaces there.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# Sets the usage requirements of the library: its headers and C++20.
function(_rclrt_library_usage target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include/${PROJECT_NAME}>)
endfunction()

# Writes the export header. Sets `result` to its directory below the include directory: that of the
# package's headers, such as rclrt/realtime for rclrt_realtime, but rclrt_rclcpp for rclrt_rclcpp.
function(_rclrt_export_header result)
  string(REGEX REPLACE "^rclrt_" "rclrt/" directory ${PROJECT_NAME})
  if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/include/${directory})
    set(directory ${PROJECT_NAME})
  endif()
  string(TOUPPER ${PROJECT_NAME} macro)
  configure_file(${RCLRT_CMAKE_DIR}/export.hpp.in
    ${PROJECT_BINARY_DIR}/include/${directory}/export.hpp @ONLY)
  set(${result} ${directory} PARENT_SCOPE)
endfunction()

# rclrt_add_parts(NAME SOURCES... [PUBLIC LIBRARIES...] [PRIVATE LIBRARIES...]): a static library of what
# programs and their tests have in common: usually everything but main. Its users find its headers.
function(rclrt_add_parts name)
  cmake_parse_arguments(arg "" "" "PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  rclrt_compile_together(${name})
  target_compile_options(${name} PRIVATE ${RCLRT_WARNINGS})
  target_include_directories(${name} PUBLIC src)
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()

# rclrt_add_program(NAME SOURCES... [LIBRARIES NAMES...]): a program for lib/<package>/, in which
# `ros2 run` searches.
function(rclrt_add_program name)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${RCLRT_WARNINGS})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  install(TARGETS ${name} RUNTIME DESTINATION lib/${PROJECT_NAME})
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Python packages with a native module.

# rclrt_python_install_dir(RESULT): the directory of Python packages below the prefix, as in ament and
# colcon. RCLRT_PYTHON_INSTALL_DIR overrides it.
function(rclrt_python_install_dir result)
  if(NOT DEFINED RCLRT_PYTHON_INSTALL_DIR)
    execute_process(
      COMMAND ${Python3_EXECUTABLE} -c
        "import sysconfig; print(sysconfig.get_path('purelib', vars={'base': ''}).lstrip('/'))"
      OUTPUT_VARIABLE directory OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(RCLRT_PYTHON_INSTALL_DIR ${directory})
  endif()
  set(${result} ${RCLRT_PYTHON_INSTALL_DIR} PARENT_SCOPE)
endfunction()

# rclrt_add_python_module(SOURCES...): the Python package with the project's name. Its directory has
# __init__.py, _native.pyi and py.typed. Its module _native is made from the sources and the library
# of the same name. The target is <project>_python. The whole package is also in
# ${PROJECT_BINARY_DIR}/python, for the tests.
function(rclrt_add_python_module)
  find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)
  find_package(pybind11 REQUIRED)
  set(target ${PROJECT_NAME}_python)
  # Without this, pybind11 turns it on, which costs minutes.
  if(NOT DEFINED CMAKE_INTERPROCEDURAL_OPTIMIZATION)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)
  endif()
  pybind11_add_module(${target} ${ARGN})
  target_compile_options(${target} PRIVATE ${RCLRT_WARNINGS})
  # The module only calls the library. Optimisation and debug information of pybind11's templates
  # take half of the time and have no benefit.
  target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1 -g0>)
  rclrt_compile_together(${target} 0)
  target_link_libraries(${target} PRIVATE ${PROJECT_NAME})
  set(files __init__.py _native.pyi py.typed)
  foreach(file ${files})
    configure_file(${PROJECT_NAME}/${file}
      ${PROJECT_BINARY_DIR}/python/${PROJECT_NAME}/${file} COPYONLY)
  endforeach()
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME _native
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/${PROJECT_NAME})
  rclrt_python_install_dir(directory)
  file(RELATIVE_PATH up "/${directory}/${PROJECT_NAME}" "/lib")
  set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH "$ORIGIN/${up}")
  list(TRANSFORM files PREPEND ${PROJECT_NAME}/)
  install(FILES ${files} DESTINATION ${directory}/${PROJECT_NAME})
  install(TARGETS ${target} LIBRARY DESTINATION ${directory}/${PROJECT_NAME})
endfunction()

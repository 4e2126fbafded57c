# SPDX-License-Identifier: Apache-2.0
# rclrt_python_module(SOURCES...): the Python package that has the project's name. Its directory has __init__.py,
# _native.pyi and py.typed; its module _native is made from the sources and the library of the same name. The target is
# <project>_python. Warnings are those of the project's `warnings`.
macro(rclrt_python_module)
  find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)
  find_package(pybind11 REQUIRED)
  pybind11_add_module(${PROJECT_NAME}_python ${ARGN})
  target_compile_options(${PROJECT_NAME}_python PRIVATE ${warnings})
  target_link_libraries(${PROJECT_NAME}_python PRIVATE ${PROJECT_NAME})
  # The whole package in the build directory, for the tests.
  foreach(rclrt_file __init__.py _native.pyi py.typed)
    configure_file(${PROJECT_NAME}/${rclrt_file}
      ${CMAKE_CURRENT_BINARY_DIR}/python/${PROJECT_NAME}/${rclrt_file} COPYONLY)
  endforeach()
  set_target_properties(${PROJECT_NAME}_python PROPERTIES
    OUTPUT_NAME _native
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/python/${PROJECT_NAME})
  ament_python_install_package(${PROJECT_NAME})
  install(TARGETS ${PROJECT_NAME}_python DESTINATION ${PYTHON_INSTALL_DIR}/${PROJECT_NAME})
endmacro()

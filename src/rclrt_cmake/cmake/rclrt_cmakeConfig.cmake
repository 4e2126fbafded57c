# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/rclrt_package.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/rclrt_library.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/rclrt_test.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/rclrt_python.cmake")

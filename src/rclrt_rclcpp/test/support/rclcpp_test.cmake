# SPDX-License-Identifier: Apache-2.0
# Test programs with nodes of rclcpp.

if(RCLRT_SANITIZER STREQUAL "address")
  # rclcpp (28 and 29) frees memory that rcl allocates through it with a size of 1, because it does
  # not know the size (rclcpp::allocator::retyped_deallocate). AddressSanitizer has no suppression for one function.
  set(rclcpp_test_environment "ASAN_OPTIONS=$ENV{ASAN_OPTIONS}:new_delete_type_mismatch=0")
endif()
list(APPEND rclcpp_test_environment ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST)

# add_rclcpp_test(NAME [LIBRARIES NAMES...] [ENVIRONMENT VARIABLES...]): a GoogleTest program with
# the test support. Each has its own DDS domain, and stays on this machine.
set(rclcpp_test_domain 55) # rclrt_add_pytest begins at 81
function(add_rclcpp_test name)
  cmake_parse_arguments(arg "" "" "LIBRARIES;ENVIRONMENT" ${ARGN})
  rclrt_add_gtest(${name} SERIAL LIBRARIES ${arg_LIBRARIES}
    ENVIRONMENT ROS_DOMAIN_ID=${rclcpp_test_domain} ${rclcpp_test_environment} ${arg_ENVIRONMENT})
  math(EXPR domain "${rclcpp_test_domain} + 1")
  set(rclcpp_test_domain ${domain} PARENT_SCOPE)
endfunction()

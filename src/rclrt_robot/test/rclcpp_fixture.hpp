// SPDX-License-Identifier: Apache-2.0
// The names of rclrt_rclcpp and of its test support, for the tests here.
#pragma once

#include "fixture.hpp"
#include "rclrt_rclcpp/executors.hpp"

namespace rclrt_robot::test {

using namespace rclrt_rclcpp;
using namespace rclrt_rclcpp::test;
namespace engine = rclrt::executor;

}  // namespace rclrt_robot::test

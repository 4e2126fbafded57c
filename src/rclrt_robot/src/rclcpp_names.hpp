// SPDX-License-Identifier: Apache-2.0
// The names of rclrt_rclcpp that this package uses, and its logger.
#pragma once

#include "rclrt_rclcpp/executors.hpp"
#include "rclrt_rclcpp/origins.hpp"

namespace rclrt_robot {

namespace engine = rclrt::executor;

using rclrt_rclcpp::CallbackInfo;
using rclrt_rclcpp::Executor;
using rclrt_rclcpp::Options;
using rclrt_rclcpp::Origin;
using rclrt_rclcpp::Timing;

inline rclcpp::Logger logger() { return rclcpp::get_logger("rclrt"); }

}  // namespace rclrt_robot

// SPDX-License-Identifier: Apache-2.0
// Shares the origin of the data of messages without a stamp between the processes of a machine.
//
//     rclrt_rclcpp::PreemptiveExecutor executor({.origins = rclrt_robot::share_origins});
#pragma once

#include <cstddef>
#include <memory>

#include "rclrt_rclcpp/origins.hpp"
#include "rclrt_robot/export.hpp"

namespace rclrt_robot {

/// Returns an object that shares origins of data between the processes of this user, in shared
/// memory of 9 KB for each node. Use it for `rclrt_rclcpp::Options::origins`; a Robot with a
/// monitor sets it. Thread-safe.
RCLRT_ROBOT_EXPORT std::unique_ptr<rclrt_rclcpp::OriginSharing> share_origins(
    std::size_t domain, rclrt_rclcpp::UnknownPublisherListener& listener);

}  // namespace rclrt_robot

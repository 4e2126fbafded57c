// SPDX-License-Identifier: Apache-2.0
// On which topics nodes publish.
#pragma once

#include <rclcpp/rclcpp.hpp>
#include <set>
#include <string>

namespace rclrt_rclcpp {

/// Returns the topics that a node has publishers of, as the ROS graph tells; none at a shutdown.
std::set<std::string> publisher_topics(const rclcpp::node_interfaces::NodeBaseInterface& node);

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
// Finds the topics on which nodes publish.
#pragma once

#include <rclcpp/rclcpp.hpp>
#include <set>
#include <string>

namespace rclrt_rclcpp {

/// Returns the topics of a node's publishers, as the ROS graph reports them; none at a shutdown.
std::set<std::string> publisher_topics(const rclcpp::node_interfaces::NodeBaseInterface& node);

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
// The extra arguments of a node that a container loads.
#pragma once

#include <composition_interfaces/srv/load_node.hpp>

#include "rclrt_rclcpp/executors.hpp"

namespace rclrt_robot {

/// Returns the timing of the node from its extra arguments `priority` and `deadline_ms`. Throws
/// rclcpp_components::ComponentManagerException for an argument that neither the container nor its
/// base class knows, or that is stated twice, has a wrong type or is out of its range. The message
/// names the argument, the node and what is expected.
rclrt_rclcpp::Timing timing_of(const composition_interfaces::srv::LoadNode::Request& request);

}  // namespace rclrt_robot

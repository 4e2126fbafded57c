// SPDX-License-Identifier: Apache-2.0
// Names of the ROS graph.
#pragma once

#include <string>
#include <string_view>

namespace rclrt_robot {

/// Returns the fully qualified name of a node.
inline std::string full_name(std::string_view space, std::string_view name) {
  return std::string(space == "/" ? "" : space) + "/" + std::string(name);
}

}  // namespace rclrt_robot

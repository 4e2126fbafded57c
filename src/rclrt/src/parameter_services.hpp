// SPDX-License-Identifier: Apache-2.0
// The services by which other nodes and `ros2 param` reach the parameters of a node.
#pragma once

#include <memory>
#include <vector>

#include "rclrt/executor/callback.hpp"
#include "rclrt/parameters.hpp"

namespace rclrt::detail {

/// Makes the six services of rcl_interfaces. They exclude each other and run at `priority`.
std::vector<std::shared_ptr<executor::Callback>> make_parameter_services(
    const std::shared_ptr<NodeHandle>& node, const std::shared_ptr<Parameters>& parameters,
    int priority);

}  // namespace rclrt::detail

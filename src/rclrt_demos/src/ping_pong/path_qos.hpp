// SPDX-License-Identifier: Apache-2.0
// The quality of service of the topics between the two nodes.
#pragma once

#include "rclrt/rclrt.hpp"

namespace rclrt::demos {

/// Returns the QoS of rclcpp's SensorDataQoS: if more messages wait, the oldest are lost.
inline QoS path_qos() { return QoS(5).best_effort(); }

}  // namespace rclrt::demos

// SPDX-License-Identifier: Apache-2.0
// Texts and values of statuses.
#pragma once

#include <limits.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <diagnostic_msgs/msg/key_value.hpp>
#include <string>

namespace rclrt_robot {

/// Returns the time in milliseconds, with three digits after the point.
inline std::string milliseconds(std::int64_t ns) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3f", static_cast<double>(ns) / 1e6);
  return text.data();
}

/// Returns the name of this machine, or of its container.
inline std::string hardware_id() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// Returns a value of a status.
inline diagnostic_msgs::msg::KeyValue value(const char* key, const std::string& text) {
  diagnostic_msgs::msg::KeyValue result;
  result.key = key;
  result.value = text;
  return result;
}

}  // namespace rclrt_robot

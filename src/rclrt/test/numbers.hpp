// SPDX-License-Identifier: Apache-2.0
// Messages that hold a number.
#pragma once

#include <cstdint>
#include <std_msgs/msg/int64.hpp>

namespace rclrt::test {

inline std_msgs::msg::Int64 number(std::int64_t value) {
  std_msgs::msg::Int64 message;
  message.data = value;
  return message;
}

}  // namespace rclrt::test

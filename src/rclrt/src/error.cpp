// SPDX-License-Identifier: Apache-2.0
#include "rclrt/error.hpp"

#include <rcl/error_handling.h>

namespace rclrt {

namespace {
std::string describe(const std::string& action, rcl_ret_t code) {
  std::string text = "error while " + action + ": ";
  if (rcl_error_is_set()) {
    text += rcl_get_error_string().str;
    rcl_reset_error();
  } else {
    text += "rcl code " + std::to_string(code);
  }
  return text;
}
}  // namespace

Error::Error(const std::string& action, rcl_ret_t code)
    : std::runtime_error(describe(action, code)), code_(code) {}

}  // namespace rclrt

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/error.hpp"

#include <rcl/error_handling.h>

#include <cstdio>

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

bool detail::report(rcl_ret_t code, const char* action) noexcept {
  if (code == RCL_RET_OK) {
    return true;
  }
  std::fprintf(stderr, "rclrt: %s: %s\n", action, rcl_get_error_string().str);
  rcl_reset_error();
  return false;
}

}  // namespace rclrt

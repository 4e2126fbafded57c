// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rcl/types.h>

#include <stdexcept>
#include <string>

namespace rclrt {

/// A call into rcl failed. what() says which and carries rcl's own message.
class Error : public std::runtime_error {
 public:
  Error(const std::string& action, rcl_ret_t code);
  rcl_ret_t code() const noexcept { return code_; }

 private:
  rcl_ret_t code_;
};

namespace detail {
/// Throws Error unless `code` is RCL_RET_OK. `action` completes "error while ...".
inline void check(rcl_ret_t code, const std::string& action) {
  if (code != RCL_RET_OK) {
    throw Error(action, code);
  }
}
}  // namespace detail

}  // namespace rclrt

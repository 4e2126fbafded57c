// SPDX-License-Identifier: Apache-2.0
// Failures of rcl as exceptions.
#pragma once

#include <rcl/types.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "rclrt/export.hpp"

namespace rclrt {

/// A failed call into rcl. what() names the call and has rcl's own message.
class RCLRT_EXPORT Error : public std::runtime_error {
 public:
  /// Makes the error: `action` failed with `code`. Takes rcl's message.
  Error(const std::string& action, rcl_ret_t code);
  rcl_ret_t code() const noexcept { return code_; }

 private:
  rcl_ret_t code_;
};

namespace detail {
/// Throws Error unless `code` is RCL_RET_OK. `action` completes "error while ...".
inline void check(rcl_ret_t code, std::string_view action) {
  if (code != RCL_RET_OK) {
    throw Error(std::string(action), code);
  }
}
/// Reports on stderr that `action` failed, where nothing may throw. Returns false when it did.
RCLRT_EXPORT bool report(rcl_ret_t code, const char* action) noexcept;
}  // namespace detail

}  // namespace rclrt

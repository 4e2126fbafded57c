// SPDX-License-Identifier: Apache-2.0
#include "middleware.hpp"

#include <rmw/rmw.h>

#include <string_view>

namespace rclrt::detail {

bool counts_ignored_matches() noexcept {
  static const bool kCounts =
      std::string_view(rmw_get_implementation_identifier()).starts_with("rmw_fastrtps");
  return kCounts;
}

}  // namespace rclrt::detail

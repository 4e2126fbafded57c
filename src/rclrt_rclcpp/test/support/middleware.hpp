// SPDX-License-Identifier: Apache-2.0
// The threads of the middleware that runs, as docs/results/middlewares.md lists them.
#pragma once

#include <rmw/rmw.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace rclrt_rclcpp::test {

/// What tests have to know of a middleware's threads.
struct MiddlewareThreads {
  std::string library;              ///< how the name of their library begins
  std::string receiver;             ///< how the names of at least two of them begin
  std::vector<std::string> begins;  ///< how all of their names begin

  bool has(std::string_view name) const {
    return std::any_of(begins.begin(), begins.end(),
                       [&](const std::string& begin) { return name.starts_with(begin); });
  }
};

inline const MiddlewareThreads& middleware_threads() {
  static const MiddlewareThreads result =
      std::string_view(rmw_get_implementation_identifier()) == "rmw_cyclonedds_cpp"
          ? MiddlewareThreads{"libddsc", "recv", {"dq.", "gc", "recv", "tev"}}
          : MiddlewareThreads{"libfast", "dds.", {"dds."}};
  return result;
}

}  // namespace rclrt_rclcpp::test

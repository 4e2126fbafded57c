// SPDX-License-Identifier: Apache-2.0
// The middleware that runs: its threads and its loans, as docs/results/middlewares.md lists them.
#pragma once

#include <rclcpp/version.h>
#include <rmw/rmw.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace rclrt_rclcpp::test {

/// How tests recognise a middleware's threads.
struct MiddlewareThreads {
  std::string library;              ///< how the name of their library begins
  std::string receiver;             ///< how the names of at least two of them begin
  std::vector<std::string> begins;  ///< how all of their names begin

  bool has(std::string_view name) const {
    return std::any_of(begins.begin(), begins.end(),
                       [&](const std::string& begin) { return name.starts_with(begin); });
  }
};

inline bool is_cyclone_dds() {
  return std::string_view(rmw_get_implementation_identifier()) == "rmw_cyclonedds_cpp";
}

/// Returns whether it lends messages of plain types. Cyclone DDS does so only with shared memory,
/// which nothing here switches on; a borrowed message is then an ordinary one.
inline bool middleware_lends() { return !is_cyclone_dds(); }

/// Returns whether it keeps messages by key. Before Lyrical (4.1), rmw_cyclonedds_cpp ignores keys.
inline bool middleware_has_keys() { return !is_cyclone_dds() || RCLCPP_VERSION_MAJOR >= 31; }

inline const MiddlewareThreads& middleware_threads() {
  static const MiddlewareThreads result =
      is_cyclone_dds() ? MiddlewareThreads{"libddsc", "recv", {"dq.", "gc", "recv", "tev"}}
                       : MiddlewareThreads{"libfast", "dds.", {"dds."}};
  return result;
}

}  // namespace rclrt_rclcpp::test

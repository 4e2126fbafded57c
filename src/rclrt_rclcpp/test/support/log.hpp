// SPDX-License-Identifier: Apache-2.0
// The log messages of a test.
#pragma once

#include <rcutils/logging.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace rclrt_rclcpp::test {

/// Collects the log messages of the process while it lives; there is one at a time.
class Log {
 public:
  Log() : before_(rcutils_logging_get_output_handler()) {
    const std::scoped_lock lock(mutex());
    lines().clear();
    rcutils_logging_set_output_handler(collect);
  }
  ~Log() { rcutils_logging_set_output_handler(before_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Returns whether a line of that severity has the text.
  static bool has(int severity, const std::string& text) {
    const std::scoped_lock lock(mutex());
    return std::any_of(lines().begin(), lines().end(), [&](const auto& each) {
      return each.first == severity && each.second.find(text) != std::string::npos;
    });
  }
  /// Returns all lines of a severity; by default of warnings.
  static std::string all(int severity = RCUTILS_LOG_SEVERITY_WARN) {
    const std::scoped_lock lock(mutex());
    std::string result;
    for (const auto& [own, text] : lines()) {
      result += own == severity ? text + "\n" : "";
    }
    return result;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex result;
    return result;
  }
  static std::vector<std::pair<int, std::string>>& lines() {
    static std::vector<std::pair<int, std::string>> result;
    return result;
  }
  static void collect(const rcutils_log_location_t*, int severity, const char*,
                      rcutils_time_point_value_t, const char* format, va_list* arguments) {
    std::array<char, 1024> text{};
    va_list copy;
    va_copy(copy, *arguments);
    std::vsnprintf(text.data(), text.size(), format, copy);
    va_end(copy);
    const std::scoped_lock lock(mutex());
    lines().emplace_back(severity, text.data());
  }

  const rcutils_logging_output_handler_t before_;
};

}  // namespace rclrt_rclcpp::test

// SPDX-License-Identifier: Apache-2.0
// A log record as text.
#pragma once

#include <fmt/args.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rclrt/realtime/log_record.hpp"

namespace rclrt::realtime {

/// Keeps its memory between lines, so it stops allocating after the largest line. Not thread-safe.
class LogFormatter {
 public:
  LogFormatter();

  /// A record as text.
  struct Line {
    std::string_view message;  ///< valid until the next call
    std::string_view file;     ///< in the record
  };

  /// Returns the formatted line of a record; its arguments, its format and the path of its source
  /// file are at `arguments`. If the format does not suit the types of the arguments, the line has
  /// the format itself and the error, and the error is counted.
  Line format(const detail::LogRecord& record, const std::byte* arguments);

  std::uint64_t errors() const { return errors_; }

 private:
  // Kept here, because fmt would otherwise copy these durations to the heap.
  struct Durations {
    std::chrono::nanoseconds nanoseconds;
    std::chrono::microseconds microseconds;
    std::chrono::milliseconds milliseconds;
    std::chrono::seconds seconds;
    std::chrono::minutes minutes;
    std::chrono::hours hours;
    std::chrono::duration<double> floating_seconds;
  };

  const std::byte* add(detail::LogType type, const std::byte* argument, std::size_t number);
  const std::byte* add_text(std::uint64_t word, const std::byte* text_begin, std::size_t number);
  template <typename Duration>
  void add_duration(Duration& kept, std::uint64_t count);

  fmt::memory_buffer text_;
  fmt::dynamic_format_arg_store<fmt::format_context> values_;
  std::array<Durations, kMaxLogArguments> durations_{};
  std::array<std::string, kMaxLogArguments> cut_;  // cut strings with their mark
  std::uint64_t errors_ = 0;
};

}  // namespace rclrt::realtime

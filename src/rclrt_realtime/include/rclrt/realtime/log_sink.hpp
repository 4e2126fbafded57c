// SPDX-License-Identifier: Apache-2.0
// Where log lines go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The levels of ROS 2. kOff is for thresholds only.
enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError, kFatal, kOff = 255 };

/// Returns "DEBUG", "INFO", "WARN", "ERROR", "FATAL" or "OFF".
RCLRT_REALTIME_EXPORT const char* to_string(LogLevel level) noexcept RCLRT_NONBLOCKING;

/// A formatted line. The texts are valid only during the call of `LogSink::write`.
struct LogLine {
  LogLevel level = LogLevel::kInfo;
  std::int64_t monotonic_ns = 0;  ///< CLOCK_MONOTONIC when it was logged
  std::int64_t wall_ns = 0;       ///< the same instant since 1970-01-01 UTC
  // The initializers let a caller name only some of the members without a warning by GCC.
  // NOLINTBEGIN(readability-redundant-member-init)
  std::string_view thread = {};  ///< the name of its ThreadLogger
  std::string_view message = {};
  std::string_view file = {};  ///< source file and line of the call
  // NOLINTEND(readability-redundant-member-init)
  std::uint32_t line = 0;
};

/// Receives log lines on the logger's thread. That is not a real-time thread, so a sink may
/// allocate, write and sleep; meanwhile further lines wait in the threads' rings. If a sink throws,
/// the exception is counted in LoggerStatistics, and the sink is called again for the next line.
class RCLRT_REALTIME_EXPORT LogSink {
 public:
  virtual ~LogSink() = default;

  /// Writes one line. Called in the order in which the lines were logged.
  RCLRT_SETUP virtual void write(const LogLine& line) = 0;

  /// Flushes. Called when there are no more lines for now.
  RCLRT_SETUP virtual void flush() {}
};

/// Calls a function with each line.
class RCLRT_REALTIME_EXPORT CallbackLog final : public LogSink {
 public:
  /// Makes a sink of a function, which must not be empty.
  RCLRT_SETUP explicit CallbackLog(std::function<void(const LogLine&)> callback)
      : callback_(std::move(callback)) {}
  RCLRT_SETUP void write(const LogLine& line) override { callback_(line); }

 private:
  const std::function<void(const LogLine&)> callback_;
};

/// Writes lines as text, one after the other, in the format of ROS 2:
///
///     [WARN] [1732231702.123456789] [control]: late by 27 us
class RCLRT_REALTIME_EXPORT TextLog : public LogSink {
 public:
  ~TextLog() override;
  TextLog(const TextLog&) = delete;
  TextLog& operator=(const TextLog&) = delete;

  /// Buffers the line; it is written together with others.
  RCLRT_SETUP void write(const LogLine& line) final;

  /// Writes the buffered lines. Throws std::system_error; the lines not yet written are then lost.
  RCLRT_SETUP void flush() final;

 protected:
  /// Makes the log; `what` names the target in errors; the destructor closes an owned descriptor.
  TextLog(int descriptor, bool owned, std::string what);

 private:
  const int descriptor_;
  const bool owned_;
  const std::string what_;  // for messages
  std::string buffer_;      // lines not yet written
};

/// Writes lines to standard error.
class RCLRT_REALTIME_EXPORT StderrLog final : public TextLog {
 public:
  RCLRT_SETUP StderrLog();
};

/// Appends lines to a file, which is created if it does not exist.
class RCLRT_REALTIME_EXPORT FileLog final : public TextLog {
 public:
  /// Throws std::system_error naming the file.
  RCLRT_SETUP explicit FileLog(const std::filesystem::path& path);
};

}  // namespace rclrt::realtime

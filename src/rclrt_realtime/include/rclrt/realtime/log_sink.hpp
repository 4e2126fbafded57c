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

/// As in ROS 2. kOff is for thresholds only.
enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError, kFatal, kOff = 255 };

/// Returns "DEBUG", "INFO", "WARN", "ERROR", "FATAL" or "OFF".
RCLRT_REALTIME_EXPORT const char* to_string(LogLevel level) noexcept RCLRT_NONBLOCKING;

/// A formatted line. The texts are valid during the call that hands it over.
struct LogLine {
  LogLevel level = LogLevel::kInfo;
  std::int64_t monotonic_ns = 0;  ///< CLOCK_MONOTONIC when it was logged
  std::int64_t wall_ns = 0;       ///< the same instant since 1970-01-01 UTC
  // The initializers let a caller name only some of the members without a warning by GCC.
  // NOLINTBEGIN(readability-redundant-member-init)
  std::string_view thread = {};  ///< the name its ThreadLogger was given
  std::string_view message = {};
  std::string_view file = {};  ///< source file and line of the call
  // NOLINTEND(readability-redundant-member-init)
  std::uint32_t line = 0;
};

/// Receives lines on the logger's thread: no real-time thread, so it may allocate, write and sleep.
/// While it does, the rings fill. What it throws is counted, see LoggerStatistics; it is called
/// again for the next line.
class RCLRT_REALTIME_EXPORT LogSink {
 public:
  virtual ~LogSink() = default;

  /// Writes one line; called in the order in which they were logged.
  RCLRT_SETUP virtual void write(const LogLine& line) = 0;

  /// Flushes; called after the last line for now.
  RCLRT_SETUP virtual void flush() {}
};

/// Calls a function with each line.
class RCLRT_REALTIME_EXPORT CallbackLog final : public LogSink {
 public:
  /// Takes any function, not empty.
  RCLRT_SETUP explicit CallbackLog(std::function<void(const LogLine&)> callback)
      : callback_(std::move(callback)) {}
  RCLRT_SETUP void write(const LogLine& line) override { callback_(line); }

 private:
  const std::function<void(const LogLine&)> callback_;
};

/// Lines as text, one after the other, in the format of ROS 2:
/// [WARN] [1732231702.123456789] [control]: late by 27 us
class RCLRT_REALTIME_EXPORT TextLog : public LogSink {
 public:
  ~TextLog() override;
  TextLog(const TextLog&) = delete;
  TextLog& operator=(const TextLog&) = delete;

  /// Buffers the line; it is written together with others.
  RCLRT_SETUP void write(const LogLine& line) final;

  /// Throws std::system_error; what could not be written is then lost.
  RCLRT_SETUP void flush() final;

 protected:
  /// Makes the log; `what` names the target in errors; an owned descriptor is closed at the end.
  TextLog(int descriptor, bool owned, std::string what);

 private:
  const int descriptor_;
  const bool owned_;
  const std::string what_;  // for messages
  std::string buffer_;      // lines not yet written
};

/// To standard error.
class RCLRT_REALTIME_EXPORT StderrLog final : public TextLog {
 public:
  RCLRT_SETUP StderrLog();
};

/// Appended to a file, which is made when missing.
class RCLRT_REALTIME_EXPORT FileLog final : public TextLog {
 public:
  /// Throws std::system_error naming the file.
  RCLRT_SETUP explicit FileLog(const std::filesystem::path& path);
};

}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
// A log call as bytes in a ring: a header, then 8 bytes per argument, and the bytes of strings;
// then the format and the path of the source file. Nothing in it points into the caller's code,
// which may be unloaded (a component's library) before the line is formatted.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ratio>
#include <string_view>
#include <type_traits>

#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/log_format.hpp"
#include "rclrt/realtime/log_sink.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Longer string arguments are cut here and marked with an ellipsis.
inline constexpr std::size_t kMaxLogString = 1024;
/// The most arguments of one line.
inline constexpr std::size_t kMaxLogArguments = 15;

namespace detail {

/// The type of a log argument: how its 8 bytes are read. LogRecord::types has four bits for each
/// argument, the lowest bits for the first argument; kNone ends the list.
enum class LogType : std::uint8_t {
  kNone,
  kSigned,
  kUnsigned,
  kFloat,
  kDouble,
  kBool,
  kChar,
  kPointer,
  kString,  // its size; kCut set when it was longer; then its bytes, padded to 8
  kNanoseconds,
  kMicroseconds,
  kMilliseconds,
  kSeconds,
  kMinutes,
  kHours,
  kFloatingSeconds,
};

struct LogRecord {
  std::uint16_t size;  // in bytes, with the arguments
  LogLevel level;
  std::uint32_t suppressed;  // lines that a rate limit suppressed before this one
  std::uint64_t ticks;
  std::uint64_t types;
  std::uint32_t line;
  std::uint16_t format_size;
  std::uint16_t file_size;
};
static_assert(std::is_trivially_copyable_v<LogRecord> && sizeof(LogRecord) % 8 == 0);

inline constexpr std::uint64_t kCut = std::uint64_t{1} << 32U;
/// Returns the bytes of a format and a path, padded to 8.
constexpr std::size_t log_source_size(std::size_t format_size,
                                      std::size_t file_size) noexcept RCLRT_NONBLOCKING {
  return (format_size + file_size + 7) / 8 * 8;
}
inline constexpr std::size_t kMaxLogRecord = sizeof(LogRecord) +
                                             kMaxLogArguments * (8 + kMaxLogString) +
                                             log_source_size(kMaxLogFormat, kMaxLogFile);
static_assert(kMaxLogRecord <= UINT16_MAX);

/// A string argument as the calling thread sees it.
struct LogText {
  const char* data;
  std::size_t size;
  bool cut;
};

template <typename T>
inline constexpr bool kIsDuration = false;
template <typename Rep, typename Period>
inline constexpr bool kIsDuration<std::chrono::duration<Rep, Period>> = true;

template <typename T>
inline constexpr bool kAlwaysFalse = false;

template <typename Duration>
consteval LogType log_duration_type() {
  using Period = Duration::period;
  if constexpr (std::is_floating_point_v<typename Duration::rep>) {
    return LogType::kFloatingSeconds;
  } else if constexpr (std::is_same_v<Period, std::micro>) {
    return LogType::kMicroseconds;
  } else if constexpr (std::is_same_v<Period, std::milli>) {
    return LogType::kMilliseconds;
  } else if constexpr (std::is_same_v<Period, std::ratio<1>>) {
    return LogType::kSeconds;
  } else if constexpr (std::is_same_v<Period, std::ratio<60>>) {
    return LogType::kMinutes;
  } else if constexpr (std::is_same_v<Period, std::ratio<3600>>) {
    return LogType::kHours;
  } else {
    return LogType::kNanoseconds;  // whatever else is converted
  }
}

template <typename T>
consteval LogType log_type() {
  if constexpr (std::is_same_v<T, bool>) {
    return LogType::kBool;
  } else if constexpr (std::is_same_v<T, char>) {
    return LogType::kChar;
  } else if constexpr (std::is_enum_v<T>) {
    return log_type<std::underlying_type_t<T>>();
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? LogType::kSigned : LogType::kUnsigned;
  } else if constexpr (std::is_same_v<T, float>) {
    return LogType::kFloat;
  } else if constexpr (std::is_floating_point_v<T>) {
    return LogType::kDouble;
  } else if constexpr (kIsDuration<T>) {
    return log_duration_type<T>();
  } else if constexpr (!std::is_null_pointer_v<T> &&
                       std::is_convertible_v<const T&, std::string_view>) {
    return LogType::kString;
  } else if constexpr (std::is_null_pointer_v<T> ||
                       (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>)) {
    return LogType::kPointer;
  } else {
    static_assert(kAlwaysFalse<T>,
                  "a log argument is an integer, a floating-point number, bool, char, an enum, a "
                  "std::chrono::duration, a pointer or a string; log the members of others");
  }
}

template <typename... Args>
consteval std::uint64_t log_types() {
  static_assert(sizeof...(Args) <= kMaxLogArguments, "a log call has at most 15 arguments");
  std::uint64_t types = 0;
  unsigned shift = 0;
  ((types |= static_cast<std::uint64_t>(log_type<Args>()) << shift, shift += 4), ...);
  return types;
}

inline LogText log_text(const char* data, std::size_t size) noexcept RCLRT_NONBLOCKING {
  const bool cut = size > kMaxLogString;
  return {data, cut ? kMaxLogString : size, cut};
}

inline std::size_t text_size(const char* text, std::size_t limit) noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("strnlen only reads", strnlen(text, limit));
}

/// Returns an argument as its 8 bytes, or as a LogText.
template <typename T>
auto prepare_log_argument(const T& value) noexcept RCLRT_NONBLOCKING {
  constexpr LogType kType = log_type<T>();
  if constexpr (kType == LogType::kString) {
    if constexpr (std::is_array_v<T>) {
      return log_text(value, text_size(value, std::extent_v<T>));
    } else if constexpr (std::is_pointer_v<T>) {
      const char* const text = value != nullptr ? value : "(null)";
      return log_text(text, text_size(text, kMaxLogString + 1));
    } else {
      const std::string_view text = value;
      return log_text(text.data(), text.size());
    }
  } else if constexpr (kIsDuration<T>) {
    if constexpr (kType == LogType::kFloatingSeconds) {
      return std::bit_cast<std::uint64_t>(std::chrono::duration<double>(value).count());
    } else if constexpr (kType == LogType::kNanoseconds) {
      const auto nanoseconds = saturate_cast<std::chrono::nanoseconds>(value);
      return static_cast<std::uint64_t>(nanoseconds.count());
    } else {
      return static_cast<std::uint64_t>(value.count());
    }
  } else if constexpr (std::is_null_pointer_v<T>) {
    return std::uint64_t{0};
  } else if constexpr (std::is_pointer_v<T>) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(value));
  } else if constexpr (kType == LogType::kFloat) {
    return static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(value));
  } else if constexpr (kType == LogType::kDouble) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

inline std::size_t log_argument_size(std::uint64_t) noexcept RCLRT_NONBLOCKING { return 8; }
inline std::size_t log_argument_size(const LogText& text) noexcept RCLRT_NONBLOCKING {
  return 8 + (text.size + 7) / 8 * 8;
}

/// Writes an argument; returns the address for the next one.
inline std::byte* put_log_argument(std::byte* to, std::uint64_t value) noexcept RCLRT_NONBLOCKING {
  std::memcpy(to, &value, 8);
  return to + 8;
}
inline std::byte* put_log_argument(std::byte* to, const LogText& text) noexcept RCLRT_NONBLOCKING {
  const std::uint64_t size = text.size | (text.cut ? kCut : 0);
  std::memcpy(to, &size, 8);
  if (text.size != 0) {
    std::memcpy(to + 8, text.data, text.size);
  }
  return to + log_argument_size(text);
}

}  // namespace detail
}  // namespace rclrt::realtime

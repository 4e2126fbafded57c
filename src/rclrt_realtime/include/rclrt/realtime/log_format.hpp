// SPDX-License-Identifier: Apache-2.0
// A format string that the compiler has checked against the number of its arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The possible errors of a format string.
enum class LogFormatProblem : std::uint8_t {
  kNone,
  kMorePlaceholdersThanArguments,
  kFewerPlaceholdersThanArguments,
  kUnmatchedBrace,            ///< write {{ or }} for a brace
  kNamedArgument,             ///< arguments have numbers only
  kMixedNumbering,            ///< either {} or {0}, not both
  kNestedPlaceholder,         ///< a width or precision must be a number
  kWidthOrPrecisionTooLarge,  ///< above kMaxLogWidth
  kTooLong                    ///< more than kMaxLogFormat bytes
};

/// The largest width and precision of a placeholder.
inline constexpr std::size_t kMaxLogWidth = 1024;

/// The longest format string, in bytes: each line carries a copy of its format.
inline constexpr std::size_t kMaxLogFormat = 640;
/// The longest path of a source file in a line, in bytes. A longer path loses its beginning.
inline constexpr std::size_t kMaxLogFile = 224;

/// Returns the error of the text `format` for a call with `arguments` arguments; kNone: no error.
/// The syntax is that of std::format. Does not check whether a format specification suits the type
/// of its argument.
constexpr LogFormatProblem find_log_format_problem(
    std::string_view format, std::size_t arguments) noexcept RCLRT_NONBLOCKING {
  using enum LogFormatProblem;
  if (format.size() > kMaxLogFormat) {
    return kTooLong;
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t at = 0;
  // The number stops growing above kMaxLogWidth, so it cannot overflow.
  const auto read_number = [&] {
    std::size_t number = 0;
    for (; at < format.size() && is_digit(format[at]); ++at) {
      number = std::min(number * 10 + static_cast<std::size_t>(format[at] - '0'), kMaxLogWidth + 1);
    }
    return number;
  };
  std::size_t used = 0;  // arguments, when they are taken in order; else the largest number + 1
  bool in_order = false;
  bool numbered = false;
  while (at < format.size()) {
    const char c = format[at++];
    if (c != '{' && c != '}') {
      continue;
    }
    if (at < format.size() && format[at] == c) {
      ++at;
      continue;
    }
    if (c == '}' || at == format.size()) {
      return kUnmatchedBrace;
    }
    if (is_digit(format[at])) {
      numbered = true;
      used = std::max(used, read_number() + 1);
    } else {
      in_order = true;
      ++used;
    }
    if (at < format.size() && format[at] != ':' && format[at] != '}') {
      return kNamedArgument;
    }
    while (at < format.size() && format[at] != '}') {
      if (format[at] == '{') {
        return kNestedPlaceholder;
      }
      if (!is_digit(format[at])) {
        ++at;
      } else if (read_number() > kMaxLogWidth) {
        return kWidthOrPrecisionTooLarge;
      }
    }
    if (at++ == format.size()) {
      return kUnmatchedBrace;
    }
  }
  if (in_order && numbered) {
    return kMixedNumbering;
  }
  if (used > arguments) {
    return kMorePlaceholdersThanArguments;
  }
  return used < arguments ? kFewerPlaceholdersThanArguments : kNone;
}

namespace detail {
// These functions are never defined: a wrong format would call one of them, and the compiler's
// error shows its name. (They are labelled because a nonblocking constructor calls them.)
RCLRT_REALTIME_EXPORT void log_format_has_more_placeholders_than_arguments() noexcept
    RCLRT_NONBLOCKING;
RCLRT_REALTIME_EXPORT void log_format_has_fewer_placeholders_than_arguments() noexcept
    RCLRT_NONBLOCKING;
RCLRT_REALTIME_EXPORT void log_format_has_an_unmatched_brace() noexcept RCLRT_NONBLOCKING;
RCLRT_REALTIME_EXPORT void log_format_names_an_argument() noexcept RCLRT_NONBLOCKING;
RCLRT_REALTIME_EXPORT void log_format_mixes_automatic_and_explicit_numbers() noexcept
    RCLRT_NONBLOCKING;
RCLRT_REALTIME_EXPORT void log_format_nests_a_placeholder() noexcept RCLRT_NONBLOCKING;
RCLRT_REALTIME_EXPORT void log_format_has_a_width_or_precision_above_1024() noexcept
    RCLRT_NONBLOCKING;
RCLRT_REALTIME_EXPORT void log_format_is_longer_than_640_bytes() noexcept RCLRT_NONBLOCKING;

/// Returns the end of a path that fits into a line's record.
constexpr std::string_view end_of_path(std::string_view path) noexcept RCLRT_NONBLOCKING {
  if (path.size() > kMaxLogFile) {
    path.remove_prefix(path.size() - kMaxLogFile);  // unlike substr it throws nothing
  }
  return path;
}
}  // namespace detail

/// The format of a log call with arguments of these types. It is a string literal, checked when the
/// call is compiled. The object also contains the place of the call in the source.
template <typename... Args>
class LogFormat {
 public:
  template <std::size_t kSize>
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is a format
  consteval LogFormat(const char (&format)[kSize],
                      std::source_location where = std::source_location::current()) noexcept
      RCLRT_NONBLOCKING : text_(format, kSize - 1),
                          file_(detail::end_of_path(where.file_name())),
                          line_(where.line()) {
    switch (find_log_format_problem({format, kSize - 1}, sizeof...(Args))) {
      case LogFormatProblem::kNone:
        break;
      case LogFormatProblem::kMorePlaceholdersThanArguments:
        detail::log_format_has_more_placeholders_than_arguments();
        break;
      case LogFormatProblem::kFewerPlaceholdersThanArguments:
        detail::log_format_has_fewer_placeholders_than_arguments();
        break;
      case LogFormatProblem::kUnmatchedBrace:
        detail::log_format_has_an_unmatched_brace();
        break;
      case LogFormatProblem::kNamedArgument:
        detail::log_format_names_an_argument();
        break;
      case LogFormatProblem::kMixedNumbering:
        detail::log_format_mixes_automatic_and_explicit_numbers();
        break;
      case LogFormatProblem::kNestedPlaceholder:
        detail::log_format_nests_a_placeholder();
        break;
      case LogFormatProblem::kWidthOrPrecisionTooLarge:
        detail::log_format_has_a_width_or_precision_above_1024();
        break;
      case LogFormatProblem::kTooLong:
        detail::log_format_is_longer_than_640_bytes();
        break;
    }
  }

  std::string_view text() const noexcept RCLRT_NONBLOCKING { return text_; }
  std::string_view file() const noexcept RCLRT_NONBLOCKING { return file_; }
  std::uint32_t line() const noexcept RCLRT_NONBLOCKING { return line_; }

 private:
  // They refer to objects of static storage duration; otherwise they could not be constant.
  std::string_view text_;
  std::string_view file_;
  std::uint32_t line_;
};

}  // namespace rclrt::realtime

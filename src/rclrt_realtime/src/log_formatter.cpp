// SPDX-License-Identifier: Apache-2.0
#include "log_formatter.hpp"

#include <fmt/chrono.h>

#include <bit>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>

namespace rclrt::realtime {

using detail::LogType;

namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

std::uint64_t read_word(const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

}  // namespace

LogFormatter::LogFormatter() {
  values_.reserve(kMaxLogArguments, 0);
  for (std::string& text : cut_) {
    text.reserve(kMaxLogString + kEllipsis.size());
  }
}

LogFormatter::Line LogFormatter::format(const detail::LogRecord& record,
                                        const std::byte* arguments) {
  text_.clear();
  values_.clear();
  std::size_t number = 0;
  for (std::uint64_t types = record.types; types != 0; types >>= 4U) {
    arguments = add(static_cast<LogType>(types & 15U), arguments, number++);
  }
  const auto* const source = reinterpret_cast<const char*>(arguments);
  const std::string_view format(source, record.format_size);
  try {
    fmt::vformat_to(std::back_inserter(text_), fmt::string_view(format.data(), format.size()),
                    values_);
  } catch (const std::exception& error) {
    ++errors_;
    text_.clear();
    fmt::format_to(std::back_inserter(text_), "{} [cannot be formatted: {}]", format, error.what());
  }
  if (record.suppressed != 0) {
    fmt::format_to(std::back_inserter(text_), " [{} like it suppressed]", record.suppressed);
  }
  return {.message = {text_.data(), text_.size()},
          .file = {source + record.format_size, record.file_size}};
}

template <typename Duration>
void LogFormatter::add_duration(Duration& kept, std::uint64_t count) {
  kept = Duration(static_cast<std::int64_t>(count));
  values_.push_back(std::cref(kept));
}

const std::byte* LogFormatter::add_text(std::uint64_t word, const std::byte* text_begin,
                                        std::size_t number) {
  const detail::LogText text{reinterpret_cast<const char*>(text_begin), word & UINT32_MAX,
                             (word & detail::kCut) != 0};
  std::string_view shown(text.data, text.size);
  if (text.cut) {
    shown = cut_[number].assign(shown).append(kEllipsis);
  }
  values_.push_back(shown);
  return text_begin + (detail::log_argument_size(text) - sizeof word);
}

const std::byte* LogFormatter::add(LogType type, const std::byte* argument, std::size_t number) {
  const std::uint64_t word = read_word(argument);
  argument += sizeof word;
  Durations& kept = durations_[number];
  switch (type) {
    case LogType::kNone:
      break;
    case LogType::kSigned:
      values_.push_back(static_cast<std::int64_t>(word));
      break;
    case LogType::kUnsigned:
      values_.push_back(word);
      break;
    case LogType::kFloat:
      values_.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(word)));
      break;
    case LogType::kDouble:
      values_.push_back(std::bit_cast<double>(word));
      break;
    case LogType::kBool:
      values_.push_back(word != 0);
      break;
    case LogType::kChar:
      values_.push_back(static_cast<char>(word));
      break;
    case LogType::kPointer:
      values_.push_back(std::bit_cast<const void*>(static_cast<std::uintptr_t>(word)));
      break;
    case LogType::kString:
      return add_text(word, argument, number);
    case LogType::kNanoseconds:
      add_duration(kept.nanoseconds, word);
      break;
    case LogType::kMicroseconds:
      add_duration(kept.microseconds, word);
      break;
    case LogType::kMilliseconds:
      add_duration(kept.milliseconds, word);
      break;
    case LogType::kSeconds:
      add_duration(kept.seconds, word);
      break;
    case LogType::kMinutes:
      add_duration(kept.minutes, word);
      break;
    case LogType::kHours:
      add_duration(kept.hours, word);
      break;
    case LogType::kFloatingSeconds:
      kept.floating_seconds = std::chrono::duration<double>(std::bit_cast<double>(word));
      values_.push_back(std::cref(kept.floating_seconds));
      break;
  }
  return argument;
}

}  // namespace rclrt::realtime

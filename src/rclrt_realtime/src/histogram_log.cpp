// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/histogram_log.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <istream>
#include <ostream>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::realtime {

namespace {

constexpr std::int64_t kYear_ns = std::int64_t{365} * 24 * 3600 * kNanosecondsPerSecond;

/// Returns seconds with nine decimals, so that no nanosecond is lost.
std::string seconds(std::int64_t time_ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%09lld",
                static_cast<long long>(time_ns / kNanosecondsPerSecond),
                static_cast<long long>(time_ns % kNanosecondsPerSecond));
  return text;
}

/// Converts seconds since 1970, written as digits with at most one decimal point, to nanoseconds.
/// Returns std::nullopt for any other text, and for a time after the year 2262, which has no
/// 64-bit number of nanoseconds.
std::optional<std::int64_t> parse_seconds(std::string_view text) {
  std::int64_t time_ns = 0;
  std::int64_t unit_ns = kNanosecondsPerSecond;  // of the digit before
  bool has_point = false;
  bool has_digit = false;
  for (const char c : text) {
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    has_digit = true;
    const std::int64_t digit = c - '0';
    if (!has_point) {
      if (__builtin_mul_overflow(time_ns, 10, &time_ns) ||
          __builtin_add_overflow(time_ns, digit * kNanosecondsPerSecond, &time_ns)) {
        return std::nullopt;
      }
    } else {
      unit_ns /= 10;  // 0 after the ninth decimal: ignored
      if (__builtin_add_overflow(time_ns, digit * unit_ns, &time_ns)) {
        return std::nullopt;
      }
    }
  }
  return has_digit ? std::optional(time_ns) : std::nullopt;
}

bool is_tag_character(char c) { return c > ' ' && c != ',' && c != 0x7f; }

/// Returns the text before the next comma, and removes it and the comma from `text`. Returns
/// std::nullopt if `text` has no comma.
std::optional<std::string_view> take_field(std::string_view& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view field = text.substr(0, comma);
  text.remove_prefix(comma + 1);
  return field;
}

/// Returns the beginning of an untrusted text in a form for an error message.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text.substr(0, 40)) {
    result += c >= ' ' && c < 0x7f ? c : '?';
  }
  return result + (text.size() > 40 ? "...\"" : "\"");
}

}  // namespace

HistogramLogWriter::HistogramLogWriter(std::ostream& out, std::int64_t start_time_ns) : out_(out) {
  if (start_time_ns < 0) {
    throw std::invalid_argument(
        "the start time of a histogram log must not be negative (before 1970)");
  }
  const std::time_t start_s = start_time_ns / kNanosecondsPerSecond;
  std::tm calendar{};
  char date[64];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start_s, &calendar));
  put("#[Histogram log format version 1.3]");
  put("#[StartTime: " + seconds(start_time_ns) + " (seconds since epoch), " + date + "]");
  put(R"("StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram")");
}

void HistogramLogWriter::comment(std::string_view text) {
  if (text.find_first_of("\r\n") != std::string_view::npos) {
    throw std::invalid_argument("a comment in a histogram log must not have a line break");
  }
  put("#" + std::string(text));
}

void HistogramLogWriter::write(const HistogramInterval& interval) {
  if (!std::all_of(interval.tag.begin(), interval.tag.end(), is_tag_character)) {
    throw std::invalid_argument(
        "a tag in a histogram log must not have a comma, blank or control character");
  }
  if (interval.start_ns < 0 || interval.length_ns < 0) {
    throw std::invalid_argument("the times of an interval in a histogram log must not be negative");
  }
  // The third field is for people: the largest value in ms, when values are ns.
  const std::int64_t max = interval.histogram.max();
  char max_ms[32];
  std::snprintf(max_ms, sizeof max_ms, "%.3f", static_cast<double>(max) / 1e6);
  put((interval.tag.empty() ? "" : "Tag=" + interval.tag + ",") + seconds(interval.start_ns) + "," +
      seconds(interval.length_ns) + "," + max_ms + "," + encode_histogram(interval.histogram));
}

void HistogramLogWriter::put(const std::string& line) {
  if (!(out_ << line << '\n' << std::flush)) {
    throw std::runtime_error("writing a histogram log failed; check that the disk is not full");
  }
}

HistogramLogReader::HistogramLogReader(std::istream& in, std::string name,
                                       const HistogramLogLimits& limits)
    : in_(in), name_(std::move(name)), limits_(limits) {
  if (!in_) {
    throw HistogramLogError(name_ + ": cannot be read; expected an HdrHistogram log");
  }
}

std::optional<HistogramInterval> HistogramLogReader::next() {
  while (read_line()) {
    if (line_.empty() || line_.front() == '"') {  // the legend
      continue;
    }
    if (line_.front() == '#') {
      read_comment();
      continue;
    }
    return read_interval();
  }
  return std::nullopt;
}

bool HistogramLogReader::read_line() {
  line_.clear();
  ++line_number_;
  constexpr int kEnd = std::char_traits<char>::eof();
  const auto next = [&] {
    try {
      return in_.rdbuf()->sbumpc();
    } catch (const std::ios_base::failure&) {  // a directory, a broken disk
      fail("cannot be read; expected an HdrHistogram log");
    }
  };
  bool is_too_long = false;
  int c = next();
  if (c == kEnd) {
    return false;
  }
  for (; c != kEnd && c != '\n'; c = next()) {
    if (line_.size() == limits_.line_bytes) {
      is_too_long = true;  // the rest of the line is skipped
    } else {
      line_ += static_cast<char>(c);
    }
  }
  if (is_too_long) {
    fail("a line of more than " + std::to_string(limits_.line_bytes) +
         " bytes, expected a shorter one");
  }
  if (!line_.empty() && line_.back() == '\r') {
    line_.pop_back();
  }
  return true;
}

void HistogramLogReader::read_comment() {
  const std::string_view line = line_;
  constexpr std::string_view kVersion = "#[Histogram log format version ";
  if (line.starts_with(kVersion)) {
    const std::string_view version = line.substr(kVersion.size());
    if (!version.starts_with("1.")) {
      fail("log format " + quoted(version) + ", expected 1.0 to 1.3");
    }
    return;
  }
  const auto read_time = [&](std::string_view prefix, std::optional<std::int64_t>& time_ns) {
    if (line.starts_with(prefix)) {
      const std::string_view rest = line.substr(prefix.size());
      const std::string_view number = rest.substr(0, rest.find_first_of(" ]"));
      time_ns = parse_seconds(number);
      if (!time_ns) {
        fail("time " + quoted(number) + ", expected seconds since 1970");
      }
    }
  };
  read_time("#[StartTime: ", start_time_ns_);
  read_time("#[BaseTime: ", base_time_ns_);
}

HistogramInterval HistogramLogReader::read_interval() const {
  constexpr std::string_view kExpected = "expected [Tag=NAME,]START,LENGTH,MAX,HISTOGRAM";
  std::string_view rest = line_;
  std::string_view tag;
  if (rest.starts_with("Tag=")) {
    const auto field = take_field(rest);
    if (!field || !std::all_of(field->begin(), field->end(), is_tag_character)) {
      fail("tag without end, " + std::string(kExpected));
    }
    tag = field->substr(4);
  }
  std::int64_t times_ns[2] = {};
  for (std::int64_t& time_ns : times_ns) {
    const auto field = take_field(rest);
    const auto parsed = field ? parse_seconds(*field) : std::nullopt;
    if (!parsed) {
      fail("time " + quoted(field.value_or(rest)) + ", " + std::string(kExpected));
    }
    time_ns = *parsed;
  }
  if (!take_field(rest)) {  // MAX is for people and follows from the histogram
    fail("no histogram, " + std::string(kExpected));
  }
  try {
    return {std::string(tag), absolute(times_ns[0]), times_ns[1], decode_histogram(rest, limits_)};
  } catch (const HistogramLogError& error) {
    fail(error.what());
  }
}

/// Returns the absolute time of `stamp_ns`. A stamp counts from the log's base time. If the log has
/// none, a stamp more than a year before the log's start time counts from the start time (the rule
/// of the other libraries), and any other stamp from 1970.
std::int64_t HistogramLogReader::absolute(std::int64_t stamp_ns) const {
  std::int64_t base_ns = base_time_ns_.value_or(0);
  if (!base_time_ns_ && start_time_ns_ && stamp_ns < *start_time_ns_ - kYear_ns) {
    base_ns = *start_time_ns_;
  }
  std::int64_t time_ns = 0;
  if (__builtin_add_overflow(base_ns, stamp_ns, &time_ns)) {
    fail("a time after the year 2262; expected an earlier one");
  }
  return time_ns;
}

void HistogramLogReader::fail(const std::string& what) const {
  throw HistogramLogError(name_ + ":" + std::to_string(line_number_) + ": " + what);
}

}  // namespace rclrt::realtime

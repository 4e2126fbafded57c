// SPDX-License-Identifier: Apache-2.0
#include "test_clock.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "rclrt/text/number.hpp"

namespace rclrt::clock {

namespace {

constexpr double kMost = 1e9;  // ms, ppm, s

[[noreturn]] void refuse(std::string_view item) {
  throw std::invalid_argument(std::string(kTestClockVariable) + ": '" + std::string(item) +
                              "' is unknown; expected offset_ms=N, drift_ppm=N@S, slew_ppm=N@S or "
                              "step_ms=N@S, "
                              "with S in seconds of CLOCK_MONOTONIC");
}

}  // namespace

TestClock::TestClock(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) {
      add(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void TestClock::add(std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) {
    refuse(item);
  }
  const std::string_view name = item.substr(0, equals);
  std::string_view value = item.substr(equals + 1);
  std::optional<double> since_s;
  if (const std::size_t at = value.find('@'); at != std::string_view::npos) {
    since_s = text::parse_number<double>(value.substr(at + 1), {0, kMost});
    if (!since_s) {
      refuse(item);
    }
    value = value.substr(0, at);
  }
  const auto amount = text::parse_number<double>(value, {-kMost, kMost});
  if (!amount || (name == "offset_ms") == since_s.has_value()) {
    refuse(item);
  }
  const auto since_ns = static_cast<std::int64_t>(since_s.value_or(0) * 1e9);
  if (name == "offset_ms") {
    offset_ns_ += *amount * 1e6;
  } else if (name == "drift_ppm") {
    drifts_.push_back({*amount * 1e3, since_ns});
  } else if (name == "slew_ppm") {
    slews_.push_back({*amount * 1e3, since_ns});
  } else if (name == "step_ms") {
    steps_.push_back({*amount * 1e6, since_ns});
  } else {
    refuse(item);
  }
}

ClockReading TestClock::apply(ClockReading reading) const noexcept {
  const auto gained_ns = [&](const std::vector<Change>& changes) {
    double result = 0;
    for (const Change& each : changes) {
      const auto since_ns = static_cast<double>(reading.monotonic_ns - each.since_ns);
      result += std::max(since_ns, 0.0) / 1e9 * each.amount;
    }
    return static_cast<std::int64_t>(std::floor(result));
  };
  double set_ns = offset_ns_;
  for (const Change& each : steps_) {
    set_ns += reading.monotonic_ns >= each.since_ns ? each.amount : 0;
  }
  const std::int64_t drifted_ns = gained_ns(drifts_);
  const std::int64_t slewed_ns = gained_ns(slews_);
  return {
      reading.before_ns + drifted_ns, reading.monotonic_ns + drifted_ns + slewed_ns,
      reading.realtime_ns + drifted_ns + slewed_ns + static_cast<std::int64_t>(std::floor(set_ns)),
      reading.after_ns + drifted_ns};
}

}  // namespace rclrt::clock

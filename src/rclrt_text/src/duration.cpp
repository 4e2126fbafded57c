// SPDX-License-Identifier: Apache-2.0
#include "rclrt/text/duration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace rclrt::text {

namespace {

struct Unit {
  const char* name;
  std::int64_t ns;
  int decimals;           // of a nanosecond
  std::int64_t below_ns;  // used for shorter durations
};

constexpr std::array<Unit, 4> kUnits{{{"ns", 1, 0, 1'000},
                                      {"µs", 1'000, 3, 1'000'000},
                                      {"ms", 1'000'000, 6, 10'000'000'000},
                                      {"s", 1'000'000'000, 9, INT64_MAX}}};

const Unit& unit_of(std::int64_t time_ns) {
  constexpr std::size_t kMilliseconds = 2;
  if (time_ns == 0) {
    return kUnits[kMilliseconds];
  }
  const auto found = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& unit) {
    return time_ns > -unit.below_ns && time_ns < unit.below_ns;
  });
  return found == kUnits.end() ? kUnits.back() : *found;
}

}  // namespace

std::string duration_text(std::int64_t time_ns, int significant) {
  const Unit& unit = unit_of(time_ns);
  const std::int64_t whole = std::abs(time_ns / unit.ns);
  const int digits = whole == 0 ? 0 : static_cast<int>(std::log10(static_cast<double>(whole))) + 1;
  const int decimals =
      significant == 0 ? unit.decimals : std::clamp(significant - digits, 0, unit.decimals);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals,
                static_cast<double>(time_ns) / static_cast<double>(unit.ns));
  std::string number = text.data();
  if (decimals > 0) {
    number.erase(number.find_last_not_of('0') + 1);
    number.erase(number.find_last_not_of('.') + 1);
  }
  return number + " " + unit.name;
}

}  // namespace rclrt::text

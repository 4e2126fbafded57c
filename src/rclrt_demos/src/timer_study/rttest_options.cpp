// SPDX-License-Identifier: Apache-2.0
#include "rttest_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>
#include <utility>

namespace rclrt::timer_study {

namespace {

constexpr std::int64_t kLongestPeriod_ns = 10'000'000'000;  // as long as Ctrl-C may take
constexpr std::uint64_t kMostIterations = 1'000'000'000'000;
constexpr std::size_t kMostBytes = std::size_t{1} << 40;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

/// Reads a number with a unit, such as "512kb". Returns the number times the unit's factor. Without
/// a unit, the first of `units` is assumed. Returns std::nullopt if the text is not a number with
/// one of the units, or if the value is above `most`.
std::optional<std::uint64_t> number_with_unit(std::string_view number, std::span<const Unit> units,
                                              std::uint64_t most) {
  const auto value = text::take_number<std::uint64_t>(number);
  if (!value) {
    return std::nullopt;
  }
  const std::string_view name = number.empty() ? units.front().name : number;
  for (const Unit& unit : units) {
    if (unit.name == name) {
      return *value > most / unit.factor ? std::nullopt : std::optional(*value * unit.factor);
    }
  }
  return std::nullopt;
}

/// Returns an option with a size.
text::Option bytes(std::string name, std::size_t& to, std::string help) {
  text::Option option = text::custom(
      std::move(name), "SIZE",
      "a size such as 200, 200mb, 512kb (units b, kb, mb, gb; without one mb)",
      [&to](std::string_view given) {
        const auto size = parse_bytes(given);
        to = size.value_or(to);
        return size.has_value();
      },
      std::move(help));
  option.standard = std::to_string(to >> 20U) + "mb";
  return option;
}

}  // namespace

std::optional<std::int64_t> parse_period(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits{
      {{"us", 1000}, {"ns", 1}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
  const auto period = number_with_unit(text, kUnits, kLongestPeriod_ns);
  return period && *period != 0 ? std::optional(static_cast<std::int64_t>(*period)) : std::nullopt;
}

std::optional<std::size_t> parse_bytes(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits{
      {{"mb", 1 << 20}, {"b", 1}, {"kb", 1 << 10}, {"gb", 1 << 30}}};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  return number_with_unit(lower, kUnits, kMostBytes);
}

text::OptionTable rttest_table(RttestOptions& to) {
  text::Option period = text::custom(
      "-u", "PERIOD", "a period from 1ns to 10s, such as 500, 500us, 10ms (units ns, us, ms, s)",
      [&to](std::string_view given) {
        const auto time = parse_period(given);
        to.period_ns = time.value_or(to.period_ns);
        return time.has_value();
      },
      "with ns, us, ms or s; without one us");
  period.standard = "1ms";
  return {
      .program = {},
      .purpose = {},
      .options =
          {
              text::number("-i", "N", to.iterations, {0, kMostIterations},
                           "iterations; 0: until stopped"),
              std::move(period),
              text::number("-t", "N", to.priority, {1, 99}, "priority"),
              text::choice<realtime::Policy>(
                  "-s", "POLICY", to.policy,
                  {{"rr", realtime::Policy::kRoundRobin}, {"fifo", realtime::Policy::kFifo}},
                  "the real-time policy"),
              bytes("-m", to.stack_prefault,
                    "of the stack to touch; b, kb, mb, gb; without one mb"),
              bytes("-d", to.heap_prefault, "of the heap to touch"),
              text::text("-f", "FILE", to.file, "a row for each iteration, with page faults"),
          },
      .prefix = "--rttest_args ",
  };
}

}  // namespace rclrt::timer_study

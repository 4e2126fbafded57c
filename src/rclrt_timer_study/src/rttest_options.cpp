// SPDX-License-Identifier: Apache-2.0
#include "rttest_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <stdexcept>
#include <system_error>

namespace rclrt::timer_study {

namespace {

constexpr std::int64_t kLongestPeriod_ns = 10'000'000'000;  // as long as Ctrl-C may take
constexpr std::uint64_t kMostIterations = 1'000'000'000'000;
constexpr std::size_t kMostBytes = std::size_t{1} << 40;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

[[noreturn]] void refuse(std::string_view option, std::string_view value,
                         const std::string& expected) {
  throw std::invalid_argument("--rttest_args " + std::string(option) + " " + std::string(value) +
                              ": expected " + expected);
}

/// Returns the whole number at the begin of `text`, and sets `rest` to the rest. Returns
/// std::nullopt if there is none, or if it does not fit.
std::optional<std::uint64_t> leading_number(std::string_view text, std::string_view& rest) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Returns the number in units of 1. The first of `units` may be left out. Returns std::nullopt if
/// the text is not a number with one of the units, or is more than `most`.
std::optional<std::uint64_t> number_with_unit(std::string_view text, std::span<const Unit> units,
                                              std::uint64_t most) {
  std::string_view rest;
  const auto value = leading_number(text, rest);
  if (!value) {
    return std::nullopt;
  }
  const std::string_view name = rest.empty() ? units.front().name : rest;
  for (const Unit& unit : units) {
    if (unit.name == name) {
      return *value > most / unit.factor ? std::nullopt : std::optional(*value * unit.factor);
    }
  }
  return std::nullopt;
}

std::uint64_t parse_count(std::string_view option, std::string_view text, std::uint64_t least,
                          std::uint64_t most) {
  std::string_view rest;
  const auto value = leading_number(text, rest);
  if (!value || !rest.empty() || *value < least || *value > most) {
    refuse(option, text,
           "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

realtime::Policy parse_policy(std::string_view text) {
  if (text == "rr") {
    return realtime::Policy::kRoundRobin;
  }
  if (text != "fifo") {
    refuse("-s", text, "rr or fifo");
  }
  return realtime::Policy::kFifo;
}

void set_option(RttestOptions& options, std::string_view option, const std::string& value) {
  if (option == "-i") {
    options.iterations = parse_count(option, value, 0, kMostIterations);
  } else if (option == "-u") {
    options.period_ns = parse_period(value);
  } else if (option == "-t") {
    options.priority = static_cast<int>(parse_count(option, value, 1, 99));
  } else if (option == "-s") {
    options.policy = parse_policy(value);
  } else if (option == "-m") {
    options.stack_prefault = parse_bytes(option, value);
  } else if (option == "-d") {
    options.heap_prefault = parse_bytes(option, value);
  } else if (option == "-f") {
    options.file = value;
  } else {
    throw std::invalid_argument("--rttest_args: unknown option \"" + std::string(option) +
                                "\"; expected -i, -u, -t, -s, -m, -d or -f");
  }
}

}  // namespace

std::int64_t parse_period(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits{
      {{"us", 1000}, {"ns", 1}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
  const auto period = number_with_unit(text, kUnits, kLongestPeriod_ns);
  if (!period || *period == 0) {
    refuse("-u", text, "a period from 1ns to 10s, such as 500, 500us, 10ms (units ns, us, ms, s)");
  }
  return static_cast<std::int64_t>(*period);
}

std::size_t parse_bytes(std::string_view option, std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits{
      {{"mb", 1 << 20}, {"b", 1}, {"kb", 1 << 10}, {"gb", 1 << 30}}};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
  const auto bytes = number_with_unit(lower, kUnits, kMostBytes);
  if (!bytes) {
    refuse(option, text, "a size such as 200, 200mb, 512kb (units b, kb, mb, gb; without one mb)");
  }
  return *bytes;
}

RttestOptions parse_rttest_options(std::span<const std::string> arguments) {
  RttestOptions result;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) {
      // Throws first if the option is unknown: that message is more useful.
      set_option(result, arguments[i], "");
      throw std::invalid_argument("--rttest_args " + arguments[i] + ": expected a value");
    }
    set_option(result, arguments[i], arguments[i + 1]);
  }
  return result;
}

}  // namespace rclrt::timer_study

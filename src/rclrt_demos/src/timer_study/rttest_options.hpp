// SPDX-License-Identifier: Apache-2.0
// The arguments of --rttest_args: the options of rttest, with its units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <rclrt/text/options.hpp>
#include <string>
#include <string_view>

#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::timer_study {

/// The settings of the loop. The defaults are rttest's, with a heap that any machine has.
struct RttestOptions {
  std::uint64_t iterations = 1000;                          ///< -i; 0: until stopped
  std::int64_t period_ns = 1'000'000;                       ///< -u
  int priority = 80;                                        ///< -t
  realtime::Policy policy = realtime::Policy::kRoundRobin;  ///< -s
  std::size_t stack_prefault = std::size_t{1} << 20;        ///< -m, bytes
  std::size_t heap_prefault = std::size_t{64} << 20;        ///< -d, bytes
  std::optional<std::string> file{};                        ///< -f
};

/// Returns the table of the options behind --rttest_args.
text::OptionTable rttest_table(RttestOptions& to);

/// Reads a time: a number with ns, us, ms or s, or without a unit for microseconds. Returns it in
/// nanoseconds, or std::nullopt for any other text, for 0 and for more than ten seconds.
std::optional<std::int64_t> parse_period(std::string_view text);

/// Reads a size: a number with b, kb, mb or gb, or without a unit for megabytes. Returns it in
/// bytes, or std::nullopt for any other text.
std::optional<std::size_t> parse_bytes(std::string_view text);

}  // namespace rclrt::timer_study

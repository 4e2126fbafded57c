// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

namespace rclrt::latency {

const char* option_of(realtime::Policy policy) noexcept {
  switch (policy) {
    case realtime::Policy::kFifo:
      return "fifo";
    case realtime::Policy::kRoundRobin:
      return "rr";
    case realtime::Policy::kDeadline:
      return "deadline";
    case realtime::Policy::kOther:
      break;
  }
  return "other";
}

namespace {

using realtime::Policy;
using std::chrono::microseconds;

constexpr std::array kPolicies{Policy::kFifo, Policy::kRoundRobin, Policy::kOther,
                               Policy::kDeadline};
constexpr std::array kMethods{StallMethod::kProbe, StallMethod::kSpin, StallMethod::kNone};
constexpr double kLongest_us = 1e6;

text::OptionTable option_table(Settings& to) {
  std::vector<std::pair<std::string, Policy>> policies;
  for (const Policy each : kPolicies) {
    policies.emplace_back(option_of(each), each);
  }
  std::vector<std::pair<std::string, StallMethod>> methods;
  for (const StallMethod each : kMethods) {
    methods.emplace_back(to_string(each), each);
  }
  return {
      .program = "rclrt_latency",
      .purpose = "Measures how late a thread on each CPU wakes up, and writes a JSON document.",
      .options =
          {
              text::choices("--policy", "NAMES", to.policies, policies,
                            "in turns, with commas between them (default fifo)"),
              text::number("--priority", "N", to.priority, {1, 99}, "of fifo and rr"),
              text::numbers("--cpus", "N,N,...", to.cpus, {0, 1'000'000},
                            "a thread on each; without it, on every CPU that the process may use"),
              text::duration("--interval", "US", to.interval, microseconds(1), {50, kLongest_us},
                             "between wake-ups"),
              text::duration("--seconds", "S", to.duration, std::chrono::seconds(1), {0.1, 86'400},
                             "of each policy"),
              text::number("--loops", "N", to.loops, {1, 1'000'000'000'000},
                           "of each thread in each round, instead of --seconds"),
              text::number("--rounds", "N", to.rounds, {1, 1000}, "each policy runs N times"),
              text::choice("--stalls", "METHOD", to.stalls, methods,
                           "how stalls of the machine are found"),
              text::duration("--stall-threshold", "US", to.stall_threshold, microseconds(1),
                             {10, kLongest_us},
                             "from which on a stall counts (default 200, with spin 50)"),
              text::flag("--stress", to.stress, "a busy process on each CPU at normal priority"),
              text::flag("--no-dma-latency", to.keep_cpus_awake,
                         "lets CPUs sleep as deeply as they like", false),
              text::duration("--break-above", "US", to.break_above, microseconds(1),
                             {1, kLongest_us},
                             "stops at a wake-up later than this and writes the trace of the last "
                             "seconds (exit code 1)"),
              text::path("--dump-directory", "DIR", to.dump_directory, "where that trace goes"),
              text::path("--histogram-log", "FILE", to.histogram_log,
                         "an HdrHistogram log with an interval per second"),
              text::flag("--live", to.live, "a line on standard error each second"),
          },
      .notes =
          "exit code: 0 measured, 1 above the threshold, or it could not be measured,\n"
          "           2 bad input, 130 interrupted (what was measured until then is written)",
  };
}

/// Throws text::UsageError for options that exclude each other.
void check(const Settings& settings) {
  if (settings.stress && settings.stalls == StallMethod::kSpin) {
    throw text::UsageError(
        "--stress and --stalls spin: the watching thread runs only where nothing else does; "
        "expected --stalls probe, or no --stress");
  }
  if (!settings.cpus.empty() && std::ranges::count(settings.policies, Policy::kDeadline) != 0) {
    throw text::UsageError(
        "--cpus and the policy deadline: the kernel lets such a thread use every CPU; expected "
        "one of the two");
  }
  if (!std::filesystem::is_directory(settings.dump_directory)) {
    throw text::UsageError("--dump-directory " + settings.dump_directory.string() +
                           ": is no directory; make it first");
  }
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine result;
  Settings& settings = result.settings;
  result.answer = text::parse_options(option_table(settings), argc, argv).answer;
  std::ranges::sort(settings.cpus);
  if (!result.answer) {
    check(settings);
  }
  return result;
}

}  // namespace rclrt::latency

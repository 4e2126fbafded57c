// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <stdexcept>

#include "contender.hpp"
#include "plan.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::bench {

namespace {

constexpr int kLastCpu = 8191;

/// The numbers that --quick changes, if the command line does not state them.
struct Stated {
  std::optional<int> seconds;
  std::optional<int> rounds;
  std::optional<int> samples;
};

text::OptionTable option_table(CommandLine& line, Stated& stated) {
  return {
      .program = "executors",
      .purpose = "Measures every executor beside the bare kernel and middleware; prints JSON.",
      .options =
          {
              text::flag("--quick", line.quick,
                         "1 minute instead of 4: fewer rounds of fewer samples"),
              text::flag("--quiet", line.quiet,
                         "a SCHED_IDLE spinner per CPU keeps a virtual machine's host awake"),
              text::number("--seconds", "N", stated.seconds, {1, 86'400},
                           "begin no round that would end later; the first is always run"),
              text::number("--rounds", "N", stated.rounds, {1, 1000},
                           "begin no more rounds than this"),
              text::number("--samples", "N", stated.samples, {2, 100'000}, "per row and round"),
              text::words("--cases", "A,B", line.cases, case_names(), "only these"),
              text::words("--executors", "A,B", line.executors, Contender::names(), "only these"),
              text::numbers("--cpus", "A,B", line.cpus, {0, kLastCpu},
                            "which two CPUs, the second one for what runs on one CPU (default: "
                            "the last two allowed)"),
          },
  };
}

/// Throws text::UsageError for CPUs that cannot be used.
void check_cpus(const std::vector<int>& cpus) {
  if (cpus.size() > 2) {
    throw text::UsageError("--cpus: expected the number of one CPU, or of two different CPUs");
  }
  try {
    realtime::require_allowed_cpus(cpus);
  } catch (const std::invalid_argument& error) {
    throw text::UsageError(std::string("--cpus: ") + error.what());
  }
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  line.cases = case_names();
  line.executors = Contender::names();
  line.cpus = realtime::allowed_cpus();
  line.cpus.erase(line.cpus.begin(), line.cpus.end() - std::min<long>(2, std::ssize(line.cpus)));
  Stated stated;
  line.answer = text::parse_options(option_table(line, stated), argc, argv).answer;
  check_cpus(line.cpus);
  line.samples = stated.samples.value_or(line.quick ? 50 : 100);
  line.warm_up = line.quick ? 5 : 10;
  line.rounds = stated.rounds.value_or(1000);
  line.seconds = stated.seconds.value_or(line.quick ? 60 : 240);
  return line;
}

}  // namespace rclrt::bench

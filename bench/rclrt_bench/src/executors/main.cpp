// SPDX-License-Identifier: Apache-2.0
// executors: every executor, compared with the bare kernel and middleware, interleaved in one run.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "plan.hpp"
#include "quiet.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "report.hpp"
#include "traced.hpp"

namespace {

using namespace rclrt;         // NOLINT(google-build-using-namespace): this is the program
using namespace rclrt::bench;  // NOLINT(google-build-using-namespace)

constexpr int kInterrupted = 130;

double load_of_last_minute() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  return load;
}

double seconds_since(std::int64_t start_ns) {
  return static_cast<double>(realtime::monotonic_now_ns() - start_ns) / 1e9;
}

PlanOptions plan_options(const CommandLine& line, bool realtime_permitted) {
  PlanOptions options;
  options.cpu_sets = {{line.cpus.back()}};
  if (line.cpus.size() == 2) {
    options.cpu_sets.push_back(line.cpus);
  }
  options.executors = line.executors;
  options.cases = line.cases;
  options.quick_growth = line.quick;
  options.realtime = realtime_permitted;
  options.warm_up = static_cast<std::size_t>(line.warm_up);
  options.samples = static_cast<std::size_t>(line.samples);
  return options;
}

/// Counts the system calls per dispatch. Writes one number per row into `per_row`, NaN for rows
/// that are not counted. Returns an empty text, or the reason if nothing could be counted.
std::string count_system_calls(PlanOptions options, std::vector<double>& per_row) {
  constexpr std::size_t kEnough = 50;  // every dispatch makes the same calls
  options.samples = std::min(options.samples, kEnough);
  return run_traced(per_row, [&](std::span<double> results) {
    Rows rows;
    const std::vector<Turn> turns = make_plan(options, rows);
    const auto context = Context::make();
    for (const Turn& turn : turns) {
      if (turn.counts_system_calls && context->ok()) {
        turn.run(context);
      }
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Row& row = rows.all()[i];
      if (row.dispatches != 0) {
        results[i] = static_cast<double>(row.traced_calls) / static_cast<double>(row.dispatches);
      }
    }
  });
}

int measure(const CommandLine& line) {
  const std::int64_t start_ns = realtime::monotonic_now_ns();
  const double steal_before = steal_ms();
  Conditions conditions;
  conditions.load_before = load_of_last_minute();
  conditions.realtime_reason = realtime::why_no_realtime(95).value_or("");
  conditions.realtime = conditions.realtime_reason.empty();
  const PlanOptions options = plan_options(line, conditions.realtime);
  Rows rows;
  const std::vector<Turn> turns = make_plan(options, rows);

  std::vector<double> system_calls(rows.all().size(), -1.0);
  conditions.system_calls_reason = count_system_calls(options, system_calls);
  for (std::size_t i = 0; i < system_calls.size(); ++i) {
    if (system_calls[i] >= 0) {
      rows.all()[i].system_calls = system_calls[i];
    }
  }

  const Quiet quiet(line.quiet);
  if (const auto problem = realtime::lock_memory()) {
    std::fprintf(stderr, "executors: %s\n", problem->c_str());
  }
  const auto context = Context::make();
  if (conditions.realtime) {
    // Nodes are created above the rest of the system: other work must not lengthen the run.
    realtime::apply_scheduling(0, {realtime::Policy::kFifo, 1});
  }
  double longest_s = 0;
  while (conditions.rounds < line.rounds &&
         (conditions.rounds == 0 || seconds_since(start_ns) + longest_s <= line.seconds)) {
    const std::int64_t round_ns = realtime::monotonic_now_ns();
    for (const Turn& turn : turns) {
      if (context->ok()) {
        turn.run(context);
      }
    }
    if (!context->ok()) {
      std::fprintf(stderr, "executors: interrupted\n");
      return kInterrupted;
    }
    ++conditions.rounds;
    longest_s = std::max(longest_s, seconds_since(round_ns));
    std::fprintf(stderr, "round %d: %.1f s\n", conditions.rounds, seconds_since(round_ns));
  }
  conditions.seconds = seconds_since(start_ns);
  conditions.steal_ms = steal_ms() - steal_before;
  std::fputs(to_json(line, conditions, rows).c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const CommandLine line = parse_command_line(argc, argv);
    if (line.answer) {
      std::fputs(line.answer->c_str(), stdout);
      return 0;
    }
    return measure(line);
  } catch (const text::UsageError& error) {
    std::fprintf(stderr, "executors: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "executors: %s\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
// rclrt_simulator: simulates the measurements of rclrt_runner. No ROS, no threads, deterministic.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <rclrt/analysis/counter_example_file.hpp>
#include <rclrt/model/priorities.hpp>
#include <rclrt/text/options.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "rclrt/realtime/perfetto_writer.hpp"
#include "rclrt/recorder/results_directory.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/sha256.hpp"
#include "rclrt/recorder/trace_export.hpp"
#include "simulation_results.hpp"

namespace {

using namespace rclrt::recorder;   // NOLINT(google-build-using-namespace): this is a program
using namespace rclrt::simulator;  // NOLINT(google-build-using-namespace): this is its program
namespace text = rclrt::text;

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

struct Arguments {
  std::optional<std::string> answer;  // what --help or --version prints, instead of a simulation
  std::filesystem::path application;
  std::filesystem::path priorities;
  std::filesystem::path replay;
  std::filesystem::path output;
  bool only_check = false;
  std::optional<rclrt::model::ExecutorChoice> executor;  // none: that of the replay
  std::optional<std::chrono::nanoseconds> duration;      // ditto
  SimulationSettings settings;
};

constexpr std::chrono::nanoseconds kShortest = std::chrono::milliseconds(10);

/// Sets the application and the settings that replay the counter-example.
void set_up_replay(const Arguments& arguments, rclrt::model::Application& application,
                   SimulationSettings& settings) {
  const auto example = rclrt::analysis::load_counter_example(arguments.replay, application);
  application = rclrt::analysis::counter_example_application(application, example);
  settings.executor = example.executor;
  settings.duration = std::max(kShortest, std::chrono::nanoseconds(example.horizon_ns));
  settings.seed = example.seed;
  settings.warm_up = std::chrono::nanoseconds(example.warm_up_ns);
  settings.cpus = example.cpus;
  settings.times = rclrt::analysis::counter_example_times(example);
  const bool is_chain = example.limit == rclrt::analysis::Limit::kDeadline;
  const std::size_t chain =
      is_chain ? example.chain
               : application.cause_effect_chains[example.chain].segments.back().chain;
  settings.replayed = ReplayedInstance{chain, example.instance};
}

/// The options of the times that the machine adds, as stated.
struct StatedTimes {
  double lowest_execution = 1;
  std::chrono::nanoseconds dispatch{};
  std::chrono::nanoseconds scheduler{};
  std::chrono::nanoseconds polling{};
  std::chrono::nanoseconds timer_jitter{};
  std::chrono::nanoseconds hop{};
};

rclrt::analysis::SimulatedTimes to_times(const StatedTimes& stated) {
  using rclrt::analysis::TimeDistribution;
  rclrt::analysis::SimulatedTimes times;
  times.lowest_execution = stated.lowest_execution;
  times.dispatch_ns = stated.dispatch.count();
  times.scheduler_ns = stated.scheduler.count();
  times.polling_ns = stated.polling.count();
  times.lateness = TimeDistribution::uniform(0, stated.timer_jitter.count());
  times.hop = times.far_hop = TimeDistribution::uniform(0, stated.hop.count());
  return times;
}

text::OptionTable option_table(Arguments& to, StatedTimes& times) {
  const auto time = [](std::string name, std::chrono::nanoseconds& place, std::string help) {
    return text::duration(std::move(name), "T", place, std::chrono::microseconds(1), {0, 1e9},
                          std::move(help));
  };
  const std::string executors = "one of " + rclrt::model::executor_names();
  return {
      .program = "rclrt_simulator",
      .purpose =
          "Simulates the application under one executor and writes into DIR what "
          "rclrt_runner would. Required are --out, unless --check is given, and --executor and "
          "--seconds, unless --replay states them.",
      .options =
          {
              text::custom(
                  "--executor", "NAME", executors,
                  [&to](std::string_view name) {
                    to.executor = rclrt::model::parse_executor(name);
                    return true;
                  },
                  executors + "; options follow the name after a colon: " +
                      rclrt::model::executor_options_help()),
              text::duration("--seconds", "S", to.duration, std::chrono::seconds(1), {0.01, 86'400},
                             "how long"),
              text::path("--out", "DIR", to.output,
                         "a directory for results.json, chains.csv, instances.csv, stalls.csv, "
                         "trace.pftrace"),
              text::flag("--check", to.only_check,
                         "only check the options and the files: simulate and write nothing"),
              text::path("--priorities", "FILE", to.priorities,
                         "callback priorities in the place of the application's"),
              text::path("--replay", "FILE", to.replay,
                         "the schedule of a counter-example: its offsets, execution times and "
                         "priorities; of the other options only --executor, --seconds, --out"),
              text::number("--seed", "N", to.settings.seed, {}, "of the random numbers"),
              text::number("--execution-from", "X", times.lowest_execution, {0, 1},
                           "execution times are uniform from X times the WCET up to the WCET"),
              time("--dispatch-us", times.dispatch, "CPU time of a dispatch"),
              time("--scheduler-us", times.scheduler,
                   "CPU time of a scheduler thread per instance"),
              time("--polling-us", times.polling, "CPU time of a polling point"),
              time("--timer-jitter-us", times.timer_jitter,
                   "timers that catch up are released up to T late"),
              time("--hop-us", times.hop, "a message takes up to T from callback to callback"),
              text::number("--keep", "N", to.settings.keep_all, {1, 100'000'000},
                           "keep all instances of callbacks if at most N are expected; otherwise "
                           "keep counts, histograms, the worst instances and the latest ones; "
                           "default 1000000"),
              text::number("--cpus", "N", to.settings.cpus, {1, 64},
                           "of executors without stated CPUs"),
          },
      .operands = {text::operand("APP.yaml", to.application, "the path of an app.yaml")},
      .notes = "exit code: 0 done, 1 the simulation failed, 2 bad input",
  };
}

Arguments parse_arguments(int argc, const char* const* argv) {
  Arguments result;
  StatedTimes times;
  const auto parsed = text::parse_options(option_table(result, times), argc, argv);
  result.answer = parsed.answer;
  if (result.answer) {
    return result;
  }
  if (result.replay.empty()) {
    if (!result.executor) {
      throw text::UsageError("no --executor; expected one of " + rclrt::model::executor_names());
    }
    if (!result.duration) {
      throw text::UsageError("no --seconds; expected the number of seconds to simulate");
    }
  } else {
    for (const char* option : {"--seed", "--execution-from", "--dispatch-us", "--scheduler-us",
                               "--polling-us", "--timer-jitter-us", "--hop-us", "--cpus"}) {
      if (parsed.given.contains(option)) {
        throw text::UsageError(std::string(option) +
                               ": --replay states that; leave out one of the two");
      }
    }
  }
  if (result.output.empty() && !result.only_check) {
    throw text::UsageError("no --out; expected a directory for the results");
  }
  result.settings.times = to_times(times);
  return result;
}

ResultsDirectory open_output(const std::filesystem::path& output) {
  try {
    return ResultsDirectory(output);
  } catch (const std::exception& error) {
    throw text::UsageError("--out " + output.string() + ": " + error.what());
  }
}

void simulate_application(const Arguments& arguments) {
  auto application = rclrt::model::load_application(arguments.application, arguments.priorities);
  SimulationSettings settings = arguments.settings;
  if (!arguments.replay.empty()) {
    set_up_replay(arguments, application, settings);
  }
  settings.executor = arguments.executor.value_or(settings.executor);
  settings.duration = arguments.duration.value_or(settings.duration);
  if (arguments.only_check) {
    return;
  }
  ResultsDirectory directory = open_output(arguments.output);
  RunResults results = simulate_run(application, settings);
  results.application_file = arguments.application.string();
  results.application_sha256 = sha256_of_file(arguments.application);
  if (!arguments.priorities.empty()) {
    results.priorities =
        PrioritiesFile{arguments.priorities.string(), sha256_of_file(arguments.priorities)};
  }
  write_results(directory.staging(), results);
  rclrt::realtime::PerfettoWriter writer(directory.staging() / kTraceFile,
                                         {.name = application.name + " " + results.executor_label,
                                          .pid = 1,
                                          .sequence_id = 1,
                                          .uuid_base = std::uint64_t{1} << 32U});
  export_trace(writer, results);
  writer.finish();
  directory.commit();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Arguments arguments = parse_arguments(argc, argv);
    if (arguments.answer) {
      std::fputs(arguments.answer->c_str(), stdout);
      return 0;
    }
    simulate_application(arguments);
    return 0;
  } catch (const text::UsageError& error) {
    std::fprintf(stderr, "rclrt_simulator: %s\n", error.what());
    return kBadInput;
  } catch (const rclrt::model::ModelError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kBadInput;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "rclrt_simulator: %s\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_simulator: %s\n", error.what());
    return kFailed;
  }
}

// SPDX-License-Identifier: Apache-2.0
// rclrt_simulator: simulates the measurements of rclrt_runner. No ROS, no threads, deterministic.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <rclrt/analysis/counter_example_file.hpp>
#include <rclrt/model/priorities.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/realtime/perfetto_writer.hpp"
#include "rclrt/recorder/results_directory.hpp"
#include "rclrt/recorder/results_writer.hpp"
#include "rclrt/recorder/sha256.hpp"
#include "rclrt/recorder/trace_export.hpp"
#include "simulation_results.hpp"

namespace {

using namespace rclrt::recorder;   // NOLINT(google-build-using-namespace): this is a program
using namespace rclrt::simulator;  // NOLINT(google-build-using-namespace): this is its program

/// A wrong command line: the message has the fault and what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

constexpr const char* kSimulateUsage =
    "usage: rclrt_simulator APP.yaml --executor NAME --seconds S --out DIR [options]\n"
    "\n"
    "Simulates the application under one executor and writes into DIR what rclrt_runner would.\n"
    "\n"
    "  --executor NAME       wait_set, producer_consumer, thread_dispatch, preemptive, edf, "
    "events,\n"
    "                        picas, per_group, static_order or workshop; with options\n"
    "                        behind it, as wait_set:threads=4\n"
    "  --seconds S           how long, from 0.01 to 86400\n"
    "  --out DIR             results.json, chains.csv, instances.csv, stalls.csv, trace.pftrace\n"
    "  --priorities FILE     callback priorities in the place of the application's\n"
    "  --replay FILE         the schedule of a counter-example: its offsets, execution times and\n"
    "                        priorities; of the other options only --executor, --seconds, --out\n"
    "  --seed N              of the random numbers; default 0\n"
    "  --execution-from X    execution times are uniform from X times the WCET (0 to 1) up to the\n"
    "                        WCET; default 1\n"
    "  --dispatch-us T       CPU time of a dispatch, --scheduler-us T: of a scheduler thread per\n"
    "                        instance, --polling-us T: of a polling point; default 0\n"
    "  --timer-jitter-us T   timers that catch up are released up to T late; default 0\n"
    "  --hop-us T            a message takes up to T from callback to callback; default 0\n"
    "  --cpus N              of executors without stated CPUs; default 1\n"
    "\n"
    "exit code: 0 done, 1 the simulation failed, 2 bad input\n";

struct Arguments {
  std::filesystem::path application;
  std::filesystem::path priorities;
  std::filesystem::path replay;
  std::filesystem::path output;
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
  settings.cpus = example.cpus;
  settings.times = rclrt::analysis::counter_example_times(example);
}

double parse_number(const std::string& option, const std::string& text, double lowest,
                    double highest) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= lowest) ||
      !(value <= highest)) {
    throw UsageError(option + " " + text + ": expected a number from " + std::to_string(lowest) +
                     " to " + std::to_string(highest));
  }
  return value;
}

std::int64_t parse_us(const std::string& option, const std::string& text) {
  return std::llround(parse_number(option, text, 0, 1e9) * 1e3);
}

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw UsageError("--seed " + text + ": expected a whole number from 0 to 2^64 - 1");
  }
  return seed;
}

/// Each option and its value.
using Options = std::map<std::string, std::string>;

/// Fills in the given options. Returns the arguments that are not options.
std::vector<std::string> read_options(int argc, const char* const* argv, Options& given) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (given.contains(argument)) {
      if (++i == argc) {
        throw UsageError(argument + ": expected a value after it");
      }
      given[argument] = argv[i];
    } else if (argument.starts_with("-")) {
      throw UsageError("unknown option " + argument + "; see --help");
    } else {
      files.push_back(argument);
    }
  }
  return files;
}

rclrt::analysis::SimulatedTimes read_times(Options& given) {
  rclrt::analysis::SimulatedTimes times;
  times.lowest_execution = parse_number("--execution-from", given["--execution-from"], 0, 1);
  times.dispatch_ns = parse_us("--dispatch-us", given["--dispatch-us"]);
  times.scheduler_ns = parse_us("--scheduler-us", given["--scheduler-us"]);
  times.polling_ns = parse_us("--polling-us", given["--polling-us"]);
  const auto up_to = [&given](const char* option) {
    return rclrt::analysis::TimeDistribution::uniform(0, parse_us(option, given[option]));
  };
  times.lateness = up_to("--timer-jitter-us");
  times.hop = times.far_hop = up_to("--hop-us");
  return times;
}

Arguments parse_arguments(int argc, const char* const* argv) {
  Options given{{"--executor", ""},      {"--seconds", ""},
                {"--out", ""},           {"--seed", "0"},
                {"--dispatch-us", "0"},  {"--execution-from", "1"},
                {"--scheduler-us", "0"}, {"--hop-us", "0"},
                {"--polling-us", "0"},   {"--timer-jitter-us", "0"},
                {"--cpus", "1"},         {"--priorities", ""},
                {"--replay", ""}};
  const auto unstated = given;
  const std::vector<std::string> files = read_options(argc, argv, given);
  const bool replays = !given["--replay"].empty();
  if (files.size() != 1 || (given["--seconds"].empty() && !replays) || given["--out"].empty()) {
    throw UsageError("expected one APP.yaml, --executor, --seconds and --out; see --help");
  }
  for (const char* option : {"--seed", "--execution-from", "--dispatch-us", "--scheduler-us",
                             "--polling-us", "--timer-jitter-us", "--hop-us", "--cpus"}) {
    if (replays && given[option] != unstated.at(option)) {
      throw UsageError(std::string(option) + ": --replay states that; expected one of the two");
    }
  }
  std::optional<rclrt::model::ExecutorChoice> executor;
  if (!replays || !given["--executor"].empty()) {
    try {
      executor = rclrt::model::parse_executor(given["--executor"]);
    } catch (const std::invalid_argument& error) {
      throw UsageError(std::string("--executor: ") + error.what());
    }
  }
  Arguments result{.application = files.front(),
                   .priorities = given["--priorities"],
                   .replay = given["--replay"],
                   .output = given["--out"],
                   .executor = executor,
                   .duration = {},
                   .settings = {}};
  if (!given["--seconds"].empty()) {
    const double seconds = parse_number("--seconds", given["--seconds"], 0.01, 86'400);
    result.duration = std::chrono::nanoseconds(std::llround(seconds * 1e9));
  }
  result.settings.seed = parse_seed(given["--seed"]);
  result.settings.cpus = static_cast<unsigned>(parse_number("--cpus", given["--cpus"], 1, 64));
  result.settings.times = read_times(given);
  return result;
}

void simulate_application(const Arguments& arguments) {
  auto application = rclrt::model::load_application(arguments.application, arguments.priorities);
  SimulationSettings settings = arguments.settings;
  if (!arguments.replay.empty()) {
    set_up_replay(arguments, application, settings);
  }
  settings.executor = arguments.executor.value_or(settings.executor);
  settings.duration = arguments.duration.value_or(settings.duration);
  ResultsDirectory directory(arguments.output);
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
    if (argc == 2 && std::string_view(argv[1]) == "--help") {
      std::fputs(kSimulateUsage, stdout);
      return 0;
    }
    simulate_application(parse_arguments(argc, argv));
    return 0;
  } catch (const UsageError& error) {
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

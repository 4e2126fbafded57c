// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

namespace rclrt::runner {

const char* const kUsage =
    "usage: rclrt_runner APP.yaml --executor NAME --seconds S --out DIR [--strict]\n"
    "                    [--priorities FILE] [--not-alone] [--ros-args ...]\n"
    "\n"
    "Runs the application under one executor and writes what it measured into DIR.\n"
    "\n"
    "  --executor NAME  wait_set, producer_consumer, thread_dispatch, preemptive, edf, events,\n"
    "                   picas, per_group, static_order or workshop; some may have options:\n"
    "                   wait_set :threads=N, :order=arbitrary, :seed=N, :static; events\n"
    "                   :timers_thread; static_order :trigger=all, :trigger_on=CALLBACK, :let\n"
    "  --seconds S      how long, from 0.01 to 86400\n"
    "  --out DIR        results.json, chains.csv, instances.csv, stalls.csv, observed.yaml,\n"
    "                   trace.pftrace; replaced as a whole\n"
    "  --priorities FILE  callback priorities in the place of the application's\n"
    "  --strict         fail when something the application asks of the system is not permitted\n"
    "  --not-alone      others may publish and listen on the application's topics\n"
    "  --help, --version\n"
    "\n"
    "exit code: 0 done, 1 the run failed, 2 bad input, 130 interrupted (nothing is written)\n";

namespace {

std::chrono::nanoseconds parse_seconds(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || !(seconds >= 0.01) ||
      !(seconds <= 86'400)) {
    throw UsageError("--seconds " + std::string(text) +
                     ": expected a number of seconds from 0.01 to 86400");
  }
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

}  // namespace

namespace {

/// The values of the options, as text.
struct Given {
  std::string executor;
  std::string seconds;
  std::string output;
  std::string priorities;
  std::vector<std::string> files;

  /// Returns the place for the value of `option`; nullptr if it takes none.
  std::string* value_of(std::string_view option) {
    return option == "--executor"     ? &executor
           : option == "--seconds"    ? &seconds
           : option == "--out"        ? &output
           : option == "--priorities" ? &priorities
                                      : nullptr;
  }
};

/// Returns false when `argument` is no flag.
bool read_flag(std::string_view argument, CommandLine& result) {
  if (argument == "--help" || argument == "-h") {
    result.help = true;
  } else if (argument == "--version") {
    result.version = true;
  } else if (argument == "--strict") {
    result.strict = true;
  } else if (argument == "--not-alone") {
    result.alone = false;
  } else {
    return false;
  }
  return true;
}

Given read_arguments(int argc, const char* const* argv, CommandLine& result) {
  Given given;
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--ros-args"; ++i) {
    const std::string argument = argv[i];
    if (std::string* const value = given.value_of(argument)) {
      if (++i >= argc || std::string_view(argv[i]) == "--ros-args") {
        throw UsageError(argument + ": expected a value after it");
      }
      if (!value->empty()) {
        throw UsageError(argument + " is given twice; expected it once");
      }
      *value = argv[i];
    } else if (!read_flag(argument, result)) {
      if (argument.starts_with("-")) {
        throw UsageError("unknown option " + argument + "; see --help");
      }
      given.files.push_back(argument);
    }
  }
  return given;
}

model::ExecutorChoice parse_executor(const std::string& text) {
  if (text.empty()) {
    throw UsageError("no --executor; expected one of " + model::executor_names());
  }
  try {
    const model::ExecutorChoice choice = model::parse_executor(text);
    if (!traits(choice).simulated_only) {
      return choice;
    }
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("--executor: ") + error.what());
  }
  throw UsageError("--executor: '" + text + "' can only be simulated; expected one of " +
                   model::executor_names());
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine result;
  const Given given = read_arguments(argc, argv, result);
  if (result.help || result.version) {
    return result;
  }
  const auto& [executor, seconds, output, priorities, files] = given;
  if (files.size() != 1) {
    throw UsageError(files.empty() ? "no application; expected the path of an app.yaml"
                                   : "two applications (" + files[0] + ", " + files[1] +
                                         "); expected one app.yaml");
  }
  result.application = files.front();
  result.priorities = priorities;
  result.executor = parse_executor(executor);
  if (seconds.empty()) {
    throw UsageError("no --seconds; expected how long to run");
  }
  result.duration = parse_seconds(seconds);
  if (output.empty()) {
    throw UsageError("no --out; expected a directory for the results");
  }
  result.output = output;
  return result;
}

}  // namespace rclrt::runner

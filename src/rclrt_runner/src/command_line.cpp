// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <stdexcept>
#include <string_view>

namespace rclrt::runner {

namespace {

/// Returns the executor that `name` is. Throws std::invalid_argument if it does not run.
model::ExecutorChoice parse_executor(std::string_view name) {
  const model::ExecutorChoice choice = model::parse_executor(name);
  if (traits(choice).simulated_only) {
    throw std::invalid_argument("'" + std::string(name) +
                                "' can only be simulated; expected one of " +
                                model::executor_names());
  }
  return choice;
}

text::OptionTable option_table(CommandLine& line) {
  const std::string executors = "one of " + model::executor_names();
  return {
      .program = "rclrt_runner",
      .purpose = "Runs the application under one executor and writes what it measured into DIR.",
      .options =
          {
              text::required(text::custom(
                                 "--executor", "NAME", executors,
                                 [&line](std::string_view name) {
                                   line.executor = parse_executor(name);
                                   return true;
                                 },
                                 executors + "; options follow the name after a colon: " +
                                     model::executor_options_help()),
                             executors),
              text::required(
                  text::duration("--seconds", "S", line.duration, std::chrono::seconds(1),
                                 {0.01, 86'400}, "how long to run"),
                  "how long to run"),
              text::required(
                  text::path("--out", "DIR", line.output,
                             "results.json, chains.csv, instances.csv, stalls.csv, observed.yaml, "
                             "trace.pftrace; the files of an earlier run are replaced"),
                  "a directory for the results"),
              text::number("--keep", "N", line.keep_all, {1, 100'000'000},
                           "keep all instances of callbacks up to N; a run with more keeps counts, "
                           "histograms, the worst instances and the latest ones; default 1000000"),
              text::path("--priorities", "FILE", line.priorities,
                         "a file with callback priorities that replace those of the application"),
              text::flag("--strict", line.strict,
                         "fails if the system does not permit something that the application "
                         "states, such as a priority"),
              text::flag(
                  "--not-alone", line.alone,
                  "other programs may publish on the application's topics and have its services",
                  false),
          },
      .operands = {text::operand("APP.yaml", line.application, "the path of an app.yaml")},
      .notes =
          "exit code: 0 done, 1 the run failed, 2 bad input, 130 interrupted (what was\n"
          "           measured is written)\n"
          "A run of more than a minute writes results while it goes on, from 2 s on.",
      .until = "--ros-args",
  };
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  line.answer = text::parse_options(option_table(line), argc, argv).answer;
  return line;
}

}  // namespace rclrt::runner

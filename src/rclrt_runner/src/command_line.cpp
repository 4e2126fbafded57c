// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "rclrt/text/number.hpp"

namespace rclrt::runner {

model::ExecutorChoice parse_runnable_executor(std::string_view name) {
  const model::ExecutorChoice choice = model::parse_executor(name);
  if (traits(choice).simulated_only) {
    throw std::invalid_argument("'" + std::string(name) +
                                "' can only be simulated; expected one of " +
                                model::executor_names());
  }
  return choice;
}

namespace {

/// Reads "arm=7,lidar=8": names of hosts, and the numbers of sockets. Returns false for another
/// text.
bool parse_connections(std::string_view text, std::vector<HostConnection>& hosts) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    const std::size_t equals = std::min(item.find('='), item.size());
    const auto file =
        text::parse_number<int>(item.substr(std::min(equals + 1, item.size())), {3, 1'000'000});
    if (equals == 0 || !file) {
      return false;
    }
    hosts.push_back({std::string(item.substr(0, equals)), *file});
    text.remove_prefix(std::min(item.size() + 1, text.size()));
  }
  return !hosts.empty();
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
                                   line.executor = parse_runnable_executor(name);
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
              text::custom(
                  "--hosts", "NAME=FILE,...", "names of hosts, each with the number of a socket",
                  [&line](std::string_view text) { return parse_connections(text, line.hosts); },
                  "other hosts of the run, each with the number of an open socket to its agent; "
                  "`rclrt run --agent` makes them"),
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

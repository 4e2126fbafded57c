// SPDX-License-Identifier: Apache-2.0
#include "exercise/options.hpp"

#include <algorithm>
#include <limits>

namespace rclrt::demos {

namespace {

constexpr double kLongest_s = 3600;

std::string program_of(const Exercise& exercise) {
  std::string program = "exercise_" + std::string(exercise.name);
  if (*exercise.client != '\0') {
    program += "_" + std::string(exercise.client);
  }
  std::replace(program.begin(), program.end(), '-', '_');
  return program;
}

text::OptionTable option_table(const Exercise& exercise, Options& options) {
  text::OptionTable table{
      .program = program_of(exercise),
      .purpose = "the flaw (default): " + std::string(exercise.baseline) +
                 "\n--solution:         " + exercise.solution,
      .options =
          {
              text::flag("--solution", options.solution, "runs the fix, not the flaw"),
              text::duration("--seconds", "S", options.duration, std::chrono::seconds(1),
                             {text::kAboveZero, kLongest_s}, "how long"),
              text::path("--json", "FILE", options.json,
                         "writes what was measured: the times of each slice in nanoseconds"),
              text::path("--trace", "FILE", options.trace,
                         "writes a trace for https://ui.perfetto.dev"),
          },
      .notes =
          "Ctrl-C ends it early and writes what there is.\n"
          "exit code: 0 done, 1 it failed, 2 bad input",
  };
  if (exercise.takes_threads) {
    table.options.push_back(text::number(
        "--threads", "N", options.threads, {1, std::numeric_limits<std::size_t>::max()},
        "one thread on each of the first N CPUs; default 2, or 1 if there is one CPU"));
  }
  return table;
}

}  // namespace

Options parse_options(const Exercise& exercise, int argc, const char* const* argv) {
  Options options;
  options.answer = text::parse_options(option_table(exercise, options), argc, argv).answer;
  if (!options.json.empty() && options.json == options.trace) {
    throw text::UsageError("--json and --trace name the same file, " + options.json.string() +
                           "; expected two different files");
  }
  return options;
}

}  // namespace rclrt::demos

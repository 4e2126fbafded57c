// SPDX-License-Identifier: Apache-2.0
#include "exercise/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

namespace rclrt::demos {

namespace {

constexpr double kLongest_s = 3600;

/// Reads a number if all of `text` is one.
template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

std::chrono::nanoseconds parse_seconds(const std::string& text) {
  double seconds = 0;
  if (!parse_number(text, seconds) || !(seconds > 0) || !(seconds <= kLongest_s)) {
    throw UsageError("--seconds " + text +
                     ": expected a number of seconds above 0 and up to 3600, such as 2.5");
  }
  const auto duration = std::chrono::nanoseconds(std::llround(seconds * 1e9));
  return std::max(duration, std::chrono::nanoseconds(1));
}

std::size_t parse_threads(const std::string& text) {
  std::size_t threads = 0;
  if (!parse_number(text, threads) || threads == 0) {
    throw UsageError("--threads " + text + ": expected a whole number from 1 on, such as 2");
  }
  return threads;
}

/// Stores the value of an option. Returns false if there is no such option.
bool store(const Exercise& exercise, Options& options, std::string_view option,
           const std::string& value) {
  if (option == "--seconds") {
    options.duration = parse_seconds(value);
  } else if (option == "--json") {
    options.json = value;
  } else if (option == "--trace") {
    options.trace = value;
  } else if (option == "--threads" && exercise.takes_threads) {
    options.threads = parse_threads(value);
  } else {
    return false;
  }
  return true;
}

bool takes_value(const Exercise& exercise, std::string_view option) {
  return option == "--seconds" || option == "--json" || option == "--trace" ||
         (option == "--threads" && exercise.takes_threads);
}

}  // namespace

Options parse_options(const Exercise& exercise, int argc, const char* const* argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      options.help = true;
    } else if (argument == "--solution") {
      options.solution = true;
    } else if (!takes_value(exercise, argument)) {
      throw UsageError("unknown argument \"" + argument + "\"; --help lists the options");
    } else if (i + 1 >= argc || *argv[i + 1] == '\0') {
      throw UsageError(argument + ": expected a value after it");
    } else {
      store(exercise, options, argument, argv[++i]);
    }
  }
  if (!options.json.empty() && options.json == options.trace) {
    throw UsageError("--json and --trace name the same file, " + options.json.string() +
                     "; expected two");
  }
  return options;
}

std::string usage(const Exercise& exercise) {
  std::string program = "exercise_" + std::string(exercise.name);
  if (*exercise.client != '\0') {
    program += "_" + std::string(exercise.client);
  }
  std::replace(program.begin(), program.end(), '-', '_');
  std::string text =
      "usage: " + program + " [--solution] [--seconds S] [--json FILE] [--trace FILE]";
  text += exercise.takes_threads ? " [--threads N]\n\n" : "\n\n";
  text += "the flaw (default): " + std::string(exercise.baseline) + "\n" +
          "--solution:         " + exercise.solution + "\n\n";
  text +=
      "  --seconds S    how long, above 0 and up to 3600; 10 if not stated\n"
      "  --json FILE    writes what was measured: the times of each slice in nanoseconds\n"
      "  --trace FILE   writes a trace for https://ui.perfetto.dev\n";
  if (exercise.takes_threads) {
    text += "  --threads N    one thread on each of the first N CPUs; 2 if there are as many\n";
  }
  text +=
      "\nCtrl-C ends it early and writes what there is.\n"
      "exit code: 0 done, 1 it failed, 2 bad input\n";
  return text;
}

}  // namespace rclrt::demos

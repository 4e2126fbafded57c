// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <sstream>
#include <string_view>

#include "contender.hpp"
#include "plan.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::bench {

const char* const kUsage =
    "usage: executors [options]\n"
    "\n"
    "Measures every executor beside the bare kernel and middleware; prints JSON.\n"
    "\n"
    "  --quick            1 minute instead of 4: fewer rounds of fewer samples\n"
    "  --quiet            a SCHED_IDLE spinner per CPU keeps a virtual machine's host awake\n"
    "  --seconds N        begin no round that would end later, 1 to 86400; the first is always "
    "run\n"
    "  --rounds N         begin no more rounds than this, 1 to 1000\n"
    "  --samples N        per row and round, 2 to 100000\n"
    "  --cases A,B        only these\n"
    "  --executors A,B    only these\n"
    "  --cpus A,B         which two CPUs, the second one for what runs on one CPU (default: the "
    "last\n"
    "                     two allowed)\n";

namespace {

int parse_number(const std::string& option, std::string_view text, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    throw UsageError(option + " " + std::string(text) + ": expected a whole number from " +
                     std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text + ",");
  for (std::string word; std::getline(stream, word, ',');) {
    words.push_back(word);
  }
  return words;
}

std::vector<std::string> parse_names(const std::string& option, const std::string& text,
                                     const std::vector<std::string>& known) {
  std::vector<std::string> names = split(text);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string all;
      for (const std::string& each : known) {
        all += (all.empty() ? "" : ", ") + each;
      }
      throw UsageError(option + " " + name + ": not known; choose from " + all);
    }
    if (std::count(names.begin(), names.end(), name) > 1) {
      throw UsageError(option + " " + name + ": listed more than once; list each once");
    }
  }
  return names;
}

std::vector<int> parse_cpus(const std::string& option, const std::string& text) {
  constexpr int kLast = 8191;
  std::vector<int> cpus;
  for (const std::string& word : split(text)) {
    cpus.push_back(parse_number(option, word, 0, kLast));
  }
  if (cpus.size() > 2 || (cpus.size() == 2 && cpus[0] == cpus[1])) {
    throw UsageError(option + " " + text + ": expected one CPU, or two different ones");
  }
  try {
    realtime::require_allowed_cpus(cpus);
  } catch (const std::invalid_argument& error) {
    throw UsageError(option + ": " + error.what());
  }
  return cpus;
}

CommandLine full() {
  CommandLine line{.samples = 100, .warm_up = 10, .rounds = 1000, .seconds = 240};
  line.cases = case_names();
  line.executors = Contender::names();
  line.cpus = realtime::allowed_cpus();
  line.cpus.erase(line.cpus.begin(), line.cpus.end() - std::min<long>(2, std::ssize(line.cpus)));
  return line;
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line = full();
  std::vector<std::string> words(argv + 1, argv + argc);
  if (const auto quick = std::find(words.begin(), words.end(), "--quick"); quick != words.end()) {
    line.quick = true;
    line.samples = 50;
    line.warm_up = 5;
    line.seconds = 60;
    words.erase(quick);  // all other options take precedence over it, at any position
  }
  using Take = std::function<void(const std::string& option, const std::string& value)>;
  const std::map<std::string, Take> options = {
      {"--seconds",
       [&](const auto& option, const auto& value) {
         line.seconds = parse_number(option, value, 1, 86'400);
       }},
      {"--rounds", [&](const auto& option,
                       const auto& value) { line.rounds = parse_number(option, value, 1, 1000); }},
      {"--samples",
       [&](const auto& option, const auto& value) {
         line.samples = parse_number(option, value, 2, 100'000);
       }},
      {"--cases",
       [&](const auto& option, const auto& value) {
         line.cases = parse_names(option, value, case_names());
       }},
      {"--executors",
       [&](const auto& option, const auto& value) {
         line.executors = parse_names(option, value, Contender::names());
       }},
      {"--cpus",
       [&](const auto& option, const auto& value) { line.cpus = parse_cpus(option, value); }},
  };
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (*word == "--help" || *word == "-h") {
      line.help = true;
    } else if (*word == "--quiet") {
      line.quiet = true;
    } else if (const auto option = options.find(*word); option == options.end()) {
      throw UsageError("unknown option " + *word + "; see --help");
    } else if (word + 1 == words.end()) {
      throw UsageError(*word + ": expected a value after it");
    } else {
      ++word;
      option->second(option->first, *word);
    }
  }
  return line;
}

}  // namespace rclrt::bench

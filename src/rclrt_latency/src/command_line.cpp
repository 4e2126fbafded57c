// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

namespace rclrt::latency {

const char* const kUsage =
    "usage: rclrt_latency [options]\n"
    "\n"
    "Measures how late a thread on each CPU wakes up, and writes a JSON document.\n"
    "\n"
    "  --policy NAMES       fifo (default), rr, other, deadline; several, as other,fifo, take "
    "turns\n"
    "  --priority N         of fifo and rr, 1 to 99, default 80\n"
    "  --cpus N,N,...       a thread on each; default: every CPU that the process may use\n"
    "  --interval US        between wake-ups, 50 to 1000000, default 1000\n"
    "  --seconds S          of each policy, 0.1 to 86400, default 10\n"
    "  --loops N            of each thread in each round, instead of --seconds\n"
    "  --rounds N           each policy runs N times, 1 to 1000, default 1\n"
    "  --stalls METHOD      how stalls of the machine are found: probe (default), spin, none\n"
    "  --stall-threshold US from which on a stall counts; default 200, with spin 50\n"
    "  --stress             a busy process on each CPU at normal priority\n"
    "  --no-dma-latency     lets CPUs sleep as deeply as they like\n"
    "  --break-above US     stops at a wake-up later than this and writes the trace of the last\n"
    "                       seconds; exit code 1\n"
    "  --dump-directory DIR where that trace goes, default .\n"
    "  --histogram-log FILE an HdrHistogram log with an interval per second\n"
    "  --live               a line on standard error each second\n"
    "  --help, --version\n"
    "\n"
    "exit code: 0 measured, 1 above the threshold, or it could not be measured, 2 bad input,\n"
    "           130 interrupted (what was measured until then is written)\n";

const char* option_of(realtime::Policy policy) noexcept {
  switch (policy) {
    case realtime::Policy::kFifo:
      return "fifo";
    case realtime::Policy::kRoundRobin:
      return "rr";
    case realtime::Policy::kDeadline:
      return "deadline";
    case realtime::Policy::kOther:
      break;
  }
  return "other";
}

namespace {

using realtime::Policy;

constexpr std::array kPolicies{Policy::kFifo, Policy::kRoundRobin, Policy::kOther,
                               Policy::kDeadline};
constexpr std::array kMethods{StallMethod::kProbe, StallMethod::kSpin, StallMethod::kNone};

[[noreturn]] void refuse(std::string_view option, std::string_view value, const std::string& what) {
  throw UsageError(std::string(option) + " " + std::string(value) + ": expected " + what);
}

double number(std::string_view option, std::string_view text, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= least) ||
      !(value <= most)) {
    std::array<char, 80> range{};
    std::snprintf(range.data(), range.size(), "a number from %g to %.0f", least, most);
    refuse(option, text, range.data());
  }
  return value;
}

std::uint64_t count(std::string_view option, std::string_view text, std::uint64_t least,
                    std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    refuse(option, text,
           "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::chrono::nanoseconds duration(std::string_view option, std::string_view text, double least,
                                  double most, double unit_ns) {
  return std::chrono::nanoseconds(std::llround(number(option, text, least, most) * unit_ns));
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::vector<Policy> policies(std::string_view option, std::string_view text) {
  std::vector<Policy> result;
  for (const std::string_view name : split(text)) {
    const auto* const found =
        std::ranges::find_if(kPolicies, [&](Policy policy) { return name == option_of(policy); });
    if (found == kPolicies.end() || std::ranges::count(result, *found) != 0) {
      refuse(option, text, "one or more of fifo, rr, other, deadline, each once");
    }
    result.push_back(*found);
  }
  return result;
}

std::vector<int> cpus(std::string_view option, std::string_view text) {
  std::vector<int> result;
  for (const std::string_view part : split(text)) {
    result.push_back(static_cast<int>(count(option, part, 0, 1'000'000)));
  }
  std::ranges::sort(result);
  if (std::ranges::adjacent_find(result) != result.end()) {
    refuse(option, text, "each CPU once");
  }
  return result;
}

StallMethod method(std::string_view option, std::string_view text) {
  const auto* const found =
      std::ranges::find_if(kMethods, [&](StallMethod each) { return text == to_string(each); });
  if (found == kMethods.end()) {
    refuse(option, text, "probe, spin or none");
  }
  return *found;
}

/// Sets the value that `option` states. Returns false if it is not an option with a value.
bool set(Settings& to, std::string_view option, const std::string& text) {
  const std::pair<std::string_view, std::function<void()>> options[] = {
      {"--policy", [&] { to.policies = policies(option, text); }},
      {"--priority", [&] { to.priority = static_cast<int>(count(option, text, 1, 99)); }},
      {"--cpus", [&] { to.cpus = cpus(option, text); }},
      {"--interval", [&] { to.interval = duration(option, text, 50, 1e6, 1e3); }},
      {"--seconds", [&] { to.duration = duration(option, text, 0.1, 86'400, 1e9); }},
      {"--loops", [&] { to.loops = count(option, text, 1, 1'000'000'000'000); }},
      {"--rounds", [&] { to.rounds = static_cast<int>(count(option, text, 1, 1000)); }},
      {"--stalls", [&] { to.stalls = method(option, text); }},
      {"--stall-threshold", [&] { to.stall_threshold = duration(option, text, 10, 1e6, 1e3); }},
      {"--break-above", [&] { to.break_above = duration(option, text, 1, 1e6, 1e3); }},
      {"--dump-directory", [&] { to.dump_directory = text; }},
      {"--histogram-log", [&] { to.histogram_log = text; }},
  };
  for (const auto& [name, apply] : options) {
    if (name == option) {
      apply();
      return true;
    }
  }
  return false;
}

bool set_flag(CommandLine& to, std::string_view option) {
  if (option == "--help" || option == "-h") {
    to.help = true;
  } else if (option == "--version") {
    to.version = true;
  } else if (option == "--stress") {
    to.settings.stress = true;
  } else if (option == "--no-dma-latency") {
    to.settings.keep_cpus_awake = false;
  } else if (option == "--live") {
    to.settings.live = true;
  } else {
    return false;
  }
  return true;
}

/// Throws UsageError for options that exclude each other.
void check(const Settings& settings) {
  if (settings.stress && settings.stalls == StallMethod::kSpin) {
    throw UsageError(
        "--stress and --stalls spin: the watching thread runs only where nothing else does; "
        "expected --stalls probe, or no --stress");
  }
  if (!settings.cpus.empty() && std::ranges::count(settings.policies, Policy::kDeadline) != 0) {
    throw UsageError(
        "--cpus and the policy deadline: the kernel lets such a thread use every CPU; expected "
        "one of the two");
  }
  if (!std::filesystem::is_directory(settings.dump_directory)) {
    throw UsageError("--dump-directory " + settings.dump_directory.string() +
                     ": is no directory; make it first");
  }
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine result;
  std::vector<std::string> seen;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (std::ranges::count(seen, option) != 0) {
      throw UsageError(option + " is given twice; expected it once");
    }
    seen.push_back(option);
    if (set_flag(result, option)) {
      continue;
    }
    const bool has_value = i + 1 < argc;
    if (!set(result.settings, option, has_value ? argv[i + 1] : "")) {
      throw UsageError("unknown option " + option + "; see --help");
    }
    ++i;
  }
  if (!result.help && !result.version) {
    check(result.settings);
  }
  return result;
}

}  // namespace rclrt::latency

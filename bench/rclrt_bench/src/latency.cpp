// SPDX-License-Identifier: Apache-2.0
// rclrt_latency: timer lateness and publish-to-callback latency of every executor beside the bare
// kernel and middleware, interleaved in one run on one CPU.
#include <charconv>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bare.hpp"
#include "executors.hpp"
#include "quiet.hpp"
#include "rclrt/executors.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "samples.hpp"

namespace {

using namespace rclrt;         // NOLINT(google-build-using-namespace): this is the program
using namespace rclrt::bench;  // NOLINT(google-build-using-namespace)

constexpr const char* kUsage =
    "usage: rclrt_latency [--rounds N] [--samples N] [--cpu N] [--quiet] [--json FILE]\n"
    "\n"
    "  --rounds N   how often all cases take turns, 1 to 1000 (default 5)\n"
    "  --samples N  per case and round, 1 to 1000000 (default 400)\n"
    "  --cpu N      where everything runs (default: the last CPU allowed)\n"
    "  --quiet      a SCHED_IDLE spinner per CPU keeps a virtual machine's host awake\n"
    "  --json FILE  the rows of the table\n";

constexpr std::int64_t kPeriod_ns = 1'000'000;

struct Options {
  int rounds = 5;
  int samples = 400;
  int cpu = 0;
  bool quiet = false;
  std::string json;
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

int parse_number(std::string_view option, std::string_view text, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    throw UsageError(std::string(option) + " " + std::string(text) +
                     ": expected a whole number from " + std::to_string(low) + " to " +
                     std::to_string(high));
  }
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  options.cpu = realtime::allowed_cpus().back();
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--quiet") {
      options.quiet = true;
      continue;
    }
    if (option == "--help" || option == "-h") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    const bool known =
        option == "--rounds" || option == "--samples" || option == "--cpu" || option == "--json";
    if (!known || i + 1 == argc) {
      throw UsageError(known ? std::string(option) + ": expected a value after it"
                             : "unknown option " + std::string(option) + "; see --help");
    }
    const std::string_view value = argv[++i];
    if (option == "--rounds") {
      options.rounds = parse_number(option, value, 1, 1000);
    } else if (option == "--samples") {
      options.samples = parse_number(option, value, 1, 1'000'000);
    } else if (option == "--cpu") {
      options.cpu = parse_number(option, value, 0, 8191);
    } else {
      options.json = value;
    }
  }
  realtime::require_allowed_cpus({options.cpu});
  return options;
}

struct Case {
  std::string name;
  std::string floor;  ///< the case, or the two, that it cannot be better than
  std::function<void(Samples&)> measure;
  Samples samples = {};
};

double floor_us(const std::vector<Case>& cases, const Case& of) {
  double sum = 0;
  for (const Case& each : cases) {
    // "a + b" names two cases.
    if (of.floor == each.name || of.floor.starts_with(each.name + " + ") ||
        of.floor.ends_with(" + " + each.name)) {
      sum += each.samples.quantile_us(0.5);
    }
  }
  return sum;
}

std::vector<Case> make_cases(const Options& options, const std::shared_ptr<Context>& context,
                             bool realtime_permitted) {
  const auto policy = realtime_permitted ? realtime::Policy::kFifo : realtime::Policy::kOther;
  const Bare bare{{policy, realtime_permitted ? 94 : 0, {options.cpu}},
                  {policy, realtime_permitted ? 93 : 0, {options.cpu}}};
  const auto count = static_cast<std::size_t>(options.samples);
  std::vector<Case> cases;
  cases.push_back({"bare futex wake", "",
                   [=](Samples& into) { measure_futex_wake(bare, kPeriod_ns, count, into); }});
  cases.push_back({"bare nanosleep", "",
                   [=](Samples& into) { measure_nanosleep(bare, kPeriod_ns, count, into); }});
  cases.push_back({"inline publish, take", "", [=](Samples& into) {
                     measure_publish_take(bare, context, kPeriod_ns, count, into);
                   }});
  for (const std::string& name : executor_names()) {
    cases.push_back({"timer, " + name, "bare nanosleep", [=](Samples& into) {
                       measure_timer(name, options.cpu, context, kPeriod_ns, count, into);
                     }});
    cases.push_back(
        {"publish, " + name, "inline publish, take + bare futex wake", [=](Samples& into) {
           measure_publish(name, options.cpu, context, kPeriod_ns, count, into);
         }});
  }
  return cases;
}

void print(const std::vector<Case>& cases) {
  std::printf("%-28s %9s %9s %9s %8s %8s\n", "latency in µs", "p50", "p99", "max", "samples",
              "p50/floor");
  for (const Case& each : cases) {
    std::printf("%-28s %9.1f %9.1f %9.1f %8zu", each.name.c_str(), each.samples.quantile_us(0.5),
                each.samples.quantile_us(0.99), each.samples.quantile_us(1.0),
                each.samples.count());
    if (!each.floor.empty()) {
      std::printf(" %8.2f", each.samples.quantile_us(0.5) / floor_us(cases, each));
    }
    std::printf("\n");
  }
  std::printf("floor: timers: bare nanosleep; publish: inline publish and take + futex wake\n");
}

void write_json(const std::string& path, const std::vector<Case>& cases) {
  std::ofstream out(path);
  out << "[";
  for (const Case& each : cases) {
    out << (&each == &cases.front() ? "\n" : ",\n") << R"(  {"case": ")" << each.name
        << R"(", "p50_us": )" << each.samples.quantile_us(0.5) << R"(, "p99_us": )"
        << each.samples.quantile_us(0.99) << R"(, "max_us": )" << each.samples.quantile_us(1.0)
        << R"(, "samples": )" << each.samples.count();
    if (!each.floor.empty()) {
      out << R"(, "floor_us": )" << floor_us(cases, each);
    }
    out << "}";
  }
  out << "\n]\n";
  if (!out.flush()) {
    throw std::runtime_error("writing " + path + " failed");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    const auto no_realtime = realtime::why_no_realtime(95);
    if (const auto problem = realtime::lock_memory()) {
      std::fprintf(stderr, "rclrt_latency: %s\n", problem->c_str());
    }
    const auto context = Context::make();
    std::vector<Case> cases = make_cases(options, context, !no_realtime);
    const Quiet quiet(options.quiet);
    const double steal_before = steal_ms();
    for (int round = 0; round < options.rounds && context->ok(); ++round) {
      for (Case& each : cases) {
        if (context->ok()) {
          each.measure(each.samples);
        }
      }
    }
    if (!context->ok()) {
      std::fprintf(stderr, "rclrt_latency: interrupted\n");
      return 130;
    }
    print(cases);
    std::printf("CPU %d, period %.1f ms, %s, steal %.0f ms%s\n", options.cpu, kPeriod_ns / 1e6,
                no_realtime ? "normal priority" : "SCHED_FIFO", steal_ms() - steal_before,
                options.quiet ? ", quiet" : "");
    if (!options.json.empty()) {
      write_json(options.json, cases);
    }
    return 0;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "rclrt_latency: %s\n", error.what());
    return 2;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "rclrt_latency: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_latency: %s\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
// rclrt's executors beside rclcpp's, on rclcpp nodes: each case runs every contender in turn, round
// after round, in this one process.
//
//   rclrt_rclcpp_bench [--rounds N] [--seconds S] [--cpus N] [--case NAME] [--json]
//
// A figure is the median over the rounds; max and "worst lost" are those of the worst round. The
// JSON also has the figures of each round, so that measurements in turn can be compared pair by
// pair. If the hypervisor took more than kStolen_ms of a round, the round is repeated, whatever its
// results, at most kTries times.
//
// All executors run under SCHED_FIFO where it is permitted: rclcpp's in a thread at priority 80,
// the pair of best practice at 80 and 70. So the executor is the only difference.
#include <sys/resource.h>

#include <rclcpp/version.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "contenders.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/recorder/machine_context.hpp"

namespace {

std::atomic<std::uint64_t> g_allocations{0};

}  // namespace

// Not inlined: gcc would report a mismatch of the allocating and the freeing function.
[[gnu::noinline]] void* operator new(std::size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace rclrt_rclcpp::bench;  // NOLINT(google-build-using-namespace)

std::int64_t cpu_now_ns() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return (static_cast<std::int64_t>(time.tv_sec) * 1'000'000 + time.tv_usec) * 1'000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

struct Case {
  const char* name;
  bool timer;
  bool burner;
  bool message;
};
constexpr Case kCases[] = {
    {"timer", true, false, false},
    {"timer beside a burner", true, true, false},
    {"message", false, false, true},
    {"message beside a burner", false, true, true},
};

double percentile_us(const std::vector<std::int64_t>& sorted, double share) {
  if (sorted.empty()) {
    return 0;
  }
  const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return static_cast<double>(sorted[index]) / 1e3;
}

/// Runs the node for `time`.
Round run_once(const Case& what, const Contender& contender, std::chrono::nanoseconds time) {
  const auto node = std::make_shared<Bench>();
  if (what.timer) {
    node->add_timer();
  }
  if (what.burner) {
    node->add_burner();
  }
  if (what.message) {
    node->add_subscription();
    while (node->publisher->get_subscription_count() == 0) {
      std::this_thread::sleep_for(1ms);
    }
  }
  std::uint64_t sent = 0;
  std::int64_t cpu_ns = 0;
  std::uint64_t allocations = 0;
  contender.run(node, [&] {
    std::this_thread::sleep_for(50ms);  // threads, caches, discovery
    const std::int64_t start_ns = monotonic_now_ns();
    cpu_ns = cpu_now_ns();
    allocations = g_allocations.load();
    node->measuring.store(true);
    if (what.message) {
      // The sender is as urgent as a sensor's driver: above all other threads here.
      rclrt::realtime::Thread sender(thread_at("sender", 90), [&] {
        Message message;
        for (std::int64_t next_ns = start_ns + kPeriod_ns; next_ns < start_ns + time.count();
             next_ns += kPeriod_ns) {
          rclrt::realtime::sleep_until_ns(next_ns);
          message.int64_value = monotonic_now_ns();
          node->publisher->publish(message);
          ++sent;
        }
      });
      sender.join();
      std::this_thread::sleep_for(20ms);
    } else {
      std::this_thread::sleep_for(time);
      sent = static_cast<std::uint64_t>((monotonic_now_ns() - start_ns) / kPeriod_ns);
    }
    node->measuring.store(false);
    cpu_ns = cpu_now_ns() - cpu_ns;
    allocations = g_allocations.load() - allocations;
  });
  std::vector<std::int64_t>& latencies_ns = node->latencies_ns;
  std::sort(latencies_ns.begin(), latencies_ns.end());
  const auto releases = static_cast<double>(sent);
  const auto got = static_cast<double>(latencies_ns.size());
  return {.p50_us = percentile_us(latencies_ns, 0.5),
          .p99_us = percentile_us(latencies_ns, 0.99),
          .max_us = percentile_us(latencies_ns, 1),
          // At both ends, one release may be counted on only one side.
          .lost_percent = releases > got + 2 ? 100 * (releases - got) / releases : 0,
          .cpu_us = static_cast<double>(cpu_ns) / 1e3 / releases,
          .allocations = static_cast<double>(allocations) / releases};
}

constexpr double kStolen_ms = 10;  // the resolution of the kernel's counter
constexpr int kTries = 5;

Round run_undisturbed(const Case& what, const Contender& contender, std::chrono::nanoseconds time,
                      int& repeated) {
  for (int tries = 1;; ++tries) {
    const double before_ms = rclrt::recorder::read_steal_ms().value_or(0);
    Round round = run_once(what, contender, time);
    if (rclrt::recorder::read_steal_ms().value_or(0) - before_ms <= kStolen_ms || tries == kTries) {
      return round;
    }
    ++repeated;
  }
}

using Rounds = std::vector<Round>;

double median(const Rounds& rounds, double Round::* figure) {
  std::vector<double> all;
  for (const Round& round : rounds) {
    all.push_back(round.*figure);
  }
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

double worst(const Rounds& rounds, double Round::* figure) {
  double most = 0;
  for (const Round& round : rounds) {
    most = std::max(most, round.*figure);
  }
  return most;
}

/// Prints `"p50_us_rounds": [21.250, 19.875]`.
void print_rounds(const char* name, const Rounds& rounds, double Round::* figure) {
  std::printf(", \"%s_rounds\": [", name);
  const char* separator = "";
  for (const Round& round : rounds) {
    std::printf("%s%.3f", separator, round.*figure);
    separator = ", ";
  }
  std::printf("]");
}

int usage(const std::string& problem) {
  std::fprintf(stderr,
               "rclrt_rclcpp_bench: %s\n"
               "usage: rclrt_rclcpp_bench [--rounds N] [--seconds S] [--cpus N] [--case NAME] "
               "[--json]\n",
               problem.c_str());
  return 2;
}

struct Settings {
  long rounds = 5;
  long seconds = 2;
  long cpus = 1;
  bool json = false;
  std::vector<Case> cases{std::begin(kCases), std::end(kCases)};
};

/// Returns the error in the arguments; empty: none.
std::string read_settings(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--json") {
      settings.json = true;
      continue;
    }
    if (option == "--case") {
      const std::string name = i + 1 < argc ? argv[++i] : "";
      std::erase_if(settings.cases, [&](const Case& each) { return each.name != name; });
      if (settings.cases.empty()) {
        return "--case needs the name of one, such as \"message\"";
      }
      continue;
    }
    long* const value = option == "--rounds"    ? &settings.rounds
                        : option == "--seconds" ? &settings.seconds
                        : option == "--cpus"    ? &settings.cpus
                                                : nullptr;
    if (value == nullptr) {
      return "unknown option " + option;
    }
    char* end = nullptr;
    *value = i + 1 < argc ? std::strtol(argv[++i], &end, 10) : 0;
    if (end == nullptr || *end != '\0' || *value < 1 || *value > 3600) {
      return option + " needs a number from 1 to 3600";
    }
  }
  const std::vector<int> allowed = rclrt::realtime::allowed_cpus();
  if (static_cast<std::size_t>(settings.cpus) > allowed.size()) {
    return "--cpus: this process may use " + std::to_string(allowed.size());
  }
  g_cpus.assign(allowed.begin(), allowed.begin() + settings.cpus);
  return {};
}

/// The results of one case, by contender.
using CaseResults = std::vector<Rounds>;

std::vector<CaseResults> run_all(const Settings& settings, int& repeated) {
  std::vector<CaseResults> results(settings.cases.size(), CaseResults(contenders().size()));
  for (long round = 0; round < settings.rounds; ++round) {
    for (std::size_t c = 0; c < settings.cases.size(); ++c) {
      for (std::size_t i = 0; i < contenders().size(); ++i) {
        // The contenders take turns as the first one of a round, so that none keeps the same place.
        const std::size_t e = (i + static_cast<std::size_t>(round)) % contenders().size();
        results[c][e].push_back(run_undisturbed(settings.cases[c], contenders()[e],
                                                std::chrono::seconds(settings.seconds), repeated));
      }
    }
  }
  return results;
}

void print_head(const Settings& settings, int repeated) {
  if (settings.json) {
    std::printf(
        "{\"rclcpp\": \"%s\", \"realtime\": %s, \"cpus\": %ld, \"rounds\": %ld, "
        "\"seconds\": %ld, \"repeated\": %d, \"results\": [",
        RCLCPP_VERSION_STR, g_realtime ? "true" : "false", settings.cpus, settings.rounds,
        settings.seconds, repeated);
  } else {
    std::printf("rclcpp %s, %s, %ld CPU(s), %ld rounds of %ld s, %d made again\n",
                RCLCPP_VERSION_STR, g_realtime ? "SCHED_FIFO" : "normal scheduling", settings.cpus,
                settings.rounds, settings.seconds, repeated);
  }
}

void print_result(const Case& what, const Contender& contender, const Rounds& all, bool json) {
  const double p50 = median(all, &Round::p50_us);
  const double p99 = median(all, &Round::p99_us);
  const double most = worst(all, &Round::max_us);
  const double lost = median(all, &Round::lost_percent);
  const double worst_lost = worst(all, &Round::lost_percent);
  const double cpu = median(all, &Round::cpu_us);
  const double allocations = median(all, &Round::allocations);
  if (!json) {
    std::printf("%-28s %9.1f %9.1f %9.1f %7.2f %11.2f %8.1f %8.2f\n", contender.name, p50, p99,
                most, lost, worst_lost, cpu, allocations);
    return;
  }
  std::printf(
      "{\"case\": \"%s\", \"executor\": \"%s\", \"p50_us\": %.3f, "
      "\"p99_us\": %.3f, \"max_us\": %.3f, \"lost_percent\": %.4f, "
      "\"worst_lost_percent\": %.4f, \"cpu_us\": %.3f, \"allocations\": %.3f",
      what.name, contender.name, p50, p99, most, lost, worst_lost, cpu, allocations);
  print_rounds("p50_us", all, &Round::p50_us);
  print_rounds("p99_us", all, &Round::p99_us);
  print_rounds("cpu_us", all, &Round::cpu_us);
  std::printf("}");
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (const std::string problem = read_settings(argc, argv, settings); !problem.empty()) {
    return usage(problem);
  }
  const auto reason = rclrt::realtime::why_no_realtime(90);
  g_realtime = !reason;
  if (reason) {
    std::fprintf(stderr, "rclrt_rclcpp_bench: without real-time scheduling: %s\n", reason->c_str());
  }
  rclcpp::init(0, nullptr);
  int repeated = 0;
  const std::vector<CaseResults> results = run_all(settings, repeated);
  print_head(settings, repeated);
  bool first = true;
  for (std::size_t c = 0; c < settings.cases.size(); ++c) {
    if (!settings.json) {
      std::printf("\n%-28s %9s %9s %9s %7s %11s %8s %8s\n", settings.cases[c].name, "p50 us",
                  "p99 us", "max us", "lost %", "worst lost", "cpu us", "allocs");
    }
    for (std::size_t e = 0; e < contenders().size(); ++e) {
      std::printf("%s", settings.json && !std::exchange(first, false) ? ", " : "");
      print_result(settings.cases[c], contenders()[e], results[c][e], settings.json);
    }
  }
  if (settings.json) {
    std::printf("]}\n");
  }
  rclcpp::shutdown();
  return 0;
}

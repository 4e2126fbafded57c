// SPDX-License-Identifier: Apache-2.0
// The lateness of a CyclicThread's loop, compared with a bare clock_nanosleep loop. Both take
// turns, round by round, on one CPU at one priority.
//
// Usage: cyclic_lateness [ROUNDS [CYCLES]]   (20 rounds of 200 cycles of 1 ms each)
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/cyclic_thread.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace {

using namespace rclrt::realtime;

constexpr std::int64_t kPeriod_ns = 1'000'000;

ThreadOptions thread_options(const char* name) {
  ThreadOptions options;
  options.name = name;
  options.scheduling.cpus = {allowed_cpus().back()};
  if (!why_no_realtime(60)) {
    options.scheduling.policy = Policy::kFifo;
    options.scheduling.priority = 60;
  }
  return options;
}

void bare_round(std::uint64_t cycles, Histogram& lateness) {
  Thread(thread_options("bare"), [&] {
    std::int64_t release_ns = monotonic_now_ns() + kPeriod_ns;
    for (std::uint64_t i = 0; i < cycles; ++i, release_ns += kPeriod_ns) {
      sleep_until_ns(release_ns);
      lateness.record_alone(monotonic_now_ns() - release_ns);
    }
  }).join();
}

void cyclic_round(std::uint64_t cycles, Histogram& lateness) {
  CyclicOptions options{.thread = thread_options("cyclic"), .period_ns = kPeriod_ns};
  options.first_release_ns = monotonic_now_ns() + 2 * kPeriod_ns;
  CyclicThread thread(options, [cycles](const Release& release) {
    return release.index + 1 == cycles ? LoopControl::kStop : LoopControl::kContinue;
  });
  thread.start();
  thread.join();
  lateness.add(thread.lateness());
}

void print(const char* name, const Histogram& lateness) {
  std::printf("%-16s %9llu %9.1f %9.1f %9.1f %9.1f\n", name,
              static_cast<unsigned long long>(lateness.count()),
              static_cast<double>(lateness.percentile(50)) / 1e3,
              static_cast<double>(lateness.percentile(90)) / 1e3,
              static_cast<double>(lateness.percentile(99)) / 1e3,
              static_cast<double>(lateness.max()) / 1e3);
}

/// Returns the count in `text`; 0 if it is not a count.
long count(const char* text) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 1 && value <= 1'000'000 ? value : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? count(argv[1]) : 20;
  const long cycles = argc > 2 ? count(argv[2]) : 200;
  if (rounds == 0 || cycles == 0 || argc > 3) {
    std::fprintf(stderr, "usage: cyclic_lateness [ROUNDS [CYCLES]], each from 1 to 1000000\n");
    return 2;
  }
  try {
    if (const auto reason = why_no_realtime(60)) {
      std::printf("At normal priority: %s\n", reason->c_str());
    }
    Histogram bare;
    Histogram cyclic;
    for (long round = 0; round < rounds; ++round) {
      bare_round(static_cast<std::uint64_t>(cycles), bare);
      cyclic_round(static_cast<std::uint64_t>(cycles), cyclic);
    }
    std::printf("%-16s %9s %9s %9s %9s %9s\n", "lateness in us", "samples", "p50", "p90", "p99",
                "max");
    print("clock_nanosleep", bare);
    print("CyclicThread", cyclic);
    std::printf("p50 ratio %.3f\n", static_cast<double>(cyclic.percentile(50)) /
                                        static_cast<double>(bare.percentile(50)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

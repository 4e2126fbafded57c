// SPDX-License-Identifier: Apache-2.0
/// Every kind of the registry of executors runs random applications at the times of their
/// simulation: the shipped engine, its threads scheduled by the kernel on one CPU, with a clock
/// that moves only with the work of callbacks. Each start and each end is at the simulated
/// nanosecond.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <rclrt/analysis/simulation.hpp>
#include <rclrt/model/executor_choice.hpp>
#include <rclrt/model/parse.hpp>
#include <rclrt/model/write.hpp>
#include <string>
#include <utility>
#include <vector>

#include "conformance.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "virtual_time.hpp"

namespace rclrt::simulator {
namespace {

constexpr std::uint64_t kApplications = 15;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kHorizon_ns = 200 * kMillisecond;
constexpr std::size_t kDepth = 10;

/// Returns timers with callbacks of messages behind them, on one executor with a load below 0.75.
/// Releases are at whole milliseconds. Callbacks take some microseconds and a nanosecond each, so
/// none ends at a release.
model::Application random_application(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  const std::size_t count = 4 + up_to(5);
  const std::size_t timers = 2 + up_to(2);
  std::vector<std::vector<std::size_t>> publishes(count);
  std::vector<std::size_t> period(count);
  for (std::size_t i = 0; i < count; ++i) {
    constexpr std::size_t kPeriods[] = {5, 8, 10, 20};
    const std::size_t from = up_to(std::max<std::size_t>(i, 1) - 1);
    period[i] = i < timers ? kPeriods[up_to(3)] : period[from];
    if (i >= timers) {
      publishes[from].push_back(i);
    }
  }
  std::string text =
      "rclrt: 1\nname: conformance\nexecutors: [{name: only, cpus: [0]}]\n"
      "nodes: [{name: n, executor: only}]\ncallbacks:\n";
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t most_us = 750 * period[i] / count;
    const std::string us = std::to_string(1'000'000 + 1 + up_to(most_us - 1));
    text += "  - {id: c" + std::to_string(i) + ", node: n, ";
    text += i < timers ? "timer: {period_ms: " + std::to_string(period[i]) +
                             ", offset_ms: " + std::to_string(1 + up_to(period[i] - 1)) + "}"
                       : "subscription: {topic: t" + std::to_string(i) +
                             ", depth: " + std::to_string(kDepth) + "}";
    text += ", wcet_ms: " + std::to_string(std::stoul(us.substr(1)) / 1000) + "." +
            us.substr(us.size() - 3) + "001, priority: " + std::to_string(up_to(3)) +
            ", deadline_ms: " + std::to_string(1 + up_to(2 * period[i]));
    if (const std::size_t group = up_to(5); group < 2) {
      text += ", group: g" + std::to_string(group);
    }
    for (std::size_t k = 0; k < publishes[i].size(); ++k) {
      text += (k == 0 ? ", publishes: [t" : ", t") + std::to_string(publishes[i][k]);
    }
    text += publishes[i].empty() ? "}\n" : "]}\n";
  }
  text += "chains: [{id: first, callbacks: [c0], deadline_ms: 1000}]\n";
  const auto parsed = model::parse_application(text);
  EXPECT_TRUE(parsed.application) << text;
  return parsed.application.value();
}

/// Delays timers that would be due together, unless the kind determines their order: by
/// registration, or by the priorities of their threads.
void separate(model::Application& application, const model::ExecutorTraits& kind) {
  if (kind.runs_sets) {
    return;
  }
  const std::vector<int> levels = model::thread_levels(application, kind.kind);
  std::map<int, int> timers_of;
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    if (auto* const timer = std::get_if<model::Timer>(&application.callbacks[i].trigger)) {
      const int level = kind.has_levels ? levels[i] : 0;
      timer->offset += timers_of[level]++ * std::chrono::microseconds(100);
    }
  }
}

/// One instance: its callback, and its times since the begin.
struct Ran {
  std::size_t callback = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool operator==(const Ran&) const = default;
};

void PrintTo(const Ran& ran, std::ostream* out) {
  *out << "c" << ran.callback << " from " << ran.start_ns << " to " << ran.end_ns;
}

/// Collects the instances of a simulation in the order in which they end.
class Simulated final : public analysis::SimulationObserver {
 public:
  void ended(const analysis::SimulatedInstance& instance) override {
    ran.push_back({instance.callback, instance.start_ns, instance.end_ns});
  }
  std::vector<Ran> ran;
};

/// The application on the engine.
class EngineRun final : public ApplicationOnEngine {
 public:
  EngineRun(const model::Application& application, const model::ExecutorChoice& choice)
      : ApplicationOnEngine(application, choice, Timers::kByClock, kDepth) {}

  /// Returns the instances that ended before the horizon, in the order of their ends.
  std::vector<Ran> run() {
    executor().prepare();
    const realtime::Thread clock({.name = "clock", .scheduling = {.cpus = {cpu()}}}, [this] {
      time_.run_until(kHorizon_ns);
      executor().cancel();
    });
    executor().spin();
    return ran_;
  }

 private:
  /// Works, and publishes at its end.
  void run_callback(std::size_t callback) override {
    const std::int64_t start_ns = time_.now_ns();
    if (start_ns >= kHorizon_ns) {
      return;  // no more work: the threads sleep soon
    }
    time_.work(application().callbacks[callback].wcet.count());
    publish_from(callback);
    if (const std::int64_t end_ns = time_.now_ns(); end_ns < kHorizon_ns) {
      const std::scoped_lock lock(mutex_);
      ran_.push_back({callback, start_ns, end_ns});
    }
  }

  VirtualTime time_;
  std::mutex mutex_;
  std::vector<Ran> ran_;  // guarded by mutex_
};

/// Returns the first few of the instances from there on.
std::vector<Ran> next_of(const std::vector<Ran>& all, std::vector<Ran>::const_iterator from) {
  return {from, from + std::min<std::ptrdiff_t>(3, all.end() - from)};
}

class TimedConformance : public testing::TestWithParam<std::string> {
 protected:
  const model::ExecutorChoice choice = model::parse_executor(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Every, TimedConformance, testing::ValuesIn(names_in_registry()),
                         [](const auto& each) { return test_name(each.param); });

// Options without bounds: `rclrt analyze` refutes deadlines by their simulation. (Where several
// threads have one priority, the order is the kernel's. With trigger=all, callbacks that exchange
// messages would wait for each other.)
INSTANTIATE_TEST_SUITE_P(WithoutBounds, TimedConformance,
                         testing::Values("static_order:trigger_on=c0",
                                         "static_order:trigger_on=c1"),
                         [](const auto& each) { return test_name(each.param); });

TEST_P(TimedConformance, TheEngineRunsAtTheTimesOfTheSimulation) {
  if (const auto reason = realtime::why_no_realtime(model::kTopPriority)) {
    GTEST_SKIP() << "the kernel does not schedule by priority: " << *reason;
  }
  for (std::uint64_t seed = 0; seed < kApplications; ++seed) {
    model::Application application = random_application(seed);
    separate(application, traits(choice));
    Simulated expected;
    simulate(analysis::simulated_system(application, choice), {.horizon_ns = kHorizon_ns},
             &expected);
    ASSERT_GT(expected.ran.size(), application.callbacks.size());
    EngineRun engine(application, choice);
    const std::vector<Ran> ran = engine.run();
    const auto [real, simulated] = std::ranges::mismatch(ran, expected.ran);
    ASSERT_TRUE(ran == expected.ran)
        << "seed " << seed << ": ran " << testing::PrintToString(next_of(ran, real))
        << ", simulated " << testing::PrintToString(next_of(expected.ran, simulated)) << "\n"
        << model::to_yaml(application);
  }
}

}  // namespace
}  // namespace rclrt::simulator

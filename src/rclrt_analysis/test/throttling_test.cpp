// SPDX-License-Identifier: Apache-2.0
// Whether the kernel's limit may stop real-time threads: checked by hand, and by brute force.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "rclrt/analysis/machine.hpp"
#include "rclrt/model/parse.hpp"

namespace rclrt::analysis {
namespace {

using testing::HasSubstr;
using testing::Optional;

constexpr double kLimit = 0.95;

/// Returns demands with these execution times and periods, in seconds.
std::vector<Demand> demands(const std::vector<std::pair<double, double>>& tasks) {
  std::vector<Demand> result;
  for (const auto& [wcet, period] : tasks) {
    result.push_back({.rate = 1 / period, .execution = wcet});
  }
  return result;
}

TEST(BusiestSecond, IsThatOfAFewTasksByHand) {
  const std::vector<std::pair<std::vector<std::pair<double, double>>, double>> cases{
      {{{0.5, 1}}, 0.5},
      {{{0.6, 1}}, 0.6},    // a second has the end of one instance and the start of the next
      {{{0.96, 2}}, 0.96},  // 48 % in the mean
      {{{3, 10}}, 1},       // 30 %
      {{{0.4, 2}, {0.4, 2}}, 0.8},  //
      {{{0.5, 2}, {0.5, 2}}, 1},    //
      {{{0.001, 0.01}, {0.1, 0.2}}, 0.6},
      {{{0.6, 0.5}}, 1},  // an overload
      {{{1.9, 2}}, 1},    // just the limit in the mean
      {{}, 0}};
  for (const auto& [tasks, share] : cases) {
    EXPECT_NEAR(busiest_second(demands(tasks), 0, kLimit), share, 1e-6)
        << tasks.size() << " tasks, " << (tasks.empty() ? 0 : tasks.front().first);
  }
}

TEST(BusiestSecond, CountsTheBackgroundAndWhatComesLate) {
  EXPECT_NEAR(busiest_second(demands({{0.5, 1}}), 0.1, kLimit), 0.6, 1e-6);
  const std::vector<Demand> late{{.rate = 1, .execution = 0.3, .late_instances = 1}};
  EXPECT_NEAR(busiest_second(late, 0, kLimit), 0.6, 1e-6);
  const std::vector<Demand> jitter{{.rate = 1, .execution = 0.93, .jitter = 0.03}};
  EXPECT_NEAR(busiest_second(jitter, 0, kLimit), 0.96, 1e-6);
  const std::vector<Demand> many{{.rate = 100'000, .execution = 1e-6}};
  EXPECT_EQ(busiest_second(many, 0, kLimit), 1) << "too many releases to look at";
}

/// Returns the most work in `second` ticks of a CPU that runs while work is pending.
int observed(const std::vector<std::pair<int, int>>& tasks, const std::vector<int>& offsets,
             int ticks, std::size_t second) {
  int left = 0;
  std::vector<int> sums{0};
  for (int now = 0; now < ticks; ++now) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (now >= offsets[i] && (now - offsets[i]) % tasks[i].second == 0) {
        left += tasks[i].first;
      }
    }
    sums.push_back(sums.back() + (left > 0 ? 1 : 0));
    left -= left > 0 ? 1 : 0;
  }
  int most = 0;
  for (std::size_t at = 0; at + second < sums.size(); ++at) {
    most = std::max(most, sums[at + second] - sums[at]);
  }
  return most;
}

TEST(BusiestSecond, IsNeverBelowAnObservedOneAndOftenEqual) {
  constexpr int kSecond = 40;  // ticks
  constexpr int kTicks = 2'000;
  std::mt19937 random(1);
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  int tight = 0;
  int tried = 0;
  while (tried < 200) {
    std::vector<std::pair<int, int>> tasks;
    std::vector<std::pair<double, double>> seconds;
    double load = 0;
    for (int i = 0; i < 3; ++i) {
      tasks.emplace_back(draw(1, 20), draw(10, 120));
      seconds.emplace_back(static_cast<double>(tasks.back().first) / kSecond,
                           static_cast<double>(tasks.back().second) / kSecond);
      load += static_cast<double>(tasks.back().first) / tasks.back().second;
    }
    if (load >= kLimit) {
      continue;
    }
    ++tried;
    const double share = busiest_second(demands(seconds), 0, kLimit);
    const int together = observed(tasks, {0, 0, 0}, kTicks, kSecond);
    const int apart = observed(tasks, {draw(0, 100), draw(0, 100), draw(0, 100)}, kTicks, kSecond);
    EXPECT_LE(std::max(together, apart), share * kSecond + 1e-6);
    tight += together >= share * kSecond - 1.5 ? 1 : 0;
  }
  EXPECT_GT(tight, 40);
}

model::Application parsed(const std::string& text) {
  auto result = model::parse_application(text);
  EXPECT_TRUE(result.application) << text;
  return *std::move(result.application);
}

std::optional<std::string> condition(const model::Application& application, double share,
                                     Overheads overheads = {}) {
  return throttling_condition(application,
                              Machine{.overheads = overheads, .realtime_share = share});
}

TEST(Throttling, IsAConditionOfAnApplicationWithABusySecond) {
  const model::Application application = parsed(R"(
rclrt: 1
name: burst
nodes: [{name: robot}]
callbacks:
  - {id: plan, node: robot, timer: {period_ms: 2000}, wcet_ms: 960}
  - {id: drive, node: robot, timer: {period_ms: 2000, offset_ms: 1}, wcet_ms: 2, publishes: [go]}
  - {id: wheel, node: robot, subscription: {topic: go}, wcet_ms: 1}
chains:
  - {id: planning, callbacks: [plan], priority: 1}
  - {id: driving, callbacks: [drive, wheel], priority: 2}
)");
  EXPECT_THAT(
      condition(application, kLimit),
      Optional(HasSubstr("may take more than 95.0 % of a second of a CPU, as these may with "
                         "48.1 % in the mean")));
  EXPECT_EQ(condition(application, 0.97), std::nullopt);
  EXPECT_EQ(condition(application, 1), std::nullopt);
  // A message may have a latency of 10 ms, during which the CPU is idle.
  EXPECT_THAT(condition(application, 0.97, {.far = {.max = 10'000'000}}),
              Optional(HasSubstr("may take more than 97.0 %")));
}

TEST(Throttling, CountsReleasesThatSeveralSourcesAndOtherCpusBringTogether) {
  const std::string merged = R"(
rclrt: 1
name: merged
executors: [{name: first, cpus: [0]}, {name: second, cpus: [1]}]
nodes: [{name: sensors, executor: first}, {name: robot, executor: second}]
callbacks:
  - {id: left, node: sensors, timer: {period_ms: 2000}, wcet_ms: 1, publishes: [points]}
  - {id: right, node: sensors, timer: {period_ms: 2000}, wcet_ms: 1, publishes: [points]}
  - {id: filter, node: robot, subscription: {topic: points}, wcet_ms: 240}
chains:
  - {id: one, callbacks: [left, filter], priority: 1}
  - {id: two, callbacks: [right, filter], priority: 2}
)";
  std::string together = merged;
  together.replace(together.find("executor: second"), 16, "executor: first");
  const model::Application one_cpu = parsed(together);
  // Two at once: 480 ms, and 2 ms of the timers.
  EXPECT_EQ(condition(one_cpu, 0.49), std::nullopt);
  EXPECT_THAT(condition(one_cpu, 0.48), Optional(HasSubstr("may take more than 48.0 %")));
  // Two more may arrive from another CPU together with those: a chain may be late by a period.
  const model::Application two_cpus = parsed(merged);
  EXPECT_EQ(condition(two_cpus, 0.97), std::nullopt);
  EXPECT_THAT(condition(two_cpus, kLimit), Optional(HasSubstr("may take more than 95.0 %")));
}

TEST(Throttling, CountsEveryReleaseThatALongDeadlineLetsComeTogether) {
  const model::Application application = parsed(R"(
rclrt: 1
name: patient
executors: [{name: first, cpus: [0]}, {name: second, cpus: [1]}]
nodes: [{name: sensor, executor: first}, {name: robot, executor: second}]
callbacks:
  - {id: tick, node: sensor, timer: {period_ms: 1}, wcet_ms: 0.001, publishes: [go]}
  - {id: step, node: robot, subscription: {topic: go}, wcet_ms: 0.001}
chains:
  - {id: slow, callbacks: [tick, step], deadline_ms: 3600000}
)");
  // An hour of releases of 1 us each: 3.6 s at once.
  EXPECT_THAT(condition(application, 0.5), Optional(HasSubstr("may take more than 50.0 %")));
}

TEST(Throttling, CountsTheBurstOfAnEvent) {
  const model::Application application = parsed(R"(
rclrt: 1
name: lidar
executors: [{name: main, cpus: [0]}]
nodes: [{name: robot}]
callbacks:
  - {id: packet, node: robot, wcet_ms: 100, publishes: [points],
     event: {period_ms: 1000, jitter_ms: 3000, min_interval_ms: 10}}
  - {id: track, node: robot, subscription: {topic: points}, wcet_ms: 50}
chains:
  - {id: see, callbacks: [packet, track]}
)");
  // Up to (1 + 3) / 1 packets in a second, of 150 ms each.
  EXPECT_EQ(condition(application, 0.61), std::nullopt);
  EXPECT_THAT(condition(application, 0.59), Optional(HasSubstr("may take more than 59.0 %")));
}

TEST(Throttling, AddsUpTheExecutorsThatMayUseACpu) {
  const auto two = [](const std::string& first, const std::string& second) {
    return parsed(R"(
rclrt: 1
name: two
executors: [{name: first, )" +
                  first + "}, {name: second, " + second + R"(}]
nodes: [{name: one, executor: first}, {name: other, executor: second}]
callbacks:
  - {id: a, node: one, timer: {period_ms: 10}, wcet_ms: 4}
  - {id: b, node: other, timer: {period_ms: 10}, wcet_ms: 5}
chains:
  - {id: a, callbacks: [a]}
  - {id: b, callbacks: [b]}
)");
  };
  EXPECT_EQ(condition(two("cpus: [0]", "cpus: [1]"), 0.85), std::nullopt);
  for (const auto& [first, second] :
       std::vector<std::pair<std::string, std::string>>{{"cpus: [0, 1]", "cpus: [0, 1]"},
                                                        {"cpus: [1, 0]", "cpus: [0, 1]"},
                                                        {"cpus: [1]", "cpus: [0, 1]"}}) {
    EXPECT_THAT(
        condition(two(first, second), 0.85),
        Optional(HasSubstr("more than 85.0 % of a second of a CPU, as these may with 90.0 %")))
        << first << " and " << second;
  }
  // 50 % of b, and twice 1 ms of a's scheduler thread in each 10 ms.
  const Overheads machine{.scheduler = 1'000'000};
  EXPECT_EQ(condition(two("cpus: [0]", "cpus: [1]"), 0.61, machine), std::nullopt);
  EXPECT_THAT(condition(two("cpus: [0], scheduler_cpus: [1]", "cpus: [1]"), 0.61, machine),
              Optional(HasSubstr("more than 61.0 %")));
}

TEST(Throttling, KnowsEventsSynchronisersAndApplicationsWithoutCallbacks) {
  EXPECT_EQ(condition(model::Application{}, 0.5), std::nullopt);
  const model::Application application = parsed(R"(
rclrt: 1
name: fusion
executors: [{name: main, cpus: [0]}]
nodes: [{name: robot}]
callbacks:
  - {id: radar, node: robot, event: {min_interval_ms: 1000}, wcet_ms: 100, publishes: [points]}
  - {id: camera, node: robot, timer: {period_ms: 1000}, wcet_ms: 100, publishes: [image]}
  - {id: fuse, node: robot, sync: {topics: [points, image], depth: 2}, wcet_ms: 100}
chains:
  - {id: see, callbacks: [camera, fuse]}
)");
  // 100 ms of each source, and three sets: of two sources, and one that has waited for its partner.
  EXPECT_EQ(condition(application, 0.51), std::nullopt);
  EXPECT_THAT(condition(application, 0.49), Optional(HasSubstr("may take more than 49.0 %")));
}

}  // namespace
}  // namespace rclrt::analysis

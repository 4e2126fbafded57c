// SPDX-License-Identifier: Apache-2.0
// Callbacks that are never preempted: on request, and by default without real time. The order of
// events decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Without permission for real time, and with it on request.
std::vector<ExecutorOptions> ways_to_complete(const ExecutorOptions& base) {
  ExecutorOptions unpermitted = base;
  unpermitted.realtime = Realtime::kOff;
  unpermitted.preemption = Preemption::kByRealtime;
  ExecutorOptions requested = base;
  requested.preemption = Preemption::kNever;
  return {unpermitted, requested};
}

class RunToCompletion : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, RunToCompletion, ::testing::ValuesIn(kEventDriven), kind_name);

/// Callbacks of three levels, and the log of their runs.
struct ThreeLevels {
  explicit ThreeLevels(Executor& executor) {
    for (const int level : {-7, 2, 5}) {
      for (const std::string name : {"a", "b"}) {
        const std::string label = name + std::to_string(level);
        callbacks.push_back(std::make_shared<TestCallback>(
            named(label, level), [this, label](const InstanceInfo&) { log.push_back(label); }));
        executor.add(callbacks.back());
      }
    }
  }
  void release() {
    for (const std::size_t i : {0U, 3U, 5U, 1U, 4U, 2U, 0U}) {
      callbacks[i]->release_now();
    }
  }
  void expect_order() const {
    EXPECT_EQ(log.events(),
              (std::vector<std::string>{"b5", "a5", "b2", "a2", "a-7", "b-7", "a-7"}));
  }

  EventLog log;
  std::vector<std::shared_ptr<TestCallback>> callbacks;
};

TEST_P(RunToCompletion, WhatIsMostUrgentRunsNextAndOneLevelInOrderOfRelease) {
  for (const ExecutorOptions& options : ways_to_complete(on_one_cpu())) {
    auto executor = make(GetParam(), options);
    executor->prepare();
    ThreeLevels levels(*executor);
    const auto last = std::make_shared<TestCallback>(
        named("last", -9), [&](const InstanceInfo&) { executor->cancel(); });
    const auto first = std::make_shared<TestCallback>(named("first", 9), [&](const InstanceInfo&) {
      levels.release();
      last->release_now();
    });
    executor->add(first);
    executor->add(last);
    first->release_now();
    executor->spin();
    levels.expect_order();
  }
}

TEST_P(RunToCompletion, SpinSomeHasTheSameOrder) {
  for (const ExecutorOptions& options : ways_to_complete(on_one_cpu())) {
    auto executor = make(GetParam(), options);
    executor->prepare();
    ThreeLevels levels(*executor);
    levels.release();
    executor->spin_some();
    levels.expect_order();
  }
}

/// Returns whether an urgent callback starts while the less urgent one that released it sleeps, for
/// `limit` at the most. Checks that it runs afterwards otherwise.
bool starts_while_another_sleeps(std::string_view kind, const ExecutorOptions& options,
                                 milliseconds limit) {
  auto executor = make(kind, options);
  std::atomic<bool> urgent_ran{false};
  bool met = false;
  const auto urgent = std::make_shared<TestCallback>(named("urgent", 5), [&](const InstanceInfo&) {
    urgent_ran = true;
    executor->cancel();
  });
  const auto low = std::make_shared<TestCallback>(named("low", 1), [&](const InstanceInfo&) {
    urgent->release_now();
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!urgent_ran && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
    }
    met = urgent_ran;
  });
  executor->add(urgent);
  executor->add(low);
  executor->prepare();
  low->release_now();
  executor->spin();
  EXPECT_TRUE(urgent_ran);
  return met;
}

TEST_P(RunToCompletion, NothingStartsWhileTheOnlyWorkerSleepsInItsCallback) {
  for (ExecutorOptions options : ways_to_complete(on_one_cpu())) {
    options.workers_per_level = 1;  // otherwise spare threads would replace a sleeping one
    EXPECT_FALSE(starts_while_another_sleeps(GetParam(), options, 30ms));
    options.preemption = Preemption::kAlways;
    EXPECT_TRUE(starts_while_another_sleeps(GetParam(), options, 120s));
  }
}

TEST_P(RunToCompletion, TimersOfAllLevelsGoOn) {
  for (const ExecutorOptions& options : ways_to_complete(on_all_cpus())) {
    auto executor = make(GetParam(), options);
    std::array<std::atomic<int>, 3> runs{};
    for (std::size_t level = 0; level < runs.size(); ++level) {
      executor->add(every_millisecond([&, level](const InstanceInfo&) { ++runs[level]; },
                                      static_cast<int>(level)));
    }
    const Spinning spinning(*executor);
    EXPECT_TRUE(eventually([&] {
      return std::all_of(runs.begin(), runs.end(), [](const auto& each) { return each >= 20; });
    }));
  }
}

TEST_P(RunToCompletion, LevelsThatChangeChangeTheOrder) {
  for (const ExecutorOptions& options : ways_to_complete(on_one_cpu())) {
    if (!has_levels(GetParam())) {
      GTEST_SKIP() << "deadlines decide";
    }
    auto executor = make(GetParam(), options);
    EventLog log;
    const auto a = std::make_shared<TestCallback>(named("a", 1),
                                                  [&](const InstanceInfo&) { log.push_back("a"); });
    const auto b = std::make_shared<TestCallback>(named("b", 2),
                                                  [&](const InstanceInfo&) { log.push_back("b"); });
    executor->add(a);
    executor->add(b);
    executor->prepare();
    executor->set_level(a, 3);
    b->release_now();
    a->release_now();
    executor->spin_some();
    EXPECT_EQ(log.events(), (std::vector<std::string>{"a", "b"}));
  }
}

/// Checks that `count` callbacks of as many levels run at a time, and a further one only when they
/// have ended.
void expect_to_run_at_a_time(std::string_view kind, const ExecutorOptions& options,
                             std::size_t count) {
  auto executor = make(kind, options);
  std::atomic<std::size_t> inside{0};
  std::atomic<bool> go_on{false};
  std::vector<std::shared_ptr<TestCallback>> callbacks;
  for (std::size_t i = 0; i <= count; ++i) {
    callbacks.push_back(
        std::make_shared<TestCallback>(named("c", static_cast<int>(i)), [&](const InstanceInfo&) {
          ++inside;
          eventually([&] { return go_on.load(); });
        }));
    executor->add(callbacks.back());
  }
  executor->prepare();
  const Spinning spinning(*executor);
  for (const auto& callback : callbacks) {
    callback->release_now();
  }
  EXPECT_TRUE(eventually([&] { return inside >= count; }));
  std::this_thread::sleep_for(20ms);  // a further worker would start the last one meanwhile
  EXPECT_EQ(inside, count);
  go_on = true;
  EXPECT_TRUE(eventually([&] { return inside == count + 1; }));
}

TEST_P(RunToCompletion, AsManyRunAtATimeAsWorkersAreStated) {
  if (!overlaps_within_a_level(GetParam())) {
    GTEST_SKIP() << "one callback runs at a time";
  }
  for (const std::size_t workers : {std::size_t{3}, std::size_t{4}}) {
    auto base = on_one_cpu();
    base.workers_per_level = workers;
    for (const ExecutorOptions& options : ways_to_complete(base)) {
      expect_to_run_at_a_time(GetParam(), options, workers);
    }
  }
}

TEST_P(RunToCompletion, OnePerCpuRunsAtATimeByDefault) {
  auto base = overlaps_within_a_level(GetParam()) ? on_all_cpus() : on_one_cpu();
  base.spare_workers = 0;  // spare threads would replace sleeping ones
  for (const ExecutorOptions& options : ways_to_complete(base)) {
    expect_to_run_at_a_time(
        GetParam(), options,
        overlaps_within_a_level(GetParam()) ? realtime::allowed_cpus().size() : 1);
  }
}

TEST_P(RunToCompletion, CanBeRefusedWithoutRealTime) {
  auto options = on_one_cpu();
  options.realtime = Realtime::kOff;
  options.preemption = Preemption::kAlways;
  EXPECT_TRUE(starts_while_another_sleeps(GetParam(), options, 120s));
}

TEST_P(RunToCompletion, OnRequestAllWorkersHaveOnePriorityBelowTheScheduler) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto options = on_one_cpu();
  options.preemption = Preemption::kNever;
  options.top_priority = 40;
  auto executor = make(GetParam(), options);
  std::vector<int> priorities;
  for (const int level : {1, 2, 3}) {
    executor->add(std::make_shared<TestTimer>(
        timer_named("t", level), TimerOptions{.period_ns = 3'600'000'000'000},
        [&, level](const InstanceInfo&) {
          priorities.push_back(realtime::read_scheduling(0)->priority);
          priorities.push_back(executor->kernel_priority(level));
          if (priorities.size() == 6) {
            executor->cancel();
          }
        }));
  }
  executor->spin();
  EXPECT_EQ(priorities, std::vector<int>(6, 39));
}

TEST_P(RunToCompletion, MoreLevelsThanPrioritiesAreNoErrorOnRequest) {
  auto options = on_one_cpu();
  options.preemption = Preemption::kNever;
  auto executor = make(GetParam(), options);
  constexpr int kLevels = 200;
  int runs = 0;
  for (int level = 0; level < kLevels; ++level) {
    executor->add(std::make_shared<TestTimer>(timer_named("t", level),
                                              TimerOptions{.period_ns = 3'600'000'000'000},
                                              [&](const InstanceInfo&) {
                                                if (++runs == kLevels) {
                                                  executor->cancel();
                                                }
                                              }));
  }
  executor->spin();
  EXPECT_EQ(runs, kLevels);
}

TEST(RunToCompletionAndReservations, ContradictEachOther) {
  auto options = on_all_cpus();
  options.preemption = Preemption::kNever;
  options.reservations = {{1, {.runtime = 1ms, .deadline = 10ms, .period = 10ms}}};
  for (const auto& executor :
       {std::shared_ptr<Executor>(std::make_shared<PreemptiveExecutor>(options)),
        std::shared_ptr<Executor>(std::make_shared<ProducerConsumerExecutor>(options))}) {
    EXPECT_THAT([&] { executor->prepare(); }, ThrowsMessage<std::invalid_argument>(HasSubstr(
                                                  "without preemption all levels share the "
                                                  "threads, so no level can have a reservation")));
  }
}

}  // namespace
}  // namespace rclrt::executor::test

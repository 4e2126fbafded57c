// SPDX-License-Identifier: Apache-2.0
// More levels than SCHED_FIFO has priorities, in cases where levels need no kernel priority:
// without real time, under executors that give all threads one priority, and below the best-effort
// level.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>

#include "all_executors.hpp"

namespace rclrt::executor::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr int kLevels = 200;

/// Adds a timer of each level, released once at the epoch, and runs until all have run.
int run_each_level_once(std::string_view kind, const ExecutorOptions& options) {
  auto executor = make(kind, options);
  std::atomic<int> runs{0};
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
  return runs;
}

class UnmappedLevels : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, UnmappedLevels, ::testing::ValuesIn(executor_names()), kind_name);

TEST_P(UnmappedLevels, MayBeAnyNumberWithoutRealTime) {
  auto options = on_one_cpu();
  options.realtime = Realtime::kOff;
  options.stack_size = std::size_t{256} << 10U;
  for (const Preemption preemption : {Preemption::kByRealtime, Preemption::kAlways}) {
    options.preemption = preemption;
    EXPECT_EQ(run_each_level_once(GetParam(), options), kLevels);
  }
}

TEST_P(UnmappedLevels, MayBeAnyNumberWhereAllThreadsHaveOnePriority) {
  if (maps_levels(GetParam())) {
    GTEST_SKIP() << "each level has a priority of its own";
  }
  EXPECT_EQ(run_each_level_once(GetParam(), on_one_cpu()), kLevels);
}

TEST_P(UnmappedLevels, AreRefusedBeforeAndAfterPrepareWhereEachTakesAPriority) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  if (!maps_levels(GetParam())) {
    GTEST_SKIP() << "no thread has the priority of a level";
  }
  auto options = on_one_cpu();
  options.top_priority = 3;  // room for two
  auto executor = make(GetParam(), options);
  EXPECT_THAT([&] { executor->require_levels({1, 2, 3}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "3 priority levels do not fit into the 2 SCHED_FIFO priorities below 3")));
  executor->require_levels({1, 2});
  executor->prepare();
  EXPECT_THAT([&] { executor->require_levels({1, 2, 3}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "3 priority levels do not fit into the 2 SCHED_FIFO priorities below 3")));
}

class UnmappedBestEffort : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, UnmappedBestEffort,
                         ::testing::Values<std::string_view>("preemptive", "producer_consumer"),
                         kind_name);

TEST_P(UnmappedBestEffort, LevelsMayBeAnyNumber) {
  auto options = on_one_cpu();
  options.stack_size = std::size_t{256} << 10U;
  options.prefault = 0;
  options.best_effort_below = kLevels;
  EXPECT_EQ(run_each_level_once(GetParam(), options), kLevels);
}

}  // namespace
}  // namespace rclrt::executor::test

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
template <typename E>
int run_each_level_once(const ExecutorOptions& options) {
  auto executor = make<E>(options);
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

template <typename E>
class UnmappedLevels : public ::testing::Test {};
TYPED_TEST_SUITE(UnmappedLevels, AllAndFixedThreads, ExecutorName);

TYPED_TEST(UnmappedLevels, MayBeAnyNumberWithoutRealTime) {
  auto options = on_one_cpu();
  options.realtime = Realtime::kOff;
  options.stack_size = std::size_t{256} << 10U;
  for (const Preemption preemption : {Preemption::kByRealtime, Preemption::kAlways}) {
    options.preemption = preemption;
    EXPECT_EQ(run_each_level_once<TypeParam>(options), kLevels);
  }
}

TYPED_TEST(UnmappedLevels, MayBeAnyNumberWhereAllThreadsHaveOnePriority) {
  if (kMapsLevels<TypeParam>) {
    GTEST_SKIP() << "each level has a priority of its own";
  }
  EXPECT_EQ(run_each_level_once<TypeParam>(on_one_cpu()), kLevels);
}

TYPED_TEST(UnmappedLevels, AreRefusedBeforeAndAfterPrepareWhereEachTakesAPriority) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  if (!kMapsLevels<TypeParam>) {
    GTEST_SKIP() << "no thread has the priority of a level";
  }
  auto options = on_one_cpu();
  options.top_priority = 3;  // room for two
  auto executor = make<TypeParam>(options);
  EXPECT_THAT([&] { executor->require_levels({1, 2, 3}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "3 priority levels do not fit into the 2 SCHED_FIFO priorities below 3")));
  executor->require_levels({1, 2});
  executor->prepare();
  EXPECT_THAT([&] { executor->require_levels({1, 2, 3}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "3 priority levels do not fit into the 2 SCHED_FIFO priorities below 3")));
}

template <typename E>
class UnmappedBestEffort : public ::testing::Test {};
using Offering = ::testing::Types<PreemptiveExecutor, ProducerConsumerExecutor>;
TYPED_TEST_SUITE(UnmappedBestEffort, Offering, ExecutorName);

TYPED_TEST(UnmappedBestEffort, LevelsMayBeAnyNumber) {
  auto options = on_one_cpu();
  options.stack_size = std::size_t{256} << 10U;
  options.prefault = 0;
  options.best_effort_below = kLevels;
  EXPECT_EQ(run_each_level_once<TypeParam>(options), kLevels);
}

}  // namespace
}  // namespace rclrt::executor::test

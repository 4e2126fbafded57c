// SPDX-License-Identifier: Apache-2.0
// Levels with normal scheduling below those of SCHED_FIFO.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

ExecutorOptions best_effort_below(int level) {
  auto options = on_all_cpus();
  options.best_effort_below = level;
  options.workers_per_level = 1;
  return options;
}

realtime::Scheduling own_scheduling() { return *realtime::read_scheduling(0); }

class BestEffort : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, BestEffort,
                         ::testing::Values<std::string_view>("preemptive", "producer_consumer"),
                         kind_name);

TEST_P(BestEffort, LowLevelsHaveNormalSchedulingAndTakeNoPriority) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto executor = make(GetParam(), best_effort_below(2));
  std::atomic<int> runs{0};
  realtime::Scheduling low;
  realtime::Scheduling high;
  executor->add(every_millisecond(
      [&](const InstanceInfo&) {
        low = own_scheduling();
        ++runs;
      },
      1));
  executor->add(every_millisecond([](const InstanceInfo&) {}, 0));
  executor->add(every_millisecond(
      [&](const InstanceInfo&) {
        high = own_scheduling();
        if (runs > 0) {
          executor->cancel();
        }
      },
      2));
  executor->prepare();
  EXPECT_EQ(executor->kernel_priority(0), 0);
  EXPECT_EQ(executor->kernel_priority(1), 0);
  EXPECT_EQ(executor->kernel_priority(2), 94) << "the first below the top";
  executor->spin();
  EXPECT_EQ(low.policy, realtime::Policy::kOther);
  EXPECT_EQ(high.policy, realtime::Policy::kFifo);
  EXPECT_EQ(high.priority, 94);
}

TEST_P(BestEffort, AMemberOfAnUrgentGroupRunsAtItsCeilingAndComesBack) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto executor = make(GetParam(), best_effort_below(2));
  const auto group = std::make_shared<Group>();
  std::atomic<int> members{0};
  std::atomic<int> after{0};
  realtime::Scheduling inside;
  realtime::Scheduling outside;
  executor->add(every_millisecond([](const InstanceInfo&) {}, 5, group));
  executor->add(every_millisecond(
      [&](const InstanceInfo&) {
        inside = own_scheduling();
        ++members;
      },
      1, group));
  // At the same level, so on the same thread: it runs after the member has.
  executor->add(every_millisecond(
      [&](const InstanceInfo&) {
        if (members > 0) {
          outside = own_scheduling();
          if (++after == 3) {
            executor->cancel();
          }
        }
      },
      1));
  executor->prepare();
  EXPECT_EQ(executor->kernel_priority(5), 94);
  executor->spin();
  EXPECT_EQ(inside.policy, realtime::Policy::kFifo);
  EXPECT_EQ(inside.priority, 94);
  EXPECT_EQ(outside.policy, realtime::Policy::kOther);
}

TEST_P(BestEffort, ACallbackMovesToRealTimeAndBackWhileItSpins) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto executor = make(GetParam(), best_effort_below(2));
  std::atomic<realtime::Policy> policy{realtime::Policy::kDeadline};
  const auto callback =
      every_millisecond([&](const InstanceInfo&) { policy = own_scheduling().policy; }, 1);
  executor->add(callback);
  const auto becomes = [&](realtime::Policy wanted) {
    return eventually([&] { return policy == wanted; });
  };
  Spinning spinning(*executor);
  EXPECT_TRUE(becomes(realtime::Policy::kOther));
  executor->set_level(callback, 3);
  EXPECT_TRUE(becomes(realtime::Policy::kFifo));
  executor->set_level(callback, 0);
  EXPECT_TRUE(becomes(realtime::Policy::kOther));
}

TEST_P(BestEffort, ThreadsOfNormalPriorityGetTheirShare) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  // One level more than CPUs, each with a callback that ends when another callback has run.
  const std::size_t levels = realtime::allowed_cpus().size() + 1;
  auto executor = make(GetParam(), best_effort_below(1000));
  std::atomic<bool> ends{false};
  std::atomic<long> others{0};
  std::thread other([&] {
    while (!ends) {
      ++others;
      std::this_thread::yield();
    }
  });
  std::atomic<std::size_t> saw_others{0};
  std::atomic<std::size_t> normal{0};
  std::vector<std::shared_ptr<TestCallback>> burners;
  for (std::size_t i = 0; i < levels; ++i) {
    burners.push_back(std::make_shared<TestCallback>(
        named("burner", static_cast<int>(i)), [&](const InstanceInfo&) {
          // The kernel leaves 5 % of the time to threads that are not SCHED_FIFO.
          normal += own_scheduling().policy == realtime::Policy::kOther;
          const long before = others;
          while (others < before + 20) {
          }
          if (++saw_others == levels) {
            executor->cancel();
          }
        }));
    executor->add(burners.back());
  }
  executor->prepare();
  for (const auto& burner : burners) {
    burner->release_now();
  }
  executor->spin();
  ends = true;
  other.join();
  EXPECT_EQ(saw_others, levels);
  EXPECT_EQ(normal, levels);
}

TEST_P(BestEffort, AShortCallbackDoesNotWaitForALongOneOfItsLevelOnOneCpu) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  ExecutorOptions options;
  options.name = "test";
  options.cpus = {realtime::allowed_cpus().front()};
  options.best_effort_below = 1;  // without a number of workers
  auto executor = make(GetParam(), options);
  std::atomic<bool> short_ran{false};
  bool met = false;
  const auto quick = std::make_shared<TestCallback>(named("short"),
                                                    [&](const InstanceInfo&) { short_ran = true; });
  const auto slow = std::make_shared<TestCallback>(named("long"), [&](const InstanceInfo&) {
    quick->release_now();
    met = busy_until([&] { return short_ran.load(); });
    executor->cancel();
  });
  executor->add(quick);
  executor->add(slow);
  executor->prepare();
  slow->release_now();
  executor->spin();
  EXPECT_TRUE(met);
}

TEST(BestEffortGroups, HaveNormalSchedulingUntilAnUrgentCallbackJoins) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  ExecutorOptions options = on_one_cpu();
  options.best_effort_below = 1;
  PerGroupExecutor executor(options);
  const auto group = std::make_shared<Group>();
  std::atomic<realtime::Policy> policy{realtime::Policy::kDeadline};
  executor.add(
      every_millisecond([&](const InstanceInfo&) { policy = own_scheduling().policy; }, 0, group));
  executor.prepare();
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return policy == realtime::Policy::kOther; }));
  const auto urgent =
      std::make_shared<TestCallback>(named("urgent", 5, 1, group), [](const InstanceInfo&) {});
  executor.add(urgent);
  EXPECT_TRUE(eventually([&] { return policy == realtime::Policy::kFifo; }));
  EXPECT_TRUE(executor.remove(urgent));
  EXPECT_TRUE(eventually([&] { return policy == realtime::Policy::kOther; }));
}

TEST(BestEffortLevels, AreRefusedWhereNoLevelHasThreads) {
  const auto options = best_effort_below(2);
  const std::string expected =
      "executor \"test\": its levels have no threads of their own, so no level can be best effort; "
      "use preemptive, producer_consumer or per_group";
  EXPECT_EQ(refusal(*make("thread_dispatch", options)), expected);
  EXPECT_EQ(refusal(*make("edf", options)), expected);
  auto to_completion = options;
  to_completion.preemption = Preemption::kNever;
  PreemptiveExecutor without_preemption(to_completion);
  EXPECT_EQ(refusal(without_preemption),
            "executor \"test\": without preemption all levels share the threads, so no level can "
            "be best effort; leave out Preemption::kNever or that setting");
}

}  // namespace
}  // namespace rclrt::executor::test

// SPDX-License-Identifier: Apache-2.0
// Callbacks that wait for others of their level, without any setting: spare threads take over.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

using namespace std::chrono_literals;

/// Returns the default options, with and without permission for real time.
std::vector<ExecutorOptions> defaults(std::size_t cpus) {
  ExecutorOptions permitted;
  permitted.name = "test";
  const auto allowed = realtime::allowed_cpus();
  permitted.cpus.assign(allowed.begin(), allowed.begin() + static_cast<std::ptrdiff_t>(
                                                               std::min(cpus, allowed.size())));
  ExecutorOptions unpermitted = permitted;
  unpermitted.realtime = Realtime::kOff;
  return {permitted, unpermitted};
}

class Waiting : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, Waiting,
                         ::testing::Values<std::string_view>("preemptive", "producer_consumer",
                                                             "per_group"),
                         kind_name);

TEST_P(Waiting, ForOthersOfItsLevelEndsHoweverManyWaitForEachOther) {
  constexpr std::size_t kDepth = 6;  // more than any machine here has workers of a level
  for (const std::size_t cpus : {1, 2}) {
    for (const ExecutorOptions& options : defaults(cpus)) {
      auto executor = make(GetParam(), options);
      const auto group = std::make_shared<Group>(GroupType::kReentrant);
      std::vector<std::promise<void>> ended(kDepth + 1);
      std::vector<std::shared_ptr<TestCallback>> callbacks;
      std::atomic<std::size_t> answered{0};
      for (std::size_t i = 0; i < kDepth; ++i) {
        callbacks.push_back(std::make_shared<TestCallback>(
            named("c" + std::to_string(i), 0, 1, group), [&, i](const InstanceInfo&) {
              if (i + 1 < kDepth) {
                callbacks[i + 1]->release_now();
                answered += ended[i + 1].get_future().wait_for(60s) == std::future_status::ready;
              }
              ended[i].set_value();
              if (i == 0) {
                executor->cancel();
              }
            }));
        executor->add(callbacks.back());
      }
      executor->prepare();
      callbacks[0]->release_now();
      executor->spin();
      EXPECT_EQ(answered, kDepth - 1) << cpus << " CPUs";
    }
  }
}

TEST_P(Waiting, DoesNotKeepATimerOfItsLevelFromRunning) {
  for (const ExecutorOptions& options : defaults(1)) {
    auto executor = make(GetParam(), options);
    const auto group = std::make_shared<Group>(GroupType::kReentrant);
    std::atomic<int> ticks{0};
    bool saw_ticks = false;
    executor->add(every_millisecond([&](const InstanceInfo&) { ++ticks; }, 0, group));
    const auto waits =
        std::make_shared<TestCallback>(named("waits", 0, 1, group), [&](const InstanceInfo&) {
          const int before = ticks;
          saw_ticks = eventually([&] { return ticks >= before + 20; });
          executor->cancel();
        });
    executor->add(waits);
    executor->prepare();
    waits->release_now();
    executor->spin();
    EXPECT_TRUE(saw_ticks);
  }
}

TEST_P(Waiting, AgainAndAgainBesideAChainLosesNothingOfTheChain) {
  constexpr int kCalls = 20;
  for (const std::size_t cpus : {1, 2}) {
    for (const ExecutorOptions& options : defaults(cpus)) {
      auto executor = make(GetParam(), options);
      const auto group = std::make_shared<Group>(GroupType::kReentrant);
      std::atomic<int> answers{0};
      std::atomic<int> steps{0};
      std::promise<void>* answer = nullptr;
      const auto service = std::make_shared<TestCallback>(
          named("service", 0, 1, group), [&](const InstanceInfo&) { answer->set_value(); });
      const auto second = std::make_shared<TestCallback>(named("second", 0, 1000),
                                                         [&](const InstanceInfo&) { ++steps; });
      const auto first = std::make_shared<TestTimer>(
          timer_named("first", 0, 1000), TimerOptions{.period_ns = 1'000'000},
          [&](const InstanceInfo&) { second->release_now(); });
      CallbackOptions of_client = timer_named("client", 0, 1);
      of_client.group = group;
      // On a busy machine an answer may take longer than the period. A second run of the client
      // beside the first one would occupy the thread that the service needs.
      of_client.overload = Overload::kSkipIfRunning;
      const auto client = std::make_shared<TestTimer>(
          of_client, TimerOptions{.period_ns = 5'000'000}, [&](const InstanceInfo&) {
            std::promise<void> own;
            answer = &own;
            service->release_now();
            answers += own.get_future().wait_for(60s) == std::future_status::ready;
            if (answers == kCalls) {
              executor->cancel();
            }
          });
      for (const std::shared_ptr<Callback>& each :
           std::vector<std::shared_ptr<Callback>>{service, second, first, client}) {
        executor->add(each);
      }
      executor->spin();
      EXPECT_GE(answers, kCalls);
      EXPECT_EQ(first->counters().dropped, 0U);
      EXPECT_EQ(second->counters().dropped, 0U);
    }
  }
}

TEST_P(Waiting, IsNotWhatACallbackDoesThatComputes) {
  // At normal scheduling: under SCHED_FIFO the kernel alone would keep a spare from running.
  ExecutorOptions options = defaults(1)[1];
  options.preemption = Preemption::kAlways;
  auto executor = make(GetParam(), options);
  const auto group = std::make_shared<Group>(GroupType::kReentrant);
  std::atomic<bool> other_ran{false};
  bool overtaken = false;
  const auto other =
      std::make_shared<TestCallback>(named("other", 0, 1, group), [&](const InstanceInfo&) {
        other_ran = true;
        executor->cancel();
      });
  const auto computes =
      std::make_shared<TestCallback>(named("computes", 0, 1, group), [&](const InstanceInfo&) {
        other->release_now();
        busy_for(30'000'000);
        overtaken = other_ran;
      });
  executor->add(other);
  executor->add(computes);
  executor->prepare();
  computes->release_now();
  executor->spin();
  EXPECT_FALSE(overtaken);
  EXPECT_TRUE(other_ran);
}

TEST_P(Waiting, EndsAsSoonAsItIsLetGoWhenTheSpinIsCancelled) {
  for (const ExecutorOptions& options : defaults(1)) {
    auto executor = make(GetParam(), options);
    const auto group = std::make_shared<Group>(GroupType::kReentrant);
    for (int round = 0; round < 10; ++round) {
      std::promise<void> let_go;
      const std::shared_future<void> gone = let_go.get_future().share();
      std::atomic<int> waiting{0};
      const auto waits =
          std::make_shared<TestCallback>(named("waits", 0, 4, group), [&](const InstanceInfo&) {
            ++waiting;
            gone.wait();
          });
      executor->add(waits);
      executor->prepare();
      {
        const Spinning spinning(*executor);
        for (int i = 0; i < 4; ++i) {
          waits->release_now();
        }
        EXPECT_TRUE(eventually([&] { return waiting == 4; }));
        let_go.set_value();
      }
      EXPECT_TRUE(executor->remove(waits));
      EXPECT_EQ(waits->counters().completed, 4U);
    }
  }
}

TEST(SpareWorkers, AreNotThereWhereTheNumberOfWorkersIsStatedOrNoneAreWanted) {
  for (ExecutorOptions options : defaults(1)) {
    for (const bool states_workers : {true, false}) {
      options.workers_per_level = states_workers ? 1 : 0;
      options.spare_workers = states_workers ? 8 : 0;
      PreemptiveExecutor executor(options);
      std::atomic<bool> other_ran{false};
      bool met = true;
      const auto other = std::make_shared<TestCallback>(named("other"), [&](const InstanceInfo&) {
        other_ran = true;
        executor.cancel();
      });
      const auto sleeps = std::make_shared<TestCallback>(named("sleeps"), [&](const InstanceInfo&) {
        other->release_now();
        std::this_thread::sleep_for(20ms);  // a spare worker would run `other` meanwhile
        met = other_ran;
      });
      executor.add(other);
      executor.add(sleeps);
      executor.prepare();
      sleeps->release_now();
      executor.spin();
      EXPECT_FALSE(met);
    }
  }
}

TEST(SpareWorkers, LeaveAnExclusiveGroupToOneMember) {
  for (const ExecutorOptions& options : defaults(1)) {
    PreemptiveExecutor executor(options);
    const auto group = std::make_shared<Group>();
    std::atomic<int> inside{0};
    std::atomic<int> overlaps{0};
    std::atomic<int> ran{0};
    const auto body = [&](const InstanceInfo&) {
      overlaps += inside++;
      std::this_thread::sleep_for(3ms);
      --inside;
      if (++ran == 10) {
        executor.cancel();
      }
    };
    const auto a = std::make_shared<TestCallback>(named("a", 0, 10, group), body);
    const auto b = std::make_shared<TestCallback>(named("b", 0, 10, group), body);
    const auto beside = std::make_shared<TestCallback>(named("c"), [](const InstanceInfo&) {});
    executor.add(a);
    executor.add(b);
    executor.add(beside);
    executor.prepare();
    for (int i = 0; i < 5; ++i) {
      a->release_now();
      b->release_now();
      beside->release_now();
    }
    executor.spin();
    EXPECT_EQ(overlaps, 0);
  }
}

}  // namespace
}  // namespace rclrt::executor::test

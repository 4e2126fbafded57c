// SPDX-License-Identifier: Apache-2.0
// A thread for each group. The order of events decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "rclrt/executor/group.hpp"
#include "rclrt/executor/per_group_executor.hpp"
#include "spinning.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

int thread_priority() {
  int policy = 0;
  sched_param parameters{};
  pthread_getschedparam(pthread_self(), &policy, &parameters);
  return parameters.sched_priority;
}

TEST(PerGroup, EachGroupHasAThreadAtTheHighestPriorityOfItsCallbacks) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  ExecutorOptions options = on_one_cpu();
  options.top_priority = 40;
  PerGroupExecutor executor(options);
  const auto group = std::make_shared<Group>();
  EventLog log;
  const auto note = [&](const InstanceInfo&) {
    log.push_back(thread_name() + " " + std::to_string(thread_priority()));
  };
  const auto low = std::make_shared<TestCallback>(named("low", 1, 10, group), note);
  const auto alone = std::make_shared<TestCallback>(named("alone", 3), note);
  const auto high = std::make_shared<TestCallback>(named("high", 7, 10, group), note);
  for (const auto& each : {low, alone, high}) {
    executor.add(each);
  }
  executor.prepare();
  // Level 1 needs no priority, because no thread runs at it.
  EXPECT_EQ(executor.kernel_priority(7), 39);
  EXPECT_EQ(executor.kernel_priority(3), 38);
  const Spinning spinning(executor);
  low->release_now();
  ASSERT_TRUE(eventually([&] { return log.events().size() == 1; }));
  alone->release_now();
  ASSERT_TRUE(eventually([&] { return log.events().size() == 2; }));
  high->release_now();
  ASSERT_TRUE(eventually([&] { return log.events().size() == 3; }));
  EXPECT_EQ(log.events(), (std::vector<std::string>{"test g0 39", "test g1 38", "test g0 39"}));
}

TEST(PerGroup, AThreadOfHigherPriorityPreempts) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  PerGroupExecutor executor(on_one_cpu());
  std::atomic<bool> urgent_ran{false};
  bool met = false;
  const auto urgent = std::make_shared<TestCallback>(
      named("urgent", 2), [&](const InstanceInfo&) { urgent_ran = true; });
  const auto busy = std::make_shared<TestCallback>(named("busy", 1), [&](const InstanceInfo&) {
    urgent->release_now();
    met = busy_until([&] { return urgent_ran.load(); });
    executor.cancel();
  });
  executor.add(urgent);
  executor.add(busy);
  executor.prepare();
  busy->release_now();
  executor.spin();
  EXPECT_TRUE(met);
}

TEST(PerGroup, AGroupRunsInOrderOfReleaseWhateverThePriorities) {
  PerGroupExecutor executor(on_all_cpus());
  const auto group = std::make_shared<Group>(GroupType::kReentrant);
  EventLog log;
  const auto logged = [&](const std::string& name, int level) {
    return std::make_shared<TestCallback>(
        named(name, level, 10, group), [&log, name](const InstanceInfo&) { log.push_back(name); });
  };
  const auto low = logged("low", 1);
  const auto high = logged("high", 9);
  const auto last = std::make_shared<TestCallback>(named("last", 5, 10, group),
                                                   [&](const InstanceInfo&) { executor.cancel(); });
  for (const auto& each : {low, high, last}) {
    executor.add(each);
  }
  executor.prepare();
  for (const auto& each : {low, high, low, last}) {
    each->release_now();
  }
  executor.spin();
  EXPECT_EQ(log.events(), (std::vector<std::string>{"low", "high", "low"}));
}

TEST(PerGroup, AtOnePriorityAThreadGoesOnWhileItsQueueHasWork) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  PerGroupExecutor executor(on_one_cpu());
  EventLog log;
  const auto logged = [&](const std::string& name) {
    return std::make_shared<TestCallback>(named(name, 1), [&, name](const InstanceInfo&) {
      log.push_back(name);
      if (log.events().size() == 3) {
        executor.cancel();
      }
    });
  };
  const auto a = logged("a");
  const auto b = logged("b");
  const auto first = std::make_shared<TestCallback>(named("first", 9), [&](const InstanceInfo&) {
    a->release_now();
    b->release_now();
    a->release_now();  // announced after b, but must run next to the other a
  });
  for (const auto& each : {a, b, first}) {
    executor.add(each);
  }
  executor.prepare();
  first->release_now();
  executor.spin();
  // The first thread is the one that reached its queue first.
  const std::vector<std::string> order = log.events();
  ASSERT_EQ(order.size(), 3U);
  EXPECT_TRUE(order == std::vector<std::string>({"a", "a", "b"}) ||
              order == std::vector<std::string>({"b", "a", "a"}))
      << order[0] << order[1] << order[2];
}

TEST(PerGroup, SpinSomeTakesTheMostUrgentFirst) {
  PerGroupExecutor executor(on_one_cpu());
  EventLog log;
  const auto logged = [&](const std::string& name, int level) {
    return std::make_shared<TestCallback>(
        named(name, level), [&log, name](const InstanceInfo&) { log.push_back(name); });
  };
  const auto low = logged("low", 1);
  const auto high = logged("high", 9);
  executor.add(low);
  executor.add(high);
  executor.prepare();
  low->release_now();
  high->release_now();
  ASSERT_TRUE(executor.run_one_on_caller(0ns));
  ASSERT_TRUE(executor.run_one_on_caller(0ns));
  EXPECT_FALSE(executor.run_one_on_caller(0ns));
  EXPECT_EQ(log.events(), (std::vector<std::string>{"high", "low"}));
}

TEST(PerGroup, GroupsComeAndGoWhileItSpins) {
  PerGroupExecutor executor(on_all_cpus());
  std::atomic<int> runs{0};
  executor.prepare();
  const Spinning spinning(executor);
  for (int i = 1; i <= 50; ++i) {
    const auto message =
        std::make_shared<TestCallback>(named("m", i % 3), [&](const InstanceInfo&) { ++runs; });
    executor.add(message);
    const int before = runs;
    message->release_now();
    ASSERT_TRUE(eventually([&] { return runs > before; })) << i;
    ASSERT_TRUE(executor.remove(message));
    EXPECT_EQ(message->counters().pending(), 0U);
  }
}

TEST(PerGroup, ANewPriorityMovesItsThread) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  ExecutorOptions options = on_one_cpu();
  options.top_priority = 40;
  PerGroupExecutor executor(options);
  std::atomic<int> seen{0};
  const auto moved = std::make_shared<TestCallback>(
      named("moved", 1), [&](const InstanceInfo&) { seen = thread_priority(); });
  const auto other = std::make_shared<TestCallback>(named("other", 5), [](const InstanceInfo&) {});
  executor.add(moved);
  executor.add(other);
  executor.prepare();
  const Spinning spinning(executor);
  moved->release_now();
  ASSERT_TRUE(eventually([&] { return seen == 38; }));
  executor.set_level(moved, 9);
  moved->release_now();
  EXPECT_TRUE(eventually([&] { return seen == 39; }));
}

TEST(PerGroup, ThePriorityOfAGroupGoesDownWithTheCallbackThatGoes) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  ExecutorOptions options = on_one_cpu();
  options.top_priority = 40;
  PerGroupExecutor executor(options);
  const auto group = std::make_shared<Group>();
  std::atomic<int> seen{0};
  const auto low = std::make_shared<TestCallback>(
      named("low", 1, 10, group), [&](const InstanceInfo&) { seen = thread_priority(); });
  const auto high =
      std::make_shared<TestCallback>(named("high", 9, 10, group), [](const InstanceInfo&) {});
  const auto middle =
      std::make_shared<TestCallback>(named("middle", 5), [](const InstanceInfo&) {});
  for (const auto& each : {low, high, middle}) {
    executor.add(each);
  }
  executor.prepare();
  const Spinning spinning(executor);
  low->release_now();
  ASSERT_TRUE(eventually([&] { return seen == 39; }));
  EXPECT_EQ(executor.kernel_priority(*low), 39);
  executor.remove(high);
  low->release_now();
  // There were levels 1, 5 and 9; the last one keeps its place.
  EXPECT_TRUE(eventually([&] { return seen == 37; }));
  EXPECT_EQ(executor.kernel_priority(*low), 37);
}

TEST(PerGroup, TheThreadOfAGroupThatHasGoneIsTheNextOnes) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  ExecutorOptions options = on_one_cpu();
  options.top_priority = 40;
  PerGroupExecutor executor(options);
  EventLog log;
  const auto note = [&](const InstanceInfo&) {
    log.push_back(thread_name() + " " + std::to_string(thread_priority()));
  };
  const auto stays = std::make_shared<TestCallback>(named("stays", 5), note);
  const auto urgent = std::make_shared<TestCallback>(named("urgent", 9), note);
  executor.add(stays);
  executor.add(urgent);
  executor.prepare();
  const Spinning spinning(executor);
  urgent->release_now();
  ASSERT_TRUE(eventually([&] { return log.events().size() == 1; }));
  executor.remove(urgent);
  const auto next = std::make_shared<TestCallback>(named("next", 5), note);
  executor.add(next);
  next->release_now();
  ASSERT_TRUE(eventually([&] { return log.events().size() == 2; }));
  EXPECT_EQ(log.events(), (std::vector<std::string>{"test g1 39", "test g1 38"}));
}

TEST(PerGroup, AsksForAThreadForEachGroupAndNothingElse) {
  ExecutorOptions options = on_one_cpu();
  options.preemption = Preemption::kNever;
  EXPECT_THAT([&] { PerGroupExecutor{options}; },
              ThrowsMessage<std::invalid_argument>(HasSubstr("leave out Preemption::kNever")));
  options.preemption = Preemption::kByRealtime;
  EXPECT_FALSE(PerGroupExecutor{options}.runs_to_completion());
  options.workers_per_level = 2;
  EXPECT_THAT(
      [&] { PerGroupExecutor{options}; },
      ThrowsMessage<std::invalid_argument>(HasSubstr("has one thread for each group, not 2")));
}

TEST(PerGroup, ManyGroupsThatComeAndGoKeepTheirPriorities) {
  PerGroupExecutor executor(on_one_cpu());
  executor.prepare();
  EventLog log;
  std::vector<std::shared_ptr<TestCallback>> members;
  for (int i = 0; i < 300; ++i) {
    const int level = i * 7 % 10;
    members.push_back(std::make_shared<TestCallback>(
        named(std::to_string(i), level),
        [&log, level](const InstanceInfo&) { log.push_back(std::to_string(level)); }));
    executor.add(members.back());
    if (i % 3 == 2) {  // every third lane is reused by the next group
      executor.remove(members[members.size() - 2]);
      members.erase(members.end() - 2);
    }
  }
  for (const auto& each : members) {
    each->release_now();
  }
  while (executor.run_one_on_caller(0ms)) {
  }
  const std::vector<std::string> levels = log.events();
  ASSERT_EQ(levels.size(), 200U);
  EXPECT_TRUE(std::ranges::is_sorted(levels, std::ranges::greater()));
}

}  // namespace
}  // namespace rclrt::executor::test

// SPDX-License-Identifier: Apache-2.0
// Events and PiCAS: one thread that runs callbacks to completion. They differ in the choice of the
// next one. The order of events decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "all_executors.hpp"
#include "rclrt/executor/events_executor.hpp"
#include "rclrt/executor/group.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "spinning.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

ExecutorOptions defaults() {
  ExecutorOptions options = on_one_cpu();
  options.preemption = Preemption::kByRealtime;
  return options;
}

class OneThread : public KindTest {
 protected:
  /// A callback that logs its name.
  std::shared_ptr<TestCallback> logged(const std::string& name, int level) {
    return std::make_shared<TestCallback>(
        named(name, level), [this, name](const InstanceInfo&) { log.push_back(name); });
  }

  EventLog log;
};
INSTANTIATE_TEST_SUITE_P(, OneThread, ::testing::Values<std::string_view>("events", "picas"),
                         kind_name);

TEST_P(OneThread, WhatIsReadyRunsByReleaseOrByPriority) {
  const auto executor = make(GetParam(), defaults());
  const auto low = logged("low", 1);
  const auto high = logged("high", 5);
  const auto last = std::make_shared<TestCallback>(
      named("last", 0), [&](const InstanceInfo&) { executor->cancel(); });
  const auto first = std::make_shared<TestCallback>(named("first", 9), [&](const InstanceInfo&) {
    for (const auto& each : {low, high, low, high}) {
      each->release_now();
    }
    last->release_now();
  });
  for (const auto& each : {low, high, last, first}) {
    executor->add(each);
  }
  executor->prepare();
  first->release_now();
  executor->spin();
  EXPECT_EQ(log.events(),
            (GetParam() == "events" ? std::vector<std::string>{"low", "high", "low", "high"}
                                    : std::vector<std::string>{"high", "high", "low", "low"}));
}

TEST_P(OneThread, SpinSomeHasTheSameOrder) {
  const auto executor = make(GetParam(), defaults());
  const auto low = logged("low", 1);
  const auto high = logged("high", 5);
  executor->add(low);
  executor->add(high);
  executor->prepare();
  low->release_now();
  high->release_now();
  executor->spin_some();
  EXPECT_EQ(log.events(), (GetParam() == "events" ? std::vector<std::string>{"low", "high"}
                                                  : std::vector<std::string>{"high", "low"}));
}

TEST_P(OneThread, WhatHasStartedIsFinishedAlsoOnSeveralCpus) {
  ExecutorOptions options = defaults();
  options.cpus = {};
  const auto executor = make(GetParam(), options);
  std::atomic<bool> urgent_ran{false};
  bool waited = false;
  const auto urgent = std::make_shared<TestCallback>(named("urgent", 5), [&](const InstanceInfo&) {
    urgent_ran = true;
    executor->cancel();
  });
  const auto low = std::make_shared<TestCallback>(named("low", 1), [&](const InstanceInfo&) {
    urgent->release_now();
    std::this_thread::sleep_for(30ms);  // a second thread would run `urgent` meanwhile
    waited = !urgent_ran;
  });
  executor->add(urgent);
  executor->add(low);
  executor->prepare();
  low->release_now();
  executor->spin();
  EXPECT_TRUE(urgent_ran);
  EXPECT_TRUE(waited);
  EXPECT_TRUE(executor->runs_to_completion());
}

TEST_P(OneThread, ItsThreadHasThePriorityBelowTheTopOne) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  ExecutorOptions options = defaults();
  options.top_priority = 40;
  const auto executor = make(GetParam(), options);
  std::vector<int> priorities;
  for (const int level : {1, 7}) {
    executor->add(std::make_shared<TestTimer>(
        timer_named("t", level), TimerOptions{.period_ns = 3'600'000'000'000},
        [&, level](const InstanceInfo&) {
          priorities.push_back(realtime::read_scheduling(0)->priority);
          priorities.push_back(executor->kernel_priority(level));
          if (priorities.size() == 4) {
            executor->cancel();
          }
        }));
  }
  executor->spin();
  EXPECT_EQ(priorities, std::vector<int>(4, 39));
}

TEST_P(OneThread, TheExecutorWithTheHigherPriorityPreempts) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  ExecutorOptions options = defaults();
  options.top_priority = 40;
  const auto low = make(GetParam(), options);
  options.top_priority = 41;
  const auto high = make(GetParam(), options);
  std::atomic<bool> urgent_ran{false};
  bool met = false;
  const auto urgent = std::make_shared<TestCallback>(
      named("urgent", 1), [&](const InstanceInfo&) { urgent_ran = true; });
  const auto busy = std::make_shared<TestCallback>(named("busy", 9), [&](const InstanceInfo&) {
    urgent->release_now();
    met = busy_until([&] { return urgent_ran.load(); });
    low->cancel();
  });
  high->add(urgent);
  low->add(busy);
  low->prepare();
  high->prepare();
  const Spinning spinning(*high);
  busy->release_now();
  low->spin();
  EXPECT_TRUE(met);
}

TEST_P(OneThread, AsksForNoPreemption) {
  ExecutorOptions options = defaults();
  options.preemption = Preemption::kAlways;
  EXPECT_THAT([&] { make_executor(GetParam(), options); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("does not preempt a running callback; leave out Preemption::kAlways")));
}

TEST_P(OneThread, AnyNumberOfPrioritiesFits) {
  const auto executor = make(GetParam(), defaults());
  for (int level = 0; level < 200; ++level) {
    executor->add(logged("c", level));
  }
  executor->prepare();
}

TEST(Events, HasOneWorker) {
  ExecutorOptions options = defaults();
  options.workers_per_level = 2;
  EXPECT_THAT([&] { EventsExecutor{options}; },
              ThrowsMessage<std::invalid_argument>(HasSubstr("events has one thread, not 2")));
}

/// Returns the order of execution, if the machine let the first timer run before the second one was
/// due.
std::optional<std::vector<std::string>> order_of_a_timer_between_two_messages() {
  EventsExecutor executor(defaults());
  EventLog log;
  bool in_time = false;
  const auto message = std::make_shared<TestCallback>(
      named("m", 9), [&](const InstanceInfo&) { log.push_back("message"); });
  const auto last = std::make_shared<TestCallback>(named("last", 0),
                                                   [&](const InstanceInfo&) { executor.cancel(); });
  const auto timer = std::make_shared<TestTimer>(
      timer_named("t", 1), TimerOptions{.period_ns = 1'000'000'000'000, .offset_ns = 20'000'000},
      [&](const InstanceInfo&) { log.push_back("timer"); });
  // Runs from before the timer's release to after it; one message comes before, one after it.
  const auto first = std::make_shared<TestTimer>(
      timer_named("first", 1), TimerOptions{.period_ns = 1'000'000'000'000},
      [&](const InstanceInfo& info) {
        message->release(info.release_ns, info.release_ns + 10'000'000);
        in_time = realtime::monotonic_now_ns() < info.release_ns + 20'000'000;
        while (realtime::monotonic_now_ns() < info.release_ns + 30'000'000) {
        }
        message->release_now();
        last->release_now();
      });
  executor.add(message);
  executor.add(last);
  executor.add(timer);
  executor.add(first);
  executor.spin();
  return in_time ? std::optional(log.events()) : std::nullopt;
}

TEST(Events, TimersTakeTheirPlaceAmongMessagesByRelease) {
  std::optional<std::vector<std::string>> order;
  while (!order) {
    order = order_of_a_timer_between_two_messages();
  }
  EXPECT_EQ(*order, (std::vector<std::string>{"message", "timer", "message"}));
}

TEST(Events, TimersMayHaveAThreadOfTheirOwn) {
  ExecutorOptions options = defaults();
  options.cpus = {};
  EventsExecutor executor(options, {.timers_thread = true});
  std::atomic<bool> timer_ran{false};
  bool met = false;
  std::string of_timer;
  std::string of_message;
  const auto message = std::make_shared<TestCallback>(named("m", 1), [&](const InstanceInfo&) {
    of_message = thread_name();
    met = eventually([&] { return timer_ran.load(); });
    executor.cancel();
  });
  const auto timer = std::make_shared<TestTimer>(
      timer_named("t", 1), TimerOptions{.period_ns = 1'000'000'000'000}, [&](const InstanceInfo&) {
        of_timer = thread_name();
        timer_ran = true;
      });
  executor.add(message);
  executor.add(timer);
  executor.prepare();
  message->release_now();
  executor.spin();
  EXPECT_TRUE(met);
  EXPECT_EQ(of_timer, "test timers");
  EXPECT_EQ(of_message, "test run");
}

TEST(Events, AGroupKeepsTimersAndMessagesApart) {
  ExecutorOptions options = defaults();
  options.cpus = {};
  EventsExecutor executor(options, {.timers_thread = true});
  const auto group = std::make_shared<Group>(GroupType::kMutuallyExclusive);
  std::atomic<int> inside{0};
  std::atomic<int> together{0};
  std::atomic<int> runs{0};
  const auto body = [&](const InstanceInfo&) {
    together += inside++ != 0 ? 1 : 0;
    ++runs;
    --inside;
  };
  CallbackOptions of_message = named("m", 1);
  of_message.group = group;
  CallbackOptions of_timer = timer_named("t", 1);
  of_timer.group = group;
  const auto message = std::make_shared<TestCallback>(of_message, body);
  const auto timer =
      std::make_shared<TestTimer>(of_timer, TimerOptions{.period_ns = 100'000}, body);
  executor.add(message);
  executor.add(timer);
  executor.prepare();
  {
    const Spinning spinning(executor);
    EXPECT_TRUE(eventually([&] {
      message->release_now();
      return runs > 2000;
    }));
  }
  EXPECT_EQ(together, 0);
}

TEST(Events, WhatIsRemovedRunsNoMore) {
  EventsExecutor executor(defaults(), {.timers_thread = true});
  int runs = 0;
  const auto message =
      std::make_shared<TestCallback>(named("m", 1), [&](const InstanceInfo&) { ++runs; });
  const auto timer =
      std::make_shared<TestTimer>(timer_named("t", 1), TimerOptions{.period_ns = 1'000'000'000'000},
                                  [&](const InstanceInfo&) { ++runs; });
  executor.add(message);
  executor.add(timer);
  executor.prepare();
  message->release_now();
  executor.remove(message);
  executor.remove(timer);
  executor.spin_some();
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(message->counters().pending(), 0U);
}

}  // namespace
}  // namespace rclrt::executor::test

// SPDX-License-Identifier: Apache-2.0
// Sets in a fixed order, and what triggers them. Decided by the order of events.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rclrt/executor/static_order_executor.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "spinning.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

using namespace std::chrono_literals;
using Events = std::vector<std::string>;

ExecutorOptions one_thread() {
  ExecutorOptions options = on_one_cpu();
  options.preemption = Preemption::kByRealtime;
  return options;
}

/// Reads ahead: its message is the value that `input` has when it is taken.
class Reader : public TestCallback {
 public:
  Reader(const std::string& name, const int& input, EventLog& log)
      : TestCallback(named(name), nullptr), input_(input), log_(log) {}

 protected:
  void take_input(InstanceInfo& info) override {
    EXPECT_NE(info.release_ns, 0);
    taken_ = input_;
    log_.push_back("take " + name());
  }
  void discard_input() noexcept override { log_.push_back("discard " + name()); }
  Outcome run(InstanceInfo& info) override {
    info.start_ns = realtime::monotonic_now_ns();
    log_.push_back(name() + " " + std::to_string(taken_));
    return Outcome::kRan;
  }

 private:
  const int& input_;
  EventLog& log_;
  int taken_ = -1;
};

class StaticOrder : public ::testing::Test {
 protected:
  std::shared_ptr<TestCallback> logged(const std::string& name, int level = 0,
                                       EntityType type = EntityType::kSubscription) {
    CallbackOptions options = named(name, level);
    options.type = type;
    return std::make_shared<TestCallback>(
        options, [this, name](const InstanceInfo&) { log.push_back(name); });
  }
  /// A callback that logs its name, then does something else.
  std::shared_ptr<TestCallback> acting(const std::string& name, int level,
                                       const std::function<void()>& action) {
    return std::make_shared<TestCallback>(named(name, level),
                                          [this, name, action](const InstanceInfo&) {
                                            log.push_back(name);
                                            action();
                                          });
  }

  EventLog log;
};

TEST_F(StaticOrder, ASetRunsByLevelThenInOrderOfAddition) {
  StaticOrderExecutor executor(one_thread());
  std::vector<std::shared_ptr<TestCallback>> all = {logged("a", 1), logged("b", 5), logged("c", 5),
                                                    logged("d", 1)};
  for (const auto& each : all) {
    executor.add(each);
  }
  executor.prepare();
  for (const auto& each : {all[3], all[0], all[2], all[1]}) {
    each->release_now();
  }
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"b", "c", "a", "d"}));
}

TEST_F(StaticOrder, ASetHasOneInstanceOfEachCallback) {
  StaticOrderExecutor executor(one_thread());
  const auto high = logged("high", 5);
  const auto low = logged("low", 1);
  executor.add(low);
  executor.add(high);
  executor.prepare();
  for (const auto& each : {high, high, low, low, high}) {
    each->release_now();
  }
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"high", "low", "high", "low", "high"}));
}

TEST_F(StaticOrder, WhatBecomesReadyMeanwhileIsForTheNextSet) {
  StaticOrderExecutor executor(one_thread());
  const auto urgent = logged("urgent", 9);
  const auto low = acting("low", 1, [&] { executor.cancel(); });
  const auto middle = acting("middle", 5, [&] { urgent->release_now(); });
  for (const auto& each : {urgent, middle, low}) {
    executor.add(each);
  }
  executor.prepare();
  middle->release_now();
  low->release_now();
  executor.spin();
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"middle", "low", "urgent"}));
}

TEST_F(StaticOrder, TimersHaveTheirPlacesInTheOrder) {
  StaticOrderExecutor executor(one_thread());
  const auto timer = [&](const std::string& name, int level) {
    return std::make_shared<TestTimer>(timer_named(name, level),
                                       TimerOptions{.period_ns = 3'600'000'000'000},
                                       [this, name](const InstanceInfo&) { log.push_back(name); });
  };
  const auto message = logged("message", 5);
  executor.add(timer("last", 1));
  executor.add(message);
  executor.add(timer("first", 9));
  executor.prepare();
  message->release_now();
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"first", "message", "last"}));
}

TEST_F(StaticOrder, ATimerThatIsDueWakesTheThread) {
  StaticOrderExecutor executor(one_thread());
  std::atomic<int> ticks{0};
  executor.add(every_millisecond([&](const InstanceInfo&) {
    if (++ticks == 50) {
      executor.cancel();
    }
  }));
  executor.spin();
  EXPECT_EQ(ticks, 50);
}

TEST_F(StaticOrder, TriggerAllWaitsForEveryTimerAndSubscription) {
  StaticOrderExecutor executor(one_thread(), {.trigger = trigger_all()});
  const auto left = logged("left", 2);
  const auto right = logged("right", 1);
  const auto service = logged("service", 9, EntityType::kService);
  for (const auto& each : {left, right, service}) {
    executor.add(each);
  }
  executor.prepare();
  left->release_now();
  service->release_now();
  executor.spin_some();
  EXPECT_FALSE(executor.spin_once(1ms));
  EXPECT_FALSE(executor.run_one_on_caller(1ms));
  EXPECT_EQ(log.events(), Events{});
  EXPECT_EQ(left->counters().pending(), 1U);
  right->release_now();
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"service", "left", "right"}));
  left->release_now();  // a second left alone
  left->release_now();
  right->release_now();
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"service", "left", "right", "left", "right"}));
  EXPECT_EQ(left->counters().pending(), 1U);
}

TEST_F(StaticOrder, TriggerAllIsSeenByTheThreadThatSleeps) {
  StaticOrderExecutor executor(one_thread(), {.trigger = trigger_all()});
  const auto left = logged("left", 2);
  const auto right = logged("right", 1);
  executor.add(left);
  executor.add(right);
  executor.prepare();
  const Spinning spinning(executor);
  for (std::size_t round = 1; round <= 20; ++round) {
    (round % 2 == 0 ? left : right)->release_now();
    std::this_thread::sleep_for(1ms);
    EXPECT_EQ(log.events().size(), 2 * (round - 1));
    (round % 2 == 0 ? right : left)->release_now();
    ASSERT_TRUE(eventually([&] { return log.events().size() == 2 * round; }));
  }
}

TEST_F(StaticOrder, TriggerOneWaitsForItAlone) {
  const auto wanted = logged("wanted", 1);
  const auto other = logged("other", 9);
  StaticOrderExecutor executor(one_thread(), {.trigger = trigger_one(*wanted)});
  executor.add(wanted);
  executor.add(other);
  executor.prepare();
  other->release_now();
  executor.spin_some();
  EXPECT_EQ(log.events(), Events{});
  wanted->release_now();
  executor.spin_some();
  wanted->release_now();
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"other", "wanted", "wanted"}));
}

TEST_F(StaticOrder, TheUsersTriggerSeesTheCallbacksInTheirOrder) {
  Events seen;
  const StaticOrderTrigger two = [&seen](std::span<const CallbackReadiness> callbacks) {
    seen.clear();
    for (const CallbackReadiness& each : callbacks) {
      seen.push_back(each.callback->name() + (each.ready ? " ready" : ""));
    }
    return std::ranges::count_if(callbacks, &CallbackReadiness::ready) >= 2;
  };
  StaticOrderExecutor executor(one_thread(), {.trigger = two});
  const auto a = logged("a", 1);
  const auto b = logged("b", 2);
  const auto c = logged("c", 3);
  for (const auto& each : {a, b, c}) {
    executor.add(each);
  }
  executor.prepare();
  a->release_now();
  executor.spin_some();
  EXPECT_EQ(seen, (Events{"c", "b", "a ready"}));
  EXPECT_EQ(log.events(), Events{});
  c->release_now();
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"c", "a"}));
  executor.set_level(a, 7);
  a->release_now();
  b->release_now();
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"c", "a", "a", "b"}));
}

TEST_F(StaticOrder, WhatIsLeftOfASetComesFirstInTheNextSpin) {
  StaticOrderExecutor executor(one_thread(), {.trigger = trigger_all()});
  std::vector<std::shared_ptr<TestCallback>> all = {logged("a", 3), logged("b", 2), logged("c", 1)};
  for (const auto& each : all) {
    executor.add(each);
  }
  executor.prepare();
  for (const auto& each : all) {
    each->release_now();
  }
  EXPECT_TRUE(executor.spin_once(0ms));
  EXPECT_EQ(log.events(), Events{"a"});
  EXPECT_TRUE(executor.run_one_on_caller(0ms));
  EXPECT_EQ(log.events(), (Events{"a", "b"}));
  all[0]->release_now();  // for the next set
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"a", "b", "c"}));
  EXPECT_EQ(all[0]->counters().pending(), 1U);
}

TEST_F(StaticOrder, AMemberThatIsRemovedByAnotherDoesNotRun) {
  StaticOrderExecutor executor(one_thread());
  const auto victim = logged("victim", 1);
  const auto last = logged("last", 0);
  const auto first = acting("first", 5, [&] { executor.remove(victim); });
  for (const auto& each : {first, victim, last}) {
    executor.add(each);
  }
  executor.prepare();
  for (const auto& each : {first, victim, last}) {
    each->release_now();
  }
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"first", "last"}));
  EXPECT_EQ(victim->counters().dropped, 1U);
  EXPECT_EQ(victim->counters().pending(), 0U);
  executor.add(victim);  // and comes back, after the others of its level
  victim->release_now();
  executor.spin_some();
  EXPECT_EQ(log.events().back(), "victim");
}

TEST_F(StaticOrder, AMemberIsRemovedByAnotherThreadWithoutWaitingForTheSet) {
  StaticOrderExecutor executor(one_thread());
  std::atomic<bool> runs{false};
  std::atomic<bool> removed{false};
  const auto victim = logged("victim", 1);
  const auto first = acting("first", 5, [&] {
    runs = true;
    while (!removed) {
      std::this_thread::sleep_for(1ms);
    }
  });
  executor.add(first);
  executor.add(victim);
  executor.prepare();
  first->release_now();
  victim->release_now();
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return runs.load(); }));
  EXPECT_TRUE(executor.remove(victim));
  removed = true;
  ASSERT_TRUE(eventually([&] { return first->counters().completed == 1; }));
  EXPECT_EQ(log.events(), Events{"first"});
  EXPECT_EQ(victim->counters().dropped, 1U);
}

TEST_F(StaticOrder, WithoutTheCallbackThatLackedTheTriggerHolds) {
  StaticOrderExecutor executor(one_thread(), {.trigger = trigger_all()});
  const auto ready = logged("ready");
  const auto silent = logged("silent");
  executor.add(ready);
  executor.add(silent);
  executor.prepare();
  ready->release_now();
  const Spinning spinning(executor);
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(log.events(), Events{});
  executor.remove(silent);
  EXPECT_TRUE(eventually([&] { return log.events() == Events{"ready"}; }));
}

TEST_F(StaticOrder, WithLogicalExecutionTimeASetReadsBeforeItRuns) {
  for (const bool ahead : {true, false}) {
    int input = 1;
    EventLog events;
    StaticOrderExecutor executor(one_thread(), {.logical_execution_time = ahead});
    const auto a = std::make_shared<Reader>("a", input, events);
    const auto b = std::make_shared<Reader>("b", input, events);
    const auto between = std::make_shared<TestCallback>(named("c"), [&](const InstanceInfo&) {
      input = 2;
      events.push_back("c");
    });
    executor.add(a);
    executor.add(between);
    executor.add(b);
    executor.prepare();
    for (const auto& each : std::vector<std::shared_ptr<TestCallback>>{a, b, between}) {
      each->release_now();
    }
    executor.spin_some();
    EXPECT_EQ(events.events(), (ahead ? Events{"take a", "take b", "a 1", "c", "b 1"}
                                      : Events{"a -1", "c", "b -1"}));
  }
}

TEST_F(StaticOrder, WhatWasReadRunsBeforeASpinEnds) {
  int input = 1;
  StaticOrderExecutor executor(one_thread(), {.logical_execution_time = true});
  const auto a = std::make_shared<Reader>("a", input, log);
  const auto b = std::make_shared<Reader>("b", input, log);
  executor.add(a);
  executor.add(b);
  executor.prepare();
  a->release_now();
  b->release_now();
  EXPECT_TRUE(executor.spin_once(0ms));
  EXPECT_EQ(log.events(), (Events{"take a", "take b", "a 1", "b 1"}));
}

TEST_F(StaticOrder, WhatWasReadIsDiscardedWithItsCallback) {
  int input = 1;
  StaticOrderExecutor executor(one_thread(), {.logical_execution_time = true});
  const auto victim = std::make_shared<Reader>("victim", input, log);
  const auto first = acting("first", 5, [&] { executor.remove(victim); });
  executor.add(first);
  executor.add(victim);
  executor.prepare();
  first->release_now();
  victim->release_now();
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"take victim", "first", "discard victim"}));
  EXPECT_EQ(victim->counters().dropped, 1U);
  EXPECT_EQ(victim->counters().pending(), 0U);
}

TEST_F(StaticOrder, ItsThreadHasThePriorityBelowTheTopOne) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  ExecutorOptions options = one_thread();
  options.top_priority = 40;
  StaticOrderExecutor executor(options);
  std::vector<int> priorities;
  for (const int level : {1, 7}) {
    const auto callback = std::make_shared<TestCallback>(
        named("c", level),
        [&](const InstanceInfo&) { priorities.push_back(realtime::read_scheduling(0)->priority); });
    executor.add(callback);
    executor.prepare();
    EXPECT_EQ(executor.os_priority(*callback), 39);
    callback->release_now();
  }
  executor.spin_some();
  EXPECT_EQ(priorities, (std::vector<int>{39, 39}));
  EXPECT_TRUE(executor.runs_to_completion());
}

/// Callbacks come and go, and change their levels, while sets run that were read.
TEST_F(StaticOrder, ChangesWhileSetsRunLoseNothingButDrops) {
  StaticOrderExecutor executor(one_thread(), {.logical_execution_time = true});
  std::vector<std::shared_ptr<TestCallback>> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(std::make_shared<TestCallback>(named("c" + std::to_string(i), i),
                                                 [](const InstanceInfo&) {}));
    executor.add(all.back());
  }
  executor.prepare();
  {
    const Spinning spinning(executor);
    std::atomic<bool> over{false};
    std::thread releasing([&] {
      while (!over) {
        for (const auto& each : all) {
          each->burst(1);
        }
      }
    });
    for (int round = 0; round < 300; ++round) {
      const auto& each = all[static_cast<std::size_t>(round) % all.size()];
      executor.set_level(each, round % 7);
      EXPECT_TRUE(executor.remove(each));
      EXPECT_EQ(each->counters().pending(), 0U);
      executor.add(each);
    }
    over = true;
    releasing.join();
    EXPECT_TRUE(eventually([&] {
      return std::ranges::all_of(all,
                                 [](const auto& each) { return each->counters().pending() == 0; });
    }));
  }
  for (const auto& each : all) {
    EXPECT_GT(each->counters().completed, 0U) << each->name();
  }
}

TEST_F(StaticOrder, HasOneThreadAndATrigger) {
  ExecutorOptions options = one_thread();
  options.workers_per_level = 2;
  EXPECT_THROW(StaticOrderExecutor{options}, std::invalid_argument);
  EXPECT_THROW(StaticOrderExecutor{on_one_cpu()}, std::invalid_argument);  // kAlways
  EXPECT_THROW(StaticOrderExecutor(one_thread(), {.trigger = nullptr}), std::invalid_argument);
}

}  // namespace
}  // namespace rclrt::executor::test

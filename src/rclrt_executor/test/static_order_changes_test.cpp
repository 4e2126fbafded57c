// SPDX-License-Identifier: Apache-2.0
// Sets while callbacks are added and removed, and sets that read ahead. The order of events
// decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rclrt/realtime/scheduling.hpp"
#include "spinning.hpp"
#include "static_order.hpp"

namespace rclrt::executor::test {
namespace {

using testing::ThrowsMessage;

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
  executor.add(victim);  // it is added again, after the others of its level
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
    EXPECT_TRUE(eventually([&] { return removed.load(); }));
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
  const auto trigger = std::make_shared<CountingTrigger>(trigger_all());
  StaticOrderExecutor executor(one_thread(), {.trigger = trigger});
  const auto ready = logged("ready");
  const auto silent = logged("silent");
  executor.add(ready);
  executor.add(silent);
  executor.prepare();
  ready->release_now();
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return trigger->refusals() > 0; }));
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
    EXPECT_EQ(executor.kernel_priority(*callback), 39);
    callback->release_now();
  }
  executor.spin_some();
  EXPECT_EQ(priorities, (std::vector<int>{39, 39}));
  EXPECT_TRUE(executor.runs_to_completion());
}

/// Callbacks are added, removed and change their levels while sets run that were read.
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
    const auto ran = [](const auto& each) { return each->counters().completed > 0; };
    for (int round = 0; round < 300 || !std::ranges::all_of(all, ran); ++round) {
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
}

TEST_F(StaticOrder, AMemberThatIsRemovedWhileItIsReadIsGivenUp) {
  int input = 1;
  StaticOrderExecutor executor(one_thread(), {.logical_execution_time = true});
  std::atomic<bool> reads{false};
  std::atomic<bool> goes_on{false};
  const auto victim = std::make_shared<Reader>("victim", input, log);
  victim->on_take = [&] {
    reads = true;
    EXPECT_TRUE(eventually([&] { return goes_on.load(); }));
  };
  const auto last = logged("last");
  executor.add(victim);
  executor.add(last);
  executor.prepare();
  victim->release_now();
  last->release_now();
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return reads.load(); }));
  EXPECT_FALSE(executor.start_removal(victim));  // it is being read
  goes_on = true;
  ASSERT_TRUE(eventually([&] { return last->counters().completed == 1; }));
  EXPECT_FALSE(executor.remove(victim));  // removed already: waits until it is quiet
  EXPECT_EQ(victim->counters().pending(), 0U);
  EXPECT_EQ(victim->counters().dropped, 1U);
  Events events = log.events();
  std::ranges::sort(events);  // the last two at the same time
  EXPECT_EQ(events, (Events{"discard victim", "last", "take victim"}));
}

TEST_F(StaticOrder, AnExceptionWhileReadingEndsTheSpinAndDropsTheInstance) {
  int input = 1;
  StaticOrderExecutor executor(one_thread(), {.logical_execution_time = true});
  const auto bad = std::make_shared<Reader>("bad", input, log);
  bad->on_take = [] { throw std::runtime_error("no message"); };
  const auto good = logged("good");
  executor.add(bad);
  executor.add(good);
  executor.prepare();
  bad->release_now();
  good->release_now();
  EXPECT_THAT([&] { executor.spin_some(); }, ThrowsMessage<std::runtime_error>("no message"));
  EXPECT_EQ(log.events(), (Events{"take bad", "discard bad", "good"}));
  EXPECT_EQ(bad->counters().dropped, 1U);
  EXPECT_EQ(bad->counters().pending(), 0U);
}

/// A release that comes after the input was read, before the instance runs.
TEST_F(StaticOrder, WhatComesAfterTheReadFollowsTheOverloadPolicy) {
  for (const Overload overload :
       {Overload::kQueue, Overload::kKeepLast, Overload::kSkipIfRunning}) {
    int input = 1;
    EventLog events;
    StaticOrderExecutor executor(one_thread(), {.logical_execution_time = true});
    CallbackOptions options = named("late");
    options.overload = overload;
    const auto late = std::make_shared<Reader>(options, input, events);
    const auto first = acting("first", 5, [&] {
      input = 2;
      late->release_now();
    });
    executor.add(first);
    executor.add(late);
    executor.prepare();
    first->release_now();
    late->release_now();
    executor.spin_some();
    executor.spin_some();
    const bool skips = overload == Overload::kSkipIfRunning;
    EXPECT_EQ(events.events(), skips ? (Events{"take late", "late 1"})
                                     : (Events{"take late", "late 1", "take late", "late 2"}));
    EXPECT_EQ(late->counters().dropped, skips ? 1U : 0U);
    EXPECT_EQ(late->counters().pending(), 0U);
  }
}

TEST_F(StaticOrder, TimersThatAreDueTogetherAreInOneSet) {
  StaticOrderExecutor executor(one_thread());
  std::vector<std::string> order;
  const auto ticking = [&](const std::string& name, int level) {
    return every_millisecond(
        [&, name](const InstanceInfo&) {
          order.push_back(name);
          if (order.size() == 200) {
            executor.cancel();
          }
        },
        level);
  };
  executor.add(ticking("low", 1));
  executor.add(ticking("high", 2));
  executor.spin();
  ASSERT_EQ(order.size(), 200U);
  for (std::size_t i = 0; i < order.size(); ++i) {
    ASSERT_EQ(order[i], i % 2 == 0 ? "high" : "low") << i;
  }
}

TEST_F(StaticOrder, TheOrderHoldsWhateverComesGoesAndChangesItsLevel) {
  StaticOrderExecutor executor(one_thread());
  executor.prepare();
  struct Member {
    std::shared_ptr<TestCallback> callback;
    int level;
  };
  std::vector<Member> members;  // in the order of their addition
  std::mt19937 draw(1);         // NOLINT(cert-msc51-cpp): the same steps in each run
  std::size_t seen = 0;
  for (int step = 0; step < 1000; ++step) {
    const int what = static_cast<int>(draw() % 10);
    const std::size_t which = members.empty() ? 0 : draw() % members.size();
    const int level = static_cast<int>(draw() % 5);
    if (what < 5 || members.empty()) {
      members.push_back({logged(std::to_string(step), level), level});
      executor.add(members.back().callback);
    } else if (what < 8) {
      executor.remove(members[which].callback);
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      executor.set_level(members[which].callback, level);
      members[which].level = level;
    }
    if (step % 20 != 0) {
      continue;
    }
    for (auto each = members.rbegin(); each != members.rend(); ++each) {
      each->callback->release_now();
    }
    executor.spin_some();
    std::vector<Member> expected = members;
    std::ranges::stable_sort(expected, std::ranges::greater(), &Member::level);
    Events names;
    for (const Member& each : expected) {
      names.push_back(each.callback->name());
    }
    const Events all = log.events();
    ASSERT_EQ(Events(all.begin() + static_cast<std::ptrdiff_t>(seen), all.end()), names) << step;
    seen = all.size();
  }
  EXPECT_GT(seen, 1000U);
}

TEST_F(StaticOrder, APlaceThatIsLeftFromWithinIsUsedAgain) {
  StaticOrderExecutor executor(one_thread());
  std::shared_ptr<TestCallback> own;
  const auto next = logged("next", 1);
  own = acting("own", 1, [&] {
    executor.remove(own);  // it still runs, so its place is not free
    executor.add(next);
  });
  executor.add(own);
  executor.prepare();
  own->release_now();
  executor.spin_some();
  const auto last = logged("last", 1);
  executor.add(last);
  for (const auto& each : {last, next}) {
    each->release_now();
  }
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"own", "next", "last"}));
}

}  // namespace
}  // namespace rclrt::executor::test

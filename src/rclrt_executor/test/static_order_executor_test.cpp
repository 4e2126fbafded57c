// SPDX-License-Identifier: Apache-2.0
// Sets in a fixed order, and their triggers. The order of events decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "spinning.hpp"
#include "static_order.hpp"

namespace rclrt::executor::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

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
  left->release_now();  // a second `left` without `right`
  left->release_now();
  right->release_now();
  executor.spin_some();
  EXPECT_EQ(log.events(), (Events{"service", "left", "right", "left", "right"}));
  EXPECT_EQ(left->counters().pending(), 1U);
}

TEST_F(StaticOrder, TriggerAllIsSeenByTheThreadThatSleeps) {
  const auto trigger = std::make_shared<CountingTrigger>(trigger_all());
  StaticOrderExecutor executor(one_thread(), {.trigger = trigger});
  const auto left = logged("left", 2);
  const auto right = logged("right", 1);
  executor.add(left);
  executor.add(right);
  executor.prepare();
  const Spinning spinning(executor);
  for (std::size_t round = 1; round <= 20; ++round) {
    const int before = trigger->refusals();
    (round % 2 == 0 ? left : right)->release_now();
    ASSERT_TRUE(eventually([&] { return trigger->refusals() > before; }));
    EXPECT_EQ(log.events().size(), 2 * (round - 1));
    (round % 2 == 0 ? right : left)->release_now();
    ASSERT_TRUE(eventually([&] { return log.events().size() == 2 * round; }));
  }
}

TEST_F(StaticOrder, TriggerOneWaitsForItAlone) {
  const auto wanted = logged("wanted", 1);
  const auto other = logged("other", 9);
  StaticOrderExecutor executor(one_thread(), {.trigger = trigger_one("wanted")});
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

/// Holds when two callbacks are ready.
class Two final : public StaticOrderTrigger {
 public:
  bool holds(std::span<const CallbackReadiness> callbacks) const noexcept
      RCLRT_NONBLOCKING override {
    std::ranges::copy(callbacks, seen_.begin());
    count_ = callbacks.size();
    return std::ranges::count_if(callbacks, &CallbackReadiness::ready) >= 2;
  }
  std::string text() const {
    std::string result;
    for (const CallbackReadiness& each : std::span(seen_).first(count_)) {
      result += (result.empty() ? "" : ", ") + each.callback->name() + (each.ready ? " ready" : "");
    }
    return result;
  }

 private:
  mutable std::array<CallbackReadiness, 3> seen_;
  mutable std::size_t count_ = 0;
};

TEST_F(StaticOrder, TheUsersTriggerSeesTheCallbacksInTheirOrder) {
  const auto two = std::make_shared<Two>();
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
  EXPECT_EQ(two->text(), "c, b, a ready");
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

TEST_F(StaticOrder, HasOneThreadAndATrigger) {
  ExecutorOptions options = one_thread();
  options.workers_per_level = 2;
  EXPECT_THAT(
      [&] { StaticOrderExecutor{options}; },
      ThrowsMessage<std::invalid_argument>(HasSubstr("static_order has one thread, not 2")));
  EXPECT_THAT([&] { StaticOrderExecutor{on_one_cpu()}; },
              ThrowsMessage<std::invalid_argument>(HasSubstr("leave out Preemption::kAlways")));
  EXPECT_THAT([&] { StaticOrderExecutor(one_thread(), {.trigger = nullptr}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("static_order needs a trigger")));
  StaticOrderExecutor ahead(one_thread(), {.logical_execution_time = true});
  EXPECT_THAT([&] { ahead.run_one_on_caller(0ms); },
              ThrowsMessage<std::logic_error>(HasSubstr("it does not offer run_one_on_caller")));
}

}  // namespace
}  // namespace rclrt::executor::test

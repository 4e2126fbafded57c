// SPDX-License-Identifier: Apache-2.0
// The spins that end by themselves, under every executor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include "all_executors.hpp"

namespace rclrt::executor::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t kHour_ns = 3'600'000'000'000;

/// Due once, `offset_ns` after the first spin has begun.
auto due(std::string name, std::int64_t offset_ns, TestCallback::Body body) {
  return std::make_shared<TestTimer>(timer_named(std::move(name)),
                                     TimerOptions{.period_ns = kHour_ns, .offset_ns = offset_ns},
                                     std::move(body));
}

class Spins : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, Spins, ::testing::ValuesIn(executor_names()), kind_name);

TEST_P(Spins, SpinSomeRunsWhatIsReadyAndReturns) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto first = due("first", 0, [](const InstanceInfo&) {});
  const auto second = due("second", 0, [](const InstanceInfo&) {});
  const auto later = due("later", kHour_ns, [](const InstanceInfo&) {});
  for (const auto& each : {first, second, later}) {
    executor->add(each);
  }
  executor->spin_some();
  EXPECT_EQ(first->counters().completed, 1U);
  EXPECT_EQ(second->counters().completed, 1U);
  EXPECT_EQ(later->counters().completed, 0U);
}

TEST_P(Spins, SpinSomeReturnsWhenNothingIsReady) {
  auto executor = make(GetParam(), on_one_cpu());
  executor->spin_some();
  const auto later = due("later", kHour_ns, [](const InstanceInfo&) {});
  executor->add(later);
  executor->spin_some();
  EXPECT_EQ(later->counters().released, 0U);
}

TEST_P(Spins, SpinSomeInALoopKeepsATimerRunning) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto timer = std::make_shared<TestTimer>(
      timer_named("tick"), TimerOptions{.period_ns = 1'000'000}, [](const InstanceInfo&) {});
  executor->add(timer);
  while (timer->counters().completed < 20) {
    executor->spin_some();
  }
}

TEST_P(Spins, SpinOnceReturnsAfterAnInstanceHasEnded) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto timer = due("timer", 2'000'000, [](const InstanceInfo&) {});
  executor->add(timer);
  EXPECT_TRUE(executor->spin_once(hours(1)));
  EXPECT_EQ(timer->counters().completed, 1U);
}

TEST_P(Spins, SpinOnceReturnsWhenTheTimeIsOver) {
  auto executor = make(GetParam(), on_one_cpu());
  executor->add(due("later", kHour_ns, [](const InstanceInfo&) {}));
  EXPECT_FALSE(executor->spin_once(milliseconds(3)));
  EXPECT_FALSE(executor->spin_once(milliseconds(0)));
}

TEST_P(Spins, SpinOnceWithoutATimeRunsWhatIsReady) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto ready = due("ready", 0, [](const InstanceInfo&) {});
  executor->add(ready);
  EXPECT_TRUE(executor->spin_once(milliseconds(0)));
  EXPECT_EQ(ready->counters().completed, 1U);
}

TEST_P(Spins, SpinUntilCompleteEndsWhenACallbackFulfilsThePromise) {
  auto executor = make(GetParam(), on_one_cpu());
  std::promise<int> promise;
  executor->add(due("fulfils", 2'000'000, [&](const InstanceInfo&) { promise.set_value(7); }));
  auto future = promise.get_future();
  EXPECT_EQ(executor->spin_until_future_complete(future), SpinResult::kComplete);
  EXPECT_EQ(future.get(), 7);
}

TEST_P(Spins, SpinUntilCompleteRunsNothingForAFutureThatIsReady) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto timer = due("timer", 0, [](const InstanceInfo&) {});
  executor->add(timer);
  std::promise<void> promise;
  promise.set_value();
  EXPECT_EQ(executor->spin_until_future_complete(promise.get_future()), SpinResult::kComplete);
  EXPECT_EQ(timer->counters().released, 0U);
}

TEST_P(Spins, SpinUntilCompleteSaysThatTheTimeIsOverOrThatSomebodyCancelled) {
  auto executor = make(GetParam(), on_one_cpu());
  std::promise<void> never;
  const auto future = never.get_future();
  EXPECT_EQ(executor->spin_until_future_complete(future, milliseconds(3)), SpinResult::kTimeout);
  executor->add(due("cancels", 0, [&](const InstanceInfo&) { executor->cancel(); }));
  EXPECT_EQ(executor->spin_until_future_complete(future, hours(1)), SpinResult::kInterrupted);
}

TEST_P(Spins, AnExceptionOfACallbackIsRethrownByEachOfThem) {
  std::promise<void> never;
  const auto future = never.get_future();
  for (int which = 0; which < 3; ++which) {
    auto executor = make(GetParam(), on_one_cpu());
    executor->add(due("throws", 0, [](const InstanceInfo&) { throw std::domain_error("no"); }));
    const auto spin = [&] {
      switch (which) {
        case 0:
          return executor->spin_some();
        case 1:
          return static_cast<void>(executor->spin_once());
        default:
          return static_cast<void>(executor->spin_until_future_complete(future));
      }
    };
    EXPECT_THAT([&] { spin(); }, ThrowsMessage<std::domain_error>("no")) << which;
  }
}

TEST_P(Spins, AfterASpinThatEndedByItselfTheNextOneRunsUntilCancelled) {
  auto executor = make(GetParam(), on_one_cpu());
  bool counting = false;  // the limited spins may run any number
  int runs = 0;
  executor->add(std::make_shared<TestTimer>(
      timer_named("tick"), TimerOptions{.period_ns = 1'000'000}, [&](const InstanceInfo&) {
        if (counting && ++runs == 10) {
          executor->cancel();
        }
      }));
  EXPECT_TRUE(executor->spin_once());
  executor->spin_some();
  counting = true;
  executor->spin();
  EXPECT_GE(runs, 10);
}

TEST_P(Spins, NoneOfThemRunsInACallbackOfTheSameExecutor) {
  auto executor = make(GetParam(), on_one_cpu());
  int refused = 0;
  executor->add(due("nested", 0, [&](const InstanceInfo&) {
    EXPECT_THAT(
        [&] { executor->spin_some(); },
        ThrowsMessage<std::logic_error>(HasSubstr("executor \"test\" is spinning already")));
    EXPECT_THAT(
        [&] { executor->spin_once(); },
        ThrowsMessage<std::logic_error>(HasSubstr("executor \"test\" is spinning already")));
    ++refused;
  }));
  executor->spin_some();
  EXPECT_EQ(refused, 1);
}

TEST_P(Spins, AfterCloseTheyReturnAtOnce) {
  auto executor = make(GetParam(), on_one_cpu());
  executor->add(due("timer", 0, [](const InstanceInfo&) {}));
  executor->close();
  std::promise<void> never;
  executor->spin_some();
  EXPECT_FALSE(executor->spin_once());
  EXPECT_EQ(executor->spin_until_future_complete(never.get_future()), SpinResult::kInterrupted);
}

class QueueingSpins : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, QueueingSpins, ::testing::ValuesIn(kEventDriven), kind_name);

TEST_P(QueueingSpins, SpinSomeRunsEveryMessageThatWaits) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto callback = std::make_shared<TestCallback>(named("c"), [](const InstanceInfo&) {});
  executor->add(callback);
  executor->prepare();
  for (int i = 0; i < 5; ++i) {
    callback->release_now();
  }
  executor->spin_some();
  EXPECT_EQ(callback->counters().completed, 5U);
}

TEST_P(QueueingSpins, SpinSomeEndsThoughCallbacksReleaseEachOtherForEver) {
  auto executor = make(GetParam(), on_one_cpu());
  std::shared_ptr<TestCallback> pong;
  const auto ping = std::make_shared<TestCallback>(
      named("ping"), [&](const InstanceInfo&) { pong->release_now(); });
  pong = std::make_shared<TestCallback>(named("pong"),
                                        [&](const InstanceInfo&) { ping->release_now(); });
  executor->add(ping);
  executor->add(pong);
  executor->prepare();
  ping->release_now();
  executor->spin_some();
  EXPECT_GE(ping->counters().completed, 1U);
}

}  // namespace
}  // namespace rclrt::executor::test

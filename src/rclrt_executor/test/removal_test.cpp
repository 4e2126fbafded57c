// SPDX-License-Identifier: Apache-2.0
// States of a removed callback: running, waiting, or the last owner of objects that it refers to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "access.hpp"
#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class Removal : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, Removal, ::testing::ValuesIn(kEventDrivenAndWaitSet), kind_name);

TEST_P(Removal, OfACallbackThatAlreadyRemovesItselfWaitsForItToo) {
  auto executor = make(GetParam(), on_all_cpus());
  executor->prepare();
  const Spinning spinning(*executor);
  for (int round = 0; round < 5; ++round) {
    std::shared_ptr<TestTimer> timer;
    std::atomic<bool> leaves{false};
    std::atomic<bool> waited_for{false};
    std::atomic<bool> ended{false};
    timer = every_millisecond([&](const InstanceInfo&) {
      EXPECT_TRUE(executor->remove(timer));
      leaves = true;
      EXPECT_TRUE(eventually([&] { return waited_for.load(); }));
      busy_for(2'000'000);
      ended = true;
    });
    executor->add(timer);
    ASSERT_TRUE(eventually([&] { return leaves.load(); }));
    EXPECT_THAT([&] { executor->add(timer); },
                ThrowsMessage<std::logic_error>(HasSubstr("is already in executor \"test\"")))
        << "it has not left yet";
    waited_for = true;
    EXPECT_FALSE(executor->remove(timer)) << "it was removed before";
    EXPECT_TRUE(ended) << "it still ran when remove had returned";
  }
}

TEST_P(Removal, ThatIsOnlyStartedWaitsForNothing) {
  auto executor = make(GetParam(), on_all_cpus());
  executor->prepare();
  const Spinning spinning(*executor);
  std::atomic<bool> runs{false};
  std::atomic<bool> started{false};
  std::atomic<bool> ended{false};
  const auto timer = every_millisecond([&](const InstanceInfo&) {
    EXPECT_FALSE(ended) << "it ran again";
    runs = true;
    EXPECT_TRUE(eventually([&] { return started.load(); }));
    ended = true;
  });
  executor->add(timer);
  ASSERT_TRUE(eventually([&] { return runs.load(); }));
  EXPECT_FALSE(executor->start_removal(timer));
  EXPECT_FALSE(ended);
  started = true;
  EXPECT_TRUE(eventually([&] { return executor->start_removal(timer); }));
  EXPECT_TRUE(ended);
  EXPECT_TRUE(executor->callbacks().empty());
}

/// An object that a callback owns and that ends with it.
struct Companion {
  explicit Companion(std::function<void()> at_its_end) : at_end(std::move(at_its_end)) {}
  ~Companion() { at_end(); }
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  std::function<void()> at_end;
};

TEST_P(Removal, WhatACallbackOwnsMayUseTheExecutorWhenItEnds) {
  auto executor = make(GetParam(), on_all_cpus());
  executor->prepare();
  std::atomic<bool> companion_ended{false};
  const auto other = every_millisecond([](const InstanceInfo&) {});
  {
    const Spinning spinning(*executor);
    executor->add(other);
    std::weak_ptr<TestTimer> weak;
    std::atomic<bool> left{false};
    {
      auto companion = std::make_shared<Companion>([&] {
        executor->remove(other);
        companion_ended = true;
      });
      auto timer = every_millisecond([&, companion](const InstanceInfo&) {
        if (const auto self = weak.lock()) {
          left = executor->remove(self) || left;
        }
      });
      weak = timer;
      executor->add(std::move(timer));
    }
    ASSERT_TRUE(eventually([&] { return left.load(); }));
    // The executor is the last owner now, and drops the callback at its next change at the latest.
    EXPECT_TRUE(eventually([&] {
      executor->remove(every_millisecond([](const InstanceInfo&) {}));
      return companion_ended.load();
    }));
  }
  EXPECT_TRUE(executor->callbacks().empty());
}

TEST_P(Removal, OfACallbackThatRemovedItselfLetsAnotherExecutorHaveIt) {
  auto first = make(GetParam(), on_all_cpus());
  auto second = make(GetParam(), on_all_cpus());
  second->prepare();
  std::atomic<int> runs{0};
  std::shared_ptr<TestTimer> timer;
  timer = every_millisecond([&](const InstanceInfo&) {
    if (++runs == 1) {
      first->remove(timer);
    }
  });
  first->add(timer);
  const Spinning spinning(*first);
  ASSERT_TRUE(eventually([&] { return runs > 0; }));
  first->remove(timer);  // returns when it has ended
  second->add(timer);
  EXPECT_TRUE(second->remove(timer));
}

TEST_P(Removal, OfSeveralThatRunLetsGoOfThemInAnyOrder) {
  if (!overlaps_within_a_level(GetParam())) {
    GTEST_SKIP() << "one callback runs, or is preempted by one with a shorter deadline";
  }
  auto options = on_all_cpus();
  options.realtime = Realtime::kOff;  // so that they overlap where there is only one CPU
  options.workers_per_level = 5;
  auto executor = make(GetParam(), options);
  executor->prepare();
  const Spinning spinning(*executor);
  std::array<std::atomic<bool>, 3> may_end{};
  std::array<std::atomic<bool>, 3> ended{};
  std::atomic<int> running{0};
  std::vector<std::shared_ptr<TestCallback>> callbacks;
  for (std::size_t i = 0; i < 3; ++i) {
    callbacks.push_back(std::make_shared<TestCallback>(named("c"), [&, i](const InstanceInfo&) {
      ++running;
      eventually([&] { return may_end[i].load(); });
      ended[i] = true;
    }));
    executor->add(callbacks.back());
    callbacks.back()->release_now();
  }
  ASSERT_TRUE(eventually([&] { return running == 3; }));
  std::atomic<bool> removed{false};
  const auto remover = std::make_shared<TestCallback>(named("r"), [&](const InstanceInfo&) {
    for (const auto& callback : callbacks) {
      executor->remove(callback);
    }
    removed = true;
  });
  executor->add(remover);
  remover->release_now();
  ASSERT_TRUE(eventually([&] { return removed.load(); }));
  for (const std::size_t i : {0U, 2U, 1U}) {
    may_end[i] = true;
    EXPECT_FALSE(executor->remove(callbacks[i]));
    EXPECT_TRUE(ended[i]);
  }
  EXPECT_EQ(executor->callbacks().size(), 1U);
}

TEST_P(Removal, BeforeTheFirstSpinReleasesNoTimer) {
  auto executor = make(GetParam(), on_all_cpus());
  const auto timer = every_millisecond([](const InstanceInfo&) {});
  const auto other = every_millisecond([](const InstanceInfo&) {});
  executor->add(timer);
  executor->add(other);
  executor->prepare();
  busy_for(5'000'000);
  EXPECT_TRUE(executor->remove(other));
  EXPECT_EQ(timer->counters().released, 0U) << "timers count from the first spin";
}

TEST_P(Removal, ByTwoExecutorsAtOnceLeavesOneOwner) {
  auto first = make(GetParam(), on_all_cpus());
  auto second = make(GetParam(), on_all_cpus());
  first->prepare();
  second->prepare();
  const auto timer = every_millisecond([](const InstanceInfo&) {});
  const auto come_and_go = [&](Executor& executor) {
    for (int round = 0; round < 300; ++round) {
      try {
        executor.add(timer);
      } catch (const std::logic_error&) {  // the other executor has it
        continue;
      }
      EXPECT_TRUE(executor.remove(timer));
    }
  };
  std::thread other([&] { come_and_go(*second); });
  come_and_go(*first);
  other.join();
  first->add(timer);
  EXPECT_EQ(first->callbacks().size(), 1U);
}

TEST(RemovalFromAGroup, LowersItsCeilingToTheMostUrgentMemberThatIsLeft) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  PreemptiveExecutor executor(on_one_cpu());
  const auto group = std::make_shared<Group>();
  const auto low = every_millisecond([](const InstanceInfo&) {}, 1, group);
  const auto high = every_millisecond([](const InstanceInfo&) {}, 2, group);
  executor.add(low);
  executor.add(high);
  executor.prepare();
  EXPECT_EQ(Access::state(*group).ceiling(), executor.kernel_priority(2));
  EXPECT_TRUE(executor.remove(high));
  EXPECT_EQ(Access::state(*group).ceiling(), executor.kernel_priority(1));
}

}  // namespace
}  // namespace rclrt::executor::test

// SPDX-License-Identifier: Apache-2.0
#include "timer_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "access.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

class Heap : public ::testing::Test {
 protected:
  TestTimer* add(std::int64_t first_ns, std::int64_t period_ns,
                 OverrunPolicy overrun = OverrunPolicy::kCatchUp,
                 CallbackOptions options = timer_named("t", 0, 1)) {
    all_.push_back(std::make_unique<TestTimer>(
        std::move(options), TimerOptions{.period_ns = period_ns, .overrun = overrun},
        [](const InstanceInfo&) {}));
    schedule_of(*all_.back()).start(first_ns, 0);
    heap_.add(all_.back().get());
    return all_.back().get();
  }
  /// Takes one release and discards it.
  std::int64_t expire(std::int64_t now_ns) {
    Instance* const instance = heap_.expire_first(now_ns);
    const std::int64_t release_ns = instance->release_ns;
    state_of(*instance->callback).discard(instance);
    return release_ns;
  }
  /// Returns the earliest release by a search of all timers.
  std::int64_t earliest() const {
    std::int64_t least = TimerHeap::kNever;
    for (const auto& timer : all_) {
      least = std::min(least, schedule_of(*timer).next_ns());
    }
    return least;
  }

  std::vector<std::unique_ptr<TestTimer>> all_;
  TimerHeap heap_;
};

TEST_F(Heap, WithoutTimersNothingEverComes) {
  EXPECT_TRUE(heap_.empty());
  EXPECT_EQ(heap_.next_ns(), TimerHeap::kNever);
  EXPECT_EQ(heap_.following_ns(), TimerHeap::kNever);
}

TEST_F(Heap, ReleasesComeInOrderWhateverIsAddedRemovedAndUpdated) {
  std::mt19937 random(4);
  std::int64_t now = 0;
  for (int i = 0; i < 5000; ++i) {
    switch (random() % 4) {
      case 0:
        add(now + static_cast<std::int64_t>(random() % 100), 1 + random() % 50);
        break;
      case 1:
        if (!all_.empty()) {
          const auto gone = all_.begin() + static_cast<std::ptrdiff_t>(random() % all_.size());
          heap_.remove(gone->get());
          all_.erase(gone);
        }
        break;
      case 2:
        heap_.update_order();
        break;
      default:
        if (!all_.empty()) {
          const std::int64_t next = earliest();
          ASSERT_EQ(expire(next), next);
          now = next;
        }
        break;
    }
    ASSERT_EQ(heap_.next_ns(), earliest());
  }
  EXPECT_GT(all_.size(), 10U);
}

TEST_F(Heap, ATimerThatMayWaitForItselfNeedsNobodyElse) {
  // The same holds for a timer that skips, if only the oldest release has a credit, at whatever
  // time the releases are taken.
  for (const OverrunPolicy overrun : {OverrunPolicy::kCatchUp, OverrunPolicy::kSkip}) {
    const TestTimer* const alone = add(10, 10, overrun);
    EXPECT_EQ(heap_.following_ns(), TimerHeap::kNever);
    EXPECT_EQ(expire(10), 10);
    EXPECT_EQ(heap_.next_ns(), 20);
    EXPECT_EQ(heap_.next_beside_ns(*alone), TimerHeap::kNever);
    heap_.remove(alone);
    all_.clear();
  }
}

TEST_F(Heap, AnotherTimerNeedsSomebodyElse) {
  const TestTimer* const often = add(10, 10);
  const TestTimer* const rare = add(35, 1000);
  EXPECT_EQ(heap_.following_ns(), 35);
  EXPECT_EQ(expire(10), 10);
  EXPECT_EQ(heap_.next_beside_ns(*often), 35);
  EXPECT_EQ(heap_.next_beside_ns(*rare), 20);
}

TEST_F(Heap, WhatPassesWhileATimerRunsIsNeverWaitedForWithAnotherPolicy) {
  const auto skip_if_running = [] {
    CallbackOptions options = timer_named("t", 0, 1);
    options.overload = Overload::kSkipIfRunning;
    return options;
  }();
  CallbackOptions reentrant = timer_named("t", 0, 1);
  reentrant.group = std::make_shared<Group>(GroupType::kReentrant);
  for (const auto& [overrun, options] : {std::pair(OverrunPolicy::kSkip, timer_named("t", 0, 2)),
                                         std::pair(OverrunPolicy::kRebase, timer_named("t", 0, 1)),
                                         std::pair(OverrunPolicy::kCatchUp, skip_if_running),
                                         std::pair(OverrunPolicy::kCatchUp, reentrant)}) {
    const TestTimer* const timer = add(10, 10, overrun, options);
    EXPECT_EQ(heap_.following_ns(), 20);
    EXPECT_EQ(expire(10), 10);
    EXPECT_EQ(heap_.next_beside_ns(*timer), 20);
    heap_.remove(timer);
    all_.clear();
  }
}

}  // namespace
}  // namespace rclrt::executor::test

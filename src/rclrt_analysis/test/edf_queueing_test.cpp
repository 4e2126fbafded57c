// SPDX-License-Identifier: Apache-2.0
/// Under EDF, a message within the executor is queued when its publisher ends, so it delays an
/// instance only if its publisher does.
#include <gtest/gtest.h>

#include <vector>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

constexpr std::size_t kFast = 0;
constexpr std::size_t kSlow = 1;

/// fast 1 every 10; slow 1 every 100, with four callbacks in the background behind it.
Builder fast_and_slow() {
  return Builder()
      .timer("fast", 10, 1)
      .timer("slow", 100, 1)
      .subscription("a", "slow", 1)
      .subscription("b", "a", 1)
      .subscription("c", "b", 1)
      .subscription("d", "c", 1)
      .chain("fast", {"fast"}, 0)
      .chain("slow", {"slow"}, 0);
}

Overheads machine() { return {.dispatch = ms(0.1).count()}; }

// fast: 1, and 0.2 for both timers. One callback may publish a message as the busy period starts,
// and another one may be about to start: 0.2. slow: also its own 1, and its message 0.1.
TEST(EdfQueueing, OfMessagesCountsWithTheirPublishers) {
  EXPECT_EQ(bounds_ms(fast_and_slow().done(), ExecutorKind::kEdf, machine()),
            (std::vector<double>{1.4, 2.5}));
}

// Then one may arrive after its publisher has ended: 1, 0.6 for all callbacks, and 0.1.
TEST(EdfQueueing, OfMessagesThatTakeTimeCountsWheneverTheyArrive) {
  Overheads overheads = machine();
  overheads.near.max = ms(0.01).count();
  EXPECT_EQ(bounds_ms(fast_and_slow().done(), ExecutorKind::kEdf, overheads).front(), 1.7);
}

// On another CPU, slow runs while fast does. So 1, 0.2 for fast and a, and 0.2 for a message to b,
// c or d as the busy period starts and for a callback that is about to start.
TEST(EdfQueueing, OfMessagesFromAnotherExecutorCountsWheneverTheyArrive) {
  model::Application application = fast_and_slow().done();
  application.executors.push_back({.name = "second", .cpus = {1}});
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  application.callbacks[kSlow].node = 1;
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf, machine()).front(), 1.4);
}

// slow has started, holds the group, and publishes to a and e: 1.3. fast takes 1, and both timers
// 0.2.
TEST(EdfQueueing, OfTheMessagesOfACallbackThatHoldsTheGroupCounts) {
  model::Application application = fast_and_slow().subscription("e", "slow", 1).done();
  application.callbacks[kFast].group = application.callbacks[kSlow].group = "g";
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf, machine()).front(), 2.5);
}

// A late instance of y is due before x is. It counts with its message, 1.1, and no other one of y
// ends as the busy period starts. x takes 1 and is late by 1. Both timers take 0.2, and 0.1 counts
// for a callback that is about to start.
TEST(EdfQueueing, OfOneMessageCountsOnceIfItsPublisherMayBeDueEarly) {
  model::Application application = Builder()
                                       .timer("x", 10, 1)
                                       .timer("y", 10.5, 1)
                                       .subscription("a", "y", 1)
                                       .chain("x", {"x"}, 0)
                                       .done();
  Overheads overheads = machine();
  overheads.timer_jitter = ms(1).count();
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf, overheads).front(), 3.4);
}

}  // namespace
}  // namespace rclrt::analysis

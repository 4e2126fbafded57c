// SPDX-License-Identifier: Apache-2.0
// Bounds that use when callbacks are released: later releases of one priority, and what the path's
// own timer has released before.
#include <gtest/gtest.h>

#include <string>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

// A log that is released right after a control waits for that one only: 9 + 20. Controls that are
// released later run after it. A control waits for one log: 20 + 9.
TEST(ReleaseOrder, ReleasesOfTheSamePriorityThatComeLaterRunLater) {
  const auto application = Builder()
                               .timer("control", 10, 9)
                               .timer("log", 1000, 20)
                               .chain("control", {"control"}, 0)
                               .chain("log", {"log"}, 0)
                               .done();
  for (const auto executor : {ExecutorKind::kPreemptive, ExecutorKind::kEvents}) {
    const auto bounds = chain_bounds(application, executor);
    EXPECT_EQ(bounds[0].bound, ms(29).count());
    EXPECT_EQ(bounds[1].bound, ms(29).count());
  }
  // The order of releases is not promised there.
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kPerGroup)[1].bound, ms(200).count());
}

// A low one that comes right after `high` and `same` waits for both, then for each later `high`.
TEST(ReleaseOrder, LaterReleasesOfAHigherPriorityStillDelay) {
  const auto application = Builder()
                               .timer("high", 10, 2)
                               .priority(2)
                               .timer("same", 10, 5)
                               .timer("low", 100, 8)
                               .chain("same", {"same"}, 1)
                               .chain("low", {"low"}, 1)
                               .done();
  // 5 + 8 and two of `high`: 17, before the third one at 20.
  EXPECT_EQ(chain_bounds(application)[1].bound, ms(17).count());
}

// All are released at 0: c runs to 3, a to 4, b to 6. The c of 5 was released after b.
TEST(ReleaseOrder, TheLastCallbackOfAChainKeepsItsPlaceInTheOrder) {
  const auto application = Builder()
                               .timer("c", 5, 3)
                               .priority(0)
                               .timer("a", 100, 1)
                               .subscription("b", "a", 2)
                               .chain("chain", {"a", "b"}, 0)
                               .done();
  EXPECT_EQ(chain_bounds(application)[0].bound, ms(6).count());
}

/// `short` has one callback, and `long` five, of which each is ready when the one before has ended.
Builder one_and_five() {
  return Builder()
      .timer("short", 100, 1)
      .timer("l1", 1000, 2)
      .subscription("l2", "l1", 2)
      .subscription("l3", "l2", 2)
      .subscription("l4", "l3", 2)
      .subscription("l5", "l4", 2)
      .chain("short", {"short"}, 0)
      .chain("long", {"l1", "l2", "l3", "l4", "l5"}, 0);
}

// One busy period of all has five of x, two of y and p: 9.2. By itself, p1 waits for one x, one y
// and p2 of the release before, and p2 for x, y and p1: 3.2 each.
TEST(ReleaseOrder, EachCallbackOfAChainWaitsForWhatWasReleasedBeforeIt) {
  const auto application = Builder()
                               .timer("x", 2, 1)
                               .timer("y", 5, 2)
                               .timer("p1", 100, 0.1)
                               .subscription("p2", "p1", 0.1)
                               .chain("p", {"p1", "p2"}, 0)
                               .done();
  for (const auto executor : {ExecutorKind::kPreemptive, ExecutorKind::kEvents}) {
    EXPECT_EQ(chain_bounds(application, executor)[0].bound, ms(2 * 3.2).count());
  }
}

// `fork` releases `first` and `second`, which are in one set. In a static order the more urgent one
// runs first, in a wait set any one. A set with `other` may have begun an instant before.
TEST(Turns, InAStaticOrderTheLessUrgentCallbacksOfASetRunLater) {
  const auto application = Builder()
                               .timer("fork", 100, 1)
                               .subscription("first", "fork", 2)
                               .priority(2)
                               .subscription("second", "fork", 40)
                               .priority(1)
                               .timer("other", 100, 3)
                               .priority(0)
                               .chain("first", {"fork", "first"}, 0)
                               .chain("second", {"fork", "second"}, 0)
                               .done();
  const auto in_order = chain_bounds(application, ExecutorKind::kStaticOrder);
  EXPECT_EQ(in_order[0].bound, ms(3 + 1 + 2).count());
  EXPECT_EQ(in_order[1].bound, ms(3 + 1 + 2 + 40).count());
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kWaitSet)[0].bound, ms(3 + 1 + 2 + 40).count());
}

// The periods of 20 and 68 are together or 4 apart, so `low` has always ended when `high` is
// released, unless both come at once: then `high` runs first. With an offset of 1, it may be in the
// set before.
TEST(Turns, InAStaticOrderStatedOffsetsKeepReleasesApart) {
  model::Application application = Builder()
                                       .timer("high", 20, 1)
                                       .priority(1)
                                       .timer("low", 68, 3)
                                       .priority(0)
                                       .chain("high", {"high"}, 0)
                                       .chain("low", {"low"}, 0)
                                       .done();
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kStaticOrder)[0].bound, ms(1 + 3).count());
  set_offset(application, 0, 0);
  set_offset(application, 1, 0);
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kStaticOrder)[0].bound, ms(1).count());
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kStaticOrder)[1].bound, ms(1 + 3).count());
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kWaitSet)[0].bound, ms(1 + 3).count());
  set_offset(application, 0, 2);
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kStaticOrder)[0].bound, ms(1 + 3 - 2).count());
}

// In a wait set, `short` comes in the next set at the latest, so l1 and l2 delay it, but not l3. In
// order of release, one of `long` may run and the next may wait. By the work alone it is 1 + 10.
TEST(Turns, AShortChainWaitsForFewCallbacksOfALongOne) {
  const auto application = one_and_five().done();
  for (const auto executor :
       {ExecutorKind::kWaitSet, ExecutorKind::kStaticOrder, ExecutorKind::kEvents}) {
    EXPECT_EQ(chain_bounds(application, executor)[0].bound, ms(1 + 2 * 2).count());
  }
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kWaitSet)[1].bound, ms(10 + 1).count());
}

// The callbacks of both branches wait at the same time: two of each in two sets.
TEST(Turns, BranchesOfAChainTakeTurnsOfTheirOwn) {
  const auto application =
      one_and_five().subscription("m2", "l1", 3).subscription("m3", "m2", 3).done();
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kWaitSet)[0].bound,
            ms(1 + 2 * 2 + 2 * 3).count());
}

// While `short` waits for a set, two releases of `long` are under way: 20 ms of work in 15 ms. The
// set with l1 was formed an instant before, and the next one has l2 and `short`.
TEST(Turns, EveryReleaseThatIsUnderWayTakesItsTurn) {
  const auto application = Builder()
                               .timer("short", 100, 1)
                               .timer("l1", 14, 6)
                               .subscription("l2", "l1", 6)
                               .chain("short", {"short"}, 0)
                               .done();
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kWaitSet)[0].bound, ms(1 + 12).count());
}

// The second b is released at 3, after a has started.
TEST(ReleaseOrder, InAWaitSetLaterReleasesDoNotDelayACallbackThatHasStarted) {
  const auto application =
      Builder().timer("a", 100, 5).timer("b", 3, 2).chain("one", {"a"}, 0).done();
  for (const auto executor : {ExecutorKind::kWaitSet, ExecutorKind::kStaticOrder}) {
    EXPECT_EQ(chain_bounds(application, executor)[0].bound, ms(2 + 5).count());
  }
}

// `slow` and `fast` of one release have ended 7.4 ms after it, so no later `first` waits for them.
// A `slow` of another timer may release `fast` right before: 7 + 0.1.
TEST(ReleaseOrder, WhatAChainStartedItselfHasItsAgeWhenThePeriodEnds) {
  const auto bound = [](double period, const std::string& by) {
    const auto application = Builder()
                                 .timer("first", period, 0.1)
                                 .timer("other", 100, 0)
                                 .priority(2)
                                 .subscription("slow", by, 0.3)
                                 .priority(1)
                                 .subscription("fast", "slow", 7)
                                 .priority(3)
                                 .chain("first", {"first"}, 2)
                                 .done();
    return chain_bounds(application)[0].bound;
  };
  EXPECT_EQ(bound(8, "first"), ms(0.1).count());
  EXPECT_EQ(bound(7.42, "first"), ms(0.1).count());
  EXPECT_EQ(bound(8, "other"), ms(7.1).count());
}

}  // namespace
}  // namespace rclrt::analysis

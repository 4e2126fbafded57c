// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_bounds.hpp"

#include <gtest/gtest.h>

#include "application_builder.hpp"
#include "bounds_ms.hpp"

namespace rclrt::analysis {
namespace {

// Chains of one callback are tasks: Lehoczky 1990, example 3, in which a later job is the worst.
TEST(ChainBounds, ChainsOfOneCallbackHaveTheResponseTimesOfTasks) {
  const auto application = Builder()
                               .timer("a", 70, 26)
                               .timer("b", 100, 62)
                               .chain("high", {"a"}, 2)
                               .chain("low", {"b"}, 1)
                               .done();
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{26, 118}));
  EXPECT_EQ(bounds[0].verdict, Verdict::kProved);
  EXPECT_EQ(bounds[1].verdict, Verdict::kUnknown);
}

TEST(ChainBounds, NothingOvertakesAChainThatEndsWithinItsPeriod) {
  const auto application = Builder()
                               .timer("a", 8, 3)
                               .timer("b", 8, 2)
                               .subscription("c", "b", 2)
                               .chain("high", {"a"}, 2)
                               .chain("low", {"b", "c"}, 1)
                               .done();
  // Within 8: 3 + 2 + 2 = 7, and nothing overtakes.
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{3, 7}));
}

// All released at 0: a runs to 3, the work of b to 5. b publishes, and c, which is more urgent,
// runs to 8 before b returns. At 8 the next a is released and runs to 11, and only then b returns.
TEST(ChainBounds, ACallbackReturnsAfterTheMoreUrgentOnesItReleased) {
  const auto application = Builder()
                               .timer("a", 8, 3)
                               .timer("b", 16, 2)
                               .subscription("c", "b", 3)
                               .priority(3)
                               .chain("high", {"a"}, 2)
                               .chain("low", {"b"}, 1)
                               .done();
  EXPECT_EQ(bounds_ms(application)[1], 11);
}

// All released at 0: the scheduler thread takes 1 for each, h runs to 3, l to 5, and its message
// costs the scheduler thread another 1. At 6, before l has returned, h is released again: 1 + 1.
TEST(ChainBounds, ACallbackReturnsAfterTheSchedulerThreadHasSeenToItsMessages) {
  const auto application = Builder()
                               .timer("h", 6, 1)
                               .priority(5)
                               .timer("l", 100, 2)
                               .subscription("m", "l", 1)
                               .priority(1)
                               .chain("low", {"l"}, 1)
                               .done();
  const auto bounds =
      chain_bounds(application, ExecutorKind::kProducerConsumer, {.scheduler = ms(1).count()});
  EXPECT_EQ(bounds[0].bound, ms(8).count());
}

// Callbacks without work run at one instant, and so all their messages are pending at once.
TEST(ChainBounds, MessagesOfCallbacksWithoutWorkArePendingTogether) {
  const auto application = Builder()
                               .timer("a", 10, 0)
                               .priority(2)
                               .publishes("m")
                               .timer("b", 10, 0)
                               .priority(2)
                               .publishes("m")
                               .subscription("c", "m", 0)
                               .chain("one", {"a", "c"}, 1)
                               .done();
  for (const auto executor :
       {ExecutorKind::kPreemptive, ExecutorKind::kEdf, ExecutorKind::kWaitSet}) {
    EXPECT_EQ(queue_bounds(application, executor)[2].pending, 2);
  }
}

// a at 1, 101, ... and b at 99, 199, ...: b completes a pair with the a before it, so s runs from
// 100 to 150, and a, released at 101, ends at 151.
TEST(ChainBounds, APairMayBeCompleteBeforeTheReleaseThatBringsTheNextMessage) {
  const auto application = Builder()
                               .timer("a", 100, 1)
                               .timer("b", 100, 1)
                               .sync("s", "a", "b", 50)
                               .priority(1)
                               .chain("a", {"a"}, 1)
                               .chain("b", {"b"}, 1)
                               .done();
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{52, 52}));
}

// All are released at 0: c ends at 2.6 + 3.5 + 3.5 + 0.4 = 10. d would end at 10.6, but a is
// released at 10 and 20, and b at 12. So the second c waits for d: it ends at 3 * 2.6 + 4 * 3.5 +
// 0.4 + 0.6 + 0.4 = 23.2, which is 11.2 after its release.
TEST(ChainBounds, WhatFollowsTheChainMayKeepTheProcessorBusyUntilItsNextRelease) {
  const auto application = Builder()
                               .timer("a", 10, 2.6)
                               .priority(2)
                               .timer("b", 12, 3.5)
                               .priority(2)
                               .timer("b2", 12, 3.5)
                               .timer("c", 12, 0.4)
                               .subscription("d", "c", 0.6)
                               .priority(1)
                               .chain("b2", {"b2"}, 1)
                               .chain("c", {"c"}, 1)
                               .done();
  EXPECT_EQ(bounds_ms(application)[1], 11.2);
}

/// tau1 = {a, s} and tau2 = {b, s, c} share s. s, and c after it, run for the messages of both.
model::Application merged(double c) {
  return Builder()
      .timer("a", 4, 1)
      .publishes("in")
      .timer("b", 8, 0.5)
      .publishes("in")
      .subscription("s", "in", 1.5)
      .subscription("c", "s", c)
      .chain("tau1", {"a", "s"}, 2)
      .chain("tau2", {"b", "s", "c"}, 1)
      .done();
}

// Errata, section 5.4: the thesis predicts 2.5 for tau1, and 3 was observed. At level 2: own 2.5;
// b, at level 1, leaves s: 1.5. tau2 at level 1, with c = 0.25: 2.25 + ceil(w / 4) 2.75 = 7.75.
TEST(ChainBounds, ASharedCallbackRunsForEachOfItsChains) {
  EXPECT_EQ(bounds_ms(merged(0.25)), (std::vector<double>{4, 7.75}));
  // With c = 1 the load is 3.5 / 4 + 3 / 8: the thesis says schedulable, and the backlog grows.
  EXPECT_EQ(bounds_ms(merged(1)), (std::vector<double>{4, -1}));
}

// Errata: equal priorities are FIFO in the executors; 7 was observed for C = 3 beside C = 4.
TEST(ChainBounds, ChainsOfOnePriorityDelayEachOther) {
  const auto application = Builder()
                               .timer("a", 10, 3)
                               .timer("b", 10, 4)
                               .chain("one", {"a"}, 1)
                               .chain("two", {"b"}, 1)
                               .done();
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{7, 7}));
}

// b holds the group for 5 ms at the ceiling 2 when a is released: 5 + 2.
TEST(ChainBounds, AGroupBlocksOnceByItsLongestLessUrgentMember) {
  const auto application = Builder()
                               .timer("a", 20, 2)
                               .group("g")
                               .timer("b", 50, 5)
                               .group("g")
                               .timer("c", 50, 4)
                               .group("g")
                               .chain("high", {"a"}, 3)
                               .chain("mid", {"b"}, 2)
                               .chain("low", {"c"}, 1)
                               .done();
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].bound, 7'000'000);
  // mid: 5 + 4 of low + 2 of high.
  EXPECT_EQ(bounds[1].bound, 11'000'000);
  EXPECT_EQ(bounds[2].bound, 11'000'000);
  ASSERT_EQ(bounds[0].why.size(), 2U);
  EXPECT_EQ(bounds[0].why[0].kind, Contribution::Kind::kStarted);
  EXPECT_EQ(bounds[0].why[0].total, 5'000'000);
  EXPECT_EQ(bounds[0].why[1].kind, Contribution::Kind::kOwn);
}

// The chain goes down to level 1 in its middle, so all work of level 1 and above interferes. The
// first of mid's two callbacks, at level 0, adds only the work that it has started.
TEST(ChainBounds, TheLowestLevelOnTheWayCounts) {
  const auto application = Builder()
                               .timer("a", 20, 1)
                               .priority(5)
                               .subscription("a2", "a", 1)
                               .priority(1)
                               .subscription("a3", "a2", 1)
                               .priority(5)
                               .timer("m", 40, 3)
                               .priority(0)
                               .subscription("m2", "m", 2)
                               .priority(3)
                               .chain("dips", {"a", "a2", "a3"}, 5)
                               .done();
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].level, 1);
  EXPECT_EQ(bounds[0].bound, 5'000'000);  // 3 of its own, 2 of m2
}

// Own work of 4 each 10 ms, its tail after the last callback not counted: 2. The other: 3.
TEST(ChainBounds, WhatFollowsTheLastCallbackDoesNotDelayIt) {
  const auto application = Builder()
                               .timer("a", 10, 1)
                               .subscription("a2", "a", 1)
                               .subscription("a3", "a2", 2)
                               .chain("short", {"a", "a2"}, 1)
                               .chain("long", {"a", "a2", "a3"}, 1)
                               .done();
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{2, 4}));
}

// Errata: with an offset of 9.75 ms on tau3 of figure 5.7, the predicted 9 ms become 18.75 ms.
TEST(ChainBounds, ASyncOfTwoTimersOfUnknownPhaseMayWaitForAWindow) {
  model::Application application = example("fig_5_7");
  // Released together, as the thesis assumes and the file states.
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{2, 9, 10}));
  for (model::Callback& callback : application.callbacks) {
    if (auto* timer = std::get_if<model::Timer>(&callback.trigger)) {
      timer->offset_stated = false;
    }
  }
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].verdict, Verdict::kProved);
  EXPECT_EQ(bounds[0].bound, 2'000'000);
  // c6 releases up to 9 after c3. From there c3, c6, c7, c4 and c5 of tau_2's level: 5, and 2 x 2
  // of tau_1.
  EXPECT_EQ(bounds[1].bound, 18'000'000);
  for (model::Callback& callback : application.callbacks) {
    if (auto* sync = std::get_if<model::Sync>(&callback.trigger)) {
      sync->window = ms(9.75);
    }
  }
  EXPECT_EQ(chain_bounds(application)[1].bound, 18'750'000);
}

/// a, and b and c, meet in s. Periods of 20.
model::Application meeting(double window) {
  return Builder()
      .timer("a", 20, 1)
      .timer("b", 20, 2)
      .subscription("c", "b", 3)
      .sync("s", "a", "c", 1, window)
      .chain("one", {"a", "s"}, 1)
      .chain("two", {"b", "c", "s"}, 1)
      .done();
}

TEST(ChainBounds, StatedOffsetsSayHowLongASyncWaits) {
  model::Application application = meeting(15);
  // A chain's own work is done when the other's release comes, and does not delay it; but the next
  // a may come 5 later.
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{15 + 7, 15 + 2}));
  set_offset(application, 0, 0);
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{15 + 7, 15 + 2}));  // one is not enough
  set_offset(application, 1, 0);
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{7, 7}));
  set_offset(application, 1, 4);
  // a's message meets b's, which arrives 4 later. b's message meets the previous one of a, or the
  // next one 16 later, which is outside the window. The previous a was done when b is released.
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{4 + 6, 6}));
}

// Two releases of b are within the window of 19.5; the first one is less than 10 after a's. If a's
// message waits for it, a itself (1) no longer delays it.
TEST(ChainBounds, ASyncWaitsNoLongerThanForTheNextMessage) {
  auto application = meeting(19.5);
  auto& other = std::get<model::Timer>(application.callbacks[1].trigger);
  other.period = ms(10);
  EXPECT_EQ(chain_bounds(application)[0].bound, ms(10).count() - 1 + ms(6).count());
}

TEST(ChainBounds, TwoInputsFromOneTimerDoNotWait) {
  const auto application = Builder()
                               .timer("a", 20, 1)
                               .subscription("b", "a", 2)
                               .subscription("c", "a", 3)
                               .priority(1)
                               .sync("s", "b", "c", 1)
                               .chain("one", {"a", "b", "s"}, 2)
                               .done();
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].bound, 7'000'000);
  EXPECT_EQ(bounds[0].verdict, Verdict::kProved);
}

// s2's other input arrives through the sync s1 of a and b: either of the two timers may trigger it.
TEST(ChainBounds, AnInputThatComesThroughASyncIsFollowedToItsTimers) {
  const auto application = Builder()
                               .timer("a", 50, 1)
                               .timer("b", 50, 1)
                               .timer("c", 50, 1)
                               .sync("s1", "a", "b", 1, 5)
                               .sync("s2", "s1", "c", 1, 8)
                               .chain("third", {"c", "s2"}, 1)
                               .done();
  // A release of c that waits for a later one of a or b has run before it: 1 for a, b, s1 and s2.
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{8 + 4}));
}

TEST(ChainBounds, WhyAddsUpToTheBound) {
  for (const char* name : {"fig_5_7", "autonomous_vehicle"}) {
    for (const ChainBound& chain : chain_bounds(example(name))) {
      if (!chain.bound) {
        continue;
      }
      Ticks total = -chain.waited;
      for (const Contribution& part : chain.why) {
        total += part.total;
      }
      EXPECT_EQ(total, *chain.bound) << name;
    }
  }
}

TEST(ChainBounds, MoreLoadThanTheCoreHasNoBound) {
  const auto application = Builder()
                               .timer("a", 10, 6)
                               .timer("b", 10, 5)
                               .chain("high", {"a"}, 2)
                               .chain("low", {"b"}, 1)
                               .done();
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].bound, 6'000'000);
  EXPECT_FALSE(bounds[1].bound);
  EXPECT_EQ(bounds[1].note, "the load of priority 1 and above is more than the core");
}

TEST(ChainBounds, ASchedulerThreadElsewhereIsAConditionOnlyWhereMoreUrgentCallbacksMayRun) {
  auto application = Builder().timer("a", 10, 1).chain("one", {"a"}, 1).done();
  application.executors[0].scheduler_cpus = {0};
  const auto verdict = [&](ExecutorKind kind) {
    return chain_bounds(application, kind).front().verdict;
  };
  EXPECT_EQ(verdict(ExecutorKind::kThreadDispatch), Verdict::kProved);
  application.executors[0].scheduler_cpus = {1};
  EXPECT_EQ(verdict(ExecutorKind::kThreadDispatch), Verdict::kProved);
  EXPECT_EQ(verdict(ExecutorKind::kPreemptive), Verdict::kProved);
  application.executors.push_back({.name = "other", .cpus = {1}});
  EXPECT_EQ(verdict(ExecutorKind::kThreadDispatch), Verdict::kProved);
  application.executors[0].top_priority = 50;  // callbacks of the other one are above the scheduler
  EXPECT_EQ(verdict(ExecutorKind::kThreadDispatch), Verdict::kConditional);
  EXPECT_EQ(verdict(ExecutorKind::kPreemptive), Verdict::kProved);
}

TEST(ChainBounds, DispatchCostsEachInstanceAndJitterComesOnTop) {
  const auto application =
      Builder().timer("a", 10, 1).subscription("a2", "a", 1).chain("one", {"a", "a2"}, 1).done();
  const auto bounds = chain_bounds(application, ExecutorKind::kPreemptive,
                                   {.dispatch = 50'000, .timer_jitter = 200'000});
  EXPECT_EQ(bounds[0].bound, 2'300'000);
}

// Without it: 4 + 2 x 2 = 8. With 3 ms more the busy time reaches a third release of a: 13.
TEST(ChainBounds, AStallDelaysByItselfAndByWhatIsReleasedMeanwhile) {
  const auto application = Builder()
                               .timer("a", 5, 2)
                               .timer("b", 20, 4)
                               .chain("high", {"a"}, 1)
                               .chain("low", {"b"}, 0)
                               .done();
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{2, 8}));
  const auto stalled =
      chain_bounds(application, ExecutorKind::kPreemptive, {.stall = ms(3).count()});
  EXPECT_EQ(stalled[0].bound, ms(2 + 3).count());
  EXPECT_EQ(stalled[1].bound, ms(4 + 3 + 3 * 2).count());
  EXPECT_EQ(stalled[1].why.front().kind, Contribution::Kind::kInterference);
}

// The backlog of 50 ms is finished when w = 50 + 2 ceil(w / 5): at 84. The first release after the
// stall waits longest.
TEST(ChainBounds, AStallIsCountedOnceHoweverLongItsBacklogLasts) {
  const auto application = Builder().timer("a", 5, 2).chain("one", {"a"}, 0).done();
  const auto stalled =
      chain_bounds(application, ExecutorKind::kPreemptive, {.stall = ms(50).count()});
  EXPECT_EQ(stalled[0].bound, ms(52).count());
  EXPECT_FALSE(
      queue_bounds(application, ExecutorKind::kPreemptive, {.stall = ms(80).count()})[0].holds());
}

}  // namespace
}  // namespace rclrt::analysis

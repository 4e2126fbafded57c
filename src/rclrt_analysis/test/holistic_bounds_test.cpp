// SPDX-License-Identifier: Apache-2.0
/// Bounds of callbacks by themselves: EDF, wait sets, several executors.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

/// Buttazzo, "Hard real-time computing systems", section 4.4: rate monotonic misses a deadline of
/// (2, 5) and (4, 7).
model::Application buttazzo() {
  return Builder()
      .timer("a", 5, 2)
      .timer("b", 7, 4)
      .chain("one", {"a"}, 0)
      .chain("two", {"b"}, 0)
      .done();
}

// U = 2/5 + 4/7 = 0.971: EDF meets all deadlines. A job of a waits for a job of b that is due
// before it.
TEST(HolisticBounds, UnderEdfTasksHaveTheirResponseTimes) {
  EXPECT_EQ(bounds_ms(buttazzo(), ExecutorKind::kEdf), (std::vector<double>{4, 6}));
}

TEST(HolisticBounds, UnderEdfAStatedDeadlineDecidesAndOthersRunInTheBackground) {
  auto application = Builder()
                         .timer("a", 20, 2)
                         .subscription("a2", "a", 1)
                         .timer("b", 20, 3)
                         .chain("one", {"a", "a2"}, 0)
                         .chain("two", {"b"}, 0)
                         .done();
  // a and b have their periods for deadlines; a2 has none. One b at most delays the whole chain.
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf), (std::vector<double>{2 + 1 + 3, 5}));
  application.callbacks[1].deadline = ms(4);
  // a2's deadline, counted from its release, is before that of any b that may still be pending.
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf)[1], 6);
}

// The group's ceiling is a's relative deadline. c, of the same group, may have started although it
// is due later; b may not.
TEST(HolisticBounds, UnderEdfAGroupBlocksOnceByALaterDeadline) {
  const auto application = Builder()
                               .timer("a", 10, 1)
                               .group("g")
                               .timer("b", 40, 2)
                               .timer("c", 50, 3)
                               .group("g")
                               .chain("one", {"a"}, 0)
                               .chain("two", {"b"}, 0)
                               .done();
  const auto bounds = bounds_ms(application, ExecutorKind::kEdf);
  EXPECT_EQ(bounds[0], 1 + 3);
  EXPECT_EQ(bounds[1], 1 + 2 + 3);
}

// One ready set may have begun an instant before the timer is due: 4 + 3. The next set, with the
// timer itself, follows. By the busy period: all three once, 9.
TEST(HolisticBounds, InAWaitSetTheCurrentReadySetAndTheNextAreWaitedFor) {
  const auto application =
      Builder().timer("a", 40, 2).timer("b", 50, 4).timer("c", 60, 3).chain("one", {"a"}, 0).done();
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kWaitSet), (std::vector<double>{9}));
}

// By the busy period, b would run eight times before a starts. In two ready sets it runs twice. The
// first of them was formed an instant before a was released.
TEST(HolisticBounds, InAWaitSetAFrequentCallbackRunsOnceInEachReadySet) {
  const auto application =
      Builder().timer("a", 99, 5).timer("b", 3, 2).timer("c", 99, 8).chain("one", {"a"}, 0).done();
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kWaitSet), (std::vector<double>{8 + 5 + 2 * 2}));
}

// Under either executor the stall and both callbacks precede the end of b.
TEST(HolisticBounds, AStallCountsOnceInABusyTime) {
  for (const ExecutorKind executor : {ExecutorKind::kEdf, ExecutorKind::kWaitSet}) {
    const auto application =
        Builder().timer("a", 40, 2).timer("b", 50, 4).chain("one", {"b"}, 0).done();
    EXPECT_EQ(bounds_ms(application, executor), (std::vector<double>{6}));
    EXPECT_EQ(bounds_ms(application, executor, {.stall = ms(3).count()}), (std::vector<double>{9}));
  }
}

/// a on one CPU publishes to b on another, where c may run.
model::Application two_cpus() {
  model::Application application = Builder()
                                       .timer("a", 20, 2)
                                       .subscription("b", "a", 3)
                                       .priority(1)
                                       .timer("c", 10, 1)
                                       .priority(2)
                                       .chain("far", {"a", "b"}, 1)
                                       .done();
  application.executors = {{.name = "one", .cpus = {0}}, {.name = "two", .cpus = {1}}};
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  application.callbacks[1].node = application.callbacks[2].node = 1;
  return application;
}

// 2 for a, a hop of at most 0.5, and 3 + 1 for b.
TEST(HolisticBounds, AChainAcrossExecutorsAddsTheHopAndBothSides) {
  Overheads overheads;
  overheads.far = {.min = ms(0.1).count(), .max = ms(0.5).count()};
  const auto bounds = chain_bounds(two_cpus(), ExecutorKind::kPreemptive, overheads);
  EXPECT_EQ(bounds[0].bound, ms(6.5).count());
  EXPECT_EQ(bounds[0].verdict, Verdict::kProved);
}

TEST(HolisticBounds, CallbacksInAnotherExecutorThanTheirNodeAreBoundedThere) {
  model::Application application = two_cpus();
  for (const std::size_t callback : {1, 2}) {
    application.callbacks[callback].node = 0;
    application.callbacks[callback].executor = 1;
  }
  Overheads overheads;
  overheads.far = {.min = ms(0.1).count(), .max = ms(0.5).count()};
  const auto bounds = chain_bounds(application, ExecutorKind::kPreemptive, overheads);
  EXPECT_EQ(bounds[0].bound, ms(6.5).count());  // as above
  EXPECT_EQ(bounds[0].verdict, Verdict::kProved);
}

// b becomes ready up to 2.4 late (2 for a, 0.4 for the hop), so two instances may arrive within 18:
// d, which is below b, meets both.
TEST(HolisticBounds, WhatComesFromAnotherCpuHasJitter) {
  model::Application application = two_cpus();
  model::Callback below = application.callbacks[2];
  below.id = "d";
  below.trigger = model::Timer{.period = ms(100)};
  below.wcet = ms(12);
  below.priority = 0;
  below.publishes = {};
  application.callbacks.push_back(below);
  application.chains.push_back(
      {.id = "below", .callbacks = {3}, .priority = 0, .deadline = ms(100)});
  // 12 + 3 + 2 = 17 with one b; at 17.6 the next b may come: 12 + 3 + 2 = 17 holds.
  EXPECT_EQ(chain_bounds(application)[1].bound, ms(17).count());
  application.callbacks[3].wcet = ms(13);
  // 13 + 3 + 2 = 18, later than 20 - 2: another b. 13 + 6 + 3.
  EXPECT_EQ(chain_bounds(application)[1].bound, ms(22).count());
}

// Both executors have levels at the highest priorities: b and c of "two" against a of "one".
TEST(HolisticBounds, ExecutorsOnOneCpuInterfere) {
  model::Application application = two_cpus();
  application.executors[1].cpus = {0};
  // a is the only level of its executor, as high as c. b is below both. On the whole way, one c
  // delays a or b: 2 + 3 + 1.
  const Overheads hop{.far = {.min = 0, .max = 1'000}};
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive, hop),
            (std::vector<double>{6 + 0.001}));
  // Where the message arrives at once, a, b and c are one busy period: 2 + 3 + 1.
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive), (std::vector<double>{6}));
}

// The executors are connected as 2 - 1 and 1 - 0: all three are one component.
TEST(HolisticBounds, AChainThatComesBackPaysForEachHop) {
  model::Application application = Builder()
                                       .timer("a", 20, 1)
                                       .subscription("b", "a", 1)
                                       .subscription("c", "b", 1)
                                       .timer("d", 20, 1)
                                       .subscription("e", "d", 1)
                                       .chain("back", {"a", "b", "c"}, 1)
                                       .done();
  application.executors.clear();
  application.nodes.clear();
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = "e" + std::to_string(i);
    application.executors.push_back({.name = name, .cpus = {static_cast<int>(i)}});
    application.nodes.push_back({.name = name, .name_space = "/", .executor = i});
  }
  const std::array<std::size_t, 5> nodes{2, 1, 2, 1, 0};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    application.callbacks[i].node = nodes.at(i);
  }
  Overheads overheads;
  overheads.far.max = ms(0.5).count();
  // 1, a hop, 1 (d is less urgent), a hop, 1. c does not delay the a of its own release, and is
  // done before the next one.
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive, overheads),
            (std::vector<double>{1 + 0.5 + 1 + 0.5 + 1}));
}

// Both threads may have just begun a polling point that finds no work. Then a runs, or b and c,
// with a polling point after each.
TEST(HolisticBounds, WaitSetsOnOneCpuPollEachForItself) {
  model::Application application = two_cpus();
  application.executors[1].cpus = {0};
  const auto bounds = bounds_ms(application, ExecutorKind::kWaitSet, {.polling = ms(0.1).count()});
  // One busy period of both threads: their work, a polling point after each instance, and one for
  // each thread before.
  EXPECT_EQ(bounds, (std::vector<double>{2 + 3 + 1 + 3 * 0.1 + 2 * 0.1}));
}

// Each executor orders only its own callbacks. The CPU runs a, b and c without a pause.
TEST(HolisticBounds, UnderEdfExecutorsOfOneCpuEndWithItsBusyPeriod) {
  model::Application application = two_cpus();
  application.executors[1].cpus = {0};
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf), (std::vector<double>{2 + 3 + 1}));
  // With a hop the CPU may be idle in between, for no longer than the hop.
  const Overheads hop{.far = {.min = 0, .max = 1'000}};
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf, hop),
            (std::vector<double>{2 + 3 + 1 + 0.001}));
}

TEST(HolisticBounds, MessagesBetweenProcessesNeedTheMiddlewareAboveAllCallbacks) {
  auto application =
      Builder().timer("a", 10, 1).subscription("b", "a", 1).chain("one", {"a", "b"}, 1).done();
  application.executors.push_back({.name = "far", .cpus = {1}});
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  application.callbacks[1].node = 1;
  const auto verdict = [&] { return chain_bounds(application).front().verdict; };
  EXPECT_EQ(verdict(), Verdict::kProved);  // within a process the publisher hands the message over
  application.executors[1].process = "far";
  EXPECT_EQ(verdict(), Verdict::kConditional);
  application.threads = {{"middleware", {.policy = model::Policy::kFifo, .priority = 95}}};
  EXPECT_EQ(verdict(), Verdict::kConditional);
  application.threads[0].scheduling.priority = 96;
  EXPECT_EQ(verdict(), Verdict::kProved);
}

// Chain a, b, c of 1 each goes to the other executor and back; x of 2 is on the same CPU. All of
// this is 5, during which the CPU is never idle. By itself, each callback would be bounded by the
// rest.
TEST(HolisticBounds, AChainThroughExecutorsOfOneCpuEndsWithItsBusyPeriod) {
  auto application = Builder()
                         .timer("a", 20, 1)
                         .subscription("b", "a", 1)
                         .subscription("c", "b", 1)
                         .timer("x", 20, 2)
                         .chain("one", {"a", "b", "c"}, 0)
                         .done();
  application.executors.push_back({.name = "second", .cpus = {0}});
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  application.callbacks[1].node = 1;
  for (const ExecutorKind executor :
       {ExecutorKind::kPreemptive, ExecutorKind::kThreadDispatch, ExecutorKind::kWaitSet}) {
    EXPECT_EQ(bounds_ms(application, executor), std::vector<double>{5}) << traits(executor).name;
  }
  // With a CPU for each, or messages that take time, the CPU may be idle while the chain goes on.
  application.executors[1].cpus = {1};
  const double apart = bounds_ms(application, ExecutorKind::kPreemptive)[0];
  application.executors[1].cpus = {0};
  const Overheads hop{.far = {.min = 0, .max = 1'000}};
  EXPECT_GT(bounds_ms(application, ExecutorKind::kPreemptive, hop)[0], 5);
  EXPECT_GE(apart, 3);
}

/// a, b and c of 1 each on a CPU, d and e of 2 each on another one, f of 4 beside them.
model::Application two_segments(double period) {
  auto application = Builder()
                         .timer("a", period, 1)
                         .subscription("b", "a", 1)
                         .subscription("c", "b", 1)
                         .subscription("d", "c", 2)
                         .subscription("e", "d", 2)
                         .timer("f", 100, 4)
                         .chain("one", {"a", "b", "c", "d", "e"}, 0)
                         .chain("two", {"f"}, 0)
                         .done();
  application.executors.push_back({.name = "far", .cpus = {1}});
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  for (const std::size_t callback : {3U, 4U, 5U}) {
    application.callbacks[callback].node = 1;
  }
  return application;
}

// On its first CPU the chain takes 3 and waits for nothing. On the other CPU d and e take 4, and
// the chain waits once for f, 4. f itself waits for one d and one e, and for those that arrive
// meanwhile.
TEST(HolisticBounds, CallbacksOfOneCpuHaveOneBusyPeriod) {
  for (const ExecutorKind executor : {ExecutorKind::kPreemptive, ExecutorKind::kProducerConsumer,
                                      ExecutorKind::kEdf, ExecutorKind::kWaitSet}) {
    EXPECT_EQ(bounds_ms(two_segments(50), executor)[0], 3 + 4 + 4) << traits(executor).name;
  }
  const ChainBound bound = chain_bounds(two_segments(50)).front();
  ASSERT_EQ(bound.why.size(), 2);
  EXPECT_EQ(bound.why[0].kind, Contribution::Kind::kSegment);
  EXPECT_EQ(bound.why[0].callback, 4);
  EXPECT_EQ(bound.why[0].releases, 2);
  EXPECT_EQ(bound.why[0].total, ms(8).count());
  EXPECT_EQ(bound.why[1].total, ms(3).count());
}

// Messages take 0 to 40, one every 10, so five may arrive at once. The last of these waits longest,
// but had the shortest latency. The first is the worst: 3 on its CPU, 40 of latency, then 4 for f,
// 2 for its own e, and 2 for each of the seven d that may be pending by then.
TEST(HolisticBounds, AMessageThatWaitsBehindOthersWasNotLateItself) {
  const Overheads hop{.far = {.min = 0, .max = ms(40).count()}};
  EXPECT_EQ(bounds_ms(two_segments(10), ExecutorKind::kPreemptive, hop)[0], 3 + 40 + 4 + 2 + 7 * 2);
}

// All callbacks of both executors are one busy period: 3 + 4, and 4 for f.
TEST(HolisticBounds, UnderEdfAChainThroughExecutorsOfOneCpuEndsWithItsBusyPeriod) {
  auto application = two_segments(50);
  application.executors[1].cpus = {0};
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kEdf)[0], 3 + 4 + 4);
}

/// a, c and e of 1 each on one CPU and b and d of 1 each on the other one, as a chain; x of 2 on
/// the first CPU, and y of 3 on the second.
model::Application back_and_forth() {
  auto application = Builder()
                         .timer("a", 40, 1)
                         .subscription("b", "a", 1)
                         .subscription("c", "b", 1)
                         .subscription("d", "c", 1)
                         .subscription("e", "d", 1)
                         .timer("x", 50, 2)
                         .timer("y", 60, 3)
                         .chain("one", {"a", "b", "c", "d", "e"}, 0)
                         .chain("two", {"x"}, 0)
                         .chain("three", {"y"}, 0)
                         .done();
  application.executors.push_back({.name = "far", .cpus = {1}});
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  for (const std::size_t callback : {1U, 3U, 6U}) {
    application.callbacks[callback].node = 1;
  }
  return application;
}

/// Adds a timer below all others. It delays no other callback, but one busy period of both CPUs has
/// its work.
void add_background_work(model::Application& application) {
  for (model::Callback& callback : application.callbacks) {
    callback.priority = callback.priority.value_or(0) + 1;
  }
  model::Callback rest = application.callbacks[5];
  rest.id = "rest";
  rest.trigger = model::Timer{.period = ms(400)};
  rest.wcet = ms(30);
  rest.priority = 0;
  rest.group.reset();
  application.callbacks.push_back(rest);
}

TEST(HolisticBounds, AChainBackAndForthWaitsOnceForOneRelease) {
  const auto application = back_and_forth();
  for (const ExecutorKind executor : {ExecutorKind::kPreemptive, ExecutorKind::kProducerConsumer,
                                      ExecutorKind::kEdf, ExecutorKind::kWaitSet}) {
    EXPECT_EQ(bounds_ms(application, executor)[0], 5 + 2 + 3) << traits(executor).name;
  }
  const ChainBound bound = chain_bounds(application).front();
  ASSERT_EQ(bound.why.size(), 3);
  EXPECT_EQ(bound.why[0].kind, Contribution::Kind::kOwn);
  EXPECT_EQ(bound.why[0].total, ms(5).count());
  EXPECT_EQ(bound.why[1].kind, Contribution::Kind::kInterference);
  EXPECT_EQ(bound.why[1].callback, 6);  // y
  EXPECT_EQ(bound.why[1].releases, 1);
  EXPECT_EQ(bound.why[1].total, ms(3).count());
  EXPECT_EQ(bound.why[2].callback, 5);  // x
}

TEST(HolisticBounds, AChainBackAndForthMeetsTheReleasesThatStatedOffsetsAllow) {
  auto application = back_and_forth();
  const auto state = [&](std::size_t callback, double period, double offset) {
    auto& timer = std::get<model::Timer>(application.callbacks[callback].trigger);
    timer = {.period = ms(period), .offset = ms(offset), .offset_stated = true};
  };
  state(0, 40, 0);
  state(5, 40, 21);  // x is released after the chain's end
  state(6, 40, 39);  // y has not ended when the next chain is released
  add_background_work(application);
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive)[0], 5 + 3);
  state(6, 40, 30);
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive)[0], 5);
  // A late timer may be released when the next chain is.
  const Overheads late{.timer_jitter = ms(12).count()};
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive, late)[0], 12 + 5 + 3);
}

// x holds the ceiling of a group when a's second message arrives, and once more at the third: it
// blocks each part of the chain on its CPU.
TEST(HolisticBounds, ALessUrgentCallbackBlocksEachVisitOfItsCpu) {
  auto application = back_and_forth();
  for (const std::size_t callback : {0U, 2U, 4U, 5U}) {
    application.callbacks[callback].group = "g";
  }
  for (const std::size_t callback : {0U, 1U, 2U, 3U, 4U}) {
    application.callbacks[callback].priority = 2;
  }
  application.callbacks[5].priority = 1;
  application.callbacks[6].priority = 1;
  // One busy period of both CPUs waits for y on the other CPU, and for x once: 5 + 2 + 3.
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive)[0], 5 + 2 + 3);
  add_background_work(application);
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive)[0], 5 + 3 * 2);
}

}  // namespace
}  // namespace rclrt::analysis

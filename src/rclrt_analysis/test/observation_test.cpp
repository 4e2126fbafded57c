// SPDX-License-Identifier: Apache-2.0
// Observations above a bound. The runs have one callback, 2 ms every 10 ms on CPU 1, which takes
// 0.1 ms to dispatch; the sixth instance, released at 50 ms, is late.
#include "rclrt/analysis/observation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "application_builder.hpp"
#include "rclrt/analysis/judge.hpp"

namespace rclrt::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr Ticks kMs = 1'000'000;
constexpr Ticks kUs = 1'000;

model::Application observed_loop() {
  model::Application application = Builder().timer("work", 10, 2).chain("only", {"work"}, 3).done();
  application.executors[0].cpus = {1};
  return application;
}

const Machine kMachine{.overheads = {.dispatch = 100 * kUs}};

/// Returns a run of 20 instances; the sixth ran from `start` to `end` after its release.
ObservedRun run_of(Ticks start, Ticks end, Ticks cpu = 2 * kMs, std::vector<Stall> stalls = {}) {
  ObservedRun run{.chains = {}, .instances = {}, .stalls = std::move(stalls), .end = 200 * kMs};
  for (int i = 0; i < 20; ++i) {
    const Ticks release = i * 10 * kMs;
    const bool late = i == 5;
    const Ticks from = release + (late ? start : 50 * kUs);
    const Ticks to = release + (late ? end : 2'050 * kUs);
    run.chains.push_back({"only", i, release, to, false});
    run.instances.push_back({.callback = "work",
                             .priority = 3,
                             .ready = release,
                             .start = from,
                             .end = to,
                             .cpu = late ? cpu : 2 * kMs,
                             .tokens = "only:" + std::to_string(i)});
  }
  return run;
}

Stall stall(Ticks from, Ticks length, Ticks waited = 0) {
  return {1, 50 * kMs + from, 50 * kMs + from + length, waited};
}

std::vector<Excess> judged(const ObservedRun& run, const Machine& machine = kMachine) {
  return judge_observations(run, observed_loop(), ExecutorKind::kPreemptive, machine);
}

TEST(Observations, WithinTheBoundThereIsNothingToJudge) {
  ASSERT_EQ(judge(observed_loop(), ExecutorKind::kPreemptive, kMachine).chains[0].bound,
            2'100 * kUs);
  EXPECT_THAT(judged(run_of(100 * kUs, 2'100 * kUs)), IsEmpty());
}

TEST(Observations, AStallThatCoversWhatWasLostIsTheHosts) {
  // It began 3 ms late. 2 of the 5 ms are work and 0.1 ms is allowed for, so 2.9 ms are lost.
  const auto found = judged(run_of(3 * kMs, 5 * kMs, 2 * kMs, {stall(0, 2'900 * kUs)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].instance, 5);
  EXPECT_EQ(found[0].response, 5 * kMs);
  EXPECT_EQ(found[0].lost, 2'900 * kUs);
  EXPECT_EQ(found[0].stalled, 2'900 * kUs);
  EXPECT_EQ(found[0].stalled_bound, 5 * kMs);
  EXPECT_EQ(found[0].cause, Cause::kHost);
  EXPECT_EQ(found[0].what, "the CPU stood still for 2.900 ms since 0.050000 s");
}

TEST(Observations, AStallJustShorterThanThatExcusesNothing) {
  const auto found = judged(run_of(3 * kMs, 5 * kMs, 2 * kMs, {stall(0, 2'899 * kUs)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause, Cause::kAssumption);
}

TEST(Observations, AStallElsewhereExcusesNothing) {
  const std::vector<Stall> stalls{
      {0, 50 * kMs, 53 * kMs, 0}, {1, 40 * kMs, 50 * kMs, 0}, {1, 55 * kMs, 60 * kMs, 0}};
  for (const Stall& each : stalls) {
    const auto found = judged(run_of(3 * kMs, 5 * kMs, 2 * kMs, {each}));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].cause, Cause::kAssumption) << each.cpu << " " << each.start;
  }
}

TEST(Observations, AStallInWhichTheProbeWasReadyIsNotTheHosts) {
  const auto found = judged(run_of(3 * kMs, 5 * kMs, 2 * kMs, {stall(0, 3 * kMs, 2'900 * kUs)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].stalled, 100 * kUs) << "until the probe was woken";
  EXPECT_EQ(found[0].cause, Cause::kAssumption);
  EXPECT_THAT(found[0].what, HasSubstr("something more urgent than SCHED_FIFO 98"));
}

TEST(Observations, AnUnexplainedGapAndWorkAboveItsWcetAreNamed) {
  EXPECT_EQ(judged(run_of(3 * kMs, 5 * kMs))[0].what,
            "nothing of the application ran for 3.000 ms while something was ready; 0.100 ms are "
            "allowed for, at 0.050000 s");
  EXPECT_THAT(judged(run_of(0, 5 * kMs, 5 * kMs))[0].what,
              HasSubstr("work needed 5.000 ms of CPU time; its wcet_ms is 2"));
  EXPECT_THAT(judged(run_of(0, 5 * kMs))[0].what,
              HasSubstr("work was without the CPU for 3.000 ms that no callback used"));
}

// While `work` waits, `log` runs, although it is less urgent, and holds its group for 2 ms.
TEST(Observations, LessUrgentWorkIsNotBlamedWhereACallbackWaits) {
  model::Application application = Builder()
                                       .timer("work", 10, 2)
                                       .priority(3)
                                       .timer("log", 10, 2)
                                       .priority(1)
                                       .chain("only", {"work"}, 3)
                                       .done();
  application.executors[0].cpus = {1};
  ObservedRun run = run_of(0, 6 * kMs);
  run.instances.push_back({.callback = "log",
                           .priority = 1,
                           .ready = 51 * kMs,
                           .start = 51 * kMs,
                           .end = 53 * kMs,
                           .cpu = 2 * kMs,
                           .tokens = {}});
  const auto what = [&] {
    return judge_observations(run, application, ExecutorKind::kPreemptive, kMachine).at(0).what;
  };
  EXPECT_THAT(what(), HasSubstr("log, less urgent, ran for 2.000 ms before what was ready"));
  application.callbacks[0].waits = kMs / 2 * model::Nanoseconds(1);
  EXPECT_THAT(what(), HasSubstr("work was without the CPU for 2.000 ms that no callback used"));
}

TEST(Observations, WhatIsAllowedForOnceIsNoEvent) {
  Machine machine = kMachine;
  machine.overheads.timer_jitter = 500 * kUs;
  const auto found = judged(run_of(500 * kUs, 2'700 * kUs, 2'100 * kUs), machine);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bound, 2'600 * kUs);
  EXPECT_EQ(found[0].cause, Cause::kUnexplained);
  EXPECT_EQ(found[0].what, "");
}

TEST(Observations, OnlyALoadAboveTheKernelsLimitExcusesALongWait) {
  Machine machine = kMachine;
  for (const auto& [share, held_back] :
       {std::pair{0.2, 800 * kMs}, std::pair{0.25, Ticks{0}}, std::pair{1.0, Ticks{0}}}) {
    machine.realtime_share = share;  // the application has 21 %
    EXPECT_EQ(Allowance::of(observed_loop(), machine).held_back, held_back) << share;
  }
  Allowance allowed;
  allowed.held_back = 5 * kMs;
  EXPECT_TRUE(allowed.is_limit(stall(0, 3 * kMs, 2'500 * kUs)));
  EXPECT_FALSE(allowed.is_limit(stall(0, 3 * kMs, 2'499 * kUs)));
  EXPECT_EQ(allowed.excused(stall(0, 3 * kMs, 2'500 * kUs)).end, 53 * kMs);
  EXPECT_EQ(allowed.excused(stall(0, 3 * kMs, 2'499 * kUs)).end, 50'501 * kUs);
}

TEST(Observations, AnInstanceThatNeverEndedIsAboveItsBoundOnlyIfItHadTheTime) {
  const ChainLimit limit{.chain = "only",
                         .bound = 2 * kMs,
                         .level = 3,
                         .cpus = {1},
                         .callbacks = {"work"},
                         .meets_all = true};
  ChainLimit unmatched = limit;
  unmatched.meets_all = false;
  ObservedChain observed{"only", 5, 50 * kMs, std::nullopt, false};
  EXPECT_TRUE(is_above(observed, limit, 53 * kMs));
  EXPECT_FALSE(is_above(observed, limit, 52 * kMs)) << "the run ended before";
  EXPECT_FALSE(is_above(observed, unmatched, 53 * kMs));
  observed.lost = true;
  EXPECT_TRUE(is_above(observed, limit, 51 * kMs));
  EXPECT_FALSE(is_above(observed, unmatched, 51 * kMs));
}

TEST(Observations, ABoundOfOneCpuDoesNotHoldOnSeveral) {
  model::Application application = observed_loop();
  application.executors[0].cpus.clear();
  const ObservedRun run = run_of(200 * kUs, 2'300 * kUs);
  const auto found = judge_observations(run, application, ExecutorKind::kPreemptive, kMachine);
  ASSERT_EQ(found.size(), 1U);
  // This bound holds on any number of CPUs.
  EXPECT_EQ(found[0].cause, Cause::kUnexplained) << found[0].what;

  const std::vector<std::string> conditions{"executor 'main' runs on one CPU (cpus: [n])"};
  const std::vector<ChainLimit> limits{{.chain = "only",
                                        .bound = found[0].bound,
                                        .level = 3,
                                        .cpus = {},
                                        .callbacks = {"work"},
                                        .of_one_cpu = needs_one_cpu(conditions)}};
  const auto of_one = judge_observations(
      run, limits, observation_context(application, ExecutorKind::kPreemptive, kMachine));
  ASSERT_EQ(of_one.size(), 1U);
  EXPECT_EQ(of_one[0].cause, Cause::kAssumption);
  EXPECT_THAT(of_one[0].what, HasSubstr("may use every CPU, and the bound is that of one"));
}

TEST(Observations, TheBoundWithAStallCountsTheReleasesDuringIt) {
  const model::Application application = Builder()
                                             .timer("a", 5, 2)
                                             .timer("b", 20, 4)
                                             .chain("high", {"a"}, 1)
                                             .chain("low", {"b"}, 0)
                                             .done();
  const StalledBounds bounds = stalled_bounds(application, ExecutorKind::kPreemptive, Machine{});
  EXPECT_EQ(bounds.bound("low", 0), (4 + 2 * 2) * kMs);
  EXPECT_EQ(bounds.bound("low", 3 * kMs), (4 + 3 + 3 * 2) * kMs);
  EXPECT_FALSE(bounds.may_drop("high", 3 * kMs));
  EXPECT_TRUE(bounds.may_drop("high", 60 * kMs));
}

TEST(Observations, UnderAThreadForEachGroupTheThreadsPriorityCounts) {
  const model::Application application = Builder()
                                             .timer("urgent", 100, 1)
                                             .priority(9)
                                             .group("g")
                                             .timer("long", 100, 8)
                                             .priority(1)
                                             .group("g")
                                             .chain("only", {"urgent"}, 1, 50)
                                             .done();
  const auto level = [&](ExecutorKind executor) {
    return observation_context(application, executor, Machine{}).levels.at("long");
  };
  EXPECT_EQ(level(ExecutorKind::kPerGroup), 9);
  EXPECT_EQ(level(ExecutorKind::kPreemptive), 1);
}

TEST(BoundStatus, OnlyRealTimeObservationsWithoutAnExcuseContradictABound) {
  EXPECT_EQ(status_of(0, 0, true), BoundStatus::kHolds);
  EXPECT_EQ(status_of(3, 0, false), BoundStatus::kHolds);
  EXPECT_EQ(status_of(3, 1, true), BoundStatus::kConditionBroken);
  EXPECT_EQ(status_of(3, 0, true), BoundStatus::kContradicted);
}

TEST(ContradictsProof, AMissOrALongerResponseThanTheBoundWithTheHostsTime) {
  const auto contradicts = [](ObservedTotals observed, Verdict verdict = Verdict::kProved) {
    return contradicts_proof(verdict, 10, observed);
  };
  EXPECT_FALSE(contradicts({.worst = 10}));
  EXPECT_TRUE(contradicts({.worst = 11}));
  EXPECT_FALSE(contradicts({.worst = 11, .stalled = 1}));
  EXPECT_TRUE(contradicts({.missed = 1, .worst = 10}));
  EXPECT_TRUE(contradicts({.missed = 1})) << "no instance ended";
  EXPECT_FALSE(contradicts({.missed = 1, .worst = 99}, Verdict::kConditional));
  EXPECT_FALSE(contradicts_proof(Verdict::kProved, std::nullopt, {.worst = 99}));
}

}  // namespace
}  // namespace rclrt::analysis

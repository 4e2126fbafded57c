// SPDX-License-Identifier: Apache-2.0
/// Executors that state no CPUs: their bounds hold on any number of CPUs, or on those of the
/// machine. Executors with a single thread each that share several CPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/refute.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

model::Application without_cpus(model::Application application) {
  for (model::Executor& executor : application.executors) {
    executor.cpus.clear();
  }
  return application;
}

model::Application with_cpus(model::Application application, const std::vector<int>& cpus) {
  for (model::Executor& executor : application.executors) {
    executor.cpus = cpus;
  }
  return application;
}

std::vector<Verdict> verdicts(const std::vector<ChainBound>& bounds) {
  std::vector<Verdict> result;
  for (const ChainBound& each : bounds) {
    result.push_back(each.verdict);
  }
  return result;
}

/// Returns the longest simulated response of each chain on this number of CPUs, in milliseconds.
std::vector<double> simulated_ms(const model::Application& application,
                                 const model::ExecutorChoice& executor, unsigned cpus) {
  std::vector<double> result;
  const auto found =
      simulate(simulated_system(application, executor, {}, cpus), {.horizon_ns = 2'000'000'000});
  for (const ChainSimulation& each : found.chains) {
    result.push_back(static_cast<double>(each.response.worst_ns) / 1e6);
  }
  return result;
}

/// The example of docs/explanation/bounds.md.
model::Application first_report() {
  return Builder()
      .timer("steer", 20, 2)
      .timer("scan", 50, 2)
      .subscription("detect", "scan", 5)
      .subscription("brake", "detect", 1)
      .timer("plan_tick", 200, 1)
      .subscription("plan", "plan_tick", 30)
      .chain("drive", {"steer"}, 3)
      .chain("stop", {"scan", "detect", "brake"}, 2)
      .chain("route", {"plan_tick", "plan"}, 1)
      .done();
}

TEST(AnyCpus, ABoundOfOneCpuIsProvedOnAnyNumberIfThatOfTwoIsNotLonger) {
  const auto application = without_cpus(first_report());
  EXPECT_THAT(bounds_ms(with_cpus(application, {0, 1})), ElementsAre(2, 8, 35));
  EXPECT_THAT(bounds_ms(application), ElementsAre(2, 10, 45));
  const auto found = chain_bounds(application);
  EXPECT_THAT(verdicts(found), Each(Verdict::kProved));
  EXPECT_THAT(found[2].assumptions, IsEmpty());
  EXPECT_THAT(simulated_ms(application, ExecutorKind::kPreemptive, 1), ElementsAre(2, 10, 45));
}

/// Two less urgent callbacks hold two groups at once if there are two CPUs: `grip` is later there.
model::Application two_groups(double deadline) {
  Builder builder;
  builder.timer("grip", 30, 0.5).group("arm").priority(4);
  builder.subscription("close", "grip", 0.5).group("hand").priority(4);
  builder.timer("home", 30, 8).group("arm").priority(1);
  builder.timer("calibrate", 30, 8).group("hand").priority(1);
  auto application = builder.chain("grip", {"grip", "close"}, 4, deadline).done();
  set_offset(application, 0, 0.001);
  set_offset(application, 2, 0);
  set_offset(application, 3, 8.4);
  return without_cpus(application);
}

TEST(AnyCpus, TheLongerBoundCounts) {
  const auto application = two_groups(20);
  EXPECT_THAT(bounds_ms(with_cpus(application, {0})), ElementsAre(9));
  EXPECT_THAT(bounds_ms(with_cpus(application, {0, 1})), ElementsAre(17));
  EXPECT_THAT(bounds_ms(application), ElementsAre(17));
  EXPECT_THAT(verdicts(chain_bounds(application)), ElementsAre(Verdict::kProved));
  EXPECT_GT(simulated_ms(application, ExecutorKind::kPreemptive, 2)[0], 9)
      << "the bound of one CPU does not hold on two";
}

TEST(AnyCpus, OneCpuIsAConditionIfOnlyItsBoundIsWithinTheDeadline) {
  const auto found = chain_bounds(two_groups(12));
  EXPECT_EQ(found[0].bound, ms(9).count());
  EXPECT_EQ(found[0].verdict, Verdict::kConditional);
  EXPECT_THAT(found[0].assumptions, ElementsAre("executor 'main' runs on one CPU (cpus: [n])"));
}

/// Three timers with more work than one CPU can do.
model::Application heavy() {
  return without_cpus(Builder()
                          .timer("a", 10, 5)
                          .timer("b", 10, 5)
                          .timer("c", 10, 4)
                          .chain("first", {"a"}, 3)
                          .chain("second", {"b"}, 2)
                          .chain("third", {"c"}, 1)
                          .done());
}

TEST(AnyCpus, MoreWorkThanOneCpuCanDoNeedsANumberOfThem) {
  const auto unknown = chain_bounds(heavy());
  EXPECT_EQ(unknown[2].verdict, Verdict::kUnknown);
  EXPECT_THAT(unknown[2].note,
              HasSubstr("executors that state no CPUs may have a bound on several"));
  EXPECT_THAT(bounds_ms(heavy(), ExecutorKind::kPreemptive, {.cpus = 2}), ElementsAre(5, 5, 9));
  EXPECT_THAT(bounds_ms(heavy(), ExecutorKind::kPreemptive, {.cpus = 3}), ElementsAre(5, 5, 4));
  EXPECT_THAT(verdicts(chain_bounds(heavy(), ExecutorKind::kPreemptive, {.cpus = 2})),
              Each(Verdict::kProved));
}

TEST(AnyCpus, TheNumberIsAnAssumptionThatMattersWhereNoneAreStated) {
  const auto is_relevant = [](const model::Application& application) {
    const Judgement found =
        judge(application, ExecutorKind::kPreemptive, {.overheads = {.cpus = 2}});
    return std::ranges::find(found.assumptions, "cpus", &Assumption::id)->relevant;
  };
  EXPECT_TRUE(is_relevant(heavy()));
  EXPECT_FALSE(is_relevant(with_cpus(heavy(), {0})));
  const auto without = chain_assumptions(ExecutorKind::kPreemptive, {});
  EXPECT_EQ(std::ranges::find(without, "cpus", &Assumption::id), without.end());
}

TEST(AnyCpus, ARefutationIsOfTheCpusOfTheMachine) {
  auto application = heavy();
  application.chains[2].deadline = ms(7);
  const Overheads two{.cpus = 2};
  const Refutation found =
      refute(application, judge(application, ExecutorKind::kPreemptive, {.overheads = two}),
             {.executor = ExecutorKind::kPreemptive,
              .overheads = two,
              .effort = {.instances = 20'000, .per_trial = 2'000}});
  ASSERT_TRUE(found.examples[2]);
  EXPECT_EQ(found.examples[2]->cpus, 2U);
  EXPECT_EQ(found.examples[2]->response_ns, ms(9).count());
  EXPECT_THAT(found.judgement.chains[2].assumptions, IsEmpty());
  EXPECT_EQ(replay(application, *found.examples[2]), ms(9).count());
}

TEST(AnyCpus, WithoutABoundOneCpuIsNoConditionIfTheNumberIsKnown) {
  const auto trigger = model::parse_executor("static_order:trigger=all");
  const auto unknown = judge(heavy(), trigger, {}).chains[0].assumptions;
  EXPECT_THAT(unknown, ElementsAre("executor 'main' runs on one CPU (cpus: [n])"));
  EXPECT_THAT(judge(heavy(), trigger, {.overheads = {.cpus = 2}}).chains[0].assumptions, IsEmpty());
}

TEST(AnyCpus, OtherExecutorsKeepTheirCpus) {
  auto application = Builder()
                         .timer("a", 10, 4)
                         .timer("b", 10, 3)
                         .chain("pinned", {"a"}, 1)
                         .chain("anywhere", {"b"}, 1)
                         .done();
  application.executors = {{.name = "one", .cpus = {3}, .top_priority = 50}, {.name = "other"}};
  application.nodes.push_back({.name = "more", .name_space = "/", .executor = 1});
  application.callbacks[1].node = 1;
  const auto found = chain_bounds(application);
  EXPECT_THAT(bounds_ms(application), ElementsAre(7, 3)) << "they may be on one CPU";
  EXPECT_THAT(verdicts(found), Each(Verdict::kProved));
  for (const unsigned cpus : {1U, 2U, 4U}) {
    const auto simulated = simulated_ms(application, ExecutorKind::kPreemptive, cpus);
    EXPECT_LE(simulated[0], 7) << cpus;
    EXPECT_LE(simulated[1], 3) << cpus;
  }
}

TEST(AnyCpus, TimeLostOnAnUnknownNumberOfThemIsACondition) {
  const auto application = without_cpus(control_loop());
  const Overheads lossy{.background = 10'000};
  const auto unknown = chain_bounds(application, ExecutorKind::kPreemptive, lossy);
  EXPECT_EQ(unknown[0].verdict, Verdict::kConditional);
  EXPECT_THAT(unknown[0].assumptions, Contains(HasSubstr("take time from no more CPUs than")));
  Overheads known = lossy;
  known.cpus = 8;
  const auto on_eight = chain_bounds(application, ExecutorKind::kPreemptive, known);
  EXPECT_EQ(on_eight[0].verdict, Verdict::kProved);
  EXPECT_EQ(on_eight[0].bound, ms(2).count() + 8 * 4 * 10'000) << "each loses it in 4 ms";
}

TEST(AnyCpus, EdfExecutorsMayHaveOneCpuInCommonOrNot) {
  auto application = Builder()
                         .timer("a", 10, 4)
                         .timer("b", 10, 3)
                         .chain("pinned", {"a"}, 1)
                         .chain("anywhere", {"b"}, 1)
                         .done();
  application.executors = {{.name = "one", .cpus = {1}}, {.name = "other"}};
  application.nodes.push_back({.name = "more", .name_space = "/", .executor = 1});
  application.callbacks[1].node = 1;
  EXPECT_THAT(bounds_ms(application, ExecutorKind::kEdf), ElementsAre(7, 7));
  const auto found = chain_bounds(application, ExecutorKind::kEdf);
  EXPECT_THAT(verdicts(found), Each(Verdict::kProved));
}

/// Three executors, each with a chain of its own, in the order of their urgency.
model::Application three_executors(const std::vector<int>& cpus) {
  Builder builder;
  for (const std::string id : {"0", "1", "2"}) {
    builder.timer("a" + id, 40, 2).subscription("b" + id, "a" + id, 4);
    builder.timer("slow" + id, 40, 3).priority(0);
  }
  for (const std::string id : {"0", "1", "2"}) {
    builder.chain("chain" + id, {"a" + id, "b" + id}, 9 - std::stoi(id));
  }
  auto application = builder.done();
  application.executors.clear();
  application.nodes.clear();
  for (std::size_t i = 0; i < 3; ++i) {
    application.executors.push_back({.name = "e" + std::to_string(i), .cpus = cpus});
    application.nodes.push_back(
        {.name = "n" + std::to_string(i), .name_space = "/", .executor = i});
  }
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    application.callbacks[i].node = i / 3;
  }
  return application;
}

TEST(SingleThreads, ShareCpusByTheirPriorities) {
  const auto application = three_executors({0, 1});
  // 6 of its own and a slow callback that has started. The third one waits while both others run:
  // 9 each, on two CPUs.
  EXPECT_THAT(bounds_ms(application, ExecutorKind::kPicas), ElementsAre(9, 9, 18));
  const auto found = chain_bounds(application, ExecutorKind::kPicas);
  EXPECT_THAT(verdicts(found), Each(Verdict::kProved));
  EXPECT_THAT(found[2].assumptions, IsEmpty());
}

TEST(SingleThreads, WithoutAnOrderWaitForAllOfTheirExecutor) {
  for (const ExecutorKind kind : {ExecutorKind::kEvents, ExecutorKind::kWaitSet}) {
    const auto found = bounds_ms(three_executors({0, 1}), kind);
    const auto simulated = simulated_ms(three_executors({0, 1}), kind, 2);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_GE(found[i], simulated[i]) << traits(kind).name;
      EXPECT_GE(found[i], 9 + 4.5) << traits(kind).name << ": the others are as urgent";
      EXPECT_LT(found[i], 27) << traits(kind).name << ": not as on one CPU";
    }
  }
}

TEST(SingleThreads, ThatStateNoCpusAreProvedOnAnyNumber) {
  const auto application = three_executors({});
  EXPECT_THAT(bounds_ms(application, ExecutorKind::kPicas),
              bounds_ms(three_executors({0}), ExecutorKind::kPicas));
  for (const ExecutorKind kind : {ExecutorKind::kPicas, ExecutorKind::kEvents,
                                  ExecutorKind::kWaitSet, ExecutorKind::kStaticOrder}) {
    EXPECT_THAT(verdicts(chain_bounds(application, kind)), Each(Verdict::kProved))
        << traits(kind).name;
  }
}

TEST(SingleThreads, OnCpusOfTheirOwnAreAsOnOne) {
  auto application = three_executors({0});
  application.executors[1].cpus = {1, 2};
  application.executors[2].cpus = {3, 4};
  EXPECT_THAT(bounds_ms(application, ExecutorKind::kPicas), ElementsAre(9, 9, 9));
}

}  // namespace
}  // namespace rclrt::analysis

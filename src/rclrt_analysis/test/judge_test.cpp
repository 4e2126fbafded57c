// SPDX-License-Identifier: Apache-2.0
// The overheads of a machine are part of the verdict.
#include "rclrt/analysis/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "application_builder.hpp"
#include "random_several_cpus.hpp"

namespace rclrt::analysis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

TEST(Judge, AVerdictOnAMachineThatWasNotMeasuredIsConditional) {
  ASSERT_EQ(chain_bounds(control_loop())[0].verdict, Verdict::kProved);
  const Judgement judgement =
      judge(control_loop(), ExecutorKind::kPreemptive, Machine::unmeasured());
  EXPECT_EQ(judgement.chains[0].verdict, Verdict::kConditional);
  EXPECT_THAT(judgement.chains[0].assumptions, Contains(HasSubstr("dispatching takes no time")));
  EXPECT_TRUE(judgement.feasible);
}

TEST(Judge, AMeasuredMachineWithoutConditionsProves) {
  const Machine machine{.overheads = {.dispatch = 20'000},
                        .assumptions = {{"measured", "it was measured"}}};
  const Judgement judgement = judge(control_loop(), ExecutorKind::kPreemptive, machine);
  EXPECT_EQ(judgement.chains[0].verdict, Verdict::kProved);
  EXPECT_EQ(judgement.chains[0].bound, 2'020'000);
  EXPECT_THAT(judgement.assumptions, Contains(Field(&Assumption::id, "measured")));
  EXPECT_THAT(judgement.chains[0].assumptions, ElementsAre());
}

TEST(Judge, TheKernelsLimitIsAConditionWhereItMayBeReached) {
  Machine machine{.overheads = {.dispatch = 20'000}, .realtime_share = 0.5};
  EXPECT_EQ(judge(control_loop(), ExecutorKind::kPreemptive, machine).chains[0].verdict,
            Verdict::kProved);
  machine.realtime_share = 0.15;
  const Judgement judgement = judge(control_loop(), ExecutorKind::kPreemptive, machine);
  EXPECT_EQ(judgement.chains[0].verdict, Verdict::kConditional);
  EXPECT_THAT(judgement.chains[0].assumptions, ElementsAre(HasSubstr("more than 15.0 %")));
}

std::vector<std::string> relevant(const model::Application& application) {
  std::vector<std::string> ids;
  bool before = true;
  for (const Assumption& each :
       judge(application, ExecutorKind::kPreemptive, Machine{}).assumptions) {
    EXPECT_TRUE(before || !each.relevant) << each.id << " comes too late";
    before = each.relevant;
    if (each.relevant) {
      ids.push_back(each.id);
    }
  }
  return ids;
}

TEST(Judge, TheAssumptionsAboutWhatTheApplicationHasComeFirst) {
  EXPECT_THAT(relevant(control_loop()), ElementsAre("sched-fifo", "wcet", "executor", "dispatch"));
  model::Application fusion = Builder()
                                  .timer("a", 10, 1)
                                  .timer("b", 10, 1)
                                  .sync("join", "a", "b", 1)
                                  .chain("both", {"a", "join"}, 1)
                                  .done();
  EXPECT_THAT(relevant(fusion), ElementsAre("sched-fifo", "wcet", "executor", "messages", "stamps",
                                            "unmatched", "dispatch"));
  std::get<model::Timer>(fusion.callbacks[0].trigger).offset_stated = true;
  fusion.executors.push_back({.name = "other", .cpus = {1}});
  EXPECT_THAT(relevant(fusion), ElementsAre("sched-fifo", "wcet", "executor", "messages", "offsets",
                                            "stamps", "unmatched", "hop", "dispatch"));
}

TEST(Judge, AConditionOfEveryBoundIsNoAssumptionAsWell) {
  const Judgement judgement =
      judge(control_loop(), ExecutorKind::kPreemptive, Machine::unmeasured());
  EXPECT_THAT(judgement.assumptions, Not(Contains(Field(&Assumption::id, "dispatch"))));
}

TEST(Judge, AChainWithoutABoundIsNotFeasible) {
  const model::Application application = Builder()
                                             .timer("fast", 10, 6)
                                             .timer("slow", 10, 6)
                                             .chain("fast", {"fast"}, 2)
                                             .chain("slow", {"slow"}, 1)
                                             .done();
  const Judgement judgement = judge(application, ExecutorKind::kPreemptive, Machine{});
  EXPECT_EQ(judgement.chains[0].verdict, Verdict::kProved);
  EXPECT_EQ(judgement.chains[1].verdict, Verdict::kUnknown);
  EXPECT_FALSE(judgement.feasible);
}

TEST(Judge, TheQueuesOfAJudgementAreThoseOfQueueBounds) {
  std::size_t bounds = 0;
  for (const char* const name : {"preemptive", "edf", "events", "wait_set:threads=2", "workshop"}) {
    const model::ExecutorChoice executor = model::parse_executor(name);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      RandomSeveralCpus random(seed);
      const auto cpus = static_cast<int>(seed % 3);  // 0: not stated
      model::Application application = random.make(std::max(cpus, 1), seed % 2 == 0);
      if (cpus == 0) {
        random.spread_over(application, 2);
        random.remove_cpus(application);
      }
      if (executor.kind == ExecutorKind::kEdf && cpus > 1) {
        continue;
      }
      const auto expected = queue_bounds(application, executor);
      const Judgement judgement = judge_with_queues(application, executor, Machine{});
      ASSERT_EQ(judgement.queues.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(judgement.queues[i].pending, expected[i].pending) << name << ", seed " << seed;
        EXPECT_EQ(judgement.queues[i].depth, expected[i].depth);
        bounds += expected[i].pending ? 1 : 0;
      }
    }
  }
  EXPECT_GT(bounds, 100U);
  EXPECT_THAT(judge(control_loop(), ExecutorKind::kPreemptive, Machine{}).queues, ElementsAre());
}

}  // namespace
}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
// The overheads of a machine are part of the verdict.
#include "rclrt/analysis/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "application_builder.hpp"

namespace rclrt::analysis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

model::Application loop() {
  return Builder().timer("loop", 10, 2).chain("control", {"loop"}, 1).done();
}

TEST(Judge, AVerdictOnAMachineThatWasNotMeasuredIsConditional) {
  ASSERT_EQ(chain_bounds(loop())[0].verdict, Verdict::kProved);
  const Judgement judgement = judge(loop(), ExecutorKind::kPreemptive, Machine::unmeasured());
  EXPECT_EQ(judgement.chains[0].verdict, Verdict::kConditional);
  EXPECT_THAT(judgement.chains[0].assumptions, Contains(HasSubstr("dispatching takes no time")));
  EXPECT_TRUE(judgement.feasible);
}

TEST(Judge, AMeasuredMachineWithoutConditionsProves) {
  const Machine machine{.overheads = {.dispatch = 20'000}, .assumptions = {"it was measured"}};
  const Judgement judgement = judge(loop(), ExecutorKind::kPreemptive, machine);
  EXPECT_EQ(judgement.chains[0].verdict, Verdict::kProved);
  EXPECT_EQ(judgement.chains[0].bound, 2'020'000);
  EXPECT_THAT(judgement.assumptions, Contains("it was measured"));
  EXPECT_THAT(judgement.chains[0].assumptions, ElementsAre());
}

TEST(Judge, TheKernelsLimitIsAConditionWhereItMayBeReached) {
  Machine machine{.overheads = {.dispatch = 20'000}, .realtime_share = 0.5};
  EXPECT_EQ(judge(loop(), ExecutorKind::kPreemptive, machine).chains[0].verdict, Verdict::kProved);
  machine.realtime_share = 0.15;
  const Judgement judgement = judge(loop(), ExecutorKind::kPreemptive, machine);
  EXPECT_EQ(judgement.chains[0].verdict, Verdict::kConditional);
  EXPECT_THAT(judgement.chains[0].assumptions, ElementsAre(HasSubstr("more than 15.0 %")));
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

}  // namespace
}  // namespace rclrt::analysis

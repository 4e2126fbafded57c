// SPDX-License-Identifier: Apache-2.0
/// Published task sets and their response times.
#include "rclrt/analysis/fixed_priority.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "tasks.hpp"

namespace rclrt::analysis {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Responses preemptive(const std::vector<Task>& set) {
  return responses(fixed_priority_preemptive(set));
}

// Lehoczky 1990, example 2.
TEST(FixedPriority, LehoczkyExampleTwoNeedsTheLaterJobs) {
  EXPECT_EQ(preemptive(tasks({{52, 100}, {52, 140}})), (Responses{52, 156}));
  EXPECT_EQ(preemptive(tasks({{52, 140}, {52, 100}})), (Responses{52, 108}));
}

// Lehoczky 1990, example 3: the worst job of the second task is not its first.
TEST(FixedPriority, LehoczkyExampleThreeHasItsWorstJobLate) {
  EXPECT_EQ(preemptive(tasks({{26, 70}, {62, 100}})), (Responses{26, 118}));
}

// By hand: A runs from 0 to 2 and from 4 to 6, B from 2 to 4. The third task needs no time, but
// gets the core for the first time at 6: at 4, when the work released before is done, A is released
// again.
TEST(FixedPriority, ATaskThatNeedsNoTimeWaitsForAMomentOfTheCore) {
  const auto all = preemptive(tasks({{2, 4}, {2, 8}, {0, 100}}));
  EXPECT_GE(all[2].value(), 6);
  EXPECT_LE(all[2].value(), 7);
}

// SchedCAT, tests of the FP response-time analysis.
TEST(FixedPriority, SchedcatsFourTasks) {
  EXPECT_EQ(preemptive(tasks({{1, 4}, {1, 5}, {3, 9}, {3, 18}})), (Responses{1, 2, 7, 18}));
}

// Burns and Wellings, "Real-Time Systems and Programming Languages", tables of chapter 11.
TEST(FixedPriority, BurnsAndWellings) {
  EXPECT_EQ(preemptive(tasks({{3, 7}, {3, 12}, {5, 20}})), (Responses{3, 6, 20}));
  EXPECT_EQ(preemptive(tasks({{4, 16}, {5, 40}, {32, 80}})), (Responses{4, 9, 58}));
  const auto full = fixed_priority_preemptive(tasks({{5, 20}, {10, 40}, {40, 80}}));
  EXPECT_EQ(responses(full), (Responses{5, 15, 80}));
  EXPECT_EQ(full.schedulable, Answer::kYes);
  const auto missed = fixed_priority_preemptive(tasks({{10, 30}, {10, 40}, {12, 50}}));
  EXPECT_EQ(missed.tasks[2].response, 52);
  EXPECT_EQ(missed.tasks[2].schedulable, Answer::kNo);
  EXPECT_EQ(missed.schedulable, Answer::kNo);
}

// Buttazzo, "Hard Real-Time Computing Systems", chapter 4.
TEST(FixedPriority, ButtazzoDeadlineMonotonic) {
  const auto result =
      fixed_priority_preemptive(tasks({{1, 4, 3}, {1, 5, 4}, {2, 6, 5}, {1, 11, 10}}));
  EXPECT_EQ(responses(result), (Responses{1, 2, 4, 10}));
  EXPECT_EQ(result.schedulable, Answer::kYes);
}

TEST(FixedPriority, ButtazzoRateMonotonicMissesWhatEdfMeets) {
  const auto result = fixed_priority_preemptive(tasks({{2, 5}, {4, 7}}));
  EXPECT_EQ(responses(result), (Responses{2, 8}));
  EXPECT_EQ(result.schedulable, Answer::kNo);
}

// The set fails the bound of Liu and Layland, but is schedulable.
TEST(FixedPriority, ExactAnalysisAcceptsWhatTheLoadBoundRejects) {
  EXPECT_EQ(preemptive(tasks({{40, 100}, {40, 150}, {100, 350}})), (Responses{40, 80, 300}));
}

// Thesis, table 5.1, with equations 5.1 and 5.2 summed over the higher priorities.
TEST(FixedPriority, TableFivePointOneOfTheThesis) {
  EXPECT_EQ(preemptive(tasks({{2, 5}, {5, 10}, {1, 10}})), (Responses{2, 9, 10}));
  EXPECT_EQ(preemptive(tasks({{2, 10}, {5, 10}, {1, 10}})), (Responses{2, 7, 8}));
}

// SchedCAT's tests: w = 10 + ceil(w / 2) = 20 for the second task when it suspends for 5.
TEST(FixedPriority, SuspensionOfASecondTask) {
  auto set = tasks({{1, 2}, {5, 20}, {1, 20}});
  EXPECT_EQ(preemptive(set), (Responses{1, 10, 12}));
  set[1].suspension = 5;
  const auto result = fixed_priority_preemptive(set);
  EXPECT_EQ(result.tasks[1].response, 20);
  EXPECT_EQ(result.tasks[1].schedulable, Answer::kYes);
  EXPECT_NE(result.tasks[2].schedulable, Answer::kYes);
  EXPECT_NE(result.schedulable, Answer::kYes);
}

// T = 10, C = 2, S = 3 above C = 3. Suspension as computation: w = 3 + 5 = 8.
// As jitter: R1 = 5, J1 = 5 - 2 = 3, w = 3 + ceil((w + 3) / 10) 2 = 5.
TEST(FixedPriority, SuspensionOfAMoreUrgentTaskIsTheBetterOfComputationAndJitter) {
  auto set = tasks({{2, 10}, {3, 20}});
  set[0].suspension = 3;
  EXPECT_EQ(preemptive(set), (Responses{5, 5}));
  // J1 = 8 - 1 = 7 brings two jobs: 7 + 2 = 9, and with 9 + 7 = 16 no third one; computation: 15.
  set = tasks({{1, 10}, {7, 20}});
  set[0].suspension = 7;
  EXPECT_EQ(preemptive(set), (Responses{8, 9}));
  // J2 = 6 - 3 = 3 brings a second job, 3 + 2 * 2 + 2 * 3 = 13; as computation 3 + 2 + (3 + 1) = 9.
  set = tasks({{2, 10}, {3, 10}, {3, 30}});
  set[1].suspension = 1;
  EXPECT_EQ(preemptive(set), (Responses{2, 6, 9}));
}

// Tindell, Burns and Wellings 1994, equation 9: R = w + J, and interferers come J early.
TEST(FixedPriority, JitterCountsForTheTaskAndThoseBelow) {
  auto set = tasks({{2, 5}, {4, 20}});
  set[0].jitter = 1;
  // w2 = 4 + ceil((w2 + 1) / 5) 2: 4, 6, 8, 8.
  EXPECT_EQ(preemptive(set), (Responses{3, 8}));
  set[1].jitter = 7;
  EXPECT_EQ(preemptive(set), (Responses{3, 15}));
  // A jitter longer than the period: ceil((0+ + 12) / 5) = 3 jobs at once.
  set[0].jitter = 12;
  // The first task: w_q = 2 (q + 1), q up to 2: R = 12 + 2. The second: 4 + 3 * 2 = 10, then
  // ceil(22 / 5) = 5 jobs: 14, ceil(26 / 5) = 6: 16, ceil(28 / 5) = 6.
  EXPECT_EQ(preemptive(set), (Responses{14, 23}));
}

TEST(FixedPriority, BlockingDelaysOneTaskOnly) {
  auto set = tasks({{2, 10}, {3, 15}});
  set[0].blocking = 4;
  EXPECT_EQ(preemptive(set), (Responses{6, 5}));
}

// The thesis treats equal priorities as strict; its executors serve them in order of release.
TEST(FixedPriority, TasksOfOneLevelDelayEachOther) {
  auto set = tasks({{3, 10}, {4, 10}});
  set[0].priority = set[1].priority;
  EXPECT_EQ(preemptive(set), (Responses{7, 7}));
}

TEST(FixedPriority, MoreLoadThanTheCoreHasNoResponseTime) {
  const auto result = fixed_priority_preemptive(tasks({{3, 5}, {3, 6}, {1, 100}}));
  EXPECT_EQ(responses(result), (Responses{3, std::nullopt, std::nullopt}));
  EXPECT_EQ(result.tasks[1].schedulable, Answer::kNo);
}

// At U = 1 with blocking the busy period never ends, and repeats: B + C of the last task's rivals.
TEST(FixedPriority, AFullCoreWithBlockingStillHasABound) {
  auto set = tasks({{1, 2}, {2, 4, 10}});
  set[1].blocking = 1;
  // w_0 = 3 + ceil(w / 2): 3, 5, 6, 6; w_1 = 5 + ceil(w / 2): 10; 10 - 4 = 6.
  EXPECT_EQ(preemptive(set), (Responses{1, 6}));
}

TEST(FixedPriority, LimitedPreemptionBlocksByTheLongestRegionBelow) {
  auto set = tasks({{1, 4}, {2, 10}, {6, 20}});
  set[1].region = 1;
  set[2].region = 2;
  const auto result = fixed_priority_limited_preemptive(set);
  // R1 = 1 + 2; R2: 4 + ceil(w / 4) = 6; R3: 6 + ceil(w / 4) + 2 ceil(w / 10) = 11, 6+3+4 = 13,
  // 6+4+4 = 14.
  EXPECT_EQ(responses(result), (Responses{3, 6, 14}));
  EXPECT_EQ(preemptive(set), (Responses{1, 3, 14}));
}

// Continuous time: the blocking job has just started.
TEST(FixedPriority, NonPreemptiveInContinuousTime) {
  EXPECT_EQ(responses(fixed_priority_nonpreemptive(tasks({{20, 70}, {20, 80}, {35, 200}}))),
            (Responses{55, 75, 75}));
}

// Davis et al. 2007, table 1 in units of a bit time of 0.0: C = 1 each, T = 2.5, 3.5, 3.5. The
// original CAN analysis gave 3 for the last message; its second job takes 3.5.
TEST(FixedPriority, TheRefutationOfTheCanAnalysis) {
  EXPECT_EQ(responses(fixed_priority_nonpreemptive(tasks({{10, 25}, {10, 35}, {10, 35}}))),
            (Responses{20, 30, 35}));
}

TEST(FixedPriority, TimesOutsideTheLimitsAreRefusedByName) {
  auto set = tasks({{1, 0}});
  EXPECT_THAT([&] { fixed_priority_preemptive(set); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("the period is 0; expected 1 to ")));
  set = tasks({{-1, 5}});
  EXPECT_THAT([&] { fixed_priority_nonpreemptive(set); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("the WCET is -1; expected 0 to ")));
  set = tasks({{1, 5}});
  set[0].suspension = 1;
  EXPECT_THAT([&] { fixed_priority_nonpreemptive(set); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("suspension is not offered for ")));
}

TEST(FixedPriority, TheLongestTimesDoNotOverflow) {
  const auto result =
      fixed_priority_preemptive(tasks({{1, 2}, {kMaxTicks, kMaxTicks}, {kMaxTicks, kMaxTicks}}));
  EXPECT_EQ(result.tasks[0].response, 1);
  EXPECT_EQ(result.tasks[1].schedulable, Answer::kNo);
  const auto half = fixed_priority_preemptive(tasks({{1, 2}, {kMaxTicks / 2, kMaxTicks}}));
  EXPECT_EQ(half.tasks[1].response, kMaxTicks);
}

TEST(FixedPriority, ABusyPeriodWithoutEndIsGivenUp) {
  // U = 1 - 1 / (2^60): 2^59 later jobs.
  auto set = tasks({{1, 2}, {kMaxTicks / 2 - 1, kMaxTicks, 10}});
  set[1].jitter = kMaxTicks;
  const auto result = fixed_priority_preemptive(set, Effort{.steps = 100'000});
  EXPECT_EQ(result.tasks[1].schedulable, Answer::kNo);
}

TEST(FixedPriority, AMillionTasksGetAnAnswer) {
  std::vector<Task> set;
  for (int i = 0; i < 1'000'000; ++i) {
    set.push_back({.id = {},
                   .wcet = 1'000,
                   .period = 2'000'000'000 + i,
                   .deadline = 2'000'000'000,
                   .priority = 1'000'000 - i});
  }
  const auto result = fixed_priority_preemptive(set, Effort{.steps = 50'000'000});
  EXPECT_EQ(result.schedulable, Answer::kYes);
  EXPECT_TRUE(result.tasks.front().exact);
  EXPECT_FALSE(result.tasks.back().exact);
  EXPECT_EQ(result.tasks.front().response, 1'000);
  EXPECT_GE(result.tasks.back().response, 1'000'000'000);
}

}  // namespace
}  // namespace rclrt::analysis

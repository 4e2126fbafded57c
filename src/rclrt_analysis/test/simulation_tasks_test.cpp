// SPDX-License-Identifier: Apache-2.0
// Independent periodic tasks on one CPU, released together at time 0, against published numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulated.hpp"

namespace rclrt::analysis::test {
namespace {

using testing::ElementsAre;

struct Task {
  double wcet;
  double period;
};

/// The most urgent task first.
System tasks(ExecutorKind kind, const std::vector<Task>& stated) {
  System system(kind);
  int level = static_cast<int>(stated.size());
  for (const Task& task : stated) {
    system.timer(task.period, task.wcet, level--);
  }
  return system;
}

TEST(SimulatedTasks, run_by_priority_and_preempt) {
  // a: C 1 T 4, b: C 2 T 6, c: C 3 T 12.
  // 0  1   3 4  5 6   8  9 10  11  (12)
  // a  b   c a  c b   a  c
  EXPECT_EQ(schedule(tasks(ExecutorKind::kPreemptive, {{1, 4}, {2, 6}, {3, 12}}), 12),
            "a 0-1 b 1-3 c 3-4 a 4-5 c 5-6 b 6-8 a 8-9 c 9-10");
}

TEST(SimulatedTasks, do_the_same_under_each_executor_that_honours_priorities_and_preempts) {
  const std::vector<Task> stated{{1, 4}, {2, 6}, {3, 12}};
  const std::string expected = schedule(tasks(ExecutorKind::kPreemptive, stated), 24);
  EXPECT_EQ(schedule(tasks(ExecutorKind::kProducerConsumer, stated), 24), expected);
  EXPECT_EQ(schedule(tasks(ExecutorKind::kThreadDispatch, stated), 24), expected);
}

TEST(SimulatedTasks, have_the_worst_responses_of_lehoczky_1990_example_2) {
  EXPECT_THAT(worst_responses(tasks(ExecutorKind::kPreemptive, {{52, 100}, {52, 140}}), 7000),
              ElementsAre(52, 156));
  // Priorities swapped: the task that was first has 108.
  EXPECT_THAT(worst_responses(tasks(ExecutorKind::kPreemptive, {{52, 140}, {52, 100}}), 7000),
              ElementsAre(52, 108));
}

TEST(SimulatedTasks, have_the_worst_response_of_lehoczky_1990_example_3_in_a_later_job) {
  const System system = tasks(ExecutorKind::kPreemptive, {{26, 70}, {62, 100}});
  EXPECT_THAT(worst_responses(system, 100), ElementsAre(26, 0));  // the first job ends at 114
  EXPECT_THAT(worst_responses(system, 7000), ElementsAre(26, 118));
}

TEST(SimulatedTasks, have_the_worst_responses_of_schedcats_tests) {
  EXPECT_THAT(
      worst_responses(tasks(ExecutorKind::kPreemptive, {{1, 4}, {1, 5}, {3, 9}, {3, 18}}), 180),
      ElementsAre(1, 2, 7, 18));
}

TEST(SimulatedTasks, have_the_worst_responses_of_burns_and_wellings) {
  EXPECT_THAT(worst_responses(tasks(ExecutorKind::kPreemptive, {{3, 7}, {3, 12}, {5, 20}}), 420),
              ElementsAre(3, 6, 20));
  EXPECT_THAT(
      worst_responses(tasks(ExecutorKind::kPreemptive, {{10, 30}, {10, 40}, {12, 50}}), 600),
      ElementsAre(10, 20, 52));
  EXPECT_THAT(worst_responses(tasks(ExecutorKind::kPreemptive, {{4, 16}, {5, 40}, {32, 80}}), 80),
              ElementsAre(4, 9, 58));
  // At U = 1.
  EXPECT_THAT(worst_responses(tasks(ExecutorKind::kPreemptive, {{5, 20}, {10, 40}, {40, 80}}), 160),
              ElementsAre(5, 15, 80));
}

TEST(SimulatedTasks, have_the_worst_responses_of_the_thesis_table_5_1) {
  EXPECT_THAT(worst_responses(tasks(ExecutorKind::kPreemptive, {{2, 5}, {5, 10}, {1, 10}}), 100),
              ElementsAre(2, 9, 10));
  // With T1 = 10, as in the paper's text.
  EXPECT_THAT(worst_responses(tasks(ExecutorKind::kPreemptive, {{2, 10}, {5, 10}, {1, 10}}), 100),
              ElementsAre(2, 7, 8));
}

TEST(SimulatedTasks, that_suspend_delay_others_more_than_their_execution_times_say) {
  // Ground truth 4: (1,2), (5,20), (1,20) have 1, 10, 12.
  System system = tasks(ExecutorKind::kPreemptive, {{1, 2}, {5, 20}, {1, 20}});
  EXPECT_THAT(worst_responses(system, 200), ElementsAre(1, 10, 12));
}

TEST(SimulatedTasks, that_are_not_preemptive_block_as_long_as_the_longest_less_urgent_one) {
  // Ground truth 8: (20,70), (20,80), (35,200) have 55, 75, 75: c when all are released together,
  // the others when c has just started. The supremum is never reached: a nanosecond less.
  const std::vector<Task> stated{{20, 70}, {20, 80}, {35, 200}};
  System system = tasks(ExecutorKind::kFixedPriorityNonPreemptive, stated);
  EXPECT_THAT(worst_responses(system, 5600)[2], 75);
  std::get<TimerTrigger>(system[0].trigger).offset_ns = 1;
  std::get<TimerTrigger>(system[1].trigger).offset_ns = 1;
  const SimulationResult late = system.run(5600);
  EXPECT_EQ(late.callbacks[0].response.worst_ns, ms(55) - 1);
  EXPECT_EQ(late.callbacks[1].response.worst_ns, ms(75) - 1);
}

TEST(SimulatedTasks, that_are_not_preemptive_choose_among_all_that_are_ready_at_an_instant) {
  // At 4 a ends, and b and c are released: b runs first, although c precedes it in the list.
  System system(ExecutorKind::kFixedPriorityNonPreemptive);
  system.timer(100, 4, 1);
  system.timer(100, 1, 2, 4);
  system.timer(100, 1, 3, 4);
  EXPECT_EQ(schedule(system, 10), "a 0-4 c 4-5 b 5-6");
}

TEST(SimulatedTasks, under_edf_meet_deadlines_that_rate_monotonic_priorities_miss) {
  // Buttazzo: (2,5), (4,7). Under rate monotonic priorities b has 8 > 7.
  const std::vector<Task> stated{{2, 5}, {4, 7}};
  EXPECT_THAT(worst_responses(tasks(ExecutorKind::kPreemptive, stated), 35), ElementsAre(2, 8));
  // EDF: a's second job (deadline 10) waits for b's first (deadline 7).
  EXPECT_EQ(schedule(tasks(ExecutorKind::kEdf, stated), 14), "a 0-2 b 2-6 a 6-8 b 8-12 a 12-14");
  const auto result = tasks(ExecutorKind::kEdf, stated).run(35);
  EXPECT_LE(result.callbacks[0].response.worst_ns, ms(5));
  EXPECT_LE(result.callbacks[1].response.worst_ns, ms(7));
}

TEST(SimulatedTasks, under_edf_preempt_by_deadline_and_not_on_equal_ones) {
  // b (deadline 20) is preempted by a's job of 4 (deadline 8), not by c's of 10 (also deadline 20).
  System system(ExecutorKind::kEdf);
  system.timer(100, 1, 1, 4);
  system.timer(20, 12, 1);
  system.timer(100, 1, 1, 10);
  system[0].deadline_ns = ms(4);
  system[2].deadline_ns = ms(10);
  EXPECT_EQ(schedule(system, 20), "b 0-4 a 4-5 b 5-13 c 13-14");
}

// a, due at 10, is ready at 3, when b, due at 11, has started. Its relative deadline of 10 is not
// shorter than that of b, 9, so rclrt's executor (EdfQueue::may_preempt) does not start it; c, due
// at 10.5, waits behind a, and could preempt b. In the model of a task set, a preempts b.
TEST(SimulatedTasks, under_edf_preempt_late_only_what_has_a_longer_relative_deadline) {
  System system(ExecutorKind::kEdf);
  system.timer(100, 1, 0);
  std::get<TimerTrigger>(system[0].trigger).jitter = TimeDistribution::constant(ms(3));
  system.timer(100, 4, 0, 2);
  system.timer(100, 1, 0, 4);
  const std::vector<double> deadlines{10, 9, 6.5};
  for (std::size_t i = 0; i < deadlines.size(); ++i) {
    system[i].deadline_ns = ms(deadlines[i]);
  }
  EXPECT_EQ(schedule(system, 20), "b 2-6 a 6-7 c 7-8");
  system.value.executors.front().preempts_by_absolute_deadline = true;
  EXPECT_EQ(schedule(system, 20), "b 2-3 a 3-4 c 4-5 b 5-8");
}

TEST(SimulatedTasks, under_non_preemptive_edf_are_finished_once_started) {
  System system(ExecutorKind::kEdfNonPreemptive);
  system.timer(100, 1, 1, 4);
  system.timer(20, 12, 1);
  system[0].deadline_ns = ms(4);
  EXPECT_EQ(schedule(system, 20), "b 0-12 a 12-13");
}

TEST(SimulatedTasks,
     with_jitter_are_ready_late_but_their_response_counts_from_the_nominal_release) {
  System system(ExecutorKind::kPreemptive);
  system.timer(10, 1, 2);
  std::get<TimerTrigger>(system[0].trigger).jitter = TimeDistribution::list({0, ms(9.5), 0});
  EXPECT_EQ(schedule(system, 30), "a 0-1 a 19.5-20.5 a 20.5-21.5");
  EXPECT_THAT(worst_responses(system, 30), ElementsAre(10.5));
}

TEST(SimulatedTasks, of_equal_priority_run_in_order_of_release) {
  // Errata: C = 3 and 4, T = 10: strict priority predicts 3 for a; it is up to 7.
  System system(ExecutorKind::kPreemptive);
  system.timer(10, 3, 1, 0.000001);
  system.timer(10, 4, 1);
  EXPECT_THAT(worst_responses(system, 100), ElementsAre(7 - 0.000001, 4));
}

}  // namespace
}  // namespace rclrt::analysis::test

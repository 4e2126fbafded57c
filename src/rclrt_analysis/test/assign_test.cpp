// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/assign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>

#include "application_builder.hpp"
#include "rclrt/analysis/analyse_tasks.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/model/parse.hpp"

namespace rclrt::analysis {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

bool schedulable(std::vector<Task> tasks, const std::vector<int>& priorities, Policy policy) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].priority = priorities[i];
  }
  return analyse_tasks(tasks, policy).schedulable == Answer::kYes;
}

// Deadline monotonic puts c above b, but jitter leaves too little time for b there.
TEST(AssignTasks, AudsleyFindsWhatDeadlineMonotonicDoesNot) {
  std::vector<Task> tasks(3);
  tasks[0] = {.id = "a", .wcet = 3, .period = 20, .deadline = 20, .jitter = 0};
  tasks[1] = {.id = "b", .wcet = 5, .period = 20, .deadline = 12, .jitter = 6};
  tasks[2] = {.id = "c", .wcet = 4, .period = 40, .deadline = 9, .jitter = 0};
  // c 4; b 6 + 5 + 4 = 15 > 12 below c, so b is above c: b 11, c 5 + 4 = 9, a 12.
  EXPECT_FALSE(schedulable(tasks, {1, 2, 3}, Policy::kFpPreemptive));
  const TaskAssignment found = assign_priorities(tasks, Policy::kFpPreemptive);
  EXPECT_TRUE(found.schedulable);
  EXPECT_TRUE(found.optimal);
  EXPECT_EQ(found.priorities, (std::vector<int>{1, 3, 2}));
}

// Against all orders of small random sets.
TEST(AssignTasks, FindsAnOrderWheneverThereIsOne) {
  std::mt19937 random(1);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<>(low, high)(random);
  };
  int possible = 0;
  int impossible = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Policy policy = trial % 2 == 0 ? Policy::kFpPreemptive : Policy::kFpNonpreemptive;
    std::vector<Task> tasks(4);
    for (Task& task : tasks) {
      task.period = between(8, 30);
      task.wcet = between(1, 5);
      task.deadline = between(static_cast<int>(task.wcet), 30);
      task.jitter = between(0, 3) == 0 ? between(0, 8) : 0;
    }
    std::vector<int> order{1, 2, 3, 4};
    bool any = false;
    do {
      any = any || schedulable(tasks, order, policy);
    } while (std::ranges::next_permutation(order).found);
    const TaskAssignment found = assign_priorities(tasks, policy);
    ASSERT_TRUE(found.optimal);
    ASSERT_EQ(found.schedulable, any) << "trial " << trial;
    ASSERT_EQ(schedulable(tasks, found.priorities, policy), any);
    ASSERT_EQ(std::set<int>(found.priorities.begin(), found.priorities.end()).size(), 4U);
    ++(any ? possible : impossible);
  }
  EXPECT_GT(possible, 50);
  EXPECT_GT(impossible, 50);
}

TEST(AssignTasks, SuspensionIsNotSaidToBeOptimal) {
  std::vector<Task> tasks(2);
  tasks[0] = {.id = "a", .wcet = 1, .period = 4, .deadline = 4, .suspension = 1};
  tasks[1] = {.id = "b", .wcet = 1, .period = 8, .deadline = 8};
  EXPECT_FALSE(assign_priorities(tasks, Policy::kFpPreemptive).optimal);
  EXPECT_THAT([&] { assign_priorities(tasks, Policy::kEdf); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("EDF goes by deadlines: there are no priorities to assign")));
}

std::vector<Verdict> verdicts(const model::Application& application) {
  std::vector<Verdict> result;
  for (const ChainBound& bound : chain_bounds(application)) {
    result.push_back(bound.verdict);
  }
  return result;
}

TEST(Assign, PrioritiesThatTheFileHasTheWrongWayRound) {
  const auto application = Builder()
                               .timer("fast", 5, 2)
                               .timer("slow", 50, 20)
                               .chain("fast", {"fast"}, 1)
                               .chain("slow", {"slow"}, 2)
                               .done();
  const Assignment found = assign(application, {});
  EXPECT_EQ(found.before.not_proved, 1U);
  EXPECT_EQ(found.after.not_proved, 0U);
  EXPECT_TRUE(found.optimal);
  EXPECT_EQ(verdicts(found.application), (std::vector<Verdict>(2, Verdict::kProved)));
}

TEST(Assign, AudsleysOrderIsDecisiveWhereThreadsPreemptByPriority) {
  const auto application = Builder()
                               .timer("fast", 5, 2)
                               .timer("slow", 50, 20)
                               .chain("fast", {"fast"}, 1)
                               .chain("slow", {"slow"}, 2)
                               .done();
  for (const model::ExecutorTraits& kind : model::executor_kinds()) {
    if (!kind.simulated_only) {
      EXPECT_EQ(assign(application, {.executor = kind.kind}).optimal, kind.has_levels) << kind.name;
    }
  }
}

/// U = 1.2: three nodes of their own.
model::Application three_nodes() {
  auto application = Builder()
                         .timer("a", 10, 4)
                         .timer("b", 10, 4)
                         .timer("c", 10, 4)
                         .chain("a", {"a"}, 3)
                         .chain("b", {"b"}, 2)
                         .chain("c", {"c"}, 1)
                         .done();
  application.nodes = {{"na", "/", 0}, {"nb", "/", 0}, {"nc", "/", 0}};
  for (std::size_t i = 0; i < 3; ++i) {
    application.callbacks[i].node = i;
  }
  return application;
}

TEST(Assign, TheLimitsOfAChainThatSamplesCountAsADeadline) {
  // `see` and `plan` have one priority, so each waits for the other one. In any order, one need
  // not.
  auto application = model::parse_application(R"(rclrt: 1
name: robot
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: see, node: n, timer: {period_ms: 50}, wcet_ms: 4, stores: [seen]}
  - {id: plan, node: n, timer: {period_ms: 20}, wcet_ms: 5, reads: [seen]}
chains:
  - {id: way, callbacks: [see, plan], max_age_ms: 200}
)")
                         .application.value();
  const auto stated = judge(application, ExecutorKind::kPreemptive, {}).cause_effect_chains.at(0);
  ASSERT_TRUE(stated.age);
  application.cause_effect_chains[0].max_age = model::Nanoseconds(*stated.age) - ms(1);
  const Assignment found = assign(application, {});
  EXPECT_EQ(found.before.not_proved, 1U);
  EXPECT_GT(found.before.worst, 1);
  EXPECT_EQ(found.after.not_proved, 0U);
  EXPECT_LE(found.after.worst, 1);
  EXPECT_FALSE(found.optimal);
  EXPECT_EQ(
      judge(found.application, ExecutorKind::kPreemptive, {}).cause_effect_chains.at(0).verdict,
      Verdict::kProved);
}

TEST(Assign, SpreadsWhatIsTooMuchForOneCore) {
  const Assignment one = assign(three_nodes(), {.cpus = {0}});
  EXPECT_EQ(one.after.not_proved, 1U);
  const Assignment two = assign(three_nodes(), {.cpus = {2, 3}});
  EXPECT_EQ(two.after.not_proved, 0U);
  ASSERT_EQ(two.application.executors.size(), 2U);
  EXPECT_EQ(two.application.executors[0].cpus, std::vector<int>{2});
  EXPECT_EQ(two.application.executors[1].cpus, std::vector<int>{3});
  const Assignment three = assign(three_nodes(), {.cpus = {0, 1, 2}});
  EXPECT_DOUBLE_EQ(three.after.worst, 0.4);
}

TEST(Assign, PicasGivesEachCoreItsChainsAndEachChainItsPlaceInTheOrder) {
  auto application = Builder()
                         .timer("a", 100, 1)
                         .subscription("a1", "a", 20)
                         .timer("b", 10, 1)
                         .subscription("b1", "b", 2)
                         .chain("a", {"a", "a1"}, 2)
                         .chain("b", {"b", "b1"}, 1)
                         .done();
  application.nodes = {{"na", "/", 0}, {"na1", "/", 0}, {"nb", "/", 0}, {"nb1", "/", 0}};
  for (std::size_t i = 0; i < 4; ++i) {
    application.callbacks[i].node = i;
  }
  const AssignOptions one{
      .cpus = {0}, .executor = ExecutorKind::kPicas, .method = AssignMethod::kPicas};
  const Assignment found = assign(application, one);
  EXPECT_EQ(found.start, "picas");
  EXPECT_EQ(found.evaluations, 2U);  // before and after
  EXPECT_FALSE(found.optimal);
  // All callbacks of the file's chain are above those of the other one, and later callbacks above
  // earlier ones.
  std::vector<int> priorities;
  for (std::size_t i = 0; i < 4; ++i) {
    priorities.push_back(found.application.effective_priority(i));
  }
  EXPECT_EQ(priorities, (std::vector<int>{3, 4, 1, 2}));
  // The search finds that the short chain has to be above.
  EXPECT_EQ(found.after.not_proved, 1U);
  EXPECT_EQ(assign(application, {.cpus = {0}}).after.not_proved, 0U);
  const Assignment two =
      assign(application,
             {.cpus = {0, 1}, .executor = ExecutorKind::kPicas, .method = AssignMethod::kPicas});
  EXPECT_EQ(two.application.nodes[0].executor, two.application.nodes[1].executor);
  EXPECT_EQ(two.application.nodes[2].executor, two.application.nodes[3].executor);
  EXPECT_NE(two.application.nodes[0].executor, two.application.nodes[2].executor);
  EXPECT_EQ(two.after.not_proved, 0U);
}

TEST(Assign, KeepsTogetherWhatTopicsJoin) {
  auto application = Builder()
                         .timer("a", 10, 1)
                         .subscription("a1", "a", 1)
                         .timer("b", 10, 1)
                         .chain("a", {"a", "a1"}, 2)
                         .chain("b", {"b"}, 1)
                         .done();
  application.nodes = {{"n0", "/", 0}, {"n1", "/", 0}, {"n2", "/", 0}};
  for (std::size_t i = 0; i < 3; ++i) {
    application.callbacks[i].node = i;
  }
  const auto& nodes = assign(application, {.cpus = {0, 1}}).application.nodes;
  EXPECT_EQ(nodes[0].executor, nodes[1].executor);
  EXPECT_NE(nodes[0].executor, nodes[2].executor);
}

/// Both orders hold: bounds of 6 and 7, or of 7 and 1.
model::Application long_and_short() {
  return Builder()
      .timer("long", 20, 6)
      .timer("short", 20, 1)
      .chain("long", {"long"}, 1, 8)
      .chain("short", {"short"}, 2, 20)
      .done();
}

TEST(Assign, TheObjectiveDecidesBetweenTwoThatHold) {
  const auto slack = assign(long_and_short(), {.objective = Objective::kMaxSlack});
  EXPECT_DOUBLE_EQ(slack.after.worst, 6.0 / 8);
  EXPECT_DOUBLE_EQ(slack.after.mean_bound_ns, 6.5e6);
  const auto response = assign(long_and_short(), {.objective = Objective::kMinResponse});
  EXPECT_DOUBLE_EQ(response.after.mean_bound_ns, 4e6);
  EXPECT_DOUBLE_EQ(response.after.worst, 7.0 / 8);
}

TEST(Assign, FeasibleIsContentWithTheFirstThatHolds) {
  const auto found = assign(long_and_short(), {.objective = Objective::kFeasible});
  EXPECT_EQ(found.evaluations, 1U);
  EXPECT_EQ(found.start, "the file as it is");
  EXPECT_EQ(found.after.not_proved, 0U);
  EXPECT_EQ(
      assign(three_nodes(), {.cpus = {2, 3}, .objective = Objective::kFeasible}).after.not_proved,
      0U);
}

TEST(Assign, OverheadsCount) {
  const Overheads overheads{.dispatch = ms(0.5).count(), .timer_jitter = ms(1).count()};
  const auto found = assign(long_and_short(), {.overheads = overheads});
  EXPECT_EQ(found.before.not_proved, 1U);
  EXPECT_DOUBLE_EQ(found.before.worst, 9.0 / 8);  // 6.5 + 1.5, plus a millisecond of lateness
  EXPECT_EQ(found.after, quality(found.application, ExecutorKind::kPreemptive, overheads));
  EXPECT_LT(found.after.worst, found.before.worst);
}

TEST(Assign, AChainWithoutABoundIsWorseThanALongOne) {
  const Quality bounded{.not_proved = 1, .not_bounded = 0, .worst = 9};
  const Quality none{.not_proved = 1, .not_bounded = 1, .worst = 0};
  for (const Objective each :
       {Objective::kFeasible, Objective::kMaxSlack, Objective::kMinResponse}) {
    EXPECT_TRUE(better(bounded, none, each));
  }
}

TEST(Assign, IsNeverWorseThanTheFileOnItsOwnCore) {
  for (const char* name : {"autonomous_vehicle", "fig_5_5", "fig_5_7"}) {
    const auto application = example(name);
    const auto cpus = application.executors[0].cpus;
    const Assignment found =
        assign(application, {.cpus = {cpus.empty() ? 0 : cpus.front()}, .evaluations = 300});
    EXPECT_LE(found.after, found.before) << name;
  }
}

}  // namespace
}  // namespace rclrt::analysis

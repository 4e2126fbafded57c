// SPDX-License-Identifier: Apache-2.0
/// Reaction times and data ages through wait sets with more work than time.
#include <gtest/gtest.h>

#include <string>

#include "rclrt/analysis/judge.hpp"
#include "sampling.hpp"

namespace rclrt::analysis {
namespace {

using test::as_ms;
using test::longest_reactions;
using test::sampling_application;
using test::sampling_bound;

/// Teper et al., RTAS 2024: from the lidar to the controller of a race car. Each node has a wait
/// set and a CPU of its own. The planner's timer has more work than its period. Times are in ms.
TEST(OverloadedWaitSet, TepersRaceCarReactsWithinAShorterBoundThanThePublishedOne) {
  const model::Application application = sampling_application(R"(
executors:
  - {name: exact, cpus: [0]}
  - {name: ray, cpus: [1]}
  - {name: filter, cpus: [2]}
  - {name: clustering, cpus: [3]}
  - {name: tracking, cpus: [4]}
  - {name: planner, cpus: [5]}
  - {name: controller, cpus: [6]}
nodes:
  - {name: exact, executor: exact}
  - {name: ray, executor: ray}
  - {name: filter, executor: filter}
  - {name: clustering, executor: clustering}
  - {name: tracking, executor: tracking}
  - {name: planner, executor: planner}
  - {name: controller, executor: controller}
callbacks:
  - {id: exact, node: exact, event: {min_interval_ms: 50}, wcet_ms: 8.322477, publishes: [points]}
  - {id: ray, node: ray, subscription: {topic: points, depth: 1}, wcet_ms: 5.868673, publishes: [rays]}
  - {id: filter, node: filter, subscription: {topic: rays, depth: 1}, wcet_ms: 4.262447, publishes: [few]}
  - {id: cluster, node: clustering, subscription: {topic: few, depth: 1}, wcet_ms: 30.157566,
     publishes: [clusters]}
  - {id: see, node: tracking, subscription: {topic: clusters, depth: 1}, wcet_ms: 0.285, stores: [seen]}
  - {id: track, node: tracking, timer: {period_ms: 50}, wcet_ms: 11.332989, reads: [seen],
     publishes: [tracks]}
  - {id: hear, node: planner, subscription: {topic: tracks, depth: 1}, wcet_ms: 0.258, stores: [heard]}
  - {id: plan, node: planner, timer: {period_ms: 75}, wcet_ms: 105.455399, reads: [heard],
     publishes: [plans]}
  - {id: take, node: controller, subscription: {topic: plans, depth: 1}, wcet_ms: 0.007, stores: [way]}
  - {id: control, node: controller, timer: {period_ms: 10}, wcet_ms: 4.162312, reads: [way]}
chains:
  - {id: drive, callbacks: [exact, ray, filter, cluster, see, track, hear, plan, take, control],
     max_reaction_ms: 762}
)");
  // Constant delays of the middleware, which add to both bounds.
  constexpr double kMiddleware = 2.215147 + 3.475904 + 6.809235 + 10.717392 + 45.783758 + 4.575968;
  const Judgement found = judge(application, ExecutorKind::kWaitSet, {});
  const CauseEffectBound& bound = found.cause_effect_chains.at(0);
  EXPECT_EQ(bound.verdict, Verdict::kProved);
  EXPECT_TRUE(found.feasible);
  const double reaction = as_ms(bound.reaction) + kMiddleware;
  EXPECT_LT(reaction, 835.837);        // the published bound
  EXPECT_NEAR(reaction, 701.3, 0.05);  // docs/explanation/sampling-chains.md states it
  const double simulated =
      longest_reactions(application, ExecutorKind::kWaitSet).at(0) + kMiddleware;
  EXPECT_LE(simulated, reaction);
  EXPECT_GT(simulated, reaction / 3);
  EXPECT_FALSE(judge(application, ExecutorKind::kEvents, {}).cause_effect_chains.at(0).reaction);
}

TEST(OverloadedWaitSet, AnOverloadedWaitSetHasTheTimesOfItsSets) {
  // A timer of 10 ms with 15 ms of work, and a subscription of 2 ms that stores for it.
  const CauseEffectBound found = sampling_bound(sampling_application(R"(
executors: [{name: one, cpus: [0]}, {name: two, cpus: [1]}]
nodes: [{name: sensor, executor: one}, {name: planner, executor: two}]
callbacks:
  - {id: sense, node: sensor, timer: {period_ms: 40}, wcet_ms: 1, publishes: [seen]}
  - {id: store, node: planner, subscription: {topic: seen, depth: 1}, wcet_ms: 2, stores: [x]}
  - {id: plan, node: planner, timer: {period_ms: 10}, wcet_ms: 15, reads: [x]}
chains: [{id: path, callbacks: [sense, store, plan]}]
)"),
                                                ExecutorKind::kWaitSet);
  // The sensor's next release, its start behind nothing, its run, two sets of the planner. Then the
  // planner's next start: after the rest of its own set and what comes before it in the next one.
  EXPECT_EQ(as_ms(found.reaction), 40 + 1 + 2 * 17 + (2 * 17 - 15) + 15);
  EXPECT_EQ(as_ms(found.age), 1 + 2 * 17 + 40 + 15);
}

TEST(OverloadedWaitSet, ASubscriptionOfSeveralTopicsRunsMoreThanOnceInASet) {
  const auto reaction =
      [](const std::string& log) {
        return sampling_bound(sampling_application(R"(
executors: [{name: one, cpus: [0]}, {name: two, cpus: [1]}]
nodes: [{name: sensor, executor: one}, {name: planner, executor: two}]
callbacks:
  - {id: t1, node: sensor, timer: {period_ms: 40}, wcet_ms: 1, publishes: [x]}
  - {id: t2, node: sensor, timer: {period_ms: 40}, wcet_ms: 1, publishes: [y]}
  - {id: t3, node: sensor, timer: {period_ms: 40}, wcet_ms: 1, publishes: [z]}
  - {id: plan, node: planner, timer: {period_ms: 10}, wcet_ms: 15}
  - {id: log, node: planner, subscription: {)" + log +
                                                   R"(}, wcet_ms: 20}
  - {id: store, node: planner, subscription: {topic: z, depth: 1}, wcet_ms: 1}
chains: [{id: path, callbacks: [t3, store], max_reaction_ms: 200}]
)"),
                              ExecutorKind::kWaitSet)
            .reaction;
      };
  EXPECT_TRUE(reaction("topic: x"));
  EXPECT_FALSE(reaction("topics: [x, y]"));
}

TEST(OverloadedWaitSet, ALateEventIsServedLater) {
  const model::Application application = sampling_application(R"(
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: plan, node: n, timer: {period_ms: 10}, wcet_ms: 20}
  - {id: see, node: n, event: {min_interval_ms: 10, depth: 1}, wcet_ms: 1}
chains: [{id: path, callbacks: [see], max_reaction_ms: 100}]
)");
  Machine machine;
  EXPECT_EQ(as_ms(sampling_bound(application, ExecutorKind::kWaitSet, machine).reaction), 2 * 21);
  machine.overheads.timer_jitter = 2'000'000;
  EXPECT_EQ(as_ms(sampling_bound(application, ExecutorKind::kWaitSet, machine).reaction),
            2 + 2 * 21);
}

}  // namespace
}  // namespace rclrt::analysis

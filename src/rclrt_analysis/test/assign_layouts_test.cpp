// SPDX-License-Identifier: Apache-2.0
// Where assign() places callbacks: executors on one CPU, on some and on all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "application_builder.hpp"
#include "rclrt/analysis/assign.hpp"
#include "rclrt/model/executor_kind.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/model/write.hpp"

namespace rclrt::analysis {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::ThrowsMessage;

model::Application parsed(const std::string& text) {
  auto result = model::parse_application(text);
  for (const auto& diagnostic : result.diagnostics) {
    ADD_FAILURE() << diagnostic.message;
  }
  return result.application.value();
}

/// Three nodes with a load of 2.4. The node `perception` has more work than one CPU has time for.
model::Application three_nodes_four_chains() {
  return parsed(R"(rclrt: 1
name: robot
executors: [{name: main, cpus: [0]}]
nodes: [{name: sensors}, {name: perception}, {name: control}]
callbacks:
  - {id: image, node: sensors, timer: {period_ms: 40}, wcet_ms: 8, publishes: [images]}
  - {id: scan, node: sensors, timer: {period_ms: 50}, wcet_ms: 10, publishes: [scans]}
  - {id: detect, node: perception, subscription: {topic: images}, wcet_ms: 20, publishes: [seen], group: a}
  - {id: segment, node: perception, subscription: {topic: scans}, wcet_ms: 30, group: b}
  - {id: map, node: perception, timer: {period_ms: 200}, wcet_ms: 100, group: c}
  - {id: plan, node: control, subscription: {topic: seen}, wcet_ms: 8}
  - {id: loop, node: control, timer: {period_ms: 10}, wcet_ms: 2}
chains:
  - {id: camera, callbacks: [image, detect, plan], priority: 1}
  - {id: lidar, callbacks: [scan, segment], priority: 2}
  - {id: mapping, callbacks: [map], priority: 3}
  - {id: motion, callbacks: [loop], priority: 4}
)");
}

std::vector<Verdict> verdicts_of(const model::Application& application) {
  std::vector<Verdict> result;
  for (const ChainBound& bound : chain_bounds(application)) {
    result.push_back(bound.verdict);
  }
  return result;
}

/// The file that the assignment is written as is accepted, and has the same meaning.
void expect_valid(const Assignment& found) {
  const std::string text = model::to_yaml(found.application);
  const auto read = model::parse_application(text);
  for (const auto& diagnostic : read.diagnostics) {
    ADD_FAILURE() << diagnostic.message << "\n" << text;
  }
  ASSERT_TRUE(read.application);
  EXPECT_EQ(quality(*read.application, ExecutorKind::kPreemptive, {}), found.after) << text;
}

TEST(AssignLayouts, ThreeNodesWithMoreWorkThanOneOfFourCpusHasTimeForAreProved) {
  const auto application = three_nodes_four_chains();
  EXPECT_NEAR(application.utilisation(), 2.4, 1e-9);
  // By whole nodes, `perception` overloads its CPU: mapping and one more chain are not proved.
  const Assignment nodes =
      assign(application, {.cpus = {0, 1, 2, 3}, .method = AssignMethod::kPicas});
  EXPECT_GE(nodes.after.not_proved, 1U);
  for (const auto layout : {Layout::kPartitioned, Layout::kClustered, Layout::kGlobal}) {
    const Assignment found =
        assign(application, {.cpus = {0, 1, 2, 3}, .layout = layout, .evaluations = 200});
    EXPECT_EQ(found.after.not_proved, 0U) << static_cast<int>(layout);
    EXPECT_EQ(verdicts_of(found.application), std::vector<Verdict>(4, Verdict::kProved));
    expect_valid(found);
  }
  const Assignment any = assign(application, {.cpus = {0, 1, 2, 3}, .evaluations = 300});
  EXPECT_EQ(verdicts_of(any.application), std::vector<Verdict>(4, Verdict::kProved));
  EXPECT_THAT(any.layouts, ElementsAre(Field(&LayoutResult::layout, Layout::kStated),
                                       Field(&LayoutResult::layout, Layout::kPartitioned),
                                       Field(&LayoutResult::layout, Layout::kClustered),
                                       Field(&LayoutResult::layout, Layout::kGlobal)));
  EXPECT_EQ(std::ranges::count(any.layouts, true, &LayoutResult::chosen), 1);
  expect_valid(any);
}

TEST(AssignLayouts, ACallbackStatesItsExecutorOnlyWhereItIsNotThatOfItsNode) {
  const Assignment found =
      assign(three_nodes_four_chains(),
             {.cpus = {0, 1, 2, 3}, .layout = Layout::kPartitioned, .evaluations = 100});
  std::size_t elsewhere = 0;
  for (const model::Callback& callback : found.application.callbacks) {
    EXPECT_NE(callback.executor, found.application.nodes[callback.node].executor) << callback.id;
    elsewhere += callback.executor ? 1 : 0;
  }
  EXPECT_GE(elsewhere, 1U);  // 1.6 CPUs of `perception`
  for (const model::Executor& executor : found.application.executors) {
    EXPECT_EQ(executor.cpus.size(), 1U);
  }
}

/// Half a CPU each: two of them on one CPU end at 5 and 10. On two CPUs together, the least urgent
/// one waits for three others: 5 + 15 / 2.
TEST(AssignLayouts, OnlyExecutorsOnOneCpuProveChainsThatFillTheirCpus) {
  Builder builder;
  for (const char* id : {"a", "b", "c", "d"}) {
    builder.timer(id, 10, 5).chain(id, {id}, 1);
  }
  const Assignment found = assign(builder.done(), {.cpus = {0, 1}});
  EXPECT_EQ(found.after.not_proved, 0U);
  EXPECT_DOUBLE_EQ(found.after.worst, 1.0);
  for (const LayoutResult& layout : found.layouts) {
    EXPECT_EQ(layout.chosen, layout.layout == Layout::kPartitioned);
    EXPECT_EQ(layout.quality.not_proved == 0, layout.layout == Layout::kPartitioned);
  }
  expect_valid(found);
}

/// On one CPU, `b` and `c` end one after the other: 2 + 9 + 9. On two CPUs they run at the same
/// time, but a message to another executor takes too long.
TEST(AssignLayouts, OnlyAnExecutorOnBothCpusProvesAForkThatCannotAffordAHop) {
  const auto application = Builder()
                               .timer("a", 20, 2)
                               .subscription("b", "a", 9)
                               .subscription("c", "a", 9)
                               .chain("ab", {"a", "b"}, 2, 12)
                               .chain("ac", {"a", "c"}, 1, 12)
                               .done();
  const Overheads overheads{.far = {0, ms(10).count()}};
  const Assignment found = assign(application, {.cpus = {0, 1}, .overheads = overheads});
  EXPECT_EQ(found.after.not_proved, 0U);
  ASSERT_EQ(found.application.executors.size(), 1U);
  EXPECT_EQ(found.application.executors[0].cpus, (std::vector<int>{0, 1}));
  for (const LayoutResult& layout : found.layouts) {
    EXPECT_EQ(layout.quality.not_proved == 0, layout.layout == Layout::kGlobal);
  }
}

TEST(AssignLayouts, GroupsStayWhole) {
  Builder builder;
  for (int i = 0; i < 8; ++i) {
    const std::string id = "c" + std::to_string(i);
    builder.timer(id, 10 + i, 2).group("g" + std::to_string(i % 3)).chain(id, {id}, i);
  }
  for (const auto layout : {Layout::kPartitioned, Layout::kClustered}) {
    const Assignment found =
        assign(builder.done(), {.cpus = {0, 1, 2, 3}, .layout = layout, .evaluations = 400});
    std::vector<std::set<std::size_t>> executors(3);
    for (std::size_t i = 0; i < 8; ++i) {
      executors[i % 3].insert(found.application.executor_of(i));
    }
    EXPECT_THAT(executors, testing::Each(testing::SizeIs(1)));
    expect_valid(found);
  }
}

/// Chains that share a group are placed together: at 80 % of four CPUs, a chain across CPUs would
/// have to be proved with the pessimism of its jitter.
TEST(AssignLayouts, ChainsThatShareAGroupBeginOnOneCpu) {
  Builder builder;
  for (int i = 0; i < 8; ++i) {
    const std::string timer = "t" + std::to_string(i);
    const std::string end = "e" + std::to_string(i);
    builder.timer(timer, 100, 20).subscription(end, timer, 20).group("g" + std::to_string(i / 2));
    builder.chain(timer, {timer, end}, i);
  }
  const Assignment found = assign(builder.done(), {.cpus = {0, 1, 2, 3},
                                                   .objective = Objective::kFeasible,
                                                   .layout = Layout::kPartitioned,
                                                   .evaluations = 4});
  EXPECT_EQ(found.after.not_proved, 0U);
  for (const model::Chain& chain : found.application.chains) {
    EXPECT_EQ(found.application.executor_of(chain.callbacks[0]),
              found.application.executor_of(chain.callbacks[1]))
        << chain.id;
  }
}

TEST(AssignLayouts, AnExecutorHasCallbacksOfOneProcess) {
  const auto application = parsed(R"(rclrt: 1
name: robot
executors: [{name: one, process: left, cpus: [0]}, {name: two, process: right, cpus: [1]}]
nodes: [{name: l, executor: one}, {name: r, executor: two}, {name: idle, executor: two}]
callbacks:
  - {id: a, node: l, timer: {period_ms: 10}, wcet_ms: 4}
  - {id: b, node: l, timer: {period_ms: 20}, wcet_ms: 9}
  - {id: c, node: r, timer: {period_ms: 10}, wcet_ms: 4}
  - {id: d, node: r, timer: {period_ms: 20}, wcet_ms: 9}
chains:
  - {id: a, callbacks: [a], priority: 1}
  - {id: b, callbacks: [b], priority: 2}
  - {id: c, callbacks: [c], priority: 3}
  - {id: d, callbacks: [d], priority: 4}
)");
  for (const auto layout : {Layout::kPartitioned, Layout::kClustered, Layout::kGlobal}) {
    const Assignment found =
        assign(application, {.cpus = {0, 1, 2}, .layout = layout, .evaluations = 300});
    const auto& executors = found.application.executors;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(executors[found.application.executor_of(i)].process, i < 2 ? "left" : "right");
    }
    EXPECT_EQ(executors[found.application.nodes[2].executor].process, "right");
    // On the same CPUs, all callbacks of one process are above all of the other one.
    const auto kernel = model::kernel_priorities(found.application, ExecutorKind::kPreemptive);
    for (std::size_t a = 0; a < 2; ++a) {
      for (std::size_t b = 2; b < 4; ++b) {
        const bool share = executors[found.application.executor_of(a)].cpus ==
                           executors[found.application.executor_of(b)].cpus;
        EXPECT_TRUE(!share || kernel[a] != kernel[b]);
      }
    }
    expect_valid(found);
  }
}

TEST(AssignLayouts, TheSameSeedGivesTheSameResult) {
  const AssignOptions options{.cpus = {0, 1, 2, 3}, .evaluations = 100, .seed = 7};
  const Assignment first = assign(three_nodes_four_chains(), options);
  const Assignment second = assign(three_nodes_four_chains(), options);
  EXPECT_EQ(first.application, second.application);
  EXPECT_EQ(first.evaluations, second.evaluations);
}

TEST(AssignLayouts, IsNeverWorseThanTheFileOnItsCpus) {
  const auto application = three_nodes_four_chains();
  for (const std::size_t evaluations : {1U, 5U, 40U}) {
    const Assignment found =
        assign(application, {.cpus = {0, 1, 2, 3}, .evaluations = evaluations});
    EXPECT_LE(found.after, found.before) << evaluations;
    const Quality whole = quality(found.application, ExecutorKind::kPreemptive, {});
    EXPECT_LE(whole, found.after);
  }
}

TEST(AssignLayouts, AStoppedSearchHasItsBestResultSoFar) {
  AssignOptions options{.cpus = {0, 1, 2, 3}};
  std::size_t calls = 0;
  options.on_progress = [&](const AssignProgress& progress) {
    EXPECT_EQ(progress.most_evaluations, 2000U);
    if (++calls == 30) {
      throw StopSearch();
    }
  };
  const Assignment found = assign(three_nodes_four_chains(), options);
  EXPECT_TRUE(found.stopped);
  EXPECT_LE(found.evaluations, 31U);
  EXPECT_LE(found.after, found.before);
  expect_valid(found);
  EXPECT_FALSE(assign(three_nodes_four_chains(), {.cpus = {0, 1}, .evaluations = 20}).stopped);
}

TEST(AssignLayouts, KindsWithASingleThreadGetOneCpuForEachExecutor) {
  const auto application = three_nodes_four_chains();
  for (const auto kind : {ExecutorKind::kPicas, ExecutorKind::kEdf, ExecutorKind::kWaitSet}) {
    const Assignment found =
        assign(application, {.cpus = {0, 1, 2, 3}, .executor = kind, .evaluations = 100});
    for (const LayoutResult& layout : found.layouts) {
      EXPECT_EQ(layout.most_cpus, 1U);
    }
    EXPECT_THAT(found.not_tried, HasSubstr("uses one CPU"));
    EXPECT_THAT(
        [&] { assign(application, {.cpus = {0, 1}, .executor = kind, .layout = Layout::kGlobal}); },
        ThrowsMessage<std::invalid_argument>(HasSubstr("uses one CPU at a time")));
  }
}

TEST(AssignLayouts, ALayoutThatIsNotPossibleIsRefused) {
  auto application = three_nodes_four_chains();
  application.executors[0].cpus = {0, 1, 2, 3};
  EXPECT_THAT([&] { assign(application, {.cpus = {0, 1}, .layout = Layout::kClustered}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("clusters need 3 CPUs or more")));
  EXPECT_THAT([&] { assign(application, {.cpus = {0, 1}, .layout = Layout::kStated}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("executor 'main' uses CPU 2, which is none of those to use")));
  EXPECT_THROW(assign(application, {.cpus = {}}), std::invalid_argument);
}

TEST(AssignLayouts, NoExecutorHasMorePrioritiesThanTheKernel) {
  Builder builder;
  for (int i = 0; i < 120; ++i) {
    const std::string id = "c" + std::to_string(i);
    builder.timer(id, 100 + i, 0.1).chain(id, {id}, i);
  }
  const Assignment found = assign(builder.done(), {.cpus = {0, 1},
                                                   .objective = Objective::kFeasible,
                                                   .layout = Layout::kGlobal,
                                                   .evaluations = 20});
  EXPECT_EQ(found.after.not_proved, 0U);
  std::set<int> priorities;
  for (std::size_t i = 0; i < 120; ++i) {
    priorities.insert(found.application.effective_priority(i));
  }
  EXPECT_LE(priorities.size(), 94U);
}

}  // namespace
}  // namespace rclrt::analysis

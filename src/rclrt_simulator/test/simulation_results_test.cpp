// SPDX-License-Identifier: Apache-2.0
#include "simulation_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rclrt/model/parse.hpp>
#include <tuple>
#include <vector>

#include "rclrt/recorder/results_writer.hpp"

namespace rclrt::simulator {
namespace {

using recorder::CallbackCounts;
using recorder::ChainResult;
using recorder::RunResults;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::size_t kFuse = 2;

/// scan and capture feed fuse, fuse feeds brake (same executor, CPU 1) and plan (all CPUs).
model::Application sample_application() {
  const auto parsed = model::parse_application(R"(
rclrt: 1
name: vehicle
executors: [{name: main, cpus: [1]}, {name: slow}]
nodes: [{name: sensors, executor: main}, {name: planner, executor: slow}]
callbacks:
  - {id: scan, node: sensors, timer: {period_ms: 50}, wcet_ms: 1, publishes: [points]}
  - {id: capture, node: sensors, timer: {period_ms: 50}, wcet_ms: 1, publishes: [objects]}
  - {id: fuse, node: sensors, sync: {topics: [points, objects], window_ms: 300}, wcet_ms: 1,
     publishes: [fused]}
  - {id: brake, node: sensors, subscription: {topic: fused}, wcet_ms: 1}
  - {id: plan, node: planner, subscription: {topic: fused}, wcet_ms: 1}
chains:
  - {id: obstacle, callbacks: [scan, fuse, brake], priority: 2, deadline_ms: 40}
  - {id: planning, callbacks: [capture, fuse, plan], priority: 1, deadline_ms: 50}
)");
  return parsed.application.value();
}

RunResults simulate_sample(analysis::ExecutorKind kind, std::uint64_t seed = 0) {
  return simulate_run(sample_application(), {.executor = kind,
                                             .duration = std::chrono::milliseconds(200),
                                             .seed = seed,
                                             .times = {.lowest_execution = 0.5}});
}

TEST(SimulatedRun, has_the_responses_of_its_schedule) {
  // scan 0-1, capture 1-2, fuse 2-3 on CPU 1; then brake there and plan on the other: 3-4.
  const RunResults results = simulate_run(
      sample_application(), {.duration = std::chrono::milliseconds(200), .times = {}, .cpus = 2});
  ASSERT_EQ(results.chains.size(), 2U);
  for (const ChainResult& chain : results.chains) {
    EXPECT_EQ(chain.released, 4U);
    EXPECT_EQ(chain.completed, 4U);
    EXPECT_EQ(chain.missed, 0U);
    EXPECT_EQ(chain.response->worst_ns, 4 * kMs);
  }
  EXPECT_EQ(results.callback_counts[kFuse].completed, 8U);  // four pairs, of two messages each
  EXPECT_EQ(results.callbacks[kFuse].response->count, 4U);
}

/// Returns the parts of all instances of a callback in ms: (CPU, from, to).
std::vector<std::tuple<int, double, double>> parts_in_ms(const RunResults& results,
                                                         std::uint32_t callback) {
  std::vector<std::tuple<int, double, double>> found;
  for (const recorder::InstanceRecord& record : results.records) {
    if (record.callback == callback) {
      for (const recorder::CpuPart& part : parts_of(record, results.cpu_parts)) {
        found.emplace_back(part.cpu, static_cast<double>(part.start_ns) / kMs,
                           static_cast<double>(part.end_ns) / kMs);
      }
    }
  }
  return found;
}

TEST(SimulatedRun, has_the_cpu_of_each_part_of_an_interrupted_instance) {
  const auto application = model::parse_application(R"(
rclrt: 1
name: moving
nodes: [{name: n}]
callbacks:
  - {id: urgent, node: n, timer: {period_ms: 100, offset_ms: 1}, wcet_ms: 4}
  - {id: middle, node: n, timer: {period_ms: 100}, wcet_ms: 3, priority: 2}
  - {id: low, node: n, timer: {period_ms: 100}, wcet_ms: 5, priority: 1}
chains: [{id: c, callbacks: [urgent], priority: 3, deadline_ms: 100}]
)")
                               .application.value();
  const RunResults results = simulate_run(
      application, {.duration = std::chrono::milliseconds(100), .times = {}, .cpus = 2});
  // middle 0-3 on CPU 0; low 0-1 on CPU 1, where urgent runs from 1 to 5; low 3-7 on CPU 0.
  EXPECT_THAT(parts_in_ms(results, 2),
              testing::ElementsAre(std::tuple(1, 0, 1), std::tuple(0, 3, 7)));
  EXPECT_THAT(parts_in_ms(results, 0), testing::IsEmpty());  // in one piece
  for (const recorder::InstanceRecord& record : results.records) {
    const int first = record.callback == 1 ? 0 : 1;
    EXPECT_EQ(record.first_cpu, first);
    EXPECT_EQ(record.last_cpu, record.callback == 2 ? 0 : first);
  }
  EXPECT_EQ(results.callbacks[0].migrations, 0U);
  EXPECT_EQ(results.callbacks[1].migrations, 0U);
  EXPECT_EQ(results.callbacks[2].migrations, 1U);
  EXPECT_EQ(results.callbacks[2].preemptions, 1U);
}

TEST(SimulatedRun, has_no_more_cpu_time_in_its_parts_than_its_instances_took) {
  for (const auto kind :
       {analysis::ExecutorKind::kPreemptive, analysis::ExecutorKind::kThreadDispatch,
        analysis::ExecutorKind::kWaitSet}) {
    const RunResults results = simulate_sample(kind, 5);
    for (const recorder::InstanceRecord& record : results.records) {
      std::int64_t sum_ns = 0;
      std::int64_t last_ns = 0;
      for (const recorder::CpuPart& part : parts_of(record, results.cpu_parts)) {
        EXPECT_LE(last_ns, part.start_ns);
        EXPECT_LT(part.start_ns, part.end_ns);
        last_ns = part.end_ns;
        sum_ns += part.end_ns - part.start_ns;
      }
      EXPECT_EQ(sum_ns, record.part_count == 0 ? 0 : record.cpu_ns);
    }
  }
}

TEST(SimulatedRun, is_marked_as_such) {
  const RunResults results = simulate_sample(analysis::ExecutorKind::kWaitSet, 7);
  EXPECT_EQ(results.executor, analysis::ExecutorKind::kWaitSet);
  EXPECT_EQ(results.executor_label, "simulated: wait set (rclcpp semantics)");
  EXPECT_THAT(recorder::results_json(results), testing::HasSubstr(R"("simulated": {
    "seed": 7,
    "lowest_execution": 0.5
  })"));
}

TEST(SimulatedRun, is_the_same_for_the_same_seed) {
  for (const auto kind :
       {analysis::ExecutorKind::kPreemptive, analysis::ExecutorKind::kProducerConsumer,
        analysis::ExecutorKind::kThreadDispatch, analysis::ExecutorKind::kWaitSet}) {
    EXPECT_EQ(recorder::results_json(simulate_sample(kind, 3)),
              recorder::results_json(simulate_sample(kind, 3)));
    EXPECT_NE(recorder::results_json(simulate_sample(kind, 3)),
              recorder::results_json(simulate_sample(kind, 4)));
  }
}

TEST(SimulatedRun, counts_each_callback_release_once) {
  for (const auto kind :
       {analysis::ExecutorKind::kPreemptive, analysis::ExecutorKind::kThreadDispatch}) {
    const RunResults results = simulate_sample(kind);
    for (const CallbackCounts& counts : results.callback_counts) {
      EXPECT_GE(counts.released, counts.completed + counts.dropped);
      EXPECT_GT(counts.completed, 0U);
    }
    EXPECT_NO_THROW(recorder::require_consistent(results));
  }
}

}  // namespace
}  // namespace rclrt::simulator

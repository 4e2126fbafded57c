// SPDX-License-Identifier: Apache-2.0
/// Executors that are analysed as special cases of `preemptive`, and their simulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "application_builder.hpp"
#include "random_graph.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Under one executor "low" takes 10 of 100, and "high" 2 of 20 after an instant.
model::Application two_timers() {
  model::Application result = Builder()
                                  .timer("low", 100, 10)
                                  .timer("high", 20, 2)
                                  .chain("low", {"low"}, 1)
                                  .chain("high", {"high"}, 2)
                                  .done();
  result.executors[0].cpus = {0};
  std::get<model::Timer>(result.callbacks[1].trigger).offset = model::Nanoseconds(1);
  return result;
}

std::vector<std::optional<Ticks>> bounds_of(const model::Application& application,
                                            ExecutorKind kind) {
  std::vector<std::optional<Ticks>> result;
  for (const ChainBound& bound : chain_bounds(application, kind)) {
    result.push_back(bound.bound);
  }
  return result;
}

std::vector<std::int64_t> worst_of(const model::Application& application, ExecutorKind kind) {
  std::vector<std::int64_t> result;
  const auto simulated =
      simulate(simulated_system(application, kind), {.horizon_ns = ms(2000).count()});
  for (const auto& chain : simulated.chains) {
    result.push_back(chain.response.worst_ns);
  }
  return result;
}

/// A third callback, as urgent as "high", is in an executor of its own on the same CPU.
model::Application two_executors(int priority_of_third) {
  model::Application result = two_timers();
  result.executors.push_back({.name = "second", .cpus = {0}});
  result.nodes.push_back({.name = "apart", .name_space = "/", .executor = 1});
  result.callbacks.push_back({.id = "third",
                              .node = result.nodes.size() - 1,
                              .trigger = model::Timer{.period = ms(50)},
                              .wcet = ms(4),
                              .publishes = {},
                              .priority = priority_of_third});
  result.chains.push_back({.id = "third",
                           .callbacks = {result.callbacks.size() - 1},
                           .priority = priority_of_third,
                           .deadline = ms(50)});
  return result;
}

TEST(Picas, FinishesWhatHasStarted) {
  const std::vector<std::optional<Ticks>> bounds = bounds_of(two_timers(), ExecutorKind::kPicas);
  EXPECT_EQ(bounds, (std::vector<std::optional<Ticks>>{ms(12).count(), ms(12).count()}));
  EXPECT_EQ(worst_of(two_timers(), ExecutorKind::kPicas),
            (std::vector<std::int64_t>{ms(10).count(), ms(12).count() - 1}));
}

TEST(Events, TakeWhatWasReleasedFirst) {
  model::Application application = two_timers();
  application.callbacks[0].priority = 7;
  EXPECT_EQ(bounds_of(application, ExecutorKind::kEvents),
            (std::vector<std::optional<Ticks>>{ms(12).count(), ms(12).count()}));
  EXPECT_EQ(worst_of(application, ExecutorKind::kEvents),
            (std::vector<std::int64_t>{ms(10).count(), ms(12).count() - 1}));
  std::get<model::Timer>(application.callbacks[0].trigger).offset = model::Nanoseconds(2);
  EXPECT_EQ(worst_of(application, ExecutorKind::kEvents),
            (std::vector<std::int64_t>{ms(12).count() - 1, ms(2).count()}));
}

TEST(Picas, TheExecutorWithTheMoreUrgentCallbackPreemptsTheOther) {
  const model::Application above = two_executors(3);
  EXPECT_EQ(worst_of(above, ExecutorKind::kPicas)[2], ms(4).count());
  EXPECT_EQ(bounds_of(above, ExecutorKind::kPicas)[2], ms(4).count());
  // The other way round, even the least urgent callback of the first executor precedes it.
  const model::Application below = two_executors(0);
  EXPECT_EQ(worst_of(below, ExecutorKind::kPicas)[2], ms(4 + 10 + 2).count());
  EXPECT_GE(bounds_of(below, ExecutorKind::kPicas)[2], ms(4 + 10 + 2).count());
}

TEST(Picas, StatedPrioritiesOfExecutorsDecide) {
  model::Application application = two_executors(0);
  application.executors[0].top_priority = 50;
  application.executors[1].top_priority = 60;
  EXPECT_EQ(worst_of(application, ExecutorKind::kPicas)[2], ms(4).count());
  EXPECT_EQ(bounds_of(application, ExecutorKind::kPicas)[2], ms(4).count());
  application.executors[1].top_priority = 50;
  EXPECT_THAT(
      [&] { bounds_of(application, ExecutorKind::kPicas); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("share a CPU and have top_priority 50")));
}

TEST(Preemptive, StatedPrioritiesOfExecutorsDecide) {
  model::Application application = two_executors(9);
  EXPECT_EQ(worst_of(application, ExecutorKind::kPreemptive)[2], ms(4).count());
  application.executors[1].top_priority = 50;
  EXPECT_EQ(worst_of(application, ExecutorKind::kPreemptive)[2], ms(4 + 10 + 2).count());
  EXPECT_GE(bounds_of(application, ExecutorKind::kPreemptive)[2], ms(4 + 10 + 2).count());
}

/// Returns whether all executors have the same schedule. They may differ in two cases: instances of
/// one callback that become ready at one time may run in any order; and which thread handles a late
/// timer without catch-up depends on the executor.
bool has_one_schedule(const model::Application& application) {
  return std::ranges::all_of(application.callbacks, [](const model::Callback& callback) {
    const auto* timer = std::get_if<model::Timer>(&callback.trigger);
    return callback.wcet.count() > 0 && model::inputs(callback).size() < 2 &&
           (timer == nullptr || timer->overrun == model::OverrunPolicy::kCatchUp);
  });
}

/// fp_nonpreemptive has its own simulation: threads that are never preempted.
TEST(Picas, IsFixedPriorityWithoutPreemptionInOneExecutor) {
  const std::uint64_t graphs = test::trials(1000);
  std::uint64_t compared = 0;
  for (const std::uint64_t seed : test::seeds(graphs)) {
    RandomGraph random(seed);
    model::Application application = random.make_graph();
    const auto count = application.callbacks.size();
    for (std::size_t i = 0; i < count; ++i) {  // all different: equal ones may run in any order
      application.callbacks[i].priority = static_cast<int>((i + seed) % count);
    }
    if (!has_one_schedule(application)) {
      continue;
    }
    ++compared;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + describe(application));
    ASSERT_EQ(worst_of(application, ExecutorKind::kPicas),
              worst_of(application, ExecutorKind::kFixedPriorityNonPreemptive));
  }
  EXPECT_GT(compared, graphs / 20);
}

}  // namespace
}  // namespace rclrt::analysis

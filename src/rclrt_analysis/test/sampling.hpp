// SPDX-License-Identifier: Apache-2.0
// Reaction times and data ages of simulations, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/simulated_outputs.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/cause_effect_times.hpp"
#include "rclrt/model/parse.hpp"

namespace rclrt::analysis::test {

/// Passes the instances of a simulation to model::CauseEffectTimes.
class Sampled final : public SimulationObserver {
 public:
  explicit Sampled(const model::Application& application) : times_(application) {}

  void ended(const SimulatedInstance& instance) override { add_runs(instance, times_); }

  /// Returns the outputs of each cause-effect chain.
  std::vector<model::CauseEffectOutputs> outputs() const { return times_.outputs(); }

  /// Returns where the longest times of a cause-effect chain went.
  model::LongestWays longest_ways(std::size_t chain) const { return times_.details(chain).longest; }

 private:
  model::CauseEffectTimes times_;
};

inline std::int64_t worst_age(const model::CauseEffectOutputs& found) {
  std::int64_t worst = 0;
  for (const model::CauseEffectOutput& output : found.outputs) {
    worst = std::max(worst, output.age().count());
  }
  return worst;
}

inline std::int64_t worst_reaction(const model::CauseEffectOutputs& found) {
  std::int64_t worst = 0;
  for (const model::CauseEffectOutput& output : found.outputs) {
    worst = std::max(worst, output.reaction.value_or(model::Nanoseconds(0)).count());
  }
  return worst;
}

/// Expects that the stages of a way follow each other, and that they and the waits between them
/// take a time.
inline void expect_adds_up(const std::optional<model::CauseEffectWay>& way, std::int64_t time_ns) {
  ASSERT_EQ(way.has_value(), time_ns > 0);
  if (!way) {
    return;
  }
  EXPECT_EQ(way->length().count(), time_ns);
  model::Nanoseconds last = way->since;
  for (const model::CauseEffectStage& stage : way->stages) {
    EXPECT_LE(last, stage.begin);
    EXPECT_LE(stage.begin, stage.end);
    last = stage.end;
  }
}

inline double as_ms(std::int64_t time_ns) { return static_cast<double>(time_ns) / 1e6; }
inline double as_ms(const std::optional<Ticks>& time_ns) { return time_ns ? as_ms(*time_ns) : -1; }

inline model::Application sampling_application(const std::string& text) {
  model::ParseResult result = model::parse_application("rclrt: 1\nname: test\n" + text);
  for (const auto& problem : result.diagnostics) {
    ADD_FAILURE() << to_string(problem, "test");
  }
  return result.application.value();
}

/// Two timers on one CPU, each with its period, execution time, priority and other keys; the second
/// one reads what the first one stores.
inline std::string two_timers(const std::string& writer, const std::string& reader,
                              const std::string& limits = "") {
  return "executors: [{name: main, cpus: [0]}]\nnodes: [{name: n}]\ncallbacks:\n"
         "  - {id: a, node: n, " +
         writer +
         ", stores: [x]}\n"
         "  - {id: b, node: n, " +
         reader +
         ", reads: [x]}\n"
         "chains: [{id: path, callbacks: [a, b]" +
         limits + "}]\n";
}

inline CauseEffectBound sampling_bound(const model::Application& application,
                                       ExecutorKind kind = ExecutorKind::kPreemptive,
                                       const Machine& machine = {}) {
  return judge(application, kind, machine).cause_effect_chains.at(0);
}

/// Returns the longest reaction times of a simulation of ten seconds.
inline std::vector<double> longest_reactions(const model::Application& application,
                                             ExecutorKind kind) {
  Sampled sampled(application);
  simulate(simulated_system(application, kind), {.horizon_ns = 10'000'000'000}, &sampled);
  std::vector<double> result;
  for (const auto& outputs : sampled.outputs()) {
    result.push_back(as_ms(worst_reaction(outputs)));
  }
  return result;
}

}  // namespace rclrt::analysis::test

// SPDX-License-Identifier: Apache-2.0
/// No simulated response, reaction or data age exceeds its bound, no proved deadline is missed, and
/// no queue with a fitting bound overflows, over random applications of any shape on machines with
/// overheads, late timers and interrupts. The phasings are chosen to come close.
/// RCLRT_SOUNDNESS_TRIALS sets the number of applications.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "ages.hpp"
#include "random_graph.hpp"
#include "random_syncs.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

constexpr std::int64_t kHorizon_ns = 200'000'000;
constexpr int kPhasings = 16;

struct Kind {
  std::string name;
  ExecutorKind executor;
  bool across;  ///< several executors
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

/// Half of the machines have overheads in round numbers, which coincide.
Overheads random_machine(RandomGraph& random, const Kind& kind) {
  const bool round = random.uniform(0, 1) < 0.6;
  const auto up_to = [&](double most) {
    const double time = round ? std::floor(random.uniform(0, 2.99)) / 2 : random.uniform(0, 1);
    return ms(time * most).count();
  };
  Overheads result;
  if (random.uniform(0, 1) < 0.6) {
    result.dispatch = up_to(0.2);
    if (traits(kind.executor).has_scheduler_thread) {
      result.scheduler = up_to(0.2);
    }
    if (traits(kind.executor).polls) {
      result.polling = up_to(0.2);
    }
  }
  if (random.uniform(0, 1) < 0.4) {
    result.timer_jitter = up_to(4);
  }
  const model::ExecutorTraits& own = traits(kind.executor);
  if (!own.by_deadline && !own.polls && random.uniform(0, 1) < 0.2) {
    result.background = up_to(0.2);
  }
  if (kind.across) {
    result.far.min = up_to(random.uniform(0, 1) < 0.7 ? 2 : 60);
    result.far.max = result.far.min + up_to(4);
    if (random.uniform(0, 1) < 0.3) {
      result.near.max = up_to(1);
    }
  }
  return result;
}

/// Adds to every CPU a thread above all levels that takes its time in each millisecond.
void add_background(SimulatedSystem& system, const Overheads& overheads, RandomGraph& random) {
  for (unsigned cpu = 0; cpu < system.cpus && overheads.background > 0; ++cpu) {
    system.executors.push_back({.choice = ExecutorKind::kProducerConsumer,
                                .cpus = {cpu},
                                .scheduler_cpus = {},
                                .workers_per_level = 0,
                                .dispatch_ns = 0,
                                .scheduler_ns = overheads.background});
    SimulatedCallback interrupt;
    interrupt.executor = system.executors.size() - 1;
    interrupt.trigger = TimerTrigger{
        .period_ns = 1'000'000, .offset_ns = ms(random.uniform(0, 0.999)).count(), .jitter = {}};
    system.callbacks.push_back(interrupt);
  }
}

/// Returns a wait set with any order, because its bounds assume none. Sets of a static order take
/// their messages when they begin, or when each instance does.
model::ExecutorChoice any_order(const Kind& kind, RandomGraph& random) {
  model::ExecutorChoice choice = kind.executor;
  if (kind.executor == ExecutorKind::kWaitSet) {
    choice.subscriptions_first = random.uniform(0, 1) < 0.3;
    if (random.uniform(0, 1) < 0.6) {
      choice.order_seed = static_cast<std::uint64_t>(random.uniform(0, 1e9));
    }
  }
  if (kind.executor == ExecutorKind::kStaticOrder) {
    choice.logical_execution_time = random.uniform(0, 1) < 0.5;
  }
  return choice;
}

SimulatedSystem random_system(const model::Application& application, const Kind& kind,
                              const Overheads& overheads, double lowest, RandomGraph& random) {
  SimulatedSystem result = simulated_system(
      application, any_order(kind, random),
      {.lowest_execution = lowest,
       .dispatch_ns = overheads.dispatch,
       .scheduler_ns = overheads.scheduler,
       .polling_ns = overheads.polling,
       .lateness = TimeDistribution::uniform(0, overheads.timer_jitter),
       .hop = TimeDistribution::uniform(overheads.near.min, overheads.near.max),
       .far_hop = TimeDistribution::uniform(overheads.far.min, overheads.far.max)});
  for (SimulatedCallback& callback : result.callbacks) {
    auto* timer = std::get_if<TimerTrigger>(&callback.trigger);
    if (timer == nullptr || timer->overrun != model::OverrunPolicy::kCatchUp) {
      continue;
    }
    if (random.uniform(0, 1) < 0.5) {
      continue;
    }
    timer->jitter = TimeDistribution::list({0, overheads.timer_jitter, 0, 0, 0});
  }
  add_background(result, overheads, random);
  return result;
}

std::vector<model::Nanoseconds> offsets_of(const model::Application& application) {
  std::vector<model::Nanoseconds> result;
  for (const model::Callback& callback : application.callbacks) {
    const auto* timer = std::get_if<model::Timer>(&callback.trigger);
    const auto* event = std::get_if<model::Event>(&callback.trigger);
    result.push_back(timer != nullptr   ? timer->offset
                     : event != nullptr ? event->offset.value_or(model::Nanoseconds(0))
                                        : model::Nanoseconds(0));
  }
  return result;
}

void set_offsets(model::Application& application, const std::vector<model::Nanoseconds>& offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    auto* timer = std::get_if<model::Timer>(&application.callbacks[i].trigger);
    if (timer != nullptr) {
      timer->offset = offsets[i];
    }
    if (auto* event = std::get_if<model::Event>(&application.callbacks[i].trigger)) {
      event->offset = offsets[i];
    }
  }
}

/// States different priorities, in any order.
void state_top_priorities(model::Application& application, RandomGraph& random) {
  std::vector<int> priorities(application.executors.size());
  std::iota(priorities.begin(), priorities.end(), 90);
  for (model::Executor& executor : application.executors) {
    const auto left = static_cast<double>(priorities.size());
    const auto choice =
        std::min(priorities.size() - 1, static_cast<std::size_t>(random.uniform(0, 1) * left));
    executor.top_priority = priorities[choice];
    priorities.erase(priorities.begin() + static_cast<std::ptrdiff_t>(choice));
  }
}

/// Takes over some of the best offsets so far.
void take_some(const std::vector<model::Nanoseconds>& best, model::Application& application,
               RandomGraph& random) {
  auto offsets = offsets_of(application);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (random.uniform(0, 1) < 0.6) {
      offsets[i] = best[i];
    }
  }
  set_offsets(application, offsets);
}

bool is_sure(const ChainBound& bound) { return bound.bound && bound.assumptions.empty(); }

class SoundnessOfGraphs : public testing::TestWithParam<Kind> {
 protected:
  void try_graph(std::uint64_t seed) {
    RandomGraph random(seed);
    try_application(random.make_graph(), random, seed);
  }

  void try_syncs(std::uint64_t seed) {
    RandomSyncs random(seed);
    try_application(random.make_syncs(), random, seed);
  }

  void try_application(model::Application application, RandomGraph& random, std::uint64_t seed) {
    const Kind& kind = GetParam();
    if (kind.across) {
      random.spread(application, true);
      if (random.uniform(0, 1) < 0.3) {
        state_top_priorities(application, random);
      }
    }
    if (kind.executor == ExecutorKind::kEdf) {
      random.add_deadlines(application);
    }
    const Overheads overheads = random_machine(random, kind);
    const Judgement judgement =
        judge_with_queues(application, kind.executor, {.overheads = overheads});
    ASSERT_NO_FATAL_FAILURE(test::check_verdicts(application, judgement)) << "seed " << seed;
    const std::vector<ChainBound>& bounds = judgement.chains;
    const std::vector<QueueBound>& queues = judgement.queues;
    const bool keeps_all =
        std::ranges::all_of(queues, [](const QueueBound& queue) { return queue.holds(); });
    std::vector<std::int64_t> worst(bounds.size());
    std::vector<model::Nanoseconds> best_offsets;
    double best = 0;
    const DescribedOnFailure described(application);
    for (int phasing = 0; phasing < kPhasings; ++phasing) {
      if (phasing > 0) {
        random.move_offsets(application);
      }
      if (phasing > 4 && phasing % 2 == 0) {
        take_some(best_offsets, application, random);
      }
      const double lowest = phasing % 4 == 3 ? 0.0 : phasing % 4 == 2 ? 0.3 : 1.0;
      const auto system = random_system(application, kind, overheads, lowest, random);
      test::Ages ages(application);
      const auto result = simulate(system, {.horizon_ns = kHorizon_ns, .seed = seed}, &ages);
      SCOPED_TRACE("seed " + std::to_string(seed) + ", phasing " + std::to_string(phasing));
      ASSERT_NO_FATAL_FAILURE(test::check_proved(application, judgement, result));
      double score = 0;
      for (std::size_t i = 0; i < bounds.size(); ++i) {
        if (is_sure(bounds[i])) {
          check_chain(application, i, bounds[i], result, ages);
          const std::int64_t response = result.chains[i].response.worst_ns;
          worst[i] = std::max(worst[i], response);
          score += closeness(response, *bounds[i].bound);
        }
      }
      if (HasFatalFailure()) {
        return;
      }
      for (std::size_t i = 0; i < queues.size() && keeps_all; ++i) {
        ASSERT_EQ(result.callbacks[i].counts.dropped, 0U) << application.callbacks[i].id;
      }
      if (score >= best) {
        best = score;
        best_offsets = offsets_of(application);
      }
    }
    add_tightness(bounds, worst);
  }

  void add_tightness(const std::vector<ChainBound>& bounds,
                     const std::vector<std::int64_t>& worst) {
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (is_sure(bounds[i])) {
        tightness_.add(*bounds[i].bound, worst[i]);
      }
    }
  }

  /// Returns how close an observation comes to its bound; close ones have the greatest weight.
  static double closeness(std::int64_t response, std::int64_t bound) {
    return bound > 0 ? std::pow(static_cast<double>(response) / static_cast<double>(bound), 8) : 0;
  }

  static void check_chain(const model::Application& application, std::size_t i,
                          const ChainBound& bound, const SimulationResult& result,
                          const test::Ages& ages) {
    ASSERT_LE(result.chains[i].response.worst_ns, *bound.bound) << application.chains[i].id;
    if (!bound.reaction) {
      return;
    }
    ASSERT_LE(ages.worst(i), *bound.reaction) << application.chains[i].id;
    if (!may_move(application, i)) {
      ASSERT_GE(ages.next_release(i) + *bound.bound, kHorizon_ns) << application.chains[i].id;
    }
  }

  /// Returns whether the chain's next release need not be a period after the last one.
  static bool may_move(const model::Application& application, std::size_t chain) {
    const auto& first = application.callbacks[application.chains[chain].callbacks.front()];
    const auto* timer = std::get_if<model::Timer>(&first.trigger);
    return timer != nullptr && timer->overrun == model::OverrunPolicy::kRebase;
  }

  test::Tightness tightness_;
};

TEST_P(SoundnessOfGraphs, NothingIsAboveItsBound) {
  const std::uint64_t graphs = test::trials(300);
  for (const std::uint64_t seed : test::seeds(graphs)) {
    try_graph(seed);
  }
  ASSERT_GT(tightness_.count(), graphs / 2);
  tightness_.print("any shape, " + GetParam().name);
}

TEST_P(SoundnessOfGraphs, NothingIsAboveItsBoundWhereManyInputsMeet) {
  const std::uint64_t graphs = test::trials(150);
  for (const std::uint64_t seed : test::seeds(graphs)) {
    try_syncs(seed);
  }
  ASSERT_GT(tightness_.count(), graphs / 2);
  tightness_.print("many inputs, " + GetParam().name);
}

/// Returns every kind of the registry that runs, with one executor and with several.
std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const model::ExecutorTraits& each : model::executor_kinds()) {
    if (!each.simulated_only) {
      kinds.push_back({std::string(each.name), each.kind, false});
      kinds.push_back({std::string(each.name) + "_across", each.kind, true});
    }
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(, SoundnessOfGraphs, testing::ValuesIn(all_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace rclrt::analysis

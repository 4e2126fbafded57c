// SPDX-License-Identifier: Apache-2.0
/// No simulated reaction time or data age of a chain that samples exceeds its bound, over random
/// applications of every kind. RCLRT_SOUNDNESS_TRIALS sets their number.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "random_application.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "sampling.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

class RandomSampling : public RandomApplication {
 public:
  using RandomApplication::RandomApplication;

  /// Joins chains of the application by variables: from the end of one to the first callback of the
  /// next, or to a later one. Some timers become events, and some offsets are stated.
  void add_variables(model::Application& application) {
    for (model::Callback& callback : application.callbacks) {
      auto* timer = std::get_if<model::Timer>(&callback.trigger);
      if (timer != nullptr && chance(0.15)) {
        callback.trigger = model::Event{.min_interval = timer->period,
                                        .max_interval = timer->period * between(1, 3),
                                        .depth = 10,
                                        .seed = static_cast<std::uint64_t>(between(0, 1000))};
      } else if (timer != nullptr && chance(0.4)) {
        timer->offset_stated = true;
      }
    }
    for (int i = 0; i < 3; ++i) {
      add_cause_effect_chain(application, i);
    }
  }

  /// Makes callbacks longer, so that some executors have more work than time, and queues shorter.
  void add_load(model::Application& application) {
    const int factor = between(2, 5);
    for (model::Callback& callback : application.callbacks) {
      callback.wcet *= chance(0.7) ? factor : 1;
      if (auto* subscription = std::get_if<model::Subscription>(&callback.trigger)) {
        subscription->depth = static_cast<std::size_t>(chance(0.5) ? 1 : between(1, 10));
      }
    }
  }

  /// Gives some chains logical execution time, with deadlines that their bounds keep.
  void add_logical_execution(model::Application& application,
                             const std::vector<ChainBound>& bounds) {
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (bounds[i].bound && chance(0.5)) {
        application.chains[i].deadline =
            model::Nanoseconds(*bounds[i].bound + between(0, 3) * Ticks{1'000'000});
        application.chains[i].logical_execution = true;
      }
    }
  }

 private:
  void add_cause_effect_chain(model::Application& application, int number) {
    model::CauseEffectChain result;
    result.id = "sampling" + std::to_string(number);
    std::set<std::size_t> used;
    const int segments = between(1, 3);
    for (int i = 0; i < segments; ++i) {
      const auto chain =
          static_cast<std::size_t>(between(0, static_cast<int>(application.chains.size()) - 1));
      const auto& callbacks = application.chains[chain].callbacks;
      if (std::ranges::any_of(callbacks, [&](std::size_t each) { return used.contains(each); })) {
        continue;
      }
      used.insert(callbacks.begin(), callbacks.end());
      const std::size_t entry =
          i == 0 || chance(0.6)
              ? 0
              : static_cast<std::size_t>(between(0, static_cast<int>(callbacks.size()) - 1));
      result.segments.push_back({.chain = chain, .entry = entry});
      result.callbacks.insert(result.callbacks.end(),
                              callbacks.begin() + static_cast<std::ptrdiff_t>(entry),
                              callbacks.end());
    }
    application.cause_effect_chains.push_back(std::move(result));
  }
};

std::string path_of(const model::Application& application, std::size_t chain) {
  std::string text;
  for (const model::Segment& segment : application.cause_effect_chains[chain].segments) {
    text += " > " + application.chains[segment.chain].id + " from " + std::to_string(segment.entry);
  }
  return text;
}

struct Trial {
  model::Application application;
  RandomSampling random;
  ExecutorKind kind;
  std::int64_t lateness;
  std::size_t logical = 0;  ///< number of bounds with logical execution time
};

/// Simulates an application in several phases, and compares the worst times with their bounds.
void attack(Trial& trial, std::uint64_t seed, test::Tightness& tightness) {
  model::Application& application = trial.application;
  Machine machine;
  machine.overheads.timer_jitter = trial.lateness;
  if (seed % 5 == 1) {
    trial.random.add_logical_execution(application, judge(application, trial.kind, machine).chains);
  }
  const Judgement judgement = judge(application, trial.kind, machine);
  std::vector<std::int64_t> worst(application.cause_effect_chains.size());
  for (int phasing = 0; phasing < 4; ++phasing) {
    if (phasing > 0) {
      trial.random.move_phases(application);
    }
    test::Sampled sampled(application);
    simulate(simulated_system(application, trial.kind,
                              {.lowest_execution = phasing % 2 == 0 ? 1.0 : 0.3,
                               .lateness = TimeDistribution::uniform(0, trial.lateness),
                               .hop = {},
                               .far_hop = {}}),
             {.horizon_ns = 400'000'000, .seed = seed + static_cast<std::uint64_t>(phasing)},
             &sampled);
    const auto found = sampled.outputs();
    for (std::size_t i = 0; i < worst.size(); ++i) {
      const model::LongestWays ways = sampled.longest_ways(i);
      test::expect_adds_up(ways.age, test::worst_age(found[i]));
      test::expect_adds_up(ways.reaction, test::worst_reaction(found[i]));
      const CauseEffectBound& bound = judgement.cause_effect_chains[i];
      if (!bound.reaction || !bound.assumptions.empty()) {
        continue;
      }
      ASSERT_LE(test::worst_age(found[i]), *bound.age)
          << "seed " << seed << ", " << path_of(application, i) << "\n"
          << describe(application);
      ASSERT_LE(test::worst_reaction(found[i]), *bound.reaction)
          << "seed " << seed << ", " << path_of(application, i) << "\n"
          << describe(application);
      worst[i] = std::max(worst[i], test::worst_reaction(found[i]));
    }
  }
  for (std::size_t i = 0; i < worst.size(); ++i) {
    const CauseEffectBound& bound = judgement.cause_effect_chains[i];
    if (bound.reaction && bound.assumptions.empty()) {
      tightness.add(*bound.reaction, worst[i]);
      const bool logical = std::ranges::any_of(bound.why, [](const CauseEffectTerm& term) {
        return term.kind == CauseEffectTerm::Kind::kLogical;
      });
      trial.logical += logical ? 1U : 0U;
    }
  }
}

class SoundnessOfSampling : public testing::TestWithParam<ExecutorKind> {};

TEST_P(SoundnessOfSampling, NoReactionTimeOrDataAgeIsAboveItsBound) {
  const std::uint64_t applications = test::trials(60);
  test::Tightness tightness;
  std::size_t logical = 0;
  for (const std::uint64_t seed : test::seeds(applications)) {
    RandomSampling random(seed);
    model::Application application = random.make();
    random.add_variables(application);
    if (GetParam() == ExecutorKind::kEdf) {
      random.add_deadlines(application);
    }
    if (seed % 3 == 0) {
      random.spread(application, true);
    }
    Trial trial{.application = std::move(application),
                .random = random,
                .kind = GetParam(),
                .lateness = seed % 2 == 0 ? 0 : 300'000};
    attack(trial, seed, tightness);
    if (HasFatalFailure()) {
      return;
    }
    logical += trial.logical;
  }
  EXPECT_GT(logical, 0U);
  EXPECT_GT(tightness.count(), applications / 2);
  tightness.print("reaction time with sampling, " + std::string(traits(GetParam()).name));
}

TEST(SoundnessOfServedReleases, NoTimeIsAboveItsBoundIfTheWaitSetHasTooMuchWork) {
  const std::uint64_t applications = test::trials(150);
  test::Tightness tightness;
  for (const std::uint64_t seed : test::seeds(applications)) {
    RandomSampling random(seed);
    model::Application application = random.make();
    random.add_load(application);
    random.add_variables(application);
    if (seed % 3 == 0) {
      random.spread(application, false);
    }
    Trial trial{.application = std::move(application),
                .random = random,
                .kind = ExecutorKind::kWaitSet,
                .lateness = seed % 2 == 0 ? 0 : 4'000'000};
    const Judgement judgement = judge(trial.application, trial.kind, {});
    const bool is_overloaded =
        std::ranges::any_of(judgement.chains, [](const ChainBound& chain) { return !chain.bound; });
    if (is_overloaded) {
      attack(trial, seed, tightness);
    }
    if (HasFatalFailure()) {
      return;
    }
  }
  EXPECT_GT(tightness.count(), applications / 4);
  tightness.print("reaction time of an overloaded wait set");
}

INSTANTIATE_TEST_SUITE_P(Kinds, SoundnessOfSampling,
                         testing::Values(ExecutorKind::kPreemptive, ExecutorKind::kProducerConsumer,
                                         ExecutorKind::kThreadDispatch, ExecutorKind::kWaitSet,
                                         ExecutorKind::kEdf, ExecutorKind::kEvents,
                                         ExecutorKind::kPicas, ExecutorKind::kPerGroup,
                                         ExecutorKind::kStaticOrder, ExecutorKind::kWorkshop),
                         [](const auto& tested) { return std::string(traits(tested.param).name); });

}  // namespace
}  // namespace rclrt::analysis

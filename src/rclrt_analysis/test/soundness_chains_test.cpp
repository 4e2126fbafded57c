// SPDX-License-Identifier: Apache-2.0
/// No simulated response exceeds a proved bound, and no proved deadline is missed, over random
/// applications with random phases and execution times. RCLRT_SOUNDNESS_TRIALS sets their number.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "random_application.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

/// The executor and the overheads of the bounds and of the simulation.
struct Setting {
  ExecutorKind executor{};
  Overheads overheads;
};

SimulatedTimes times_of(const Setting& setting, bool shorter) {
  const auto between = [](const Hop& hop) { return TimeDistribution::uniform(hop.min, hop.max); };
  return {.lowest_execution = shorter ? 0.3 : 1.0,
          .dispatch_ns = setting.overheads.dispatch,
          .scheduler_ns = setting.overheads.scheduler,
          .polling_ns = setting.overheads.polling,
          .lateness = between({0, setting.overheads.timer_jitter}),
          .hop = between(setting.overheads.near),
          .far_hop = between(setting.overheads.far)};
}

/// Simulates the chains in several phasings and expects no response above a bound.
void try_application(RandomApplication& random, model::Application& application,
                     const Setting& setting, std::uint64_t seed, test::Tightness& tightness) {
  const Judgement judgement =
      judge(application, setting.executor, {.overheads = setting.overheads});
  ASSERT_NO_FATAL_FAILURE(test::check_verdicts(application, judgement)) << "seed " << seed;
  const std::vector<ChainBound>& bounds = judgement.chains;
  std::vector<std::int64_t> worst(bounds.size());
  for (int phasing = 0; phasing < 8; ++phasing) {
    if (phasing > 0) {
      random.move_phases(application);
    }
    const auto result = simulate(
        simulated_system(application, setting.executor, times_of(setting, phasing % 4 == 3)),
        {.horizon_ns = 400'000'000, .seed = seed});
    ASSERT_NO_FATAL_FAILURE(test::check_proved(application, judgement, result))
        << "seed " << seed << "\n"
        << describe(application);
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      worst[i] = std::max(worst[i], result.chains[i].response.worst_ns);
      // Not every random application satisfies the assumptions of a conditional bound.
      if (!bounds[i].bound || !bounds[i].assumptions.empty()) {
        continue;
      }
      ASSERT_LE(result.chains[i].response.worst_ns, *bounds[i].bound)
          << "seed " << seed << ", " << application.chains[i].id << ", dispatch "
          << setting.overheads.dispatch << ", scheduler " << setting.overheads.scheduler << ", hop "
          << setting.overheads.far.min << " to " << setting.overheads.far.max << ", late "
          << setting.overheads.timer_jitter << ", polling " << setting.overheads.polling << "\n"
          << describe(application);
    }
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i].bound && bounds[i].assumptions.empty()) {
      tightness.add(*bounds[i].bound, worst[i]);
    }
  }
}

TEST(Soundness, NoSimulatedResponseIsAboveABound) {
  const std::uint64_t applications = test::trials(300);
  test::Tightness tightness;
  for (const std::uint64_t seed : test::seeds(applications)) {
    RandomApplication random(seed);
    model::Application application = random.make();
    Setting setting{ExecutorKind::kPreemptive, {}};
    if (seed % 3 == 0) {
      setting.overheads.timer_jitter = ms(random.uniform(0, 2)).count();
    }
    try_application(random, application, setting, seed, tightness);
  }
  ASSERT_GT(tightness.count(), applications / 2);
  tightness.print("chains of an executor");
}

TEST(Soundness, NorUnderASchedulerThreadWithOverheads) {
  const std::uint64_t applications = test::trials(200);
  test::Tightness tightness;
  for (const std::uint64_t seed : test::seeds(applications)) {
    RandomApplication random(seed);
    model::Application application = random.make();
    Setting setting{ExecutorKind::kProducerConsumer, {}};
    if (seed % 2 == 0) {
      setting = {ExecutorKind::kThreadDispatch, {}};
    }
    setting.overheads.dispatch = ms(random.uniform(0, 0.1)).count();
    setting.overheads.scheduler = ms(random.uniform(0, 0.1)).count();
    if (seed % 3 == 0) {
      setting.overheads.timer_jitter = ms(random.uniform(0, 2)).count();
    }
    try_application(random, application, setting, seed, tightness);
  }
  ASSERT_GT(tightness.count(), applications / 2);
  tightness.print("chains behind a scheduler thread");
}

TEST(Soundness, NorUnderEdf) {
  const std::uint64_t applications = test::trials(200);
  test::Tightness tightness;
  for (const std::uint64_t seed : test::seeds(applications)) {
    RandomApplication random(seed);
    model::Application application = random.make();
    random.add_deadlines(application);
    Setting setting{ExecutorKind::kEdf, {}};
    if (seed % 2 == 0) {
      setting.overheads.dispatch = ms(random.uniform(0, 0.1)).count();
    }
    if (seed % 3 == 0) {
      setting.overheads.timer_jitter = ms(random.uniform(0, 2)).count();
    }
    try_application(random, application, setting, seed, tightness);
  }
  ASSERT_GT(tightness.count(), applications / 2);
  tightness.print("chains under EDF");
}

TEST(Soundness, NorInAWaitSet) {
  const std::uint64_t applications = test::trials(200);
  test::Tightness tightness;
  for (const std::uint64_t seed : test::seeds(applications)) {
    RandomApplication random(seed);
    model::Application application = random.make();
    Setting setting{ExecutorKind::kWaitSet, {}};
    if (seed % 2 == 0) {
      setting.overheads.dispatch = ms(random.uniform(0, 0.1)).count();
    }
    if (seed % 3 == 0) {
      setting.overheads.timer_jitter = ms(random.uniform(0, 2)).count();
    }
    if (seed % 5 < 2) {
      setting.overheads.polling = ms(random.uniform(0, 0.2)).count();
    }
    try_application(random, application, setting, seed, tightness);
  }
  ASSERT_GT(tightness.count(), applications / 2);
  tightness.print("chains in a wait set");
}

TEST(Soundness, NorAcrossExecutors) {
  struct Kind {
    ExecutorKind executor;
    bool may_share;
  };
  constexpr std::array kKinds{Kind{ExecutorKind::kPreemptive, true},
                              Kind{ExecutorKind::kEdf, false}, Kind{ExecutorKind::kWaitSet, true},
                              Kind{ExecutorKind::kProducerConsumer, true}};
  const std::uint64_t applications = test::trials(400);
  for (const Kind& kind : kKinds) {
    test::Tightness tightness;
    for (const std::uint64_t seed : test::seeds(applications, 4)) {
      RandomApplication random(seed);
      model::Application application = random.make();
      random.spread(application, kind.may_share);
      if (kind.executor == ExecutorKind::kEdf) {
        random.add_deadlines(application);
      }
      Setting setting{kind.executor, {}};
      setting.overheads.far.min = ms(random.uniform(0, 1)).count();
      setting.overheads.far.max = setting.overheads.far.min + ms(random.uniform(0, 2)).count();
      if (seed % 3 == 0) {
        setting.overheads.near.max = ms(random.uniform(0, 0.5)).count();
      }
      if (seed % 5 < 2) {
        setting.overheads.timer_jitter = ms(random.uniform(0, 2)).count();
      }
      if (kind.executor == ExecutorKind::kWaitSet && seed % 2 == 0) {
        setting.overheads.polling = ms(random.uniform(0, 0.2)).count();
      }
      if (kind.executor == ExecutorKind::kProducerConsumer) {
        setting.overheads.scheduler = ms(random.uniform(0, 0.1)).count();
      }
      try_application(random, application, setting, seed, tightness);
    }
    ASSERT_GT(tightness.count(), applications / 16);
    tightness.print("chains across executors, " + std::string(traits(kind.executor).name));
  }
}

}  // namespace
}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
/// No simulated response exceeds a bound, over random applications with random phases and execution
/// times. RCLRT_SOUNDNESS_TRIALS sets their number.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "random_application.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

/// The machine of the bounds and of the simulation.
struct Machine {
  ExecutorKind executor{};
  Overheads overheads;
};

SimulatedTimes times_of(const Machine& machine, bool shorter) {
  const auto between = [](const Hop& hop) { return TimeDistribution::uniform(hop.min, hop.max); };
  return {.lowest_execution = shorter ? 0.3 : 1.0,
          .dispatch_ns = machine.overheads.dispatch,
          .scheduler_ns = machine.overheads.scheduler,
          .polling_ns = machine.overheads.polling,
          .lateness = between({0, machine.overheads.timer_jitter}),
          .hop = between(machine.overheads.near),
          .far_hop = between(machine.overheads.far)};
}

/// Simulates the chains in several phasings and expects no response above a bound.
void try_application(RandomApplication& random, model::Application& application,
                     const Machine& machine, std::uint64_t seed, test::Tightness& tightness) {
  const auto bounds = chain_bounds(application, machine.executor, machine.overheads);
  std::vector<std::int64_t> worst(bounds.size());
  for (int phasing = 0; phasing < 8; ++phasing) {
    if (phasing > 0) {
      random.move_phases(application);
    }
    const auto result = simulate(
        simulated_system(application, machine.executor, times_of(machine, phasing % 4 == 3)),
        {.horizon_ns = 400'000'000, .seed = seed});
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      worst[i] = std::max(worst[i], result.chains[i].response.worst_ns);
      // Not every random application satisfies the assumptions of a conditional bound.
      if (!bounds[i].bound || !bounds[i].assumptions.empty()) {
        continue;
      }
      ASSERT_LE(result.chains[i].response.worst_ns, *bounds[i].bound)
          << "seed " << seed << ", " << application.chains[i].id << ", dispatch "
          << machine.overheads.dispatch << ", scheduler " << machine.overheads.scheduler << ", hop "
          << machine.overheads.far.min << " to " << machine.overheads.far.max << ", late "
          << machine.overheads.timer_jitter << ", polling " << machine.overheads.polling << "\n"
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
  for (std::uint64_t seed = 1; seed <= applications && !HasFatalFailure(); ++seed) {
    RandomApplication random(seed);
    model::Application application = random.make();
    Machine machine{ExecutorKind::kPreemptive, {}};
    if (seed % 3 == 0) {
      machine.overheads.timer_jitter = ms(random.uniform(0, 2)).count();
    }
    try_application(random, application, machine, seed, tightness);
  }
  ASSERT_GT(tightness.count(), applications / 2);
  tightness.print("chains of an executor");
}

TEST(Soundness, NorUnderASchedulerThreadWithOverheads) {
  const std::uint64_t applications = test::trials(200);
  test::Tightness tightness;
  for (std::uint64_t seed = 1; seed <= applications && !HasFatalFailure(); ++seed) {
    RandomApplication random(seed);
    model::Application application = random.make();
    Machine machine{ExecutorKind::kProducerConsumer, {}};
    if (seed % 2 == 0) {
      machine = {ExecutorKind::kThreadDispatch, {}};
    }
    machine.overheads.dispatch = ms(random.uniform(0, 0.1)).count();
    machine.overheads.scheduler = ms(random.uniform(0, 0.1)).count();
    if (seed % 3 == 0) {
      machine.overheads.timer_jitter = ms(random.uniform(0, 2)).count();
    }
    try_application(random, application, machine, seed, tightness);
  }
  ASSERT_GT(tightness.count(), applications / 2);
  tightness.print("chains behind a scheduler thread");
}

TEST(Soundness, NorUnderEdf) {
  const std::uint64_t applications = test::trials(200);
  test::Tightness tightness;
  for (std::uint64_t seed = 1; seed <= applications && !HasFatalFailure(); ++seed) {
    RandomApplication random(seed);
    model::Application application = random.make();
    random.add_deadlines(application);
    Machine machine{ExecutorKind::kEdf, {}};
    if (seed % 2 == 0) {
      machine.overheads.dispatch = ms(random.uniform(0, 0.1)).count();
    }
    if (seed % 3 == 0) {
      machine.overheads.timer_jitter = ms(random.uniform(0, 2)).count();
    }
    try_application(random, application, machine, seed, tightness);
  }
  ASSERT_GT(tightness.count(), applications / 2);
  tightness.print("chains under EDF");
}

TEST(Soundness, NorInAWaitSet) {
  const std::uint64_t applications = test::trials(200);
  test::Tightness tightness;
  for (std::uint64_t seed = 1; seed <= applications && !HasFatalFailure(); ++seed) {
    RandomApplication random(seed);
    model::Application application = random.make();
    Machine machine{ExecutorKind::kWaitSet, {}};
    if (seed % 2 == 0) {
      machine.overheads.dispatch = ms(random.uniform(0, 0.1)).count();
    }
    if (seed % 3 == 0) {
      machine.overheads.timer_jitter = ms(random.uniform(0, 2)).count();
    }
    if (seed % 5 < 2) {
      machine.overheads.polling = ms(random.uniform(0, 0.2)).count();
    }
    try_application(random, application, machine, seed, tightness);
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
    for (std::uint64_t seed = 1; seed <= applications / 4 && !HasFatalFailure(); ++seed) {
      RandomApplication random(seed);
      model::Application application = random.make();
      random.spread(application, kind.may_share);
      if (kind.executor == ExecutorKind::kEdf) {
        random.add_deadlines(application);
      }
      Machine machine{kind.executor, {}};
      machine.overheads.far.min = ms(random.uniform(0, 1)).count();
      machine.overheads.far.max = machine.overheads.far.min + ms(random.uniform(0, 2)).count();
      if (seed % 3 == 0) {
        machine.overheads.near.max = ms(random.uniform(0, 0.5)).count();
      }
      if (seed % 5 < 2) {
        machine.overheads.timer_jitter = ms(random.uniform(0, 2)).count();
      }
      if (kind.executor == ExecutorKind::kWaitSet && seed % 2 == 0) {
        machine.overheads.polling = ms(random.uniform(0, 0.2)).count();
      }
      if (kind.executor == ExecutorKind::kProducerConsumer) {
        machine.overheads.scheduler = ms(random.uniform(0, 0.1)).count();
      }
      try_application(random, application, machine, seed, tightness);
    }
    ASSERT_GT(tightness.count(), applications / 16);
    tightness.print("chains across executors, " + std::string(traits(kind.executor).name));
  }
}

}  // namespace
}  // namespace rclrt::analysis

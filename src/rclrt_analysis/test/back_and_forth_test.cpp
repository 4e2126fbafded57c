// SPDX-License-Identifier: Apache-2.0
/// Bounds of chains that go back and forth between CPUs, by all instances in a hyperperiod.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "random_application.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

/// Gives each CPU an executor and a node, and places the callbacks.
void place(model::Application& application, const std::vector<std::size_t>& cpus) {
  application.executors.clear();
  application.nodes.clear();
  for (std::size_t cpu = 0; cpu <= *std::ranges::max_element(cpus); ++cpu) {
    const std::string name = "cpu" + std::to_string(cpu);
    application.executors.push_back({.name = name, .cpus = {static_cast<int>(cpu)}});
    application.nodes.push_back({.name = name, .name_space = "/", .executor = cpu});
  }
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    application.callbacks[i].node = cpus[i];
  }
}

/// A camera and a lidar, with a load of 55 % and 67 % of the CPUs.
model::Application perception() {
  model::Application application = Builder()
                                       .timer("camera", 33, 6)
                                       .subscription("detect", "camera", 9)
                                       .subscription("track", "detect", 5)
                                       .subscription("predict", "track", 6)
                                       .timer("lidar", 100, 12)
                                       .subscription("ground", "lidar", 14)
                                       .subscription("map", "ground", 10)
                                       .subscription("cost", "map", 8)
                                       .chain("see", {"camera", "detect", "track", "predict"}, 0)
                                       .chain("scan", {"lidar", "ground", "map", "cost"}, 0, 200)
                                       .done();
  place(application, {0, 1, 0, 1, 0, 1, 0, 1});
  return application;
}

// The longest responses that a search found are 59 and 50 ms. By one jitter for all instances of a
// callback, no bound exists.
TEST(BackAndForth, AChainWaitsOnlyForInstancesThatMayBeThere) {
  EXPECT_EQ(bounds_ms(perception()), (std::vector<double>{77, 83.5}));
}

/// Four loops from one CPU to another one and back; `order` is that of their timers. The periods
/// have no common multiple that is short enough, so the analysis uses the phases of some timers
/// only.
model::Application four_loops(const std::array<std::size_t, 4>& order) {
  constexpr std::array<double, 4> kPeriods = {50, 68, 23, 16};
  const std::array<std::string, 4> names = {"a", "b", "c", "d"};
  Builder builder;
  for (const std::size_t loop : order) {
    builder.timer(names[loop], kPeriods[loop], 0.15 * kPeriods[loop])
        .priority(static_cast<int>(loop));
  }
  for (std::size_t loop = 0; loop < names.size(); ++loop) {
    const std::string there = names[loop] + "_there";
    const std::string back = names[loop] + "_back";
    builder.subscription(there, names[loop], 0.15 * kPeriods[loop])
        .priority(static_cast<int>(loop))
        .subscription(back, there, 0.05 * kPeriods[loop])
        .priority(static_cast<int>(loop))
        .chain(names[loop], {names[loop], there, back}, static_cast<int>(loop));
  }
  model::Application application = builder.done();
  place(application, {0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0});
  for (std::size_t i = 0; i < order.size(); ++i) {
    set_offset(application, i, static_cast<double>(order[i]));
  }
  return application;
}

TEST(BackAndForth, TheOrderOfTimersInTheFileDecidesNoBound) {
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  const std::vector<double> bounds = bounds_ms(four_loops(order));
  while (std::ranges::next_permutation(order).found) {
    EXPECT_EQ(bounds_ms(four_loops(order)), bounds) << order[0] << order[1] << order[2];
  }
}

/// Lu and Kumar, "Distributed scheduling based on due dates and buffer priorities", IEEE TAC
/// 36(12), 1991: b and d never run at the same time, and need 12 ms in each 10 ms.
model::Application lu_kumar() {
  model::Application application = Builder()
                                       .timer("a", 10, 0.1)
                                       .priority(1)
                                       .subscription("b", "a", 6)
                                       .priority(2)
                                       .subscription("c", "b", 0.1)
                                       .priority(1)
                                       .subscription("d", "c", 6)
                                       .priority(2)
                                       .chain("around", {"a", "b", "c", "d"}, 1)
                                       .done();
  place(application, {0, 1, 1, 0});
  for (model::Callback& callback : application.callbacks) {
    if (auto* const subscription = std::get_if<model::Subscription>(&callback.trigger)) {
      subscription->depth = 1000;
    }
  }
  return application;
}

std::int64_t worst_response(const model::Application& application, std::int64_t horizon_ns) {
  const SimulatedSystem system = simulated_system(application, ExecutorKind::kPreemptive);
  return simulate(system, {.horizon_ns = horizon_ns}).chains[0].response.worst_ns;
}

TEST(BackAndForth, NoBoundExistsWhereResponsesGrowAtALoadOf61Percent) {
  const model::Application application = lu_kumar();
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{-1}));
  EXPECT_GT(worst_response(application, 1'000'000'000),
            2 * worst_response(application, 300'000'000));
}

// The same with one priority for the chain: its callbacks run in order of arrival.
TEST(BackAndForth, WithOnePriorityTheSameChainHasABound) {
  model::Application application = lu_kumar();
  for (model::Callback& callback : application.callbacks) {
    callback.priority.reset();
  }
  const auto bound = chain_bounds(application)[0].bound;
  ASSERT_TRUE(bound);
  EXPECT_GE(*bound, worst_response(application, 10'000'000'000));
}

/// Chains of two or three timers that go back and forth between two or three CPUs, at a load of
/// each CPU between 40 and 85 %.
class RandomBackAndForth : public RandomApplication {
 public:
  using RandomApplication::RandomApplication;

  model::Application back_and_forth() {
    constexpr std::array kPeriods{10, 20, 25, 30, 40, 50, 100};
    const int cpus = between(2, 3);
    Builder builder;
    std::vector<std::size_t> places;
    std::vector<double> periods;
    const int timers = between(1, 3);
    for (int timer = 0; timer < timers; ++timer) {
      add_chain(builder, timer, kPeriods.at(static_cast<std::size_t>(between(0, 6))), cpus, places,
                periods);
    }
    model::Application application = builder.done();
    std::vector<double> load(static_cast<std::size_t>(cpus));
    std::vector<double> share;
    for (const std::size_t cpu : places) {
      share.push_back(uniform(0.05, 1));
      load[cpu] += share.back();
    }
    const double total = uniform(0.4, 0.85);
    for (std::size_t i = 0; i < places.size(); ++i) {
      application.callbacks[i].wcet = ms(total * share[i] / load[places[i]] * periods[i]);
    }
    place(application, places);
    state_offsets(application);
    return application;
  }

 private:
  void add_chain(Builder& builder, int timer, double period, int cpus,
                 std::vector<std::size_t>& places, std::vector<double>& periods) {
    const int levels = between(0, 2);  // one for all, one for each chain, any
    const int level = levels == 0 ? 0 : between(0, 3);
    const int length = between(2, 6);
    std::vector<std::string> names;
    int cpu = between(0, cpus - 1);
    for (int i = 0; i < length; ++i) {
      names.push_back("c" + std::to_string(timer) + "_" + std::to_string(i));
      if (i == 0) {
        builder.timer(names.back(), period, 0);
      } else {
        builder.subscription(names.back(), names[names.size() - 2], 0);
      }
      builder.priority(levels == 2 ? between(0, 3) : level);
      if (chance(0.1)) {
        builder.group("g");
      }
      places.push_back(static_cast<std::size_t>(cpu));
      periods.push_back(period);
      cpu = chance(0.85) ? (cpu + between(1, cpus - 1)) % cpus : cpu;
    }
    builder.chain("chain" + std::to_string(timer), names, level);
    if (length > 2 && chance(0.3)) {
      const std::string fork = "f" + std::to_string(timer);
      builder.subscription(fork, names[1], 0).priority(between(0, 3));
      places.push_back(static_cast<std::size_t>(between(0, cpus - 1)));
      periods.push_back(period);
      builder.chain("fork" + std::to_string(timer), {names[0], names[1], fork}, level);
    }
  }

  void state_offsets(model::Application& application) {
    const bool stated = chance(0.3);
    for (model::Callback& callback : application.callbacks) {
      if (auto* const timer = std::get_if<model::Timer>(&callback.trigger)) {
        timer->offset_stated = stated && chance(0.7);
        timer->offset = timer->period * between(0, 15) / 16;
      }
    }
  }
};

class ChainsBackAndForth : public ::testing::TestWithParam<ExecutorKind> {};

TEST_P(ChainsBackAndForth, NeverTakeLongerThanTheirBounds) {
  test::Tightness tightness;
  const std::uint64_t applications = test::trials(8);
  std::size_t chains = 0;
  for (const std::uint64_t seed : test::seeds(applications)) {
    RandomBackAndForth random(seed);
    model::Application application = random.back_and_forth();
    Overheads overheads;
    if (seed % 2 == 0) {
      overheads.dispatch = ms(random.uniform(0, 0.1)).count();
      overheads.timer_jitter = ms(random.uniform(0, 2)).count();
      overheads.far.min = ms(random.uniform(0, 0.5)).count();
      overheads.far.max = overheads.far.min + ms(random.uniform(0, 1)).count();
    }
    const auto bounds = chain_bounds(application, GetParam(), overheads);
    chains += bounds.size();
    std::vector<std::int64_t> worst(bounds.size());
    for (int phasing = 0; phasing < 8; ++phasing) {
      random.move_phases(application);
      const auto between = [](const Hop& hop) {
        return TimeDistribution::uniform(hop.min, hop.max);
      };
      const auto result =
          simulate(simulated_system(application, GetParam(),
                                    {.lowest_execution = phasing % 4 == 3 ? 0.0 : 1.0,
                                     .dispatch_ns = overheads.dispatch,
                                     .lateness = between({0, overheads.timer_jitter}),
                                     .far_hop = between(overheads.far)}),
                   {.horizon_ns = 400'000'000, .seed = seed});
      for (std::size_t i = 0; i < bounds.size(); ++i) {
        worst[i] = std::max(worst[i], result.chains[i].response.worst_ns);
        if (bounds[i].bound && bounds[i].assumptions.empty()) {
          ASSERT_LE(result.chains[i].response.worst_ns, *bounds[i].bound)
              << "seed " << seed << ", " << application.chains[i].id;
        }
      }
    }
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (bounds[i].bound) {
        tightness.add(*bounds[i].bound, worst[i]);
      }
    }
  }
  ASSERT_GT(tightness.count(), chains / 5);
  tightness.print("of " + std::to_string(chains) + " chains back and forth, " +
                  std::string(traits(GetParam()).name));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ChainsBackAndForth,
                         ::testing::Values(ExecutorKind::kPreemptive, ExecutorKind::kEdf,
                                           ExecutorKind::kPicas),
                         [](const auto& kind) { return std::string(traits(kind.param).name); });

}  // namespace
}  // namespace rclrt::analysis

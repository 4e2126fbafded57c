// SPDX-License-Identifier: Apache-2.0
/// No simulated response exceeds a bound of executors on several CPUs. Execution times are the
/// longest and shorter ones; phases are random, and then changed as long as a response comes closer
/// to its bound. RCLRT_SOUNDNESS_TRIALS sets the number of applications.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "random_several_cpus.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

struct SeveralCpus {
  model::ExecutorChoice executor;
  Overheads overheads;
  int cpus = 2;
  /// The fewest and the most CPUs that are simulated for executors that state none.
  std::pair<int, int> simulated{1, 1};
  Effort effort{};
};

class AttackOnSeveralCpus {
 public:
  AttackOnSeveralCpus(const SeveralCpus& setting, RandomSeveralCpus& random,
                      model::Application application, std::uint64_t seed)
      : setting_(setting),
        random_(random),
        application_(std::move(application)),
        seed_(seed),
        judgement_(judge_with_queues(application_, setting.executor,
                                     {.overheads = setting.overheads}, setting.effort)),
        worst_(judgement_.chains.size()) {}

  void run(test::Tightness& tightness) {
    ASSERT_NO_FATAL_FAILURE(test::check_verdicts(application_, judgement_)) << "seed " << seed_;
    for (int phasing = 0; phasing < 6; ++phasing) {
      if (phasing > 0) {
        random_.move_all(application_);
      }
      ASSERT_NO_FATAL_FAILURE(simulate_once(phasing % 3 == 2));
    }
    model::Application best = application_;
    double closest = 0;
    for (int step = 0; step < 8; ++step) {
      random_.move_one(application_);
      double close = 0;
      ASSERT_NO_FATAL_FAILURE(close = simulate_once(step % 4 == 3));
      if (close < closest) {
        application_ = best;
      } else {
        closest = close;
        best = application_;
      }
    }
    for (std::size_t i = 0; i < worst_.size(); ++i) {
      if (is_sure(i)) {
        tightness.add(*judgement_.chains[i].bound, worst_[i]);
      }
    }
  }

 private:
  /// Returns whether the simulation keeps all conditions of the bound: its kernel moves any thread.
  bool is_sure(std::size_t chain) const {
    const ChainBound& bound = judgement_.chains[chain];
    return bound.bound && std::ranges::all_of(bound.assumptions, [](const std::string& condition) {
             return condition.starts_with("the kernel moves any waiting thread");
           });
  }

  /// Returns the largest share of a bound that a response has reached.
  double simulate_once(bool shorter) {
    const Overheads& overheads = setting_.overheads;
    const SimulatedTimes times{
        .lowest_execution = shorter ? random_.uniform(0, 1) : 1.0,
        .dispatch_ns = overheads.dispatch,
        .scheduler_ns = overheads.scheduler,
        .polling_ns = overheads.polling,
        .lateness = TimeDistribution::uniform(0, overheads.timer_jitter),
        .hop = TimeDistribution::uniform(overheads.near.min, overheads.near.max),
        .far_hop = TimeDistribution::uniform(overheads.far.min, overheads.far.max)};
    const auto [fewest, most] = setting_.simulated;
    simulated_cpus_ = random_.cpus_between(fewest, most);
    const auto result = simulate(simulated_system(application_, setting_.executor, times,
                                                  static_cast<unsigned>(simulated_cpus_)),
                                 {.horizon_ns = 240'000'000, .seed = seed_});
    double closest = 0;
    check(result, closest);
    return closest;
  }

  void check(const SimulationResult& result, double& closest) {
    ASSERT_NO_FATAL_FAILURE(test::check_proved(application_, judgement_, result)) << said();
    for (std::size_t i = 0; i < worst_.size(); ++i) {
      if (!is_sure(i)) {
        continue;
      }
      const std::int64_t worst = result.chains[i].response.worst_ns;
      worst_[i] = std::max(worst_[i], worst);
      ASSERT_LE(worst, *judgement_.chains[i].bound) << application_.chains[i].id << said();
      closest = std::max(
          closest, static_cast<double>(worst) / static_cast<double>(*judgement_.chains[i].bound));
    }
    for (std::size_t i = 0; i < judgement_.queues.size(); ++i) {
      if (judgement_.queues[i].holds() &&
          application_.callbacks[i].overload == model::Overload::kQueue) {
        ASSERT_EQ(result.callbacks[i].counts.dropped, 0U) << application_.callbacks[i].id << said();
      }
    }
  }

  std::string said() const {
    return "\nseed " + std::to_string(seed_) + ", " + name_of(setting_.executor) + " on " +
           std::to_string(setting_.cpus) + " CPUs (where none are stated, " +
           std::to_string(simulated_cpus_) + "), dispatch " +
           std::to_string(setting_.overheads.dispatch) + ", polling " +
           std::to_string(setting_.overheads.polling) + ", scheduler " +
           std::to_string(setting_.overheads.scheduler) + ", late " +
           std::to_string(setting_.overheads.timer_jitter) + ", hop " +
           std::to_string(setting_.overheads.near.max) + ", between executors " +
           std::to_string(setting_.overheads.far.max) + "\n" + describe(application_);
  }

  const SeveralCpus& setting_;
  RandomSeveralCpus& random_;
  model::Application application_;
  std::uint64_t seed_;
  Judgement judgement_;
  std::vector<std::int64_t> worst_;
  int simulated_cpus_ = 1;
};

class SoundnessOnSeveralCpus : public testing::TestWithParam<const char*> {
 protected:
  const model::ExecutorChoice executor_ = model::parse_executor(GetParam());
};

/// Draws what the machine costs.
SeveralCpus draw_setting(const model::ExecutorChoice& executor, int cpus, std::uint64_t seed,
                         RandomSeveralCpus& random) {
  SeveralCpus setting{executor, {}, cpus};
  Overheads& overheads = setting.overheads;
  if (seed % 3 == 0) {
    overheads.timer_jitter = ms(random.uniform(0, 2)).count();
  }
  if (seed % 5 == 0) {
    overheads.near.max = ms(random.uniform(0, 0.5)).count();
  }
  if (traits(executor).has_scheduler_thread && seed % 4 == 0) {
    overheads.scheduler = ms(random.uniform(0, 0.05)).count();
  }
  if (traits(executor).polls && seed % 4 == 0) {
    overheads.polling = ms(random.uniform(0, 0.05)).count();
  }
  return setting;
}

void attack(const SeveralCpus& setting, RandomSeveralCpus& random, model::Application application,
            std::uint64_t seed, test::Tightness& tightness) {
  AttackOnSeveralCpus(setting, random, std::move(application), seed).run(tightness);
}

TEST_P(SoundnessOnSeveralCpus, NoSimulatedResponseIsAboveABound) {
  const std::uint64_t applications = test::trials(64);
  std::size_t bounds = 0;
  for (const int cpus : {1, 2, 3, 4}) {
    for (const bool plain : {true, false}) {
      test::Tightness tightness;
      for (const std::uint64_t seed : test::seeds(applications, 8)) {
        RandomSeveralCpus random(seed * 8 + static_cast<std::uint64_t>(cpus));
        const SeveralCpus setting = draw_setting(executor_, cpus, seed, random);
        model::Application application = random.make(cpus, plain);
        if (traits(executor_).has_scheduler_thread && seed % 8 == 0) {
          application.executors[0].scheduler_cpus = {cpus};
        }
        attack(setting, random, std::move(application), seed, tightness);
      }
      bounds += tightness.count();
      tightness.print(std::string(GetParam()) + ", " + std::to_string(cpus) + " CPUs, " +
                      (plain ? "plain chains" : "everything"));
    }
  }
  EXPECT_GT(bounds, applications / 2);
}

TEST_P(SoundnessOnSeveralCpus, NorIsOneOfTimersThatStateTheirOffsets) {
  const std::uint64_t applications = test::trials(32);
  std::size_t bounds = 0;
  for (const int cpus : {2, 3, 4, 8}) {
    for (const bool plain : {true, false}) {
      test::Tightness tightness;
      for (const std::uint64_t seed : test::seeds(applications, 8)) {
        RandomSeveralCpus random(seed * 8 + static_cast<std::uint64_t>(cpus));
        const SeveralCpus setting = draw_setting(executor_, cpus, seed, random);
        model::Application application = random.make(cpus, plain);
        if (seed % 3 == 0) {
          random.spread_over(application, cpus);
        }
        random.state_offsets(application);
        attack(setting, random, std::move(application), seed, tightness);
      }
      bounds += tightness.count();
      tightness.print(std::string(GetParam()) + ", " + std::to_string(cpus) +
                      " CPUs and stated offsets, " + (plain ? "plain chains" : "everything"));
    }
  }
  EXPECT_GT(bounds, applications / 4);
}

// With a thread and a CPU for each group, a callback under wait_set:threads=n waits for its group.
TEST_P(SoundnessOnSeveralCpus, NorIsOneOfGroupsWithACpuEach) {
  const std::uint64_t applications = test::trials(24);
  std::size_t bounds = 0;
  for (const int cpus : {2, 3}) {
    test::Tightness tightness;
    for (const std::uint64_t seed : test::seeds(applications, 2)) {
      RandomSeveralCpus random(seed * 8 + static_cast<std::uint64_t>(cpus));
      const SeveralCpus setting = draw_setting(executor_, cpus, seed, random);
      model::Application application = random.make(cpus, seed % 2 == 0);
      if (!executor_.timers_thread) {  // its lanes are fixed
        random.join_groups(application, cpus);
      }
      attack(setting, random, std::move(application), seed, tightness);
    }
    bounds += tightness.count();
    tightness.print(std::string(GetParam()) + ", " + std::to_string(cpus) + " CPUs and groups");
  }
  EXPECT_GT(bounds, applications / 8);
}

TEST_P(SoundnessOnSeveralCpus, NorIsOneOfExecutorsThatShareCpus) {
  const std::uint64_t applications = test::trials(30);
  std::size_t bounds = 0;
  for (const int cpus : {2, 3, 4}) {
    for (const bool plain : {true, false}) {
      test::Tightness tightness;
      for (const std::uint64_t seed : test::seeds(applications, 6)) {
        RandomSeveralCpus random(seed * 8 + static_cast<std::uint64_t>(cpus));
        SeveralCpus setting = draw_setting(executor_, cpus, seed, random);
        setting.overheads.far.max = seed % 3 == 1 ? 0 : ms(random.uniform(0, 1)).count();
        if (seed % 7 == 0) {
          setting.overheads.dispatch = ms(random.uniform(0, 0.1)).count();
          setting.overheads.handover = 1;  // the simulation has none
        }
        model::Application application = random.make(cpus, plain);
        random.spread_over(application, cpus);
        attack(setting, random, std::move(application), seed, tightness);
      }
      bounds += tightness.count();
      tightness.print(std::string(GetParam()) + ", executors on " + std::to_string(cpus) +
                      " CPUs, " + (plain ? "plain chains" : "everything"));
    }
  }
  EXPECT_GT(bounds, applications / 4);
}

struct ManyCpus {
  int cpus{};
  std::string sets;
  void (*spread)(RandomSeveralCpus& random, model::Application& application, int cpus){};
};

// Executors have all CPUs, nested sets of them, or sets that overlap.
TEST_P(SoundnessOnSeveralCpus, NorIsOneOfManyCpus) {
  const std::array settings{
      ManyCpus{16, "one executor", [](RandomSeveralCpus&, model::Application&, int) {}},
      ManyCpus{8, "nested sets",
               [](RandomSeveralCpus& random, model::Application& application, int cpus) {
                 random.nest(application, cpus);
               }},
      ManyCpus{16, "overlapping sets",
               [](RandomSeveralCpus& random, model::Application& application, int cpus) {
                 random.overlap(application, cpus);
               }},
  };
  const bool has_threads = executor_.threads > 1 || executor_.timers_thread;
  const int threads = executor_.timers_thread ? 2 : static_cast<int>(executor_.threads);
  const std::uint64_t applications = test::trials(3);
  std::size_t bounds = 0;
  for (const ManyCpus& many : settings) {
    test::Tightness tightness;
    for (const std::uint64_t seed : test::seeds(applications, settings.size())) {
      RandomSeveralCpus random(seed * 32 + static_cast<std::uint64_t>(many.cpus));
      SeveralCpus setting = draw_setting(executor_, many.cpus, seed, random);
      setting.overheads.far.max = seed % 3 == 1 ? 0 : ms(random.uniform(0, 1)).count();
      setting.effort.steps = 100'000'000;
      const int busy = has_threads ? threads : many.cpus;  // the CPUs that the application loads
      model::Application application = random.make(busy, seed % 2 == 1, 0.5);
      many.spread(random, application, many.cpus);
      if (seed % 3 == 0) {
        random.state_offsets(application);
      }
      attack(setting, random, std::move(application), seed, tightness);
    }
    bounds += tightness.count();
    tightness.print(std::string(GetParam()) + ", " + std::to_string(many.cpus) + " CPUs, " +
                    many.sets);
  }
  EXPECT_GT(bounds, applications / 4);
}

// The bounds of executors that state no CPUs hold on any number of them, or on those of the
// machine.
TEST_P(SoundnessOnSeveralCpus, NorIsOneOfExecutorsThatStateNoCpus) {
  const std::uint64_t applications = test::trials(60);
  std::size_t bounds = 0;
  for (const int known : {0, 1, 2, 3, 4}) {
    for (const bool plain : {true, false}) {
      test::Tightness tightness;
      for (const std::uint64_t seed : test::seeds(applications, 10)) {
        RandomSeveralCpus random(seed * 8 + static_cast<std::uint64_t>(known));
        SeveralCpus setting = draw_setting(executor_, std::max(known, 1), seed, random);
        setting.overheads.cpus = known;
        setting.simulated = {std::max(known, 1), known == 0 ? 8 : known};
        model::Application application = random.make(std::max(known, 1), plain);
        if (seed % 2 == 0) {
          random.spread_over(application, std::max(known, seed % 4 == 0 ? 1 : 2));
        }
        random.remove_cpus(application);
        attack(setting, random, std::move(application), seed, tightness);
      }
      bounds += tightness.count();
      tightness.print(std::string(GetParam()) + ", no CPUs stated, " +
                      (known == 0 ? "any number" : std::to_string(known)) + ", " +
                      (plain ? "plain chains" : "everything"));
    }
  }
  EXPECT_GT(bounds, applications / 4);
}

std::string kind_name(const testing::TestParamInfo<const char*>& executor) {
  std::string name = executor.param;
  std::ranges::replace_if(name, [](char each) { return each == ':' || each == '='; }, '_');
  return name;
}

// An executor with a single thread runs one callback at a time, also on several CPUs.
class SoundnessOfSingleThreads : public SoundnessOnSeveralCpus {};

TEST_P(SoundnessOfSingleThreads, NoSimulatedResponseIsAboveABound) {
  const std::uint64_t applications = test::trials(60);
  std::size_t bounds = 0;
  for (const int known : {0, 2, 3, 4}) {
    for (const bool plain : {true, false}) {
      test::Tightness tightness;
      for (const std::uint64_t seed : test::seeds(applications, 8)) {
        RandomSeveralCpus random(seed * 8 + static_cast<std::uint64_t>(known));
        SeveralCpus setting = draw_setting(executor_, std::max(known, 2), seed, random);
        setting.overheads.far.max = seed % 3 == 1 ? 0 : ms(random.uniform(0, 1)).count();
        model::Application application = random.make(known == 0 ? 1 : 2, plain);
        random.spread_over(application, std::max(known, 2));
        for (model::Executor& executor : application.executors) {
          if (traits(executor_).orders_executors) {
            executor.top_priority.reset();  // it wants a different one for each
          }
        }
        if (known == 0) {
          setting.simulated = {1, 8};
          random.remove_cpus(application);
        }
        attack(setting, random, std::move(application), seed, tightness);
      }
      bounds += tightness.count();
      tightness.print(std::string(GetParam()) + ", executors on " +
                      (known == 0 ? "any number of" : std::to_string(known)) + " CPUs, " +
                      (plain ? "plain chains" : "everything"));
    }
  }
  EXPECT_GT(bounds, applications / 4);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SoundnessOfSingleThreads,
                         testing::Values("picas", "events", "wait_set", "static_order"), kind_name);

INSTANTIATE_TEST_SUITE_P(Kinds, SoundnessOnSeveralCpus,
                         testing::Values("preemptive", "producer_consumer", "thread_dispatch",
                                         "per_group", "workshop", "wait_set:threads=2",
                                         "wait_set:threads=3", "events:timers_thread"),
                         kind_name);

}  // namespace
}  // namespace rclrt::analysis

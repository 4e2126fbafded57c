// SPDX-License-Identifier: Apache-2.0
/// No simulated response exceeds a bound of an application on several hosts, no message takes
/// longer than its link's bound, and no more bytes wait. RCLRT_SOUNDNESS_TRIALS sets the number of
/// applications.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "random_hosts.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/link_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "rclrt/model/write.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

class SoundnessOverHosts : public testing::TestWithParam<const char*> {
 protected:
  void attack(std::uint64_t seed, bool waits = false) {
    RandomHosts random(seed);
    model::Application application = random.make_on_hosts();
    Overheads overheads;
    if (seed % 3 == 0) {
      overheads.far = {ms(0.1).count(), ms(random.uniform(0.1, 1)).count()};
      overheads.timer_jitter = ms(random.uniform(0, 1)).count();
    }
    if (traits(executor_).by_deadline) {
      random.add_deadlines(application);
    }
    for (std::size_t i = 0; waits && i < application.callbacks.size(); ++i) {
      if (random.uniform(0, 1) < 0.2) {
        application.callbacks[i].waits = ms(random.uniform(0.05, 3));
      }
    }
    const Judgement judgement = judge(application, executor_, {.overheads = overheads});
    for (int phasing = 0; phasing < 8; ++phasing) {
      random.move_phases(application);
      const SimulatedTimes times{
          .lowest_execution = phasing % 4 == 3 ? random.uniform(0, 1) : 1.0,
          .lateness = TimeDistribution::uniform(0, overheads.timer_jitter),
          .far_hop = TimeDistribution::uniform(overheads.far.min, overheads.far.max)};
      const auto result = simulate(simulated_system(application, executor_, times),
                                   {.horizon_ns = 480'000'000, .seed = seed * 8 + phasing});
      ASSERT_NO_FATAL_FAILURE(check(application, judgement, result))
          << "seed " << seed << ", phasing " << phasing << ", " << GetParam() << "\n"
          << model::to_yaml(application);
      note(judgement, result);
    }
  }

  void check(const model::Application& application, const Judgement& judgement,
             const SimulationResult& result) {
    for (std::size_t i = 0; i < judgement.chains.size(); ++i) {
      const ChainBound& bound = judgement.chains[i];
      if (bound.bound && bound.assumptions.empty()) {
        ASSERT_LE(result.chains[i].response.worst_ns, *bound.bound) << application.chains[i].id;
      }
    }
    const auto ways = model::link_directions(application);
    for (const LinkBound& link : judgement.links) {
      const auto index = static_cast<std::size_t>(std::ranges::find(ways, link.way) - ways.begin());
      if (link.delay) {
        ASSERT_LE(result.links[index].worst_delay_ns, *link.delay) << "link " << index;
      }
      if (link.backlog_bytes) {
        ASSERT_LE(result.links[index].most_bytes, *link.backlog_bytes) << "link " << index;
      }
    }
  }

  void note(const Judgement& judgement, const SimulationResult& result) {
    for (std::size_t i = 0; i < judgement.chains.size(); ++i) {
      const ChainBound& bound = judgement.chains[i];
      const bool crosses = std::ranges::any_of(bound.why, [](const Contribution& each) {
        return each.kind == Contribution::Kind::kLink;
      });
      if (bound.bound && crosses) {
        chains_.add(*bound.bound, result.chains[i].response.worst_ns);
      }
      without_ += bound.bound ? 0 : 1;
    }
    for (const LinkBound& link : judgement.links) {
      if (link.delay) {
        ++links_;
      }
    }
  }

  const model::ExecutorChoice executor_ = model::parse_executor(GetParam());
  test::Tightness chains_;
  std::size_t links_ = 0;
  std::size_t without_ = 0;
};

TEST_P(SoundnessOverHosts, NoSimulatedResponseDelayOrBacklogIsAboveItsBound) {
  const std::uint64_t applications = test::trials(40);
  for (const std::uint64_t seed : test::seeds(applications)) {
    attack(seed);
  }
  chains_.print(std::string(GetParam()) + ", chains over links (each trial by itself), without " +
                std::to_string(without_));
  EXPECT_GT(chains_.count(), 3 * applications);
  EXPECT_GT(links_, 4 * applications);
}

// Executors with such a callback that exchange messages have no bounds.
TEST_P(SoundnessOverHosts, CallbacksThatWaitDelayNoResponseBeyondItsBound) {
  const std::uint64_t applications = test::trials(20);
  for (const std::uint64_t seed : test::seeds(applications)) {
    attack(seed, true);
  }
  chains_.print(std::string(GetParam()) + ", with callbacks that wait, without " +
                std::to_string(without_));
  EXPECT_GT(chains_.count() + links_, 0U);
}

INSTANTIATE_TEST_SUITE_P(Executors, SoundnessOverHosts,
                         testing::Values("preemptive", "producer_consumer", "edf", "wait_set",
                                         "events", "picas", "per_group", "static_order",
                                         "thread_dispatch", "workshop"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
/// No simulated reaction time, data age or queue exceeds its bound, over random applications.
/// RCLRT_SOUNDNESS_TRIALS sets their number.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ages.hpp"
#include "random_application.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

constexpr std::array kKindsOfAges{ExecutorKind::kPreemptive, ExecutorKind::kEdf,
                                  ExecutorKind::kWaitSet};

TEST(SoundnessOfAges, NoReactionOrDataAgeIsAboveItsBound) {
  const std::uint64_t applications = test::trials(200);
  for (const ExecutorKind kind : kKindsOfAges) {
    test::Tightness tightness;
    for (const std::uint64_t seed : test::seeds(applications)) {
      RandomApplication random(seed);
      model::Application application = random.make();
      if (kind == ExecutorKind::kEdf) {
        random.add_deadlines(application);
      }
      const auto bounds = chain_bounds(application, kind);
      std::vector<std::int64_t> worst(bounds.size());
      for (int phasing = 0; phasing < 4; ++phasing) {
        if (phasing > 0) {
          random.move_phases(application);
        }
        test::Ages ages(application);
        simulate(simulated_system(
                     application, kind,
                     {.lowest_execution = phasing % 2 == 0 ? 1.0 : 0.3, .hop = {}, .far_hop = {}}),
                 {.horizon_ns = 400'000'000, .seed = seed}, &ages);
        for (std::size_t i = 0; i < bounds.size(); ++i) {
          worst[i] = std::max(worst[i], ages.worst(i));
          if (!bounds[i].reaction || !bounds[i].assumptions.empty()) {
            continue;
          }
          ASSERT_EQ(bounds[i].reaction, bounds[i].data_age);
          ASSERT_LE(ages.worst(i), *bounds[i].reaction)
              << "seed " << seed << ", " << application.chains[i].id << "\n"
              << describe(application);
        }
      }
      for (std::size_t i = 0; i < bounds.size(); ++i) {
        if (bounds[i].reaction && bounds[i].assumptions.empty()) {
          tightness.add(*bounds[i].reaction, worst[i]);
        }
      }
    }
    ASSERT_GT(tightness.count(), applications / 4);
    tightness.print(std::string("reaction time and data age, ") + std::string(traits(kind).name));
  }
}

TEST(SoundnessOfAges, NoQueueOverflowsThatIsSaidToHold) {
  const std::uint64_t applications = test::trials(200);
  for (const ExecutorKind kind : kKindsOfAges) {
    std::size_t held = 0;
    std::size_t overflowed = 0;
    for (const std::uint64_t seed : test::seeds(applications)) {
      RandomApplication random(seed);
      model::Application application = random.make();
      if (kind == ExecutorKind::kEdf) {
        random.add_deadlines(application);
      }
      for (model::Callback& callback : application.callbacks) {
        const auto depth = static_cast<std::size_t>(random.uniform(1, 3.99));
        if (auto* subscription = std::get_if<model::Subscription>(&callback.trigger)) {
          subscription->depth = depth;
        } else if (auto* sync = std::get_if<model::Sync>(&callback.trigger)) {
          sync->depth = depth;
        }
      }
      const auto queues = queue_bounds(application, kind);
      const bool all_hold =
          std::ranges::all_of(queues, [](const QueueBound& queue) { return queue.holds(); });
      for (int phasing = 0; phasing < 4; ++phasing) {
        if (phasing > 0) {
          random.move_phases(application);
        }
        const auto result = simulate(simulated_system(application, kind),
                                     {.horizon_ns = 400'000'000, .seed = seed});
        for (std::size_t i = 0; i < queues.size(); ++i) {
          const bool lost = result.callbacks[i].counts.dropped > 0;
          overflowed += lost ? 1 : 0;
          held += queues[i].holds() ? 1 : 0;
          // The bound of one callback holds if nothing is lost before it.
          if (!all_hold) {
            continue;
          }
          ASSERT_FALSE(lost) << "seed " << seed << ", " << application.callbacks[i].id << "\n"
                             << describe(application);
        }
      }
    }
    EXPECT_GT(held, applications);
    EXPECT_GT(overflowed, 0U) << std::string(traits(kind).name);
  }
}

}  // namespace
}  // namespace rclrt::analysis

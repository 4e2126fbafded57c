// SPDX-License-Identifier: Apache-2.0
/// Bounds and simulations of callbacks that are on several chains and publish along each of them.
#include <gtest/gtest.h>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

std::vector<std::optional<Ticks>> bounds_of(const model::Application& application) {
  std::vector<std::optional<Ticks>> result;
  for (const ChainBound& chain : chain_bounds(application)) {
    result.push_back(chain.bound);
  }
  return result;
}

/// tau_1 = {a, s} and tau_2 = {b, s, c} of the errata, which share s.
model::Application shared_callback() {
  return Builder()
      .timer("a", 4, 1)
      .timer("b", 8, 0.5)
      .shared("s", {"a", "b"}, 1.5)
      .subscription("c", "s/b", 1)
      .chain("tau_1", {"a", "s"}, 2)
      .chain("tau_2", {"b", "s", "c"}, 1)
      .done();
}

// tau_1: an s of b may have begun before the release at 0: 1.5 + 1 + 1.5. tau_2: a and s of a
// twice, and b, s and c: 5 + 3 = 8, when the next a is released.
TEST(ChainBounds, ASharedCallbackRunsForEachOfItsTopicsAndGoesOnAlongItsRoute) {
  EXPECT_EQ(bounds_of(shared_callback()),
            (std::vector<std::optional<Ticks>>{ms(4).count(), ms(8).count()}));
}

// Without routes c also runs for the messages of a: 2.5 / 4 + 3 / 8 and twice 1 / 8 more.
TEST(ChainBounds, WithoutRoutesASharedCallbackMultipliesTheLoad) {
  auto application = shared_callback();
  EXPECT_DOUBLE_EQ(application.utilisation(), 1.0);
  application.callbacks[2].routes.clear();
  EXPECT_DOUBLE_EQ(application.utilisation(), 1.25);
  EXPECT_EQ(bounds_of(application)[1], std::nullopt);
}

TEST(QueueBounds, OfASharedCallbackAreTheWorstOfItsTopics) {
  const auto queues = queue_bounds(shared_callback());
  ASSERT_EQ(queues.size(), 4U);
  EXPECT_TRUE(queues[2].holds());
}

// In phase: a 1, s 1.5, b 0.5; s of b has begun when the next a comes at 4, 4.5 to 7 are a and s.
TEST(SimulatedChains, OfASharedCallbackGoOnAlongTheRouteOfEachMessage) {
  const auto application = shared_callback();
  const SimulationResult result = simulate(simulated_system(application, ExecutorKind::kPreemptive),
                                           {.horizon_ns = ms(801).count()});
  EXPECT_EQ(result.chains[0].response.worst_ns, ms(3).count());
  EXPECT_EQ(result.chains[1].response.worst_ns, ms(8).count());
  EXPECT_EQ(result.callbacks[2].counts.completed, 300U);
  EXPECT_EQ(result.callbacks[3].counts.completed, 100U) << "c runs for the messages of b only";
}

}  // namespace
}  // namespace rclrt::analysis

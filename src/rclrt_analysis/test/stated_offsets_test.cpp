// SPDX-License-Identifier: Apache-2.0
/// Bounds of chains with timers that state their offsets.
#include <gtest/gtest.h>

#include <array>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

/// a of 2 and b of 3, the more urgent one, each 20; c of 4 each 40, below both.
model::Application three_timers() {
  return Builder()
      .timer("a", 20, 2)
      .timer("b", 20, 3)
      .timer("c", 40, 4)
      .chain("a", {"a"}, 2)
      .chain("b", {"b"}, 3)
      .chain("c", {"c"}, 1)
      .done();
}

TEST(StatedOffsets, SayWhatComesTogether) {
  model::Application application = three_timers();
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{5, 3, 9}));
  set_offset(application, 0, 0);
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{5, 3, 9}));
  set_offset(application, 1, 10);
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{2, 3, 7}));  // c meets a or b
  set_offset(application, 2, 39);
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{2, 3, 6}));  // c meets the a 1 later
  set_offset(application, 2, 2);
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{2, 3, 4}));
  set_offset(application, 1, 1);
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{2 + 3, 3, 4 + 3}));
}

// The periods have 2 as their greatest common divisor, and too many phases to examine all of them.
// With offsets of 0 and 1, no releases are less than 1 apart.
TEST(StatedOffsets, OfManyPhasesTheGreatestCommonDivisorIsKnown) {
  model::Application application = Builder()
                                       .timer("a", 2 * 2003, 0.5)
                                       .timer("b", 2 * 1009, 0.25)
                                       .chain("a", {"a"}, 1)
                                       .chain("b", {"b"}, 1)
                                       .done();
  set_offset(application, 0, 0);
  set_offset(application, 1, 2);
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{0.75, 0.75}));
  set_offset(application, 1, 1);
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{0.5, 0.25}));
}

TEST(StatedOffsets, LateTimersMeetAlthoughTheirOffsetsAreApart) {
  model::Application application = three_timers();
  set_offset(application, 0, 0);
  set_offset(application, 1, 10);
  const auto bounds =
      chain_bounds(application, ExecutorKind::kPreemptive, {.timer_jitter = ms(11).count()});
  EXPECT_EQ(bounds[0].bound, ms(11 + 2 + 3).count());
  const auto sooner =
      chain_bounds(application, ExecutorKind::kPreemptive, {.timer_jitter = ms(5).count()});
  EXPECT_EQ(sooner[0].bound, ms(5 + 2).count());
}

TEST(StatedOffsets, ATimerThatMovesItsGridHasNoOffset) {
  model::Application application = three_timers();
  set_offset(application, 0, 0);
  set_offset(application, 1, 10);
  std::get<model::Timer>(application.callbacks[1].trigger).overrun = model::OverrunPolicy::kRebase;
  EXPECT_EQ(bounds_ms(application), (std::vector<double>{5, 3, 9}));
}

// Two syncs of timers of one period and offset, and one of both: nothing waits for a later release.
TEST(StatedOffsets, ASyncBehindSyncsOfOneReleaseDoesNotWait) {
  model::Application application = Builder()
                                       .timer("a", 20, 1)
                                       .timer("b", 20, 1)
                                       .timer("c", 20, 1)
                                       .sync("ab", "a", "b", 1)
                                       .sync("bc", "b", "c", 1)
                                       .sync("abc", "ab", "bc", 1)
                                       .chain("one", {"a", "ab", "abc"}, 1)
                                       .done();
  EXPECT_GT(bounds_ms(application)[0], 20);
  for (const std::size_t timer : {0U, 1U, 2U}) {
    set_offset(application, timer, 5);
  }
  EXPECT_EQ(bounds_ms(application)[0], 6);
  EXPECT_TRUE(chain_bounds(application)[0].reaction);
}

// a may be up to 200 late. Then m, in a group with x, has started, and h, with a deadline that is
// shorter than those of this group, has preempted it. Both are due after a.
TEST(StatedOffsets, UnderEdfALateTimerWaitsForTwoInstancesThatAreDueLater) {
  model::Application application = Builder()
                                       .timer("a", 10'000, 1)
                                       .timer("h", 10'000, 300)
                                       .group("one")
                                       .timer("h2", 10'000, 0.001)
                                       .group("one")
                                       .timer("m", 10'000, 300)
                                       .group("two")
                                       .timer("x", 10'000, 0.001)
                                       .group("two")
                                       .chain("a", {"a"}, 0)
                                       .done();
  const std::array offsets{0.0, 20.0, 5'000.0, 15.0, 6'000.0};
  const std::array deadlines{400.0, 390.0, 3'000.0, 9'000.0, 395.0};
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    set_offset(application, i, offsets.at(i));
    application.callbacks[i].deadline = ms(deadlines.at(i));
  }
  const std::int64_t late = ms(200).count();
  const auto bound = chain_bounds(application, ExecutorKind::kEdf, {.timer_jitter = late})[0].bound;
  ASSERT_TRUE(bound);
  const auto simulated =
      simulate(simulated_system(application, ExecutorKind::kEdf,
                                {.lateness = TimeDistribution::uniform(0, late)}),
               {.horizon_ns = 3'000'000'000'000});
  EXPECT_GT(simulated.chains[0].response.worst_ns, ms(600).count());
  EXPECT_GE(*bound, simulated.chains[0].response.worst_ns);
}

}  // namespace
}  // namespace rclrt::analysis

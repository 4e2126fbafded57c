// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/utilisation.hpp"

#include <gtest/gtest.h>

#include "tasks.hpp"

namespace rclrt::analysis {
namespace {

// Liu and Layland 1973, theorem 5.
TEST(Utilisation, TheBoundOfLiuAndLaylandForTwoToFiveTasks) {
  EXPECT_NEAR(liu_layland_bound(2), 0.8284, 5e-5);
  EXPECT_NEAR(liu_layland_bound(3), 0.7798, 5e-5);
  EXPECT_NEAR(liu_layland_bound(4), 0.7568, 5e-5);
  EXPECT_NEAR(liu_layland_bound(5), 0.7435, 5e-5);
}

TEST(Utilisation, TheBoundForOneTaskIsTheWholeCore) {
  EXPECT_DOUBLE_EQ(liu_layland_bound(1), 1.0);
  EXPECT_TRUE(passes_liu_layland(tasks({{3, 3}})));
  EXPECT_FALSE(passes_liu_layland(tasks({{4, 3}})));
}

// (40, 100), (40, 150), (100, 350): U = 0.9524 is above 0.7798, and yet the set is schedulable.
TEST(Utilisation, ASchedulableSetMayFailTheSufficientTests) {
  const auto set = tasks({{40, 100}, {40, 150}, {100, 350}});
  EXPECT_NEAR(utilisation(set), 0.9524, 5e-5);
  EXPECT_FALSE(passes_liu_layland(set));
  EXPECT_FALSE(passes_hyperbolic_bound(set));
}

// The product 1.984 is at most 2, although U = 0.84 is above the bound 0.8284 of Liu and Layland.
TEST(Utilisation, TheHyperbolicBoundAcceptsWhatLiuAndLaylandReject) {
  const auto set = tasks({{6, 10}, {24, 100}});  // U = 0.84; 1.6 * 1.24 = 1.984
  EXPECT_FALSE(passes_liu_layland(set));
  EXPECT_TRUE(passes_hyperbolic_bound(set));
}

TEST(Utilisation, ALoadOfExactlyOneIsSeenWithoutRounding) {
  EXPECT_TRUE(compare_utilisation_with_one(tasks({{1, 3}, {1, 3}, {1, 3}})) == 0);
  EXPECT_TRUE(compare_utilisation_with_one(tasks({{1, 49}, {48, 49}})) == 0);
  const Ticks long_period = Ticks{3} << 40;
  EXPECT_TRUE(compare_utilisation_with_one(tasks({{2, 3}, {(Ticks{1} << 40) - 1, long_period}})) <
              0);
  EXPECT_TRUE(compare_utilisation_with_one(tasks({{2, 3}, {(Ticks{1} << 40) + 1, long_period}})) >
              0);
}

TEST(Utilisation, ALoadNearOneOfPeriodsWithoutASmallMultipleStaysUndecided) {
  const auto set = tasks({{1, (Ticks{1} << 59) - 1}, {1, (Ticks{1} << 59) - 3}, {1, 1}});
  EXPECT_TRUE(compare_utilisation_with_one(set) == std::partial_ordering::unordered);
}

TEST(Utilisation, TheSufficientTestsAreForPlainRateMonotonicSetsOnly) {
  EXPECT_TRUE(is_plain_rate_monotonic(tasks({{1, 4}, {1, 5}})));
  EXPECT_FALSE(is_plain_rate_monotonic(tasks({{1, 5}, {1, 4}})));
  EXPECT_FALSE(is_plain_rate_monotonic(tasks({{1, 4, 3}, {1, 5}})));
  auto jitter = tasks({{1, 4}, {1, 5}});
  jitter[1].jitter = 1;
  EXPECT_FALSE(is_plain_rate_monotonic(jitter));
  auto one_level = tasks({{1, 4}, {1, 5}});
  one_level[0].priority = one_level[1].priority;
  EXPECT_FALSE(is_plain_rate_monotonic(one_level));
}

}  // namespace
}  // namespace rclrt::analysis

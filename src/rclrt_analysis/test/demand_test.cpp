// SPDX-License-Identifier: Apache-2.0
/// Fixed points of a demand: the steps that they take where there is none.
#include "demand.hpp"

#include <gtest/gtest.h>

namespace rclrt::analysis::detail {
namespace {

// ceil(w / 3) 3 is at least w, so no w is 1 + ceil(w / 3) 3: w grows by 3 in each step.
TEST(FixedPoint, IsNotSearchedOnIfWorkFillsAllTime) {
  Demand demand(Count::kBefore);
  demand.add(3, 3, 0);
  Budget budget(Effort{});
  EXPECT_FALSE(fixed_point(1, 1, demand, budget));
  EXPECT_LT(budget.used(), 1'000'000);
  EXPECT_FALSE(budget.empty());
}

TEST(FixedPoint, IsNotSearchedOnIfJobsOfSetsFillAllTime) {
  Demand demand(Count::kBefore);
  demand.add(1, 4, 2);
  demand.add({.wcet = 1, .releases = {{.period = 8, .count = 6}}, .also = {}});
  Budget budget(Effort{});
  EXPECT_FALSE(fixed_point(1, 1, demand, budget));
  EXPECT_LT(budget.used(), 1'000'000);
}

// The load is below 1: w = C + n 99999 is a fixed point for the first n with C + n 99999 <= n
// 100000.
TEST(FixedPoint, IsFoundAfterManySteps) {
  Demand demand(Count::kBefore);
  demand.add(99'999, 100'000, 0);
  Budget budget(Effort{});
  const auto found = fixed_point(1, 1, demand, budget);
  EXPECT_EQ(found, 1 + 99'999);
  demand.rewind();
  const auto late = fixed_point(50'000, 50'000, demand, budget);
  EXPECT_EQ(late, 50'000 + 50'000 * Ticks{99'999});
  EXPECT_GT(budget.used(), 10'000 * 9);
}

TEST(FixedPoint, ASecondLimitOrALateBeginMayLeaveTime) {
  Demand limited(Count::kBefore);
  limited.add({.wcet = 2, .releases = {{.period = 2}}, .also = {{.period = 3, .jitter = 99'000}}});
  EXPECT_FALSE(limited.fills_all_time());
  Demand late(Count::kBefore);
  late.add(3, 3, -100'000);
  EXPECT_FALSE(late.fills_all_time());
}

}  // namespace
}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "repeatable_random.hpp"

namespace rclrt::recorder {
namespace {

using testing::ThrowsMessage;

std::vector<std::int64_t> one_to(std::int64_t last) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(last));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(NearestRank, FollowsTheExampleOfFiveValues) {
  // https://en.wikipedia.org/wiki/Percentile#Worked_examples_of_the_nearest-rank_method, example 1
  const std::vector<std::int64_t> values{15, 20, 35, 40, 50};
  EXPECT_EQ(nearest_rank(values, 5), 15);    // ceil(0.25) = 1st
  EXPECT_EQ(nearest_rank(values, 30), 20);   // ceil(1.5) = 2nd
  EXPECT_EQ(nearest_rank(values, 40), 20);   // ceil(2.0) = 2nd
  EXPECT_EQ(nearest_rank(values, 50), 35);   // ceil(2.5) = 3rd
  EXPECT_EQ(nearest_rank(values, 100), 50);  // 5th
}

TEST(NearestRank, IsTheOnlyValueThereIs) {
  EXPECT_EQ(nearest_rank(one_to(1), 1), 1);
  EXPECT_EQ(nearest_rank(one_to(1), 99), 1);
}

TEST(NearestRank, IsExactWhereFloatingPointWouldRoundUp) {
  // As doubles, 0.07 * 100 is 7.000000000000001 and 0.55 * 100 is 55.00000000000001.
  EXPECT_EQ(nearest_rank(one_to(100), 7), 7);
  EXPECT_EQ(nearest_rank(one_to(100), 55), 55);
  EXPECT_EQ(nearest_rank(one_to(100), 99), 99);
  EXPECT_EQ(nearest_rank(one_to(101), 99), 100);  // ceil(99.99)
}

TEST(NearestRank, RefusesNothingAndPercentagesOutOfRange) {
  EXPECT_THAT([&] { nearest_rank({}, 50); },
              ThrowsMessage<std::invalid_argument>("no percentile of nothing"));
  EXPECT_THAT([&] { nearest_rank(one_to(3), 0); },
              ThrowsMessage<std::invalid_argument>("a percentile must be from 1 to 100, not 0"));
  EXPECT_THAT([&] { nearest_rank(one_to(3), 101); },
              ThrowsMessage<std::invalid_argument>("a percentile must be from 1 to 100, not 101"));
}

TEST(NearestRank, IsNeverExceededByFewerThanTheGivenPercentage) {
  std::mt19937 random = repeatable_random(1);
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::int64_t> values(random() % 300 + 1);
    std::generate(values.begin(), values.end(), [&] { return random() % 50; });
    std::sort(values.begin(), values.end());
    const std::size_t percent = random() % 100 + 1;
    const std::int64_t value = nearest_rank(values, percent);
    const auto count = [&](auto predicate) {
      return static_cast<std::size_t>(std::count_if(values.begin(), values.end(), predicate));
    };
    const std::size_t not_above = count([&](auto other) { return other <= value; });
    const std::size_t below = count([&](auto other) { return other < value; });
    EXPECT_GE(not_above * 100, percent * values.size());
    EXPECT_LT(below * 100, percent * values.size());
  }
}

TEST(Summary, StatesBestMeanMedianP99WorstAndCount) {
  std::vector<std::int64_t> values = one_to(200);
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(summarise(values), (Summary{.best_ns = 1,
                                        .mean_ns = 100.5,  // 200 * 201 / 2 / 200
                                        .p50_ns = 100,
                                        .p99_ns = 198,
                                        .worst_ns = 200,
                                        .count = 200}));
  EXPECT_EQ(summarise(values)->jitter_ns(), 199);
}

TEST(Summary, OfNothingIsNothing) { EXPECT_EQ(summarise({}), std::nullopt); }

TEST(Summary, HasTheMeanOfTimesWhoseSumDoesNotFitAnInteger) {
  const std::int64_t large = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_DOUBLE_EQ(summarise({large, large, large})->mean_ns, static_cast<double>(large));
}

}  // namespace
}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/time_distribution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "repeatable_random.hpp"

namespace rclrt::recorder {
namespace {

std::int64_t uniform(std::mt19937& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution(least, most)(random);
}

TEST(TimeDistribution, HasNoSummaryWithoutTimes) {
  const TimeDistribution distribution;
  EXPECT_EQ(distribution.summary(), std::nullopt);
  EXPECT_TRUE(distribution.buckets().empty());
}

TEST(TimeDistribution, IsExactBelowTwoMicroseconds) {
  TimeDistribution distribution;
  std::vector<std::int64_t> times{2000, 1, 0, 1999, 1, 57};
  for (const std::int64_t time : times) {
    distribution.add(time);
  }
  EXPECT_EQ(distribution.summary(), summarise(times));
}

TEST(TimeDistribution, PercentilesAreAtMostAThousandthTooLargeAndTheRestIsExact) {
  auto random = repeatable_random(51);
  for (int round = 0; round < 200; ++round) {
    TimeDistribution distribution;
    std::vector<std::int64_t> times;
    const std::int64_t spread = std::int64_t{1} << uniform(random, 1, 44);
    for (std::int64_t i = uniform(random, 1, 300); i > 0; --i) {
      times.push_back(uniform(random, 0, spread));
      distribution.add(times.back());
    }
    const Summary exact = summarise(times).value();
    const Summary found = distribution.summary().value();
    EXPECT_EQ(found.count, exact.count);
    EXPECT_EQ(found.best_ns, exact.best_ns);
    EXPECT_EQ(found.worst_ns, exact.worst_ns);
    EXPECT_DOUBLE_EQ(found.mean_ns, exact.mean_ns);
    for (const auto member : {&Summary::p50_ns, &Summary::p99_ns}) {
      EXPECT_GE(found.*member, exact.*member);
      EXPECT_LE(found.*member - exact.*member, exact.*member / 1000);
    }
  }
}

TEST(TimeDistribution, CountsTimesOutsideOfItsRange) {
  TimeDistribution distribution;
  distribution.add(-5);  // a clock that was read before its time
  distribution.add(INT64_MAX);
  const Summary found = distribution.summary().value();
  EXPECT_EQ(found.count, 2U);
  EXPECT_EQ(found.best_ns, -5);
  EXPECT_EQ(found.worst_ns, INT64_MAX);
  const auto buckets = distribution.buckets();
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets.front().lowest_ns, 0);
  EXPECT_EQ(buckets.back().highest_ns, TimeDistribution::kLongest_ns);
}

TEST(TimeDistribution, NeedsMemoryForTheSpreadAndNotForTheNumberOfTimes) {
  TimeDistribution distribution;
  for (int i = 0; i < 1'000'000; ++i) {
    distribution.add(1'000'000 + i % 1000);  // 1 ms and up to 1 µs more
  }
  EXPECT_EQ(distribution.counters(), 1024U);
  for (std::int64_t time = 1; time < TimeDistribution::kLongest_ns; time *= 2) {
    distribution.add(time);
  }
  EXPECT_EQ(distribution.counters(), 38U * 1024U);
}

TEST(TimeDistribution, ItsBucketsHaveEveryTimeOnce) {
  auto random = repeatable_random(52);
  TimeDistribution distribution;
  for (int i = 0; i < 1000; ++i) {
    distribution.add(uniform(random, 0, 100'000'000));
  }
  std::uint64_t total = 0;
  std::int64_t last_ns = -1;
  for (const TimeDistribution::Bucket& bucket : distribution.buckets()) {
    EXPECT_GT(bucket.lowest_ns, last_ns);
    EXPECT_GE(bucket.highest_ns, bucket.lowest_ns);
    last_ns = bucket.highest_ns;
    total += bucket.count;
  }
  EXPECT_EQ(total, 1000U);
}

TEST(TimeDistribution, TheSumOfTwoIsThatOfAllTimes) {
  auto random = repeatable_random(53);
  TimeDistribution one;
  TimeDistribution other;
  TimeDistribution all;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t time_ns = uniform(random, 0, i % 3 == 0 ? 5'000 : 100'000'000);
    all.add(time_ns);
    (i % 3 == 0 ? one : other).add(time_ns);
  }
  one.add(other);
  one.add(TimeDistribution());
  EXPECT_EQ(one.summary(), all.summary());
  EXPECT_EQ(one.buckets().size(), all.buckets().size());
}

}  // namespace
}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/histogram_buckets.hpp"

#include <gmock/gmock.h>

#include <random>
#include <stdexcept>
#include <string>

namespace rclrt::realtime {
namespace {

TEST(HistogramBuckets, TheDefaultRangeHas2048LinearBucketsAndThen1024PerOctave) {
  const HistogramBuckets buckets{HistogramRange{}};
  EXPECT_EQ(buckets.size(), 33U * 1024U);  // HdrHistogram(1, 3600000000000, 3).counts_len
  EXPECT_EQ(buckets.index_of(0), 0U);
  EXPECT_EQ(buckets.index_of(1), 1U);
  EXPECT_EQ(buckets.index_of(2047), 2047U);
  EXPECT_EQ(buckets.index_of(2048), 2048U);
  EXPECT_EQ(buckets.index_of(2049), 2048U);  // two values share a bucket from here on
  EXPECT_EQ(buckets.index_of(4095), 3071U);
  EXPECT_EQ(buckets.index_of(4096), 3072U);
  EXPECT_EQ(buckets.lowest_in(2048), 2048);
  EXPECT_EQ(buckets.highest_in(2048), 2049);
  EXPECT_EQ(buckets.middle_of(3072), 4098);  // 4096 .. 4099
}

TEST(HistogramBuckets, EveryValueLiesInItsBucketAndBucketsFollowEachOtherWithoutGap) {
  for (const HistogramRange& range :
       {HistogramRange{}, HistogramRange{1, 2, 1}, HistogramRange{1000, 3'600'000'000'000, 2},
        HistogramRange{7, 100'000, 5}, HistogramRange{1, INT64_MAX, 3}}) {
    const HistogramBuckets buckets(range);
    std::int64_t next = 0;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      ASSERT_EQ(buckets.lowest_in(i), next) << i;
      if (buckets.lowest_in(i) <= range.highest) {
        ASSERT_EQ(buckets.index_of(buckets.lowest_in(i)), i);
      }
      if (buckets.highest_in(i) == INT64_MAX) {
        ASSERT_EQ(i + 1, buckets.size());
        break;
      }
      next = buckets.highest_in(i) + 1;
    }
    EXPECT_GE(buckets.highest_in(buckets.size() - 1), range.highest);
  }
}

TEST(HistogramBuckets, AValueIsKnownToItsSignificantDigits) {
  std::mt19937_64 random(20'261'121);
  for (int digits = 1; digits <= 5; ++digits) {
    const HistogramBuckets buckets({1, 3'600'000'000'000, digits});
    double limit = 1.0;
    for (int i = 0; i < digits; ++i) {
      limit /= 10.0;
    }
    for (int i = 0; i < 10'000; ++i) {
      const auto value = static_cast<std::int64_t>(random() % 3'600'000'000'000) >> (random() % 42);
      const std::size_t index = buckets.index_of(value);
      ASSERT_LE(buckets.lowest_in(index), value);
      ASSERT_GE(buckets.highest_in(index), value);
      ASSERT_LE(static_cast<double>(buckets.highest_in(index) - buckets.lowest_in(index)),
                limit * static_cast<double>(value));
    }
  }
}

std::string refusal(const HistogramRange& range) {
  try {
    const HistogramBuckets buckets(range);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(HistogramBuckets, ARangeThatCannotBeIsRefusedWithWhatItMustBe) {
  EXPECT_EQ(refusal({0, 100, 3}), "a histogram's lowest value must be at least 1, not 0");
  EXPECT_EQ(refusal({10, 19, 3}),
            "a histogram's highest value must be at least twice the lowest (10), not 19");
  EXPECT_EQ(refusal({1, 100, 6}), "a histogram's significant digits must be 1 to 5, not 6");
  EXPECT_THAT(refusal({std::int64_t{1} << 52, INT64_MAX, 3}),
              testing::StartsWith("a histogram's lowest value must be at most 2^51 for 3"));
}

}  // namespace
}  // namespace rclrt::realtime

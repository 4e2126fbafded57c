// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/histogram.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t kHour_ns = 3'600'000'000'000;

TEST(Histogram, WithoutSamplesEverythingIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.percentile(50), 0);
  EXPECT_EQ(histogram.mean(), 0.0);
  EXPECT_EQ(histogram.standard_deviation(), 0.0);
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (std::int64_t value = 1; value <= 1000; ++value) {
    histogram.record(value);
  }
  EXPECT_EQ(histogram.count(), 1000U);
  EXPECT_EQ(histogram.min(), 1);
  EXPECT_EQ(histogram.max(), 1000);
  EXPECT_EQ(histogram.percentile(0), 1);
  EXPECT_EQ(histogram.percentile(0.1), 1);
  EXPECT_EQ(histogram.percentile(50), 500);
  EXPECT_EQ(histogram.percentile(99), 990);
  EXPECT_EQ(histogram.percentile(99.9), 999);
  EXPECT_EQ(histogram.percentile(99.91), 1000);
  EXPECT_EQ(histogram.percentile(100), 1000);
  EXPECT_DOUBLE_EQ(histogram.mean(), 500.5);
  EXPECT_DOUBLE_EQ(histogram.standard_deviation(), std::sqrt((1000.0 * 1000.0 - 1.0) / 12.0));
}

TEST(Histogram, APercentileIsTheNearestRankSoAtLeastThatManySamplesAreNotAbove) {
  Histogram histogram;
  for (const std::int64_t value : {10, 20, 30}) {
    histogram.record(value);
  }
  EXPECT_EQ(histogram.percentile(33.3), 10);
  EXPECT_EQ(histogram.percentile(33.4), 20);  // 33.4 % of 3 is more than 1
  EXPECT_EQ(histogram.percentile(66.6), 20);
  EXPECT_EQ(histogram.percentile(66.7), 30);
}

TEST(Histogram, PercentilesOfManySamplesAreThoseOfTheSortedSamplesToThreeDigits) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> latency(10.0, 2.0);
  Histogram histogram;
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 50'000; ++i) {
    samples.push_back(static_cast<std::int64_t>(latency(random)));
    histogram.record(samples.back());
  }
  std::sort(samples.begin(), samples.end());
  for (const double percent : {1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 99.99}) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent * 500.0 - 1e-6));
    const std::int64_t exact = samples[rank - 1];
    EXPECT_GE(histogram.percentile(percent), exact);
    EXPECT_LE(static_cast<double>(histogram.percentile(percent)),
              1.001 * static_cast<double>(exact));
  }
}

TEST(Histogram, ValuesOutOfRangeAreCountedAndClampedAndNeverLost) {
  Histogram histogram;
  histogram.record(-1);
  histogram.record(INT64_MIN);
  histogram.record(0);
  histogram.record(kHour_ns);
  histogram.record(kHour_ns + 1);
  histogram.record_alone(INT64_MAX);
  EXPECT_EQ(histogram.count(), 6U);
  EXPECT_EQ(histogram.below_range(), 2U);
  EXPECT_EQ(histogram.above_range(), 2U);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.count_in(histogram.buckets().index_of(kHour_ns)), 3U);
}

TEST(Histogram, TheWidestRangeTakesTheLargestNumberThereIs) {
  Histogram histogram({1, INT64_MAX, 3});
  histogram.record(INT64_MAX);
  EXPECT_EQ(histogram.max(), INT64_MAX);
  EXPECT_EQ(histogram.above_range(), 0U);
}

TEST(Histogram, AddingIsAsIfTheSamplesHadBeenRecordedHere) {
  std::mt19937_64 random(11);
  Histogram all;
  Histogram parts[2];
  for (int i = 0; i < 20'000; ++i) {
    // Some values are out of range at either end.
    const auto value = (static_cast<std::int64_t>(random()) >> (random() % 40)) / 1'000;
    all.record(value);
    parts[i % 2].record_alone(value);
  }
  parts[0].add(parts[1]);
  EXPECT_GT(all.below_range(), 0U);
  EXPECT_EQ(parts[0].below_range(), all.below_range());
  EXPECT_EQ(parts[0].above_range(), all.above_range());
  for (std::size_t i = 0; i < all.buckets().size(); ++i) {
    ASSERT_EQ(parts[0].count_in(i), all.count_in(i)) << i;
  }
}

TEST(Histogram, AddingAWiderRangeCountsWhatDoesNotFit) {
  Histogram wide;
  wide.record(500);
  wide.record(1'000'000);
  Histogram narrow({1, 1000, 2});
  narrow.add(wide);
  EXPECT_EQ(narrow.count(), 2U);
  EXPECT_EQ(narrow.above_range(), 1U);
  EXPECT_EQ(narrow.buckets().range().highest, 1000);
}

TEST(Histogram, SubtractingAnEarlierCopyLeavesTheInterval) {
  Histogram live;
  live.record(5);
  live.record(-1);
  const Histogram before(live);
  live.record(5);
  live.record(70);
  Histogram interval(live);
  interval.subtract(before);
  EXPECT_EQ(interval.count(), 2U);
  EXPECT_EQ(interval.min(), 5);
  EXPECT_EQ(interval.max(), 70);
  EXPECT_EQ(interval.below_range(), 0U);
}

TEST(Histogram, SubtractingWhatIsNotAnEarlierCopyIsRefused) {
  Histogram histogram;
  Histogram other;
  other.record(5);
  EXPECT_THAT([&] { histogram.subtract(other); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("expected an earlier copy of this histogram")));
  EXPECT_THAT(
      [&] { histogram.subtract(Histogram({1, 1000, 3})); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("the two histograms have different ranges")));
}

TEST(Histogram, ResetForgetsEverything) {
  Histogram histogram;
  histogram.record(5);
  histogram.record(-5);
  histogram.record(INT64_MAX);
  histogram.reset();
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.below_range(), 0U);
  EXPECT_EQ(histogram.above_range(), 0U);
}

TEST(Histogram, MovingTakesTheSamplesAlong) {
  Histogram source;
  source.record(5);
  source.record(-5);
  Histogram target(std::move(source));
  Histogram assigned({1, 1000, 2});
  assigned = std::move(target);
  EXPECT_EQ(assigned.count(), 2U);
  EXPECT_EQ(assigned.below_range(), 1U);
  EXPECT_EQ(assigned.buckets().range(), HistogramRange{});
}

TEST(Histogram, SeveralRecordingThreadsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kSamples = 20'000;
  Histogram histogram;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int sample = 0; sample < kSamples; ++sample) {
        histogram.record(sample % 100 - 1);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(histogram.count(), std::uint64_t{kThreads} * kSamples);
  EXPECT_EQ(histogram.below_range(), std::uint64_t{kThreads} * kSamples / 100);
}

TEST(Histogram, IntervalsOfALiveHistogramAddUpToAllItsSamples) {
  constexpr int kSamples = 200'000;
  Histogram live;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int sample = 0; sample < kSamples; ++sample) {
      live.record_alone(sample);
    }
    done = true;
  });
  Histogram sum;
  Histogram before;
  for (bool last = false; !last;) {
    last = done;                // then this copy has every sample
    const Histogram now(live);  // NOLINT(performance-unnecessary-copy-initialization): it changes
    Histogram interval(now);
    interval.subtract(before);  // throws if a count had shrunk
    sum.add(interval);
    before = Histogram(now);
  }
  writer.join();
  EXPECT_EQ(sum.count(), std::uint64_t{kSamples});
  EXPECT_EQ(sum.max(), live.max());
}

}  // namespace
}  // namespace rclrt::realtime

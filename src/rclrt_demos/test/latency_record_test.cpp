// SPDX-License-Identifier: Apache-2.0
#include "timer_study/latency_record.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace rclrt::timer_study {
namespace {

TEST(LatencyRecord, ALatencyOfOneMillisecondOrMoreIsInTheOverflowAndNotLost) {
  LatencyRecord record(0);
  for (const std::int64_t latency_ns : {0, 999, 1000, 999'999, 1'000'000, 2'000'000'000}) {
    record.add({0, latency_ns});
  }
  EXPECT_EQ(record.bins()[0], 2U);
  EXPECT_EQ(record.bins()[1], 1U);
  EXPECT_EQ(record.bins()[999], 1U);
  EXPECT_EQ(record.overflow(), 2U);
  EXPECT_EQ(std::accumulate(record.bins().begin(), record.bins().end(), record.overflow()),
            record.count());
}

TEST(LatencyRecord, TheTenLargestAreKeptInOrderWithTheirIndices) {
  LatencyRecord record(0);
  for (std::int64_t i = 0; i < 100; ++i) {
    record.add({0, (i * 37) % 100});  // each of 0..99 once
  }
  ASSERT_EQ(record.top().size(), 10U);
  for (std::size_t place = 0; place < 10; ++place) {
    const TopLatency& each = record.top()[place];
    EXPECT_EQ(each.latency_ns, 99 - static_cast<std::int64_t>(place));
    EXPECT_EQ(static_cast<std::int64_t>(each.index * 37 % 100), each.latency_ns);
  }
  EXPECT_EQ(record.max_ns(), 99);
  EXPECT_EQ(record.min_ns(), 0);
}

TEST(LatencyRecord, OfEqualLatenciesTheEarlierComesFirst) {
  LatencyRecord record(0);
  for (int i = 0; i < 20; ++i) {
    record.add({0, 5});
  }
  ASSERT_EQ(record.top().size(), 10U);
  EXPECT_EQ(record.top().front().index, 0U);
  EXPECT_EQ(record.top().back().index, 9U);
}

TEST(LatencyRecord, FewerThanTenSamplesGiveAsManyRows) {
  LatencyRecord record(0);
  EXPECT_TRUE(record.top().empty());
  record.add({0, 7});
  EXPECT_EQ(record.top().size(), 1U);
}

TEST(LatencyRecord, RowsHoldReleaseAndLatencyInOrderUpToTheirNumber) {
  LatencyRecord record(2);
  record.begin();
  for (std::int64_t i = 0; i < 3; ++i) {
    record.add({.release_ns = 100 + i, .latency_ns = i, .since_rcl_call_ns = 1});
  }
  ASSERT_EQ(record.rows().size(), 2U);
  EXPECT_EQ(record.rows()[1].release_ns, 101);
  EXPECT_EQ(record.rows()[1].latency_ns, 1);
  EXPECT_EQ(record.count(), 3U);
  EXPECT_EQ(record.since_rcl_call().count(), 3U);
}

TEST(FaultCounter, APageThatIsTouchedFirstIsOneMinorFaultMore) {
  FaultCounter faults;
  faults.take();
  constexpr std::size_t kBytes = std::size_t{1} << 24;
  std::vector<char> memory(kBytes, 1);
  EXPECT_GE(faults.take()[0], 1);
  EXPECT_EQ(memory[kBytes - 1], 1);
}

}  // namespace
}  // namespace rclrt::timer_study

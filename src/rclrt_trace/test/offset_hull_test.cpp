// SPDX-License-Identifier: Apache-2.0
#include "offset_hull.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace rclrt::trace {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1000 * kMs;

TEST(OffsetHull, TheFourStampsOfAPingAreTheInterval) {
  OffsetHull hull(0);
  hull.add_low(50 * kMs, 39 * kMs);
  hull.add_high(50 * kMs, 41 * kMs);
  ASSERT_FALSE(hull.fit());
  EXPECT_EQ(hull.at(50 * kMs).low_ns, 39 * kMs);
  EXPECT_EQ(hull.at(50 * kMs).high_ns, 41 * kMs);
  EXPECT_EQ(hull.at(kSecond).high_ns, 41 * kMs) << "clocks without drift";
}

TEST(OffsetHull, BoundsGrowByTheDriftInBothDirectionsOfTime) {
  OffsetHull hull(50);
  hull.add_low(10 * kSecond, 0);
  hull.add_high(10 * kSecond, 100);
  ASSERT_FALSE(hull.fit());
  // 2 * 50e-6 / (1 - 50e-6) of a second is 100 005.0003 ns; the bound in 1e-9 is rounded up.
  EXPECT_EQ(hull.at(9 * kSecond).low_ns, -100'006);
  EXPECT_EQ(hull.at(11 * kSecond).low_ns, -100'006);
  EXPECT_EQ(hull.at(11 * kSecond).high_ns, 100'106);
}

TEST(OffsetHull, LaterBoundsNarrowEarlierTimes) {
  OffsetHull hull(50);
  hull.add_low(1 * kSecond, -5 * kMs);
  hull.add_high(1 * kSecond, 5 * kMs);
  hull.add_low(2 * kSecond, -kMs);
  hull.add_high(3 * kSecond, kMs);
  ASSERT_FALSE(hull.fit());
  EXPECT_EQ(hull.at(1 * kSecond).low_ns, -kMs - 100'006);
  EXPECT_EQ(hull.at(1 * kSecond).high_ns, kMs + 200'012);
}

TEST(OffsetHull, BoundsThatNoClockSatisfiesAreReportedWithTheirTimes) {
  OffsetHull hull(50);
  hull.add_low(1 * kSecond, 39 * kMs);
  hull.add_high(1 * kSecond + kMs, 41 * kMs);
  hull.add_high(5 * kSecond, 36 * kMs);  // set back by 3 to 5 ms
  hull.add_low(6 * kSecond, 35 * kMs);
  const auto found = hull.fit();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from_ns, 1 * kSecond);
  EXPECT_EQ(found->to_ns, 5 * kSecond);
  EXPECT_EQ(found->by_ns, 3 * kMs - 400'024);
}

/// Two clocks, and messages with random delays in both directions.
struct Exchange {
  explicit Exchange(std::uint64_t seed) : draw(seed) {
    offset_ns =
        std::uniform_int_distribution<std::int64_t>(-kSecond * 86'400, kSecond * 86'400)(draw);
    // The drift of each clock changes, but never exceeds 50 millionths: the truth in pieces.
    std::uniform_real_distribution<double> drift(-49.9e-6, 49.9e-6);
    for (int i = 0; i < 8; ++i) {
      drifts.push_back(drift(draw));
    }
  }

  /// Returns the other clock's time at a true time.
  std::int64_t other_ns(std::int64_t true_ns) const {
    double gained = 0;
    const double piece = kLength / static_cast<double>(drifts.size());
    for (std::size_t i = 0; i < drifts.size(); ++i) {
      const double begin = piece * static_cast<double>(i);
      gained += drifts[i] * std::clamp(static_cast<double>(true_ns) - begin, 0.0, piece);
    }
    return true_ns + offset_ns + std::llround(gained);
  }

  static constexpr double kLength = 60e9;
  std::mt19937_64 draw;
  std::int64_t offset_ns = 0;
  std::vector<double> drifts;
};

TEST(OffsetHull, TheIntervalContainsTheTruthForThousandsOfRandomExchanges) {
  int checked = 0;
  double widest_of_dense = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Exchange exchange(seed);
    std::mt19937_64& draw = exchange.draw;
    OffsetHull hull(50);
    const int messages = std::uniform_int_distribution<int>(2, 120)(draw);
    std::uniform_real_distribution<double> when(0, Exchange::kLength * 0.99);
    std::exponential_distribution<double> delay(1 / 400e3);
    // The delays of the two directions differ, also in their smallest value.
    const double least[2] = {std::exponential_distribution<double>(1 / 1e6)(draw),
                             std::exponential_distribution<double>(1 / 50e3)(draw)};
    for (int i = 0; i < messages; ++i) {
      const bool there = i < 2 ? i == 0 : std::bernoulli_distribution(0.5)(draw);
      const auto sent = static_cast<std::int64_t>(when(draw));
      const auto received = sent + static_cast<std::int64_t>(least[there ? 0 : 1] + delay(draw));
      if (there) {
        const std::int64_t taken = exchange.other_ns(received);
        hull.add_high(taken, taken - sent + 1);
      } else {
        const std::int64_t published = exchange.other_ns(sent);
        hull.add_low(published, published - received - 1);
      }
    }
    ASSERT_FALSE(hull.fit()) << "seed " << seed;
    double narrowest = 1e18;
    for (int i = 0; i < 40; ++i) {
      const auto true_ns = static_cast<std::int64_t>(when(draw));
      const std::int64_t other = exchange.other_ns(true_ns);
      const auto interval = hull.at(other);
      ASSERT_LE(interval.low_ns, other - true_ns) << "seed " << seed;
      ASSERT_GE(interval.high_ns, other - true_ns) << "seed " << seed;
      narrowest = std::min(narrowest, static_cast<double>(interval.width_ns()));
      ++checked;
    }
    if (messages > 100) {
      widest_of_dense = std::max(widest_of_dense, narrowest - least[0] - least[1]);
    }
  }
  EXPECT_EQ(checked, 120'000);
  EXPECT_GT(widest_of_dense, 0) << "the intervals are as wide as the fastest messages take";
}

TEST(OffsetHull, ItIsTheBestIntervalThatTheDriftPermits) {
  // Against the definition: at each time, all bounds, each grown from its own time.
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 draw(seed);
    OffsetHull hull(50);
    std::uniform_int_distribution<std::int64_t> when(0, 10 * kSecond);
    std::uniform_int_distribution<std::int64_t> slack(0, kMs);
    std::vector<std::pair<std::int64_t, std::int64_t>> lows;
    std::vector<std::pair<std::int64_t, std::int64_t>> highs;
    for (int i = 0; i < 30; ++i) {
      lows.emplace_back(when(draw), -slack(draw));
      highs.emplace_back(when(draw), slack(draw));
      hull.add_low(lows.back().first, lows.back().second);
      hull.add_high(highs.back().first, highs.back().second);
    }
    ASSERT_FALSE(hull.fit());
    for (int i = 0; i < 50; ++i) {
      const std::int64_t at = when(draw);
      std::int64_t low = INT64_MIN;
      std::int64_t high = INT64_MAX;
      for (const auto& [time, offset] : lows) {
        low = std::max(low, offset - hull.growth_ns(time, at));
      }
      for (const auto& [time, offset] : highs) {
        high = std::min(high, offset + hull.growth_ns(time, at));
      }
      // Growth is rounded up at the knot and again after it.
      EXPECT_NEAR(static_cast<double>(hull.at(at).low_ns), static_cast<double>(low), 1);
      EXPECT_NEAR(static_cast<double>(hull.at(at).high_ns), static_cast<double>(high), 1);
    }
  }
}

}  // namespace
}  // namespace rclrt::trace

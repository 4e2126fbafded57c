// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/clock_offset.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>

namespace {

using rclrt::realtime::ClockOffset;
using rclrt::realtime::OffsetInterval;
using Added = ClockOffset::Added;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kYear2026 = 1'767'225'600 * kSecond;

/// A ping: sent at t1, received there at t2, sent back at t3, received at t4.
Added add_ping(ClockOffset& offset, std::int64_t t1, std::int64_t t2, std::int64_t t3,
               std::int64_t t4) {
  const Added answered = offset.add_answered(t1, t2, t1);
  const Added received = offset.add_received(t3, t4, t4);
  return answered == Added::kConsistent ? received : answered;
}

/// Two hosts with clocks of their own, and the network between them.
struct Hosts {
  std::mt19937_64 random;
  long double local_ppm;  // how much the local clock gains on true time
  long double peer_ppm;
  long double peer_offset_ns = 40 * kMillisecond;  // at true time 0; a step changes it
  long double now_ns = 0;                          // true time
  std::int64_t least_delay_ns = 50 * kMicrosecond;

  Hosts(std::uint64_t seed, double most_ppm) : random(seed) {
    std::uniform_real_distribution<double> drift(-most_ppm, most_ppm);
    local_ppm = drift(random);
    peer_ppm = drift(random);
  }

  long double local_exactly() const { return kYear2026 + now_ns * (1 + local_ppm / 1e6L); }
  long double peer_exactly() const {
    return kYear2026 + peer_offset_ns + now_ns * (1 + peer_ppm / 1e6L);
  }
  std::int64_t local() const { return static_cast<std::int64_t>(std::floor(local_exactly())); }
  std::int64_t peer() const { return static_cast<std::int64_t>(std::floor(peer_exactly())); }

  /// Lets a random time pass: mostly about `typical_ns`, sometimes a hundred times as much.
  void pass(std::int64_t typical_ns) {
    std::exponential_distribution<double> time(1.0 / static_cast<double>(typical_ns));
    const bool is_long = std::uniform_int_distribution<int>(0, 19)(random) == 0;
    now_ns += time(random) * (is_long ? 100 : 1);
  }
  void pass_delay(std::int64_t typical_ns) {
    now_ns += least_delay_ns;
    pass(typical_ns);
  }

  /// Sends a ping over a network with another delay in each direction, and adds its bounds.
  Added ping(ClockOffset& offset, std::int64_t there_ns, std::int64_t back_ns) {
    const std::int64_t t1 = local();
    pass_delay(there_ns);
    const std::int64_t t2 = peer();
    pass(20 * kMicrosecond);
    const std::int64_t t3 = peer();
    pass_delay(back_ns);
    return add_ping(offset, t1, t2, t3, local());
  }

  /// Returns whether the interval of this time contains the offset of this time.
  bool is_within(const ClockOffset& offset) const {
    const auto interval = offset.at(local());
    const long double truth = peer_exactly() - local_exactly();
    return interval && static_cast<long double>(interval->low_ns) <= truth &&
           truth <= static_cast<long double>(interval->high_ns);
  }
};

TEST(ClockOffset, TheFourStampsOfAPingAreTheInterval) {
  ClockOffset offset(0);
  EXPECT_FALSE(offset.at(kYear2026));
  // 40 ms ahead; 300 us there, 100 us back: [39 900, 40 300] us.
  const std::int64_t t1 = kYear2026;
  const std::int64_t t2 = t1 + 300 * kMicrosecond + 40 * kMillisecond;
  const std::int64_t t3 = t2 + 50 * kMicrosecond;
  const std::int64_t t4 = t1 + 450 * kMicrosecond;
  EXPECT_EQ(add_ping(offset, t1, t2, t3, t4), Added::kConsistent);
  const auto interval = offset.at(t4);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low_ns, 39'900 * kMicrosecond - 1);  // a reading is cut to nanoseconds
  EXPECT_EQ(interval->high_ns, 40'300 * kMicrosecond + 1);
  EXPECT_EQ(interval->width_ns(), 400 * kMicrosecond + 2);  // the round-trip time
}

TEST(ClockOffset, OneDirectionAloneIsNoInterval) {
  ClockOffset offset;
  EXPECT_EQ(offset.add_received(kYear2026, kYear2026, kSecond), Added::kConsistent);
  EXPECT_FALSE(offset.at(kSecond));
  EXPECT_EQ(offset.add_answered(kYear2026, kYear2026 + 1, kSecond), Added::kConsistent);
  EXPECT_TRUE(offset.at(kSecond));
  offset.restart();
  EXPECT_FALSE(offset.at(kSecond));
}

TEST(ClockOffset, TheIntervalGrowsByTheDriftOfBothClocks) {
  ClockOffset offset(50);
  add_ping(offset, kYear2026, kYear2026, kYear2026, kYear2026);
  EXPECT_EQ(offset.at(kYear2026)->width_ns(), 2);
  // 2 * 50 ppm / (1 - 50 ppm), rounded up: 100.006 ppm on each side, in ten seconds 1 000 060 ns.
  EXPECT_EQ(offset.at(kYear2026 + 10 * kSecond)->low_ns, -1'000'060 - 1);
  EXPECT_EQ(offset.at(kYear2026 + 10 * kSecond)->high_ns, 1'000'060 + 1);
  EXPECT_EQ(offset.at(kYear2026 - 10 * kSecond)->high_ns, 1'000'060 + 1) << "before the ping, too";
}

TEST(ClockOffset, AStepIsReportedAndTheIntervalBeginsAgain) {
  ClockOffset offset(50);
  Hosts hosts(1, 50);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(hosts.ping(offset, 0, 0), Added::kConsistent);
    hosts.pass(kSecond);
  }
  hosts.peer_offset_ns -= 500 * kMillisecond;
  EXPECT_EQ(hosts.ping(offset, 0, 0), Added::kStep);
  EXPECT_EQ(offset.steps(), 1);
  EXPECT_TRUE(hosts.is_within(offset));
  hosts.peer_offset_ns += 500 * kMillisecond;
  EXPECT_EQ(hosts.ping(offset, 0, 0), Added::kStep);
  EXPECT_EQ(offset.steps(), 2);
  EXPECT_FALSE(offset.at(hosts.local())) << "its upper bound may be older than the step";
  EXPECT_EQ(hosts.ping(offset, 0, 0), Added::kConsistent);
  EXPECT_TRUE(hosts.is_within(offset));
}

TEST(ClockOffset, ImpossibleStampsAreIgnored) {
  ClockOffset offset;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t wrong : {kLeast, std::int64_t{-1}, kMost}) {
    EXPECT_EQ(offset.add_received(wrong, kYear2026, kSecond), Added::kImpossible);
    EXPECT_EQ(offset.add_received(kYear2026, wrong, kSecond), Added::kImpossible);
    EXPECT_EQ(offset.add_answered(kYear2026, wrong, kSecond), Added::kImpossible);
    EXPECT_EQ(offset.add_answered(kYear2026, kYear2026, wrong), Added::kImpossible);
  }
  EXPECT_FALSE(offset.at(kSecond));
  add_ping(offset, kSecond, kSecond, kSecond, kSecond);
  EXPECT_FALSE(offset.at(kMost));
  EXPECT_FALSE(offset.at(-1));
}

TEST(ClockOffset, ADriftThatNoClockHasIsRefused) {
  EXPECT_THROW(ClockOffset(-1), std::invalid_argument);
  EXPECT_THROW(ClockOffset(std::nan("")), std::invalid_argument);
  EXPECT_THROW(ClockOffset(100'001), std::invalid_argument);
}

TEST(ClockOffset, EveryIntervalContainsTheOffsetWhileTheDriftIsAsAssumed) {
  std::int64_t pings = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Hosts hosts(seed, 50);
    ClockOffset offset(50);
    for (int i = 0; i < 200; ++i) {
      // Delays of the two directions differ by up to a factor of a thousand.
      const std::int64_t there = 10 * kMicrosecond << (hosts.random() % 11);
      const std::int64_t back = 10 * kMicrosecond << (hosts.random() % 11);
      ASSERT_EQ(hosts.ping(offset, there, back), Added::kConsistent) << seed << " " << i;
      ASSERT_TRUE(hosts.is_within(offset)) << seed << " " << i;
      ++pings;
      hosts.pass(kSecond);
      ASSERT_TRUE(hosts.is_within(offset)) << seed << " " << i;
    }
    EXPECT_EQ(offset.steps(), 0);
  }
  EXPECT_EQ(pings, 40'000);
}

TEST(ClockOffset, TheBestPingsOfBothDirectionsMakeTheInterval) {
  Hosts hosts(7, 0);
  ClockOffset offset(0);
  for (int i = 0; i < 1'000; ++i) {
    hosts.ping(offset, kMillisecond, kMillisecond);
  }
  // Without drift the width approaches the least delay of both directions: 2 * 50 us.
  EXPECT_LT(offset.at(hosts.local())->width_ns(), 120 * kMicrosecond);
  EXPECT_GE(offset.at(hosts.local())->width_ns(), 100 * kMicrosecond);
}

TEST(ClockOffset, StepsThatAHostReportsNeverMakeAFalseInterval) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Hosts hosts(seed, 50);
    ClockOffset offset(50);
    for (int i = 0; i < 200; ++i) {
      if (hosts.random() % 10 == 0) {  // small ones, too, which no bound would contradict
        hosts.peer_offset_ns += std::ldexp(static_cast<double>(hosts.random() % 2000) - 1000,
                                           static_cast<int>(hosts.random() % 20));
        offset.restart();
      }
      ASSERT_EQ(hosts.ping(offset, 100 * kMicrosecond, kMillisecond), Added::kConsistent);
      ASSERT_TRUE(hosts.is_within(offset)) << seed << " " << i;
      hosts.pass(kSecond);
    }
  }
}

TEST(ClockOffset, AStepBeyondTheWidthIsFoundByTheNextPing) {
  std::uint64_t steps = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Hosts hosts(seed, 50);
    ClockOffset offset(50);
    for (int i = 0; i < 200; ++i) {
      const bool is_set = i > 0 && hosts.random() % 10 == 0;
      if (is_set) {  // by more than the delays of both directions
        const bool is_back = hosts.random() % 2 == 0;
        hosts.peer_offset_ns += (is_back ? -1 : 1) * 10.0L * kSecond;
      }
      const std::uint64_t before = offset.steps();
      hosts.ping(offset, 100 * kMicrosecond, kMillisecond);
      ASSERT_EQ(offset.steps() - before, is_set ? 1U : 0U) << seed << " " << i;
      hosts.ping(offset, 100 * kMicrosecond, kMillisecond);
      ASSERT_EQ(offset.steps() - before, is_set ? 1U : 0U) << seed << " " << i;
      ASSERT_TRUE(hosts.is_within(offset)) << seed << " " << i;
      hosts.pass(100 * kMillisecond);
      steps += is_set ? 1 : 0;
    }
  }
  EXPECT_GT(steps, 1'000U);
}

TEST(ClockOffset, AClockThatDriftsMoreThanAssumedIsReportedAsSteps) {
  Hosts hosts(3, 0);
  hosts.peer_ppm = 500;  // as a clock that NTP slews
  ClockOffset offset(50);
  for (int i = 0; i < 1'000; ++i) {
    hosts.ping(offset, 20 * kMicrosecond, 20 * kMicrosecond);
    hosts.now_ns += 100 * kMillisecond;
  }
  // The offset leaves the interval by 400 ppm: 40 us with each ping. The width is about 0.2 ms.
  EXPECT_GT(offset.steps(), 50U);
  ClockOffset wide(500);
  for (int i = 0; i < 1'000; ++i) {
    hosts.ping(wide, 20 * kMicrosecond, 20 * kMicrosecond);
    ASSERT_TRUE(hosts.is_within(wide));
    hosts.now_ns += 100 * kMillisecond;
  }
  EXPECT_EQ(wide.steps(), 0U);
}

TEST(ClockOffset, TheDriftIsSeenMoreAndMoreExactly) {
  Hosts hosts(5, 50);
  ClockOffset offset(50);
  const long double truth = ((1 + hosts.peer_ppm / 1e6L) / (1 + hosts.local_ppm / 1e6L) - 1) * 1e6L;
  EXPECT_FALSE(offset.drift(hosts.local()));
  double width_ppm = 200;
  for (int i = 0; i < 200; ++i) {
    hosts.ping(offset, 20 * kMicrosecond, 20 * kMicrosecond);
    hosts.now_ns += kSecond;
    if (const auto drift = offset.drift(hosts.local())) {
      ASSERT_LE(drift->low_ppm, truth);
      ASSERT_GE(drift->high_ppm, truth);
      width_ppm = drift->high_ppm - drift->low_ppm;
    }
  }
  EXPECT_LT(width_ppm, 10);
}

}  // namespace

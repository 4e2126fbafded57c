// SPDX-License-Identifier: Apache-2.0
#include "rclrt/sync_buffer.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace rclrt {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

/// Messages are their own stamps.
class Sync {
 public:
  Sync(std::size_t depth, SyncPolicy policy, std::int64_t window = 0)
      : buffer_(depth, policy, window) {}
  void a(int stamp) { note(buffer_.add_first(stamp, stamp)); }
  void b(int stamp) { note(buffer_.add_second(stamp, stamp)); }
  const Pairs& pairs() const { return pairs_; }
  std::uint64_t lost() const { return buffer_.lost(); }

 private:
  void note(bool matched) {
    if (matched) {
      pairs_.emplace_back(buffer_.first(), buffer_.second());
      buffer_.consume();
    }
  }
  SyncBuffer<int, int> buffer_;
  Pairs pairs_;
};

TEST(SyncBuffer, ExactPairsEqualStampsOnly) {
  Sync sync(10, SyncPolicy::kExact);
  sync.a(10);
  sync.b(11);
  sync.a(20);
  sync.b(20);
  EXPECT_EQ(sync.pairs(), (Pairs{{20, 20}}));
  EXPECT_EQ(sync.lost(), 2U);
}

TEST(SyncBuffer, ExactIgnoresTheWindow) {
  Sync sync(10, SyncPolicy::kExact, 1000);
  sync.a(10);
  sync.b(11);
  EXPECT_TRUE(sync.pairs().empty());
}

TEST(SyncBuffer, ApproximateChoosesTheNearestStamp) {
  Sync sync(10, SyncPolicy::kApproximate, 100);
  sync.a(0);
  sync.a(50);
  sync.b(40);
  EXPECT_EQ(sync.pairs(), (Pairs{{50, 40}}));
}

TEST(SyncBuffer, ApproximateRefusesWhatIsFurtherApartThanTheWindow) {
  Sync sync(10, SyncPolicy::kApproximate, 9);
  sync.a(0);
  sync.b(10);
  EXPECT_TRUE(sync.pairs().empty());
  sync.a(19);
  EXPECT_EQ(sync.pairs(), (Pairs{{19, 10}}));
}

TEST(SyncBuffer, AWindowIsInclusive) {
  Sync sync(10, SyncPolicy::kApproximate, 10);
  sync.a(0);
  sync.b(10);
  EXPECT_EQ(sync.pairs(), (Pairs{{0, 10}}));
}

TEST(SyncBuffer, ASlowInputIsPairedWithItsOwnPeriodNotTheLatest) {
  // Equal periods of 50, offsets 0 and 10; b's messages come more than a period late.
  Sync sync(10, SyncPolicy::kApproximate, 300);
  sync.a(0);
  sync.a(50);
  sync.b(10);
  sync.a(100);
  sync.b(60);
  sync.b(110);
  EXPECT_EQ(sync.pairs(), (Pairs{{0, 10}, {50, 60}, {100, 110}}));
}

TEST(SyncBuffer, TheOldestGivesWayWhenFull) {
  Sync sync(2, SyncPolicy::kExact);
  sync.a(1);
  sync.a(2);
  sync.a(3);
  sync.b(1);
  EXPECT_TRUE(sync.pairs().empty());
  EXPECT_EQ(sync.lost(), 1U);
  sync.b(2);
  EXPECT_EQ(sync.pairs(), (Pairs{{2, 2}}));
}

TEST(SyncBuffer, RefusesADepthOfZero) {
  EXPECT_THROW((SyncBuffer<int, int>(0, SyncPolicy::kExact, 0)), std::invalid_argument);
}

TEST(SyncBuffer, PairsAreInOrderAndUseEachMessageOnceForAnyArrival) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Sync sync(1 + random() % 5, SyncPolicy::kApproximate, random() % 40);
    int a = 0;
    int b = 0;
    for (int i = 0; i < 60; ++i) {
      if (random() % 2 == 0) {
        sync.a(a += 1 + static_cast<int>(random() % 20));
      } else {
        sync.b(b += 1 + static_cast<int>(random() % 20));
      }
    }
    for (std::size_t i = 1; i < sync.pairs().size(); ++i) {
      EXPECT_LT(sync.pairs()[i - 1].first, sync.pairs()[i].first);
      EXPECT_LT(sync.pairs()[i - 1].second, sync.pairs()[i].second);
    }
  }
}

}  // namespace
}  // namespace rclrt

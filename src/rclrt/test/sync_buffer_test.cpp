// SPDX-License-Identifier: Apache-2.0
#include "rclrt/sync_buffer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace rclrt {
namespace {

using Pairs = std::vector<std::pair<int, int>>;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Messages that are their own stamps.
class Sync {
 public:
  Sync(std::size_t depth, SyncPolicy policy, std::int64_t window = 0)
      : buffer_(depth, policy, window) {}
  void a(int stamp) { note(buffer_.add<0>(stamp, stamp)); }
  void b(int stamp) { note(buffer_.add<1>(stamp, stamp)); }
  const Pairs& pairs() const { return pairs_; }
  std::uint64_t lost() const { return buffer_.lost(); }

 private:
  void note(bool matched) {
    if (matched) {
      pairs_.emplace_back(buffer_.get<0>(), buffer_.get<1>());
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
  EXPECT_THAT(
      [&] { (SyncBuffer<int, int>(0, SyncPolicy::kExact, 0)); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("a synchroniser's depth must be at least 1")));
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

/// All waiting messages, and the matching rule applied by trying every set.
class EverySet {
 public:
  EverySet(std::size_t inputs, std::int64_t window) : waiting_(inputs), window_(window) {}

  /// Returns the set that the message completes; empty: none.
  std::vector<std::int64_t> add(std::size_t input, std::int64_t stamp) {
    newest_ = {input, stamp};
    best_.clear();
    waiting_[input].push_back(stamp);
    std::vector<std::int64_t> set;
    extend(set);
    for (std::size_t i = 0; i < best_.size(); ++i) {
      std::erase_if(waiting_[i], [&](std::int64_t each) { return each <= best_[i]; });
    }
    return best_;
  }

 private:
  void extend(std::vector<std::int64_t>& set) {
    if (set.size() == waiting_.size()) {
      const auto [low, high] = std::ranges::minmax(set);
      if (high - low > window_) {
        return;
      }
      const auto [best_low, best_high] =
          best_.empty() ? std::pair(low, high + 1)
                        : std::pair(std::ranges::min(best_), std::ranges::max(best_));
      if (std::tuple(high - low, low, set) < std::tuple(best_high - best_low, best_low, best_)) {
        best_ = set;
      }
      return;
    }
    for (const std::int64_t stamp : waiting_[set.size()]) {
      if (set.size() != newest_.first || stamp == newest_.second) {
        set.push_back(stamp);
        extend(set);
        set.pop_back();
      }
    }
  }

  std::vector<std::vector<std::int64_t>> waiting_;
  const std::int64_t window_;
  std::pair<std::size_t, std::int64_t> newest_;
  std::vector<std::int64_t> best_;
};

TEST(SyncBuffer, FindsTheClosestSetOfAnyNumberOfInputs) {
  std::mt19937 random(11);
  std::size_t sets = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t inputs = 2 + random() % 4;
    const std::int64_t window = random() % 30;
    SyncListBuffer<std::int64_t> buffer(inputs, 100, SyncPolicy::kApproximate, window);
    EverySet every(inputs, window);
    std::vector<std::int64_t> last(inputs);
    for (int i = 0; i < 40; ++i) {
      const std::size_t input = random() % inputs;
      last[input] += 1 + static_cast<std::int64_t>(random() % 10);
      std::int64_t message = last[input];
      const auto expected = every.add(input, last[input]);
      ASSERT_EQ(buffer.add(input, message, last[input]), !expected.empty());
      if (expected.empty()) {
        continue;
      }
      std::vector<std::int64_t> found;
      for (const std::int64_t* each : buffer.set()) {
        found.push_back(*each);
      }
      EXPECT_EQ(found, expected);
      buffer.consume();
      ++sets;
    }
  }
  EXPECT_GT(sets, 1000U);
}

TEST(SyncBuffer, InputsOfDifferentTypesMeet) {
  SyncBuffer<int, std::string, double> buffer(3, SyncPolicy::kExact, 1000);
  int a = 1;
  std::string b = "b";
  std::string late = "late";
  double c = 0.5;
  EXPECT_FALSE(buffer.add<0>(a, 7));
  EXPECT_FALSE(buffer.add<2>(c, 7));
  EXPECT_FALSE(buffer.add<1>(late, 8));
  EXPECT_TRUE(buffer.add<1>(b, 7));
  EXPECT_EQ(buffer.get<0>(), 1);
  EXPECT_EQ(buffer.get<1>(), "b");
  EXPECT_EQ(buffer.get<2>(), 0.5);
  buffer.consume();
  EXPECT_EQ(buffer.lost(), 1U);  // the message of the second input that came before
}

TEST(SyncBuffer, NeedsTwoInputs) {
  EXPECT_THAT(
      [&] { SyncListBuffer<int>(1, 10, SyncPolicy::kExact, 0); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("a synchroniser needs at least two inputs")));
}

}  // namespace
}  // namespace rclrt

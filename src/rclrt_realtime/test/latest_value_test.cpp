// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/latest_value.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(LatestValue, GivesTheInitialValueUntilTheFirstWrite) {
  LatestValue<int> value(1, 7);
  auto reader = value.reader();
  EXPECT_FALSE(reader.changed());
  EXPECT_EQ(reader.read(), 7);
}

TEST(LatestValue, GivesEveryReaderTheNewestValueEachTime) {
  LatestValue<int> value(2);
  auto often = value.reader();
  auto seldom = value.reader();
  for (int i = 1; i <= 100; ++i) {  // many trips through all slots
    value.write(i);
    EXPECT_TRUE(often.changed());
    EXPECT_EQ(often.read(), i);
    EXPECT_FALSE(often.changed());
    EXPECT_EQ(often.read(), i);
    if (i % 10 == 0) {
      EXPECT_EQ(seldom.read(), i);
    }
  }
}

TEST(LatestValue, KeepsAViewUnchangedWhileTheWriterGoesOn) {
  LatestValue<int> value(1);
  auto reader = value.reader();
  value.write(1);
  const int& view = reader.view();
  for (int i = 2; i < 20; ++i) {
    value.write(i);
    ASSERT_EQ(view, 1);
  }
  EXPECT_EQ(reader.view(), 19);
}

TEST(LatestValue, RefusesMoreReadersThanItWasMadeForAndSaysWhatToDo) {
  LatestValue<int> value(1);
  {
    const auto reader = value.reader();
    try {
      (void)value.reader();
      FAIL() << "a second reader";
    } catch (const std::length_error& error) {
      EXPECT_STREQ(error.what(),
                   "LatestValue: all 1 readers are in use; construct it with a larger max_readers");
    }
  }
  EXPECT_NO_THROW((void)value.reader());
}

TEST(LatestValue, RefusesAReaderCountThatItsCountersCannotHold) {
  constexpr std::size_t kMost = LatestValue<int>::kMostReaders;
  EXPECT_THAT([&] { LatestValue<int>(0); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("max_readers must be 1.." + std::to_string(kMost))));
  EXPECT_THAT([&] { LatestValue<int>(kMost + 1); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("max_readers must be 1.." + std::to_string(kMost))));
  EXPECT_NO_THROW((LatestValue<int>(kMost)));
}

TEST(LatestValue, ASeatThatChangesHandsGivesTheNewestValue) {
  LatestValue<int> value(1);
  for (int i = 1; i <= 70'000; ++i) {  // more than a 16-bit count of readers without a write holds
    ASSERT_EQ(value.reader().read(), 0);
  }
  for (int i = 1; i <= 100; ++i) {
    value.write(i);
    ASSERT_EQ(value.reader().read(), i);
  }
}

TEST(LatestValue, AReaderCanBeMoved) {
  LatestValue<int> value(2);
  auto first = value.reader();
  value.write(1);
  EXPECT_EQ(first.read(), 1);
  auto moved = std::move(first);
  value.write(2);
  EXPECT_EQ(moved.read(), 2);
  auto other = value.reader();
  other = std::move(moved);
  value.write(3);
  EXPECT_EQ(other.read(), 3);
}

/// A value is torn if its words differ.
struct Wide {
  std::array<std::uint64_t, 37> words{};
};

TEST(LatestValue, ReadersSeeCompleteValuesThatNeverGoBackUnderContention) {
  constexpr int kReaders = 3;
  constexpr std::uint64_t kWrites = 20'000;
  LatestValue<Wide> value(kReaders);
  std::atomic<int> torn{0};
  std::atomic<int> went_back{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kReaders; ++i) {
    threads.emplace_back([&, reader = value.reader()]() mutable {
      std::uint64_t last = 0;
      while (last != kWrites) {  // finally sees the last write
        const Wide seen = reader.read();
        torn += std::any_of(seen.words.begin(), seen.words.end(),
                            [&](std::uint64_t word) { return word != seen.words[0]; });
        went_back += seen.words[0] < last;
        last = seen.words[0];
      }
    });
  }
  for (std::uint64_t i = 1; i <= kWrites; ++i) {
    Wide wide;
    wide.words.fill(i);
    value.write(wide);
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(torn.load(), 0);
  EXPECT_EQ(went_back.load(), 0);
}

}  // namespace
}  // namespace rclrt::realtime

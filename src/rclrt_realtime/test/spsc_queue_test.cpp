// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/spsc_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <utility>

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(SpscQueue, RoundsItsCapacityUpToAPowerOfTwo) {
  EXPECT_EQ(SpscQueue<int>(1).capacity(), 1U);
  EXPECT_EQ(SpscQueue<int>(5).capacity(), 8U);
}

TEST(SpscQueue, RefusesACapacityOfZero) {
  EXPECT_THAT([&] { SpscQueue<int>(0); }, ThrowsMessage<std::invalid_argument>(
                                              HasSubstr("SpscQueue: capacity must be at least 1")));
}

TEST(SpscQueue, GivesValuesBackInTheOrderTheyWerePushed) {
  SpscQueue<int> queue(4);
  for (int round = 0; round < 10; ++round) {  // more than one trip around the ring
    EXPECT_TRUE(queue.try_push(3 * round));
    EXPECT_TRUE(queue.try_push(3 * round + 1));
    EXPECT_TRUE(queue.try_push(3 * round + 2));
    for (int i = 0; i < 3; ++i) {
      int value = -1;
      ASSERT_TRUE(queue.try_pop(value));
      EXPECT_EQ(value, 3 * round + i);
    }
    int untouched = -1;
    EXPECT_FALSE(queue.try_pop(untouched));
    EXPECT_EQ(untouched, -1);
  }
}

TEST(SpscQueue, HoldsExactlyItsCapacityAndTakesOneAgainAfterAPop) {
  for (const std::size_t capacity : {1U, 2U, 8U}) {
    SpscQueue<std::size_t> queue(capacity);
    for (std::size_t i = 0; i < capacity; ++i) {
      EXPECT_EQ(queue.size_approx(), i);
      EXPECT_TRUE(queue.try_push(i));
    }
    EXPECT_FALSE(queue.try_push(99));
    EXPECT_EQ(queue.size_approx(), capacity);
    std::size_t value = 99;
    ASSERT_TRUE(queue.try_pop(value));
    EXPECT_EQ(value, 0U);
    EXPECT_TRUE(queue.try_push(capacity));
    EXPECT_FALSE(queue.try_push(99));
  }
}

TEST(SpscQueue, ShowsTheOldestValueInPlaceUntilItIsPopped) {
  SpscQueue<int> queue(2);
  EXPECT_EQ(queue.front(), nullptr);
  queue.try_push(1);
  queue.try_push(2);
  ASSERT_NE(queue.front(), nullptr);
  EXPECT_EQ(*queue.front(), 1);
  EXPECT_EQ(*queue.front(), 1);
  queue.pop();
  EXPECT_EQ(*queue.front(), 2);
  queue.pop();
  EXPECT_EQ(queue.front(), nullptr);
}

/// Owns a number, as another class may own a file descriptor; zero when moved from.
struct Handle {
  Handle() = default;
  explicit Handle(int n) : number(n) {}
  Handle(Handle&& other) noexcept : number(std::exchange(other.number, 0)) {}
  Handle& operator=(Handle&& other) noexcept {
    number = std::exchange(other.number, 0);
    return *this;
  }
  int number = 0;
};

TEST(SpscQueue, MovesValuesThatCannotBeCopiedAndLeavesARefusedOneAlone) {
  SpscQueue<Handle> queue(1);
  EXPECT_TRUE(queue.try_push(Handle(1)));
  Handle refused(2);
  EXPECT_FALSE(queue.try_push(std::move(refused)));
  EXPECT_EQ(refused.number, 2);  // NOLINT(bugprone-use-after-move): that is what is tested
  Handle value;
  ASSERT_TRUE(queue.try_pop(value));
  EXPECT_EQ(value.number, 1);
  EXPECT_TRUE(queue.try_push(std::move(refused)));
  EXPECT_EQ(refused.number, 0);  // NOLINT(bugprone-use-after-move)
}

TEST(SpscQueue, KeepsOrderAndLosesNothingBetweenTwoThreads) {
  constexpr std::uint64_t kValues = 100'000;
  using Item = std::array<std::uint64_t, 5>;
  SpscQueue<Item> queue(64);
  std::thread producer([&] {
    for (std::uint64_t i = 0; i < kValues; ++i) {
      while (!queue.try_push({i, i, i, i, i})) {
        std::this_thread::yield();
      }
    }
  });
  for (std::uint64_t expected = 0; expected < kValues;) {
    Item item{};
    if (!queue.try_pop(item)) {
      std::this_thread::yield();
      continue;
    }
    const Item complete{expected, expected, expected, expected, expected};
    ASSERT_EQ(item, complete);
    ++expected;
  }
  producer.join();
  EXPECT_EQ(queue.front(), nullptr);
  EXPECT_EQ(queue.size_approx(), 0U);
}

}  // namespace
}  // namespace rclrt::realtime

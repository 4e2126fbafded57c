// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/mpsc_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(MpscQueue, RoundsItsCapacityUpToAPowerOfTwo) {
  EXPECT_EQ(MpscQueue<int>(2).capacity(), 2U);
  EXPECT_EQ(MpscQueue<int>(5).capacity(), 8U);
}

TEST(MpscQueue, HasRoomForAtLeastTwoAndOverwritesNothing) {
  MpscQueue<int> queue(1);
  EXPECT_EQ(queue.capacity(), 2U);
  EXPECT_TRUE(queue.try_push(1));
  EXPECT_TRUE(queue.try_push(2));
  EXPECT_FALSE(queue.try_push(3));
  int value = 0;
  ASSERT_TRUE(queue.try_pop(value));
  EXPECT_EQ(value, 1);
}

TEST(MpscQueue, RefusesACapacityOfZero) {
  EXPECT_THAT([&] { MpscQueue<int>(0); }, ThrowsMessage<std::invalid_argument>(
                                              HasSubstr("MpscQueue: capacity must be at least 1")));
}

TEST(MpscQueue, GivesValuesBackInTheOrderOneProducerPushedThem) {
  MpscQueue<int> queue(4);
  for (int round = 0; round < 10; ++round) {  // more than one trip around the ring
    EXPECT_TRUE(queue.try_push(2 * round));
    EXPECT_TRUE(queue.try_push(2 * round + 1));
    int value = -1;
    ASSERT_TRUE(queue.try_pop(value));
    EXPECT_EQ(value, 2 * round);
    ASSERT_TRUE(queue.try_pop(value));
    EXPECT_EQ(value, 2 * round + 1);
    EXPECT_FALSE(queue.try_pop(value));
  }
}

TEST(MpscQueue, RefusesAPushWhenFullAndTakesOneAgainAfterAPop) {
  MpscQueue<int> queue(2);
  EXPECT_TRUE(queue.try_push(1));
  EXPECT_TRUE(queue.try_push(2));
  EXPECT_FALSE(queue.try_push(3));
  int value = 0;
  ASSERT_TRUE(queue.try_pop(value));
  EXPECT_TRUE(queue.try_push(4));
}

TEST(MpscQueue, KeepsEachProducersOrderAndLosesNothingUnderContention) {
  constexpr int kProducers = 4;
  constexpr int kValues = 20'000;
  struct Item {
    int producer;
    int value;
  };
  MpscQueue<Item> queue(1024);  // full 80 times: each time costs a time slice on a busy machine
  std::vector<std::thread> producers;
  for (int producer = 0; producer < kProducers; ++producer) {
    producers.emplace_back([&queue, producer] {
      for (int value = 0; value < kValues; ++value) {
        while (!queue.try_push({producer, value})) {
          std::this_thread::yield();
        }
      }
    });
  }
  std::array<int, kProducers> next{};
  for (int received = 0; received < kProducers * kValues;) {
    Item item{};
    if (!queue.try_pop(item)) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(item.value, next[static_cast<std::size_t>(item.producer)]++);
    ++received;
  }
  for (auto& thread : producers) {
    thread.join();
  }
  Item item{};
  EXPECT_FALSE(queue.try_pop(item));
}

}  // namespace
}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/byte_ring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Sends a record that contains its own size, and its number in every word.
bool send(ByteRing& ring, std::uint64_t number, std::size_t words) {
  std::byte* const to = ring.try_reserve(words * 8);
  if (to == nullptr) {
    return false;
  }
  const std::uint64_t size = words * 8;
  std::memcpy(to, &size, 8);
  for (std::size_t i = 1; i < words; ++i) {
    std::memcpy(to + i * 8, &number, 8);
  }
  ring.commit(words * 8);
  return true;
}

/// Pops the oldest record and returns the number that is in every word.
std::uint64_t receive(ByteRing& ring) {
  const std::byte* const record = ring.front();
  std::uint64_t size = 0;
  std::memcpy(&size, record, 8);
  std::uint64_t number = 0;
  std::memcpy(&number, record + 8, 8);
  for (std::size_t at = 16; at < size; at += 8) {
    EXPECT_EQ(std::memcmp(record + at, &number, 8), 0);
  }
  ring.pop(size);
  return number;
}

TEST(ByteRing, HandsOverRecordsInOrder) {
  ByteRing ring(256, 64);
  EXPECT_TRUE(send(ring, 1, 2));
  EXPECT_TRUE(send(ring, 2, 8));
  ring.refresh();
  EXPECT_EQ(receive(ring), 1U);
  EXPECT_EQ(receive(ring), 2U);
  EXPECT_EQ(ring.front(), nullptr);
}

TEST(ByteRing, ShowsNothingThatWasSentAfterTheRefresh) {
  ByteRing ring(256, 64);
  send(ring, 1, 2);
  ring.refresh();
  send(ring, 2, 2);
  EXPECT_EQ(receive(ring), 1U);
  EXPECT_EQ(ring.front(), nullptr);
  ring.refresh();
  EXPECT_EQ(receive(ring), 2U);
}

TEST(ByteRing, SendsNothingBeforeTheCommit) {
  ByteRing ring(256, 64);
  ASSERT_NE(ring.try_reserve(64), nullptr);
  ring.refresh();
  EXPECT_EQ(ring.front(), nullptr);
}

TEST(ByteRing, CountsARecordThatFindsNoRoomAndKeepsTheOthers) {
  ByteRing ring(128, 64);
  EXPECT_TRUE(send(ring, 1, 8));
  EXPECT_TRUE(send(ring, 2, 8));
  EXPECT_FALSE(send(ring, 3, 2));
  EXPECT_EQ(ring.dropped(), 1U);
  ring.refresh();
  EXPECT_EQ(receive(ring), 1U);
  EXPECT_TRUE(send(ring, 4, 8)) << "there is room again";
  ring.refresh();
  EXPECT_EQ(receive(ring), 2U);
  EXPECT_EQ(receive(ring), 4U);
}

TEST(ByteRing, KeepsARecordThatRunsPastTheEndInOnePiece) {
  ByteRing ring(128, 64);
  for (std::uint64_t number = 0; number < 1'000; ++number) {
    ASSERT_TRUE(send(ring, number, 2 + number % 7));
    ring.refresh();
    ASSERT_EQ(receive(ring), number);
  }
}

TEST(ByteRing, RefusesRecordsLargerThanItself) {
  EXPECT_THAT([&] { ByteRing(64, 65); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("ByteRing: a record must be at least 1 byte and fit the ring")));
  EXPECT_THAT([&] { ByteRing(64, 0); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("ByteRing: a record must be at least 1 byte and fit the ring")));
  EXPECT_EQ(ByteRing(65, 64).capacity(), 128U);
}

TEST(ByteRing, LosesAndTearsNothingBetweenTwoThreads) {
  constexpr std::uint64_t kRecords = 200'000;
  ByteRing ring(32 * 1024, 128);  // full 500 times: each costs a time slice on a busy machine
  std::uint64_t refused = 0;
  std::thread producer([&] {
    for (std::uint64_t number = 0; number < kRecords;) {
      if (send(ring, number, 2 + number % 15)) {
        ++number;
      } else {
        ++refused;
        std::this_thread::yield();
      }
    }
  });
  for (std::uint64_t expected = 0; expected < kRecords;) {
    ring.refresh();
    if (ring.front() == nullptr) {
      std::this_thread::yield();
    }
    while (ring.front() != nullptr) {
      ASSERT_EQ(receive(ring), expected++);
    }
  }
  producer.join();
  EXPECT_EQ(ring.dropped(), refused);
}

}  // namespace
}  // namespace rclrt::realtime

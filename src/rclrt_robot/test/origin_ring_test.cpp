// SPDX-License-Identifier: Apache-2.0
// Finds the instance that ran when a message was published.
#include "origin_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

namespace rclrt_robot::test {
namespace {

/// Returns the origin of the instance that ran at `at_ns`; -1: none did.
std::int64_t origin_at(const OriginRing& ring, std::int64_t at_ns) {
  const auto found = ring.find(at_ns);
  return found ? found->origin_ns : -1;
}

OriginRing::Place* begin(OriginRing& ring, std::int64_t start_ns, std::int64_t origin_ns) {
  OriginRing::Place* const place = ring.claim();
  if (place != nullptr) {
    OriginRing::start(*place, start_ns, origin_ns);
  }
  return place;
}

/// Adds an instance that has ended.
void add(OriginRing& ring, std::int64_t start_ns, std::int64_t end_ns, std::int64_t origin_ns) {
  OriginRing::Place* const place = begin(ring, start_ns, origin_ns);
  ASSERT_NE(place, nullptr);
  OriginRing::end(*place, end_ns);
}

TEST(OriginRing, FindsTheInstanceThatRanThen) {
  OriginRing ring;
  EXPECT_EQ(origin_at(ring, 5), -1);
  add(ring, 10, 20, 1);
  add(ring, 30, 40, 2);
  EXPECT_EQ(origin_at(ring, 9), -1);
  EXPECT_EQ(origin_at(ring, 10), 1);
  EXPECT_EQ(origin_at(ring, 20), 1);
  EXPECT_EQ(origin_at(ring, 25), -1) << "published outside of callbacks";
  EXPECT_EQ(origin_at(ring, 35), 2);
  EXPECT_EQ(origin_at(ring, 41), -1);
}

TEST(OriginRing, AnInstanceThatRunsHasNoEndYet) {
  OriginRing ring;
  OriginRing::Place* const place = begin(ring, 10, 7);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(origin_at(ring, 1'000'000), 7);
  OriginRing::end(*place, 20);
  EXPECT_EQ(origin_at(ring, 1'000'000), -1);
  EXPECT_EQ(origin_at(ring, 15), 7);
}

TEST(OriginRing, OfSeveralThatRanTheOneThatStartedLastCounts) {
  OriginRing ring;
  OriginRing::Place* const preempted = begin(ring, 10, 1);
  add(ring, 20, 30, 2);
  EXPECT_EQ(origin_at(ring, 15), 1);
  EXPECT_EQ(origin_at(ring, 25), 2);
  EXPECT_EQ(origin_at(ring, 35), 1);
  OriginRing::end(*preempted, 40);
  EXPECT_EQ(origin_at(ring, 25), 2);
  EXPECT_EQ(origin_at(ring, 40), 1);
}

TEST(OriginRing, KeepsTheLatest) {
  OriginRing ring;
  constexpr std::int64_t kAll = 3 * OriginRing::kPlaces + 7;
  for (std::int64_t i = 1; i <= kAll; ++i) {
    add(ring, 10 * i, 10 * i + 5, i);
  }
  const std::int64_t oldest = kAll - static_cast<std::int64_t>(OriginRing::kPlaces) + 1;
  for (std::int64_t i = 1; i <= kAll; ++i) {
    EXPECT_EQ(origin_at(ring, 10 * i + 3), i >= oldest ? i : -1) << i;
  }
}

TEST(OriginRing, ALongInstanceIsNotReplacedByManyShortOnes) {
  OriginRing ring;
  OriginRing::Place* const longest = begin(ring, 1, 77);
  for (std::int64_t i = 1; i <= 1'000; ++i) {
    add(ring, 10 * i, 10 * i + 5, i);
  }
  EXPECT_EQ(origin_at(ring, 10'007), 77) << "while no other one ran";
  OriginRing::end(*longest, 20'000);
  EXPECT_EQ(origin_at(ring, 15'000), 77);
}

/// A node has a long callback and a fast timer, at each position of the ring.
TEST(OriginRing, ALongInstanceDoesNotStandBeforeThoseThatStartedWithinIt) {
  OriginRing ring;
  begin(ring, 1, 77);
  for (std::int64_t i = 1; i <= 1'000; ++i) {
    add(ring, 10 * i, 10 * i + 5, i);
    for (std::int64_t back = 0; back < std::min<std::int64_t>(i, 200); ++back) {
      ASSERT_EQ(origin_at(ring, 10 * (i - back) + 3), i - back) << "after " << i;
    }
  }
}

TEST(OriginRing, OfTwoLongInstancesTheLaterOneCounts) {
  OriginRing ring;
  begin(ring, 1, 77);
  begin(ring, 2, 78);
  for (std::int64_t i = 1; i <= 600; ++i) {
    add(ring, 10 * i, 10 * i + 5, i);
    ASSERT_EQ(origin_at(ring, 10 * i + 7), 78) << "while no other one ran, after " << i;
  }
}

TEST(OriginRing, AnInstanceThatHasNotStartedIsNotThere) {
  OriginRing ring;
  add(ring, 10, 20, 1);
  OriginRing::Place* const place = ring.claim();
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(origin_at(ring, 15), 1);
  OriginRing::start(*place, 30, 2);
  EXPECT_EQ(origin_at(ring, 30), 2);
}

TEST(OriginRing, WithoutAFreePlaceAnInstanceIsNotKnown) {
  OriginRing ring;
  std::vector<OriginRing::Place*> running;
  for (std::size_t i = 0; i < OriginRing::kPlaces; ++i) {
    running.push_back(begin(ring, 1, 1));
    ASSERT_NE(running.back(), nullptr);
  }
  EXPECT_EQ(begin(ring, 2, 2), nullptr);
  for (OriginRing::Place* const each : running) {
    OriginRing::end(*each, 10);
  }
  EXPECT_NE(begin(ring, 11, 3), nullptr);
  EXPECT_EQ(origin_at(ring, 11), 3);
}

TEST(OriginRing, IsWantedUntilATime) {
  OriginRing ring;
  EXPECT_FALSE(ring.is_wanted(1));
  ring.want_until(100);
  EXPECT_TRUE(ring.is_wanted(99));
  EXPECT_FALSE(ring.is_wanted(100));
}

/// Another process may have written anything there.
TEST(OriginRing, WhateverIsInTheMemoryALookEnds) {
  static_assert(std::is_standard_layout_v<OriginRing>);
  std::mt19937_64 random(1);
  const auto ring = std::make_unique<OriginRing>();
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> words(sizeof(OriginRing) / 8);
    for (std::uint64_t& each : words) {
      each = round % 2 == 0 ? random() : random() % 1024;
    }
    std::memcpy(static_cast<void*>(ring.get()), words.data(), sizeof(OriginRing));
    const auto at_ns = static_cast<std::int64_t>(random() % 1024);
    if (const auto found = ring->find(at_ns)) {
      EXPECT_LE(found->start_ns, at_ns);
    }
    begin(*ring, 1, 2);  // may find no place
  }
}

/// Each thread's instances contain their start time, so a mixture of two would be seen.
TEST(OriginRing, ManyThreadsWriteAndReadAtOnce) {
  OriginRing ring;
  std::atomic<std::int64_t> clock{1};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> mixed{0};
  std::atomic<std::uint64_t> found{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const std::int64_t start_ns = clock.fetch_add(1);
        if (OriginRing::Place* const place = begin(ring, start_ns, -start_ns)) {
          OriginRing::end(*place, clock.fetch_add(1));
        }
      }
    });
  }
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (found < 20'000) {
        if (const auto instance = ring.find(clock.load() - 2)) {
          mixed += instance->origin_ns == -instance->start_ns ? 0 : 1;
          ++found;
        }
      }
      stop = true;
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  EXPECT_EQ(mixed, 0U);
}

}  // namespace
}  // namespace rclrt_robot::test

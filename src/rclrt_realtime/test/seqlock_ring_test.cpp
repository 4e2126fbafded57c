// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/seqlock_ring.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

namespace rclrt::realtime {
namespace {

struct Start {
  std::uint64_t id;
  std::int64_t at;
};
struct End {
  std::int64_t at;
};
constexpr End kNoEnd{INT64_MAX};

template <std::size_t places>
using FixedRing = SeqlockRing<Start, End, SeqlockRingShape{.places = places, .tries = 8}>;
using Ring = SeqlockRing<Start, End, SeqlockRingShape{.alignment = 64, .tries = 8}>;

template <typename AnyRing>
AnyRing::Place* begin(AnyRing& ring, std::uint64_t id) {
  auto* const place = ring.claim();
  if (place != nullptr) {
    AnyRing::start(*place, {id, static_cast<std::int64_t>(10 * id)}, kNoEnd);
  }
  return place;
}

/// Adds an activity that has ended.
template <typename AnyRing>
void add(AnyRing& ring, std::uint64_t id) {
  auto* const place = begin(ring, id);
  ASSERT_NE(place, nullptr);
  AnyRing::end(*place, {static_cast<std::int64_t>(10 * id + 5)});
}

template <typename AnyRing>
std::vector<std::uint64_t> ids(const AnyRing& ring) {
  std::vector<std::uint64_t> result;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    if (const auto found = ring.read(i)) {
      result.push_back(found->start.id);
    }
  }
  return result;
}

TEST(SeqlockRing, IsEmptyAtFirst) {
  const FixedRing<4> ring;
  EXPECT_TRUE(ids(ring).empty());
  EXPECT_EQ(ring.newest(), 0U);
  EXPECT_EQ(ring.size(), 4U);
}

TEST(SeqlockRing, KeepsTheLatestActivities) {
  Ring ring(4);
  for (std::uint64_t id = 0; id < 10; ++id) {
    add(ring, id);
  }
  EXPECT_EQ(ids(ring), (std::vector<std::uint64_t>{7, 8, 9, 6}));  // tickets begin at 1
  EXPECT_EQ(ring.newest(), 10U);
  const auto latest = ring.read(ring.newest());
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->ticket, 10U);
  EXPECT_EQ(latest->start.at, 90);
  EXPECT_EQ(latest->end.at, 95);
}

TEST(SeqlockRing, AClaimedPlaceIsReadOnceItsActivityHasStarted) {
  FixedRing<2> ring;
  auto* const place = ring.claim();
  ASSERT_NE(place, nullptr);
  EXPECT_FALSE(ring.read(1));
  ring.start(*place, {7, 70}, kNoEnd);
  ASSERT_TRUE(ring.read(1));
  EXPECT_EQ(ring.read(1)->end.at, INT64_MAX);
  ring.end(*place, {80});
  EXPECT_EQ(ring.read(1)->end.at, 80);
}

TEST(SeqlockRing, SkipsThePlacesOfRunningActivities) {
  FixedRing<3> ring;
  ASSERT_NE(begin(ring, 77), nullptr);
  for (std::uint64_t id = 0; id < 10; ++id) {
    add(ring, id);
  }
  EXPECT_EQ(ids(ring), (std::vector<std::uint64_t>{9, 77, 8}));
}

TEST(SeqlockRing, RefusesAnActivityWhenAllTriedPlacesRun) {
  FixedRing<2> ring;
  auto* const first = begin(ring, 1);
  ASSERT_NE(begin(ring, 2), nullptr);
  EXPECT_EQ(ring.claim(), nullptr);
  FixedRing<2>::end(*first, {15});
  EXPECT_NE(begin(ring, 3), nullptr);
  EXPECT_EQ(ids(ring), (std::vector<std::uint64_t>{2, 3}));
}

TEST(SeqlockRing, APlaceHasTheAlignmentThatWasAskedFor) {
  EXPECT_EQ(alignof(Ring::Place), 64U);
  EXPECT_EQ(sizeof(FixedRing<2>::Place), 4 * sizeof(std::uint64_t));
}

/// The memory of a ring with a fixed size may be shared with a process that writes anything.
TEST(SeqlockRing, WithAnyContentEveryOperationEnds) {
  using Shared = FixedRing<8>;
  static_assert(std::is_standard_layout_v<Shared>);
  std::mt19937_64 random(1);
  const auto ring = std::make_unique<Shared>();
  for (int round = 0; round < 1'000; ++round) {
    std::vector<std::uint64_t> words(sizeof(Shared) / 8);
    for (std::uint64_t& each : words) {
      each = round % 2 == 0 ? random() : random() % 64;
    }
    std::memcpy(static_cast<void*>(ring.get()), words.data(), sizeof(Shared));
    EXPECT_LE(ids(*ring).size(), ring->size());
    ring->read(ring->newest());
    if (auto* const place = begin(*ring, 1)) {  // there may be no place
      Shared::end(*place, {15});
    }
  }
}

TEST(SeqlockRing, ReadersGetNoMixtureOfTwoActivities) {
  FixedRing<1> ring;  // each read happens during a write
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (std::uint64_t thread = 0; thread < 2; ++thread) {
    writers.emplace_back([&, thread] {
      for (std::uint64_t id = thread; !stop; id += 2) {
        if (auto* const place = begin(ring, id)) {
          FixedRing<1>::end(*place, {static_cast<std::int64_t>(10 * id + 5)});
        }
      }
    });
  }
  for (int seen = 0; seen < 300'000;) {
    if (const auto found = ring.read(0)) {
      ++seen;
      const auto start = static_cast<std::int64_t>(10 * found->start.id);
      ASSERT_EQ(found->start.at, start);
      ASSERT_TRUE(found->end.at == INT64_MAX || found->end.at == start + 5);
    }
  }
  stop = true;
  for (auto& writer : writers) {
    writer.join();
  }
}

}  // namespace
}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/sampled_value.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "rclrt/realtime/stamp.hpp"

namespace rclrt::realtime {
namespace {

TEST(SampledValue, HasTheInitialValueAndNoAgeUntilSomethingIsStored) {
  SampledValue<int> value(1, 7);
  auto reader = value.reader();
  EXPECT_FALSE(reader.view().is_stored());
  EXPECT_EQ(reader.view().value, 7);
  EXPECT_EQ(reader.view().age_ns(), 0);
}

TEST(SampledValue, TellsTheAgeOfTheOrigin) {
  SampledValue<int> value(1);
  auto reader = value.reader();
  const std::int64_t origin_ns = monotonic_now_ns() - 1'000'000'000;
  value.store(3, {origin_ns, true});
  const Sample<int>& sample = reader.view();
  EXPECT_EQ(sample.value, 3);
  EXPECT_EQ(sample.origin.since_ns, origin_ns);
  EXPECT_TRUE(sample.origin.is_whole);
  const std::int64_t age_ns = sample.age_ns();
  EXPECT_GE(age_ns, 1'000'000'000);
  EXPECT_LE(age_ns, monotonic_now_ns() - origin_ns);
}

TEST(SampledValue, NumbersTellWhatWasReadAgainAndWhatWasNeverRead) {
  SampledValue<int> value(1);
  auto reader = value.reader();
  value.store(10, {1, true});
  EXPECT_EQ(reader.view().number, 1U);
  EXPECT_EQ(reader.view().number, 1U);  // over-sampled
  value.store(20, {2, true});
  value.store(30, {3, true});
  EXPECT_EQ(reader.view().number, 3U);  // number 2 was replaced
}

/// The value of a sample, its origin and its number follow from each other, so a reader detects a
/// mixture of two samples.
struct Big {
  std::array<std::int64_t, 8> parts{};
};
Big big(std::int64_t number) {
  Big result;
  result.parts.fill(number);
  return result;
}

TEST(SampledValue, ThreadsAlwaysReadAValueWithItsOwnOrigin) {
  constexpr int kReaders = 2;
  constexpr std::int64_t kStores = 20'000;
  SampledValue<Big> value(kReaders);
  std::atomic<bool> mixed{false};
  std::atomic<bool> backwards{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&, reader = value.reader()]() mutable {
      for (std::uint64_t last = 0; last < kStores;) {
        const Sample<Big>& sample = reader.view();
        const auto number = static_cast<std::int64_t>(sample.number);
        for (const std::int64_t part : sample.value.parts) {
          mixed = mixed || part != number || sample.origin.since_ns != 1000 * number;
        }
        backwards = backwards || sample.number < last;
        last = sample.number;
      }
    });
  }
  for (std::int64_t i = 1; i <= kStores; ++i) {
    value.store(big(i), {1000 * i, true});
  }
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_FALSE(mixed);
  EXPECT_FALSE(backwards);
}

struct Time {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
};
struct Header {
  Time stamp;
};
struct Message {
  Header header;
};

TEST(Stamp, OfAMessageIsAsOldOnTheMonotonicClock) {
  constexpr std::int64_t kLess_ns = -1'000'000'000'000;  // 1000 s after the start it is 2000 s
  constexpr std::int64_t kNow_ns = 1'000'000'000'000;
  const std::int64_t at_ns = stamp_ns(Message{{{1999, 500'000'000}}});
  EXPECT_EQ(stamp_to_monotonic_ns(at_ns, kLess_ns, kNow_ns), kNow_ns - 500'000'000);
}

TEST(Stamp, ThatIsImpossibleIsNotUsed) {
  const std::int64_t less_ns = monotonic_less_realtime_ns();
  const std::int64_t now_ns = monotonic_now_ns();
  const std::int64_t now_realtime_ns = now_ns - less_ns;
  EXPECT_EQ(stamp_to_monotonic_ns(stamp_ns(Message{}), less_ns, now_ns), std::nullopt);
  EXPECT_EQ(stamp_to_monotonic_ns(now_realtime_ns + 1'000'000'001, less_ns, now_ns), std::nullopt);
  EXPECT_EQ(stamp_to_monotonic_ns(1'000'000'000, less_ns, now_ns), std::nullopt);  // 1970
  // The clock of another machine may be a little ahead; nothing is younger than now.
  EXPECT_EQ(stamp_to_monotonic_ns(now_realtime_ns + 999'999'999, less_ns, now_ns), now_ns);
}

TEST(Stamp, FromBeforeTheStartOfTheMachineIsTheOldestTimeThereIs) {
  constexpr std::int64_t kLess_ns = -1'000'000'000'000;
  EXPECT_EQ(stamp_to_monotonic_ns(999'000'000'000, kLess_ns, 5), 1);
}

TEST(OlderOrigin, IsTheOldestOfThoseThatAreKnownAndWholeIfAllAre) {
  const auto is = [](Origin origin, std::int64_t since_ns, bool is_whole) {
    return origin.since_ns == since_ns && origin.is_whole == is_whole;
  };
  EXPECT_TRUE(is(older({5, true}, {7, true}), 5, true));
  EXPECT_TRUE(is(older({7, true}, {5, false}), 5, false));
  EXPECT_TRUE(is(older({}, {5, true}), 5, true));
  EXPECT_TRUE(is(older({5, true}, {}), 5, true));
  EXPECT_TRUE(is(older({}, {}), 0, false));
}

}  // namespace
}  // namespace rclrt::realtime

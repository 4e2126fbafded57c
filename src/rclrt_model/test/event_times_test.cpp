// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/event_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace rclrt::model {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

Event event_of(Nanoseconds min_interval, Nanoseconds max_interval) {
  Event event;
  event.min_interval = min_interval;
  event.max_interval = max_interval;
  return event;
}

std::vector<Nanoseconds> first(std::size_t count, const Event& event, std::string_view id) {
  EventTimes times(event, id);
  std::vector<Nanoseconds> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(times.next());
  }
  return result;
}

TEST(EventTimes, AreTheSameOnEveryMachine) {
  // From a second implementation of FNV-1a and SplitMix64 in Python.
  const std::vector<Nanoseconds> expected{13'391'721ns, 58'596'211ns, 96'339'368ns};
  EXPECT_EQ(first(3, event_of(20ms, 50ms), "bumper"), expected);
}

TEST(EventTimes, AreFromTheShortestToTheLongestIntervalApart) {
  const auto times = first(10'000, event_of(20ms, 50ms), "bumper");
  EXPECT_LT(times.front(), 50ms);
  Nanoseconds shortest = 1h;
  Nanoseconds longest{};
  for (std::size_t i = 1; i < times.size(); ++i) {
    shortest = std::min(shortest, times[i] - times[i - 1]);
    longest = std::max(longest, times[i] - times[i - 1]);
  }
  EXPECT_GE(shortest, 20ms);
  EXPECT_LT(shortest, 20'100us);
  EXPECT_LE(longest, 50ms);
  EXPECT_GT(longest, 49'900us);
  // The mean of 9999 uniform intervals is within six standard errors of 35 ms.
  const auto whole = static_cast<double>((times.back() - times.front()).count());
  EXPECT_NEAR(whole / 9999, 35e6, 6 * 8.66e6 / 100);
}

TEST(EventTimes, BeginAtTheOffsetAndKeepAConstantInterval) {
  Event event = event_of(20ms, 20ms);
  event.offset = 3ms;
  EXPECT_EQ(first(3, event, "bumper"), (std::vector<Nanoseconds>{3ms, 23ms, 43ms}));
}

TEST(EventTimes, DifferBySeedAndById) {
  const Event event = event_of(20ms, 50ms);
  Event other = event;
  other.seed = 1;
  EXPECT_NE(first(3, event, "bumper"), first(3, other, "bumper"));
  EXPECT_NE(first(3, event, "bumper"), first(3, event, "button"));
}

TEST(EventTimes, EndAtTheLastNanosecondInsteadOfOverflowing) {
  Event event = event_of(1h, 1h);
  event.offset = Nanoseconds::max() - 90min;
  EXPECT_EQ(first(4, event, "bumper").back(), Nanoseconds::max());
}

TEST(EventTimes, RefuseIntervalsThatAreNotPositiveAndAscending) {
  EXPECT_THAT([&] { EventTimes(event_of(2ms, 1ms), "bumper"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "the intervals of event 'bumper' are not positive and in ascending order")));
  EXPECT_THAT([&] { EventTimes(Event{}, "bumper"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "the intervals of event 'bumper' are not positive and in ascending order")));
}

/// A camera of 30 Hz that is up to 10 ms late.
Event camera() {
  Event event = event_of(23ms, 43ms);
  event.period = 33ms;
  event.jitter = 10ms;
  return event;
}

/// Four a period, within 300 ms of their nominal times and at least 2 ms apart.
Event burst() {
  Event event = event_of(2ms, 400ms);
  event.period = 100ms;
  event.jitter = 300ms;
  return event;
}

/// Checks that no `count` releases are within less time than the event allows.
void expect_within(const Event& event, const std::vector<Nanoseconds>& times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (std::size_t k = i + 1; k < std::min(times.size(), i + 20); ++k) {
      const auto between = static_cast<std::int64_t>(k - i);
      ASSERT_GE(times[k] - times[i], between * event.min_interval) << i << " " << k;
      ASSERT_GE(times[k] - times[i], between * event.period - event.jitter) << i << " " << k;
      ASSERT_LE(times[k] - times[i], between * event.period + event.jitter) << i << " " << k;
    }
  }
}

TEST(EventTimes, OfAPeriodDoNotAccumulateTheirJitter) {
  for (Event event : {camera(), burst()}) {
    event.offset = 5ms;
    const auto times = first(10'000, event, "camera");
    expect_within(event, times);
    Nanoseconds least = 1h;
    Nanoseconds most{};
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Nanoseconds late = times[i] - 5ms - static_cast<std::int64_t>(i) * event.period;
      least = std::min(least, late);
      most = std::max(most, late);
    }
    EXPECT_GE(least, 0ms);
    EXPECT_LT(least, event.jitter / 100);
    EXPECT_LE(most, event.jitter);
    EXPECT_GT(most, event.jitter * 99 / 100);
  }
}

TEST(EventTimes, OfTheDensestReleasesBeginWithABunch) {
  Event event = camera();
  event.offset = 0ms;
  event.seed = Event::kDensest;
  EXPECT_EQ(first(4, event, "camera"), (std::vector<Nanoseconds>{0ms, 23ms, 56ms, 89ms}));
  expect_within(event, first(1'000, event, "camera"));
  event = burst();
  event.offset = 0ms;
  event.seed = Event::kDensest;
  EXPECT_EQ(first(6, event, "camera"),
            (std::vector<Nanoseconds>{0ms, 2ms, 4ms, 6ms, 100ms, 200ms}));
  expect_within(event, first(1'000, event, "camera"));
}

// The release at 250 is one of the nominal time 50 + 100: it may be 100 late, which is a period.
TEST(EventTimes, OfTheDensestReleasesComeOnTimeBeforeALaterBunch) {
  Event event = burst();
  event.offset = event.jitter + 250ms;
  event.seed = Event::kDensest;
  const auto times = first(1'000, event, "camera");
  EXPECT_EQ(times[0], 50ms);
  EXPECT_EQ(times[1], 150ms);
  EXPECT_EQ(times[2], event.jitter + 250ms);
  EXPECT_EQ(times[3], event.jitter + 252ms);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Nanoseconds lateness = times[i] - 50ms - static_cast<std::int64_t>(i) * event.period;
    EXPECT_GE(lateness, 0ms);
    EXPECT_LE(lateness, event.jitter);
  }
}

TEST(EventTimes, AtTheExtremesHaveOnlyTheShortestAndLongestIntervals) {
  Event event{
      .min_interval = 10ms, .max_interval = 30ms, .offset = 5ms, .seed = EventTimes::kExtremes};
  const auto times = first(1'000, event, "scan");
  EXPECT_EQ(times.front(), 5ms);
  std::size_t longest = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const Nanoseconds interval = times[i] - times[i - 1];
    EXPECT_TRUE(interval == 10ms || interval == 30ms) << interval.count();
    longest += interval == 30ms ? 1U : 0U;
  }
  EXPECT_GT(longest, 400U);
  EXPECT_LT(longest, 600U);
  event.seed = EventTimes::kExtremes + 1;
  EXPECT_NE(first(1'000, event, "scan"), times);
}

TEST(EventTimes, AtTheExtremesAreOnTimeOrAsLateAsTheyMayBe) {
  Event event = camera();
  event.offset = 5ms;
  event.seed = EventTimes::kExtremes;
  const auto times = first(1'000, event, "camera");
  expect_within(event, times);
  std::size_t late = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Nanoseconds lateness = times[i] - 5ms - static_cast<std::int64_t>(i) * event.period;
    EXPECT_TRUE(lateness == 0ms || lateness == event.jitter) << lateness.count();
    late += lateness == event.jitter ? 1U : 0U;
  }
  EXPECT_GT(late, 400U);
  EXPECT_LT(late, 600U);
}

TEST(EventTimes, RefuseAnIntervalThatDoesNotFitThePeriod) {
  Event event = camera();
  event.min_interval = 22ms;
  EXPECT_THAT(
      [&] { EventTimes(event, "camera"); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("does not fit its period and jitter")));
  event.min_interval = 34ms;
  EXPECT_THROW(EventTimes(event, "camera"), std::invalid_argument);
}

}  // namespace
}  // namespace rclrt::model

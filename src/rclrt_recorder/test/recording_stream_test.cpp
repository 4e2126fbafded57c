// SPDX-License-Identifier: Apache-2.0
// Recordings that stream count as recordings that keep everything, with the application that is
// known by then.
#include "rclrt/recorder/recording_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "found_robot.hpp"

namespace rclrt::recorder {
namespace {

RunResults streamed(const RunResults& begin, std::span<const LoggedInstance> instances,
                    const std::vector<bool>& going_on) {
  RunResults frame = begin;
  RecordingStream stream(frame, 2, false, kSmall);
  add_in_portions(stream, instances);
  RunResults results = frame;
  stream.finish(results, going_on);
  return results;
}

/// Moves an instance.
void move_by(LoggedInstance& instance, std::int64_t by_ns) {
  for (std::int64_t* const each : {&instance.record.release_ns, &instance.record.ready_ns,
                                   &instance.record.start_ns, &instance.record.end_ns}) {
    *each += by_ns;
  }
  if (instance.published_ns > 0) {
    instance.published_ns += by_ns;
  }
}

model::Timer timer_of(const RunResults& results, std::size_t callback) {
  return std::get<model::Timer>(results.application.callbacks[callback].trigger);
}

TEST(RecordingStream, CountsAsARecordingThatKeepsEverything) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    auto random = repeatable_random(seed);
    const std::int64_t periods = 300 + static_cast<std::int64_t>(random() % 900);
    const auto instances = robot_run(random, periods);
    const RunResults frame = frame_of(stated_robot(), periods * kRobotPeriod - 31 * kMs / 10);
    const std::vector<bool> all(frame.application.callbacks.size(), true);
    const RunResults exact = recorded(frame, instances, all);
    ASSERT_GT(exact.chains[0].dropped, 0U);
    ASSERT_GT(exact.chains[0].missed, exact.chains[0].dropped);
    const RunResults found = streamed(frame, instances, all);
    expect_same_counts(found, exact);
    EXPECT_EQ(found.streamed->instances, instances.size());
    for (const std::size_t timer : {kLidar, kNoise}) {
      EXPECT_EQ(timer_of(found, timer).offset, timer_of(exact, timer).offset);
      EXPECT_EQ(timer_of(found, timer).overrun, timer_of(exact, timer).overrun);
    }
  }
}

TEST(RecordingStream, ATimerThatHasStoppedIsNotLateAndOneThatStarvesIs) {
  auto random = repeatable_random(1);
  auto instances = robot_run(random, 1000);
  std::erase_if(instances, [](const LoggedInstance& one) {
    return one.record.callback == kLidar && one.record.release_ns > kStart + 5'000 * kMs;
  });
  const RunResults frame = frame_of(stated_robot(), 10'000 * kMs);
  for (const bool goes_on : {false, true}) {
    const std::vector<bool> going_on{goes_on, true, true, true};
    const RunResults exact = recorded(frame, instances, going_on);
    const RunResults found = streamed(frame, instances, going_on);
    if (goes_on) {
      expect_same_counts(found, exact);
      EXPECT_GT(found.chains[0].pending, 480U);
      continue;
    }
    // One that keeps everything does not count releases of a stopped timer without a run.
    EXPECT_EQ(found.chains[0].released, 500U);
    EXPECT_EQ(found.chains[0].completed, exact.chains[0].completed);
    EXPECT_EQ(found.chains[0].pending, exact.chains[0].pending);
    EXPECT_LE(found.chains[0].pending, 2U);
    EXPECT_EQ(timer_of(found, kLidar).overrun, model::OverrunPolicy::kRebase);
  }
}

TEST(RecordingStream, ARobotThatHangsIsShownAsHanging) {
  auto random = repeatable_random(2);
  RobotSource source(random, true);
  std::vector<LoggedInstance> instances;
  for (int i = 0; i < 300; ++i) {
    source.next(instances);
  }
  RunResults frame = frame_of(stated_robot(), 0);
  RecordingStream stream(frame, 2, false, kSmall);
  add_in_portions(stream, instances);
  EXPECT_GT(stream.held().waiting, 0U) << "without the time, the latest second waits";
  const std::int64_t now_ns = kStart + 10'000 * kMs;  // it has hung for seven seconds
  RunResults found = frame;
  found.window.end_ns = stream.advance(now_ns);
  EXPECT_EQ(found.window.end_ns, now_ns - 1'500 * kMs);
  EXPECT_EQ(stream.held().waiting, 0U);
  stream.fill(found, std::vector<bool>(4, true));
  require_consistent(found);
  EXPECT_EQ(found.chains[0].completed, 300U);
  EXPECT_EQ(found.chains[0].released, 850U);
  EXPECT_EQ(found.chains[1].completed, 600U);
  EXPECT_EQ(found.streamed->instances, instances.size());
  // It goes on later as if nothing had been asked.
  const std::size_t before = instances.size();
  for (int i = 300; i < 400; ++i) {
    source.next(instances);
  }
  for (std::size_t i = before; i < instances.size(); ++i) {
    move_by(instances[i], 10'000 * kMs);
  }
  add_in_portions(stream, std::span(instances).subspan(before));
  found = frame;
  found.window.end_ns = kStart + 14'000 * kMs;
  stream.finish(found, std::vector<bool>(4, true));
  EXPECT_EQ(found.chains[0].completed, 400U);
}

TEST(RecordingStream, ATimerThatStarvesForHoursNeedsNoMoreMemory) {
  auto random = repeatable_random(2);
  RobotSource source(random, true);
  std::vector<LoggedInstance> instances;
  for (int i = 0; i < 300; ++i) {
    source.next(instances);
  }
  const std::size_t early = instances.size();
  constexpr std::int64_t kHours = 5 * 3600 * 1000 * kMs;
  for (std::size_t i = 0; i < 300; ++i) {  // it runs again hours later, on its grid
    LoggedInstance late = instances.front();
    late.record.callback = kLidar;
    late.record.release_ns = late.record.ready_ns =
        kStart + 3 * kMs + kHours + static_cast<std::int64_t>(i) * kRobotPeriod;
    late.record.start_ns = late.record.release_ns;
    late.record.end_ns = late.record.start_ns + kMs;
    instances.push_back(late);
  }
  model::Application application = stated_robot();
  application.chains[0].callbacks = {kLidar};
  RunResults frame = frame_of(application, kHours + 310 * kRobotPeriod);
  RecordingStream stream(frame, 2, false, kSmall);
  std::size_t most = 0;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    stream.add(std::span(instances).subspan(i, 1));
    if (i + 1 >= early) {
      stream.advance();
      most = std::max(most, stream.held().run.chain_instances);
    }
  }
  // As many as may be open, and as many that are settled, for each chain.
  EXPECT_LE(most, 4 * 16'384U);
  RunResults results = frame;
  stream.finish(results, std::vector<bool>(4, true));
  const auto releases = static_cast<std::uint64_t>(kHours / kRobotPeriod);
  EXPECT_EQ(results.chains[0].released, releases + 310);
  EXPECT_EQ(results.chains[0].dropped, releases - 300);
  EXPECT_EQ(results.chains[0].pending, 10U);
}

TEST(RecordingStream, ATimerThatWasResetCountsFromItsNewGrid) {
  const model::Application application = stated_robot();
  RunResults frame = frame_of(application, 2'000 * kMs);
  std::vector<LoggedInstance> instances;
  const auto add = [&](std::int64_t release_ns) {
    LoggedInstance& added = instances.emplace_back();
    added.record = ran(kNoise, release_ns, release_ns + kMs, {});
    added.record.id = instances.size();
  };
  for (std::int64_t i = 0; i < 100; ++i) {
    add(kStart + i * 5 * kMs);
  }
  // After a reset each second release is not served.
  for (std::int64_t i = 0; i < 100; ++i) {
    add(kStart + 777'777'777 + i * kRobotPeriod);
  }
  const RunResults found = streamed(frame, instances, {true, true, true, true});
  EXPECT_EQ(found.chains[1].completed, 200U);
  EXPECT_EQ(found.chains[1].dropped, 99U);
  EXPECT_EQ(timer_of(found, kNoise).overrun, model::OverrunPolicy::kRebase);
}

TEST(RecordingStream, AnInstanceThatEndsAfterItCountedAsDroppedDoesNotCountAgain) {
  RunResults frame = frame_of(stated_robot(), 10'000 * kMs);
  std::vector<LoggedInstance> instances;
  constexpr std::int64_t kLong = 300;  // a reentrant callback: the later instances run beside it
  for (std::int64_t i = 0; i < 2'000; ++i) {
    const std::int64_t release_ns = kStart + i * 5 * kMs;
    LoggedInstance& added = instances.emplace_back();
    added.record = ran(kNoise, release_ns, release_ns + (i == kLong ? 5'000 : 1) * kMs, {});
    added.record.id = instances.size();
  }
  std::ranges::stable_sort(instances, {}, [](const auto& one) { return one.record.end_ns; });
  const RunResults found = streamed(frame, instances, {true, true, true, true});
  EXPECT_EQ(found.chains[1].released, 2'000U);
  EXPECT_EQ(found.chains[1].completed, 1'999U);
  EXPECT_EQ(found.chains[1].dropped, 1U);
  EXPECT_EQ(found.chains[1].missed, 1U);
}

TEST(RecordingStream, WhatAppearsLateCountsFromThen) {
  auto random = repeatable_random(5);
  const auto instances = robot_run(random, 1000);
  const std::int64_t late_ns = kStart + 6'000 * kMs;
  std::vector<LoggedInstance> visible;
  std::ranges::copy_if(instances, std::back_inserter(visible), [&](const LoggedInstance& one) {
    return one.record.callback == kNoise || one.record.release_ns >= late_ns;
  });
  // First only the noise is there; it is number 0 then.
  model::Application later = stated_robot();
  std::ranges::rotate(later.callbacks, later.callbacks.begin() + kNoise);
  std::ranges::reverse(later.chains);
  later.chains[0].callbacks = {0};
  later.chains[1].callbacks = {1, 2, 3};
  for (LoggedInstance& each : visible) {
    each.record.callback = each.record.callback == kNoise ? 0 : each.record.callback + 1;
  }
  const RunResults whole = frame_of(later, 10'000 * kMs);
  const RunResults exact = recorded(whole, visible, std::vector<bool>(4, true));

  RunResults frame = whole;
  frame.application.nodes.resize(1);
  frame.application.callbacks.resize(1);
  frame.application.chains.resize(1);
  frame.kernel_priorities.resize(1);
  RecordingStream stream(frame, 2, false, kSmall);
  const auto first = std::ranges::find_if(
      visible, [](const LoggedInstance& one) { return one.record.callback != 0; });
  add_in_portions(stream, {visible.begin(), first});
  RunResults early = frame;
  early.window.end_ns = late_ns - 2'000 * kMs;
  stream.fill(early, {true});
  EXPECT_EQ(early.chains.size(), 1U);
  require_consistent(early);

  frame.application = later;
  stream.grow();
  add_in_portions(stream, {first, visible.end()});
  RunResults found = frame;
  stream.finish(found, std::vector<bool>(4, true));
  expect_same_counts(found, exact);
  EXPECT_GT(found.chains[1].released, 390U);
  EXPECT_LE(found.chains[1].released, 400U);
  EXPECT_FALSE(found.misses.empty());
}

}  // namespace
}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/lineage.hpp"

#include <gtest/gtest.h>

#include <rclrt/model/parse.hpp>
#include <string>
#include <vector>

namespace rclrt::recorder {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 1'000 * kMs;

enum Callback : std::uint32_t { kScan, kFilter, kBrake, kManual };

model::Application robot() {
  return model::parse_application(R"(
rclrt: 1
name: robot
nodes: [{name: lidar}, {name: planner}]
callbacks:
  - {id: scan, node: lidar, timer: {period_ms: 10}, wcet_ms: 1, publishes: [points]}
  - {id: filter, node: planner, subscription: {topic: points}, wcet_ms: 1, publishes: [stop]}
  - {id: brake, node: planner, subscription: {topic: stop}, wcet_ms: 1}
  - {id: manual, node: planner, timer: {period_ms: 10}, wcet_ms: 1, publishes: [stop]}
chains:
  - {id: obstacle, callbacks: [scan, filter, brake], priority: 2, deadline_ms: 10}
  - {id: by_hand, callbacks: [manual, brake], priority: 1, deadline_ms: 10}
)")
      .application.value();
}

/// Returns an instance that ran from `start_ms` to `end_ms` after the window's start. It was
/// released at its start unless a release is given, and its message was published at
/// `published_ms`.
LoggedInstance ran(Callback callback, std::int64_t start_ms, std::int64_t end_ms,
                   std::int64_t published_ms = -1, std::int64_t release_ms = -1) {
  LoggedInstance result;
  result.record.callback = callback;
  result.record.start_ns = kStart + start_ms * kMs;
  result.record.end_ns = kStart + end_ms * kMs;
  result.record.release_ns = release_ms < 0 ? result.record.start_ns : kStart + release_ms * kMs;
  result.published_ns = published_ms < 0 ? 0 : kStart + published_ms * kMs;
  return result;
}

std::vector<ChainToken> tokens_of(const LoggedInstance& instance) {
  const auto all = instance.record.tokens.all();
  return {all.begin(), all.end()};
}

constexpr RunWindow kWindow{kStart, kStart + 100 * kMs};
std::vector<bool> none_goes_on() { return std::vector<bool>(4, false); }

model::OverrunPolicy overrun_of(const model::Application& application, Callback callback) {
  return std::get<model::Timer>(application.callbacks[callback].trigger).overrun;
}

TEST(Lineage, AMessageIsOfWhoRanWhenItWasPublished) {
  model::Application application = robot();
  std::vector<LoggedInstance> instances{ran(kScan, 3, 4, -1, 3), ran(kFilter, 4, 6, 4),
                                        ran(kBrake, 6, 7, 6), ran(kScan, 13, 15, -1, 13),
                                        ran(kFilter, 15, 16, 14)};
  follow_chains(application, kWindow, instances, none_goes_on());
  const ChainToken first{0, 0, kStart + 3 * kMs};
  const ChainToken second{0, 1, kStart + 13 * kMs};
  EXPECT_EQ(tokens_of(instances[0]), std::vector{first});
  EXPECT_EQ(tokens_of(instances[1]), std::vector{first});
  EXPECT_EQ(tokens_of(instances[2]), std::vector{first});
  EXPECT_EQ(tokens_of(instances[3]), std::vector{second});
  EXPECT_EQ(tokens_of(instances[4]), std::vector{second});
}

TEST(Lineage, OfTwoPublishersThatAreInTheirCallbacksItIsTheOneThatPreempted) {
  model::Application application = robot();
  std::vector<LoggedInstance> instances{ran(kScan, 0, 1), ran(kFilter, 1, 9, 1), ran(kManual, 3, 5),
                                        ran(kBrake, 5, 6, 4), ran(kBrake, 9, 10, 8)};
  follow_chains(application, kWindow, instances, none_goes_on());
  EXPECT_EQ(tokens_of(instances[3]), (std::vector<ChainToken>{{1, 0, kStart + 3 * kMs}}));
  EXPECT_EQ(tokens_of(instances[4]), (std::vector<ChainToken>{{0, 0, kStart}}));
}

TEST(Lineage, AMessageIsNotOfTheInstanceThatFollowsAMomentLater) {
  model::Application application = robot();
  std::vector<LoggedInstance> instances{ran(kScan, 0, 12, -1, 0), ran(kScan, 12, 13, -1, 10),
                                        ran(kFilter, 13, 14)};
  instances[2].published_ns = kStart + 12 * kMs - 5'000;
  instances[0].record.end_ns = kStart + 12 * kMs - 2'000;
  follow_chains(application, kWindow, instances, none_goes_on());
  EXPECT_EQ(tokens_of(instances[2]), (std::vector<ChainToken>{{0, 0, kStart}}));
}

TEST(Lineage, ATimeOfPublicationMayBeAMomentOff) {
  model::Application application = robot();
  std::vector<LoggedInstance> instances{ran(kScan, 0, 1), ran(kFilter, 2, 3), ran(kScan, 10, 11),
                                        ran(kFilter, 12, 13)};
  instances[1].published_ns = kStart - 5'000;
  instances[3].published_ns = kStart + 11 * kMs + 5'000;
  follow_chains(application, kWindow, instances, none_goes_on());
  EXPECT_EQ(tokens_of(instances[1]), (std::vector<ChainToken>{{0, 0, kStart}}));
  EXPECT_EQ(tokens_of(instances[3]), (std::vector<ChainToken>{{0, 1, kStart + 10 * kMs}}));
}

TEST(Lineage, ATimerOfAnotherHostIsRegularOnItsOwnClock) {
  model::Application application = robot();
  // Its clock is faster by 1 part in 100, and 5 s ahead. The third release never ran.
  std::vector<LoggedInstance> instances;
  std::vector<std::int64_t> local;
  for (const std::int64_t number : {0, 1, 3}) {
    instances.push_back(ran(kScan, 10 * number, 10 * number + 1));
    instances.back().record.release_ns -= number * 100'000;
    instances.back().record.start_ns -= number * 100'000;
    local.push_back(kStart + 10 * number * kMs + 5'000 * kMs);
  }
  follow_chains(application, kWindow, instances, none_goes_on(), local);
  EXPECT_EQ(tokens_of(instances[1]).at(0).instance, 1U);
  EXPECT_EQ(tokens_of(instances[2]).at(0).instance, 3U);
  EXPECT_EQ(tokens_of(instances[2]).at(0).release_ns, instances[2].record.release_ns);
  EXPECT_EQ(overrun_of(application, kScan), model::OverrunPolicy::kRebase);
}

TEST(Lineage, AMessageFromElsewhereBringsNothing) {
  model::Application application = robot();
  std::vector<LoggedInstance> instances{ran(kScan, 0, 1), ran(kFilter, 4, 5, 3),
                                        ran(kFilter, 6, 7)};
  follow_chains(application, kWindow, instances, none_goes_on());
  EXPECT_TRUE(tokens_of(instances[1]).empty());
  EXPECT_TRUE(tokens_of(instances[2]).empty());
}

TEST(Lineage, AReleaseThatWasSkippedIsCounted) {
  model::Application application = robot();
  std::vector<LoggedInstance> instances{ran(kScan, 3, 4, -1, 3), ran(kScan, 34, 35, -1, 33)};
  follow_chains(application, kWindow, instances, none_goes_on());
  EXPECT_EQ(tokens_of(instances[1]), (std::vector<ChainToken>{{0, 3, kStart + 33 * kMs}}));
  const auto& timer = std::get<model::Timer>(application.callbacks[kScan].trigger);
  EXPECT_EQ(timer.offset, std::chrono::milliseconds(3));
  EXPECT_EQ(timer.overrun, model::OverrunPolicy::kCatchUp);
}

TEST(Lineage, ATimerOffItsGridIsCountedAsItCame) {
  model::Application application = robot();
  std::vector<LoggedInstance> instances{ran(kScan, 3, 4, -1, 3), ran(kScan, 17, 18, -1, 17)};
  follow_chains(application, kWindow, instances, none_goes_on());
  EXPECT_EQ(tokens_of(instances[1]), (std::vector<ChainToken>{{0, 1, kStart + 17 * kMs}}));
  const auto& timer = std::get<model::Timer>(application.callbacks[kScan].trigger);
  EXPECT_EQ(timer.overrun, model::OverrunPolicy::kRebase);
}

TEST(Lineage, ATimerThatIsAlwaysDueIsCountedAsItCame) {
  model::Application application = robot();
  auto& timer = std::get<model::Timer>(application.callbacks[kScan].trigger);
  timer.period = std::chrono::microseconds(1);  // as rclrt_robot records a timer without a period
  std::vector<LoggedInstance> instances{ran(kScan, 3, 4, -1, 3), ran(kScan, 5, 6, -1, 4)};
  follow_chains(application, kWindow, instances, none_goes_on());
  EXPECT_EQ(tokens_of(instances[1]), (std::vector<ChainToken>{{0, 1, kStart + 4 * kMs}}));
  EXPECT_EQ(timer.overrun, model::OverrunPolicy::kRebase);
}

TEST(Lineage, ATimerThatWasCancelledIsNotLateForWhatFollows) {
  constexpr RunWindow kSecond{kStart, kStart + 1'000 * kMs};
  for (const bool goes_on : {false, true}) {
    model::Application application = robot();
    std::vector<LoggedInstance> instances{ran(kScan, 3, 4), ran(kScan, 33, 34)};
    follow_chains(application, kSecond, instances, {goes_on, false, false, false});
    // Released each 10 ms, recorded twice, and nothing in the last 967 ms. If it goes on, it
    // starves.
    EXPECT_EQ(overrun_of(application, kScan),
              goes_on ? model::OverrunPolicy::kCatchUp : model::OverrunPolicy::kRebase);
    EXPECT_EQ(tokens_of(instances[1]), (std::vector<ChainToken>{{0, 3, kStart + 33 * kMs}}));
  }
}

TEST(Lineage, ATimerThatWasNeverReleasedHereHasNoReleases) {
  for (const bool goes_on : {false, true}) {
    model::Application application = robot();
    follow_chains(application, kWindow, {}, {goes_on, false, false, goes_on});
    EXPECT_EQ(overrun_of(application, kManual),
              goes_on ? model::OverrunPolicy::kCatchUp : model::OverrunPolicy::kRebase);
  }
}

TEST(Lineage, WhatWasReleasedBeforeTheWindowIsNotCounted) {
  model::Application application = robot();
  std::vector<LoggedInstance> instances{ran(kScan, -7, -6, -1, -7), ran(kScan, 3, 4, -1, 3)};
  instances[0].record.release_ns = kStart - 7 * kMs;
  follow_chains(application, kWindow, instances, none_goes_on());
  EXPECT_TRUE(tokens_of(instances[0]).empty());
  EXPECT_EQ(tokens_of(instances[1]), (std::vector<ChainToken>{{0, 0, kStart + 3 * kMs}}));
}

TEST(Lineage, WhatFoundNothingToTakePassesNothingOn) {
  model::Application application = robot();
  std::vector<LoggedInstance> instances{ran(kScan, 0, 1), ran(kFilter, 1, 2, 1)};
  instances[1].record.outcome = Outcome::kEmpty;
  follow_chains(application, kWindow, instances, none_goes_on());
  EXPECT_TRUE(tokens_of(instances[1]).empty());
}

TEST(Lineage, ChainsThroughASynchronisationAreNotFollowed) {
  const auto application = model::parse_application(R"(
rclrt: 1
name: robot
nodes: [{name: n}]
callbacks:
  - {id: a, node: n, timer: {period_ms: 10}, wcet_ms: 1, publishes: [x]}
  - {id: b, node: n, timer: {period_ms: 10}, wcet_ms: 1, publishes: [y]}
  - {id: fuse, node: n, sync: {topics: [x, y], window_ms: 5}, wcet_ms: 1}
  - {id: c, node: n, subscription: {topic: x}, wcet_ms: 1}
chains:
  - {id: direct, callbacks: [a, c], priority: 1, deadline_ms: 10}
  - {id: fused, callbacks: [a, fuse], priority: 1, deadline_ms: 10}
)")
                               .application.value();
  EXPECT_EQ(unfollowed(application), std::vector<std::size_t>{1});
}

TEST(Lineage, WhatIsLeftOutTakesTheChainsThatSampleItAway) {
  auto application = model::parse_application(R"(
rclrt: 1
name: robot
nodes: [{name: n}]
callbacks:
  - {id: stop, node: n, event: {min_interval_ms: 10}, wcet_ms: 1}
  - {id: see, node: n, event: {min_interval_ms: 10}, wcet_ms: 1, stores: [seen]}
  - {id: plan, node: n, timer: {period_ms: 10}, wcet_ms: 1, reads: [seen], stores: [path]}
  - {id: act, node: n, timer: {period_ms: 10}, wcet_ms: 1, reads: [path]}
chains:
  - {id: stopping, callbacks: [stop], priority: 1, deadline_ms: 10}
  - {id: whole, callbacks: [see, plan, act], max_age_ms: 100}
  - {id: part, callbacks: [plan, act], max_age_ms: 100}
)")
                         .application.value();
  std::vector<std::string> notes;
  leave_out_chains(application, unfollowed(application), notes);
  ASSERT_EQ(application.cause_effect_chains.size(), 1U);
  const auto& part = application.cause_effect_chains.front();
  EXPECT_EQ(part.id, "part");
  std::vector<std::size_t> callbacks;
  for (const model::Segment& segment : part.segments) {
    const auto& own = application.chains.at(segment.chain).callbacks;
    callbacks.insert(callbacks.end(), own.begin(), own.end());
  }
  EXPECT_EQ(callbacks, part.callbacks);
  EXPECT_EQ(notes, (std::vector<std::string>{
                       "chain 'whole' is not measured, because its segment 'whole_1' is not",
                       "chain 'whole_1' starts at an event and is not measured",
                       "chain 'stopping' starts at an event and is not measured"}));
}

}  // namespace
}  // namespace rclrt::recorder

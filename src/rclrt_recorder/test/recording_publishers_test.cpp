// SPDX-License-Identifier: Apache-2.0
// A recording that streams finds the publishers of topics, and the chains that follow from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "found_robot.hpp"
#include "rclrt/recorder/publications.hpp"
#include "rclrt/recorder/recording_stream.hpp"

namespace rclrt::recorder {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RecordingPublishers, FindsWhatCallbacksPublishAndTheChainsThatFollow) {
  auto random = repeatable_random(3);
  const auto instances = robot_run(random, 1000);
  RunResults frame = frame_of(found_robot(), 10'000 * kMs);
  frame.max_ages[kStop] = std::chrono::milliseconds(6);
  RunResults exact = frame;
  find_publications(exact.application, instances, robot_publications());
  ASSERT_THAT(exact.application.callbacks[kLidar].publishes, ElementsAre("/points"));
  add_age_chains(exact.application, exact.max_ages);
  ASSERT_EQ(exact.application.chains.size(), 3U);
  exact = recorded(exact, instances, {true, true, true, true});

  RecordingStream stream(frame, 2, true, kSmall);
  stream.grow(robot_publications());
  add_in_portions(stream, instances);
  RunResults found = frame;
  stream.finish(found, {true, true, true, true});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found.application.callbacks[i].publishes, exact.application.callbacks[i].publishes);
  }
  ASSERT_EQ(found.application.chains.size(), 3U);
  const model::Chain& chain = found.application.chains[2];
  EXPECT_EQ(chain.id, exact.application.chains[2].id);
  EXPECT_THAT(chain.callbacks, ElementsAre(kLidar, kFilter, kStop));
  EXPECT_EQ(chain.deadline, std::chrono::milliseconds(6));
  // It was known after 50 messages, and a second for the order of starts.
  EXPECT_LT(found.chains[2].released, exact.chains[2].released);
  EXPECT_GT(found.chains[2].released, exact.chains[2].released - 300);
  EXPECT_GT(found.chains[2].missed, 0U);
  EXPECT_LE(stream.held().messages, 2 * 256U);
  EXPECT_FALSE(stream.skips_chains());
}

/// Records a robot with a chain to a largest age. After half of the time `change` changes the
/// application, and the publications of its nodes; the results of that moment are in `then`.
template <typename Change>
RunResults recorded_with(const Change& change, RunResults& then) {
  auto random = repeatable_random(6);
  const auto instances = robot_run(random, 1000);
  RunResults frame = frame_of(found_robot(), 10'000 * kMs);
  frame.max_ages[kStop] = std::chrono::milliseconds(6);
  RecordingStream stream(frame, 2, true, kSmall);
  std::vector<std::set<std::string>> publications = robot_publications();
  stream.grow(publications);
  const std::span all(instances);
  add_in_portions(stream, all.first(instances.size() / 2));
  change(frame.application, publications);
  stream.grow(publications);
  const std::vector<bool> going_on(frame.application.callbacks.size(), true);
  then = frame;
  then.window.end_ns = stream.advance();
  stream.fill(then, going_on);
  add_in_portions(stream, all.subspan(instances.size() / 2));
  RunResults results = frame;
  stream.finish(results, going_on);
  return results;
}

TEST(RecordingPublishers, ACallbackThatAppearsLateInAPublishersNodeChangesNoChain) {
  RunResults before;
  const RunResults expected = recorded_with([](auto&, auto&) {}, before);
  ASSERT_EQ(expected.chains.size(), 3U);
  ASSERT_GT(expected.chains[2].completed, 500U);
  RunResults then;
  const RunResults found = recorded_with(
      [](model::Application& application, auto&) {
        for (const std::size_t node :
             {application.callbacks[kLidar].node, application.callbacks[kFilter].node}) {
          model::Callback& added = application.callbacks.emplace_back();
          added.id = "parameters of " + std::to_string(node);
          added.node = node;
          added.trigger = model::Timer{.period = std::chrono::seconds(1)};
        }
      },
      then);
  EXPECT_THAT(then.application.callbacks[kLidar].publishes, ElementsAre("/points"));
  EXPECT_THAT(then.application.callbacks[kFilter].publishes, ElementsAre("/stop"));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found.chains[i].released, expected.chains[i].released) << i;
    EXPECT_EQ(found.chains[i].completed, expected.chains[i].completed) << i;
    EXPECT_EQ(found.chains[i].missed, expected.chains[i].missed) << i;
  }
}

TEST(RecordingPublishers, PublishersStayUntilMessagesShowWhetherAnotherNodePublishes) {
  RunResults before;
  const RunResults expected = recorded_with([](auto&, auto&) {}, before);
  RunResults then;
  const RunResults found = recorded_with(
      [](model::Application&, std::vector<std::set<std::string>>& publications) {
        publications[1].insert("/points");  // the planner's, too
      },
      then);
  EXPECT_THAT(then.application.callbacks[kLidar].publishes, ElementsAre("/points"));
  EXPECT_THAT(found.application.callbacks[kLidar].publishes, ElementsAre("/points"));
  ASSERT_EQ(found.chains.size(), 3U);
  EXPECT_EQ(found.chains[2].released, expected.chains[2].released);
  EXPECT_EQ(found.chains[2].completed, expected.chains[2].completed);
  EXPECT_EQ(found.chains[2].missed, expected.chains[2].missed);
}

TEST(RecordingPublishers, ACallbackThatAppearsLateIsNoPublisherForHavingRunLessInTotal) {
  auto random = repeatable_random(7);
  std::vector<LoggedInstance> instances = robot_run(random, 1000);
  RunResults frame = frame_of(found_robot(), 10'000 * kMs);
  RecordingStream stream(frame, 2, true, kSmall);
  stream.grow(robot_publications());
  const std::span all(instances);
  add_in_portions(stream, all.first(instances.size() / 2));
  // It runs on the other CPU at each publication, and for longer than the publisher.
  model::Callback& added = frame.application.callbacks.emplace_back();
  added.id = "late";
  added.node = frame.application.callbacks[kLidar].node;
  added.trigger = model::Timer{.period = std::chrono::milliseconds(10)};
  stream.grow(robot_publications());
  std::vector<LoggedInstance> rest;
  for (const LoggedInstance& each : all.subspan(instances.size() / 2)) {
    rest.push_back(each);
    if (each.record.callback == kLidar) {
      LoggedInstance& late = rest.emplace_back(each);
      late.record.callback = 4;
      late.record.start_ns -= 250'000;
      late.record.end_ns += 250'000;
    }
  }
  add_in_portions(stream, rest);
  RunResults found = frame;
  stream.finish(found, std::vector<bool>(5, true));
  EXPECT_THAT(found.application.callbacks[kLidar].publishes, ElementsAre("/points"));
  EXPECT_THAT(found.application.callbacks[4].publishes, IsEmpty());
}

TEST(RecordingPublishers, ATopicOfAnotherThreadHasNoPublisher) {
  auto random = repeatable_random(4);
  RobotSource source(random, true);
  RunResults frame = frame_of(found_robot(), 5'000 * kMs);
  RecordingStream stream(frame, 2, true, kSmall);
  stream.grow(robot_publications());
  std::vector<LoggedInstance> instances;
  for (int i = 0; i < 500; ++i) {
    instances.clear();
    source.next(instances);
    for (LoggedInstance& each : instances) {
      each.published_ns += each.record.callback == kFilter ? 5 * kMs : 0;
    }
    stream.add(instances);
  }
  RunResults found = frame;
  stream.finish(found, {});
  EXPECT_THAT(found.application.callbacks[kLidar].publishes, IsEmpty());
  EXPECT_THAT(found.application.callbacks[kFilter].publishes, ElementsAre("/stop"));
}

}  // namespace
}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
// Stamps of messages, by which the segments of chains are joined.
#include <gmock/gmock.h>

#include <cstdint>

#include "sampling_robot.hpp"

namespace rclrt::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kToday = 1'700'000'000'000'000'000;

/// The planner's paths have the stamp of the newest image.
struct Stamping : Sampling {
  std::uint64_t begin = kToday;
  std::uint64_t newest = 0;
  bool keeps_stamps = true;
  bool has_detector = false;  // another callback of the planner takes messages with these stamps

  void see(std::uint64_t subscription, std::uint64_t stamp) {
    take(subscription, stamp);
    stamped(begin + stamp);
    start(subscription + 1);
    end(subscription + 1, kMs / 2);
  }

  void run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const std::int64_t begin_ns = now_ns;
      newest = 10 + static_cast<std::uint64_t>(i);
      start(21);
      publish(10, newest);
      end(21, kMs);
      see(30, newest);
      if (has_detector) {
        see(32, newest);
      }
      start(41);
      publish(11, newest);
      end(41, 2 * kMs);
      take(50, newest);
      stamped(begin + newest + (keeps_stamps ? 0 : 1'000'000));
      start(51);
      end(51, kMs);
      now_ns = begin_ns + 20 * kMs;
    }
  }
};

TEST(TracedStamps, EqualStampsJoinWhatCameInAndWhatWentOut) {
  Stamping robot;
  robot.run(5);
  const TracedModel made = robot.model();
  const model::Application& application = made.application;
  ASSERT_EQ(application.callbacks.size(), 4U);
  EXPECT_THAT(application.callbacks[1].stores, ElementsAre("planner_images"));
  EXPECT_THAT(application.callbacks[2].reads, ElementsAre("planner_images"));
  ASSERT_EQ(application.cause_effect_chains.size(), 1U);
  EXPECT_THAT(made.proposals, IsEmpty());
}

TEST(TracedStamps, OtherStampsJoinNothing) {
  Stamping robot;
  robot.keeps_stamps = false;
  robot.run(5);
  const TracedModel made = robot.model();
  EXPECT_THAT(made.application.cause_effect_chains, IsEmpty());
  EXPECT_FALSE(made.proposals.empty());
}

TEST(TracedStamps, TwoMessagesAreTooFew) {
  Stamping robot;
  robot.run(2);
  EXPECT_THAT(robot.model().application.cause_effect_chains, IsEmpty());
}

TEST(TracedStamps, SeveralSourcesAreNamedAndNotInTheModel) {
  Stamping robot;
  robot.has_detector = true;
  robot.subscription(32, 2, "/images", 33);
  robot.run(5);
  const TracedModel made = robot.model();
  EXPECT_THAT(made.application.cause_effect_chains, IsEmpty());
  EXPECT_TRUE(has_note(made,
                       "'planner_timer_1' publishes with the stamps of messages that several "
                       "callbacks of its node took (planner_images, planner_images_2)"));
}

TEST(TracedStamps, AStampIsOfTheNextRunOnly) {
  Stamping robot;
  robot.run(1);
  robot.start(31);  // without a message in the trace
  robot.end(31, kMs);
  EXPECT_EQ(robot.system.instances()[1].stamp_ns, static_cast<std::int64_t>(kToday) + 10);
  EXPECT_EQ(robot.system.instances().back().stamp_ns, 0);
}

TEST(TracedStamps, AStampIsNotOfARunWithoutItsMessage) {
  Stamping robot;
  robot.run(1);
  robot.take(30, 50);
  robot.stamped(kToday);
  robot.take(30, 51);  // without a stamp, as of an older rclrt
  robot.start(31);
  robot.end(31, kMs);
  EXPECT_EQ(robot.system.instances().back().stamp_ns, 0);
  robot.take(30, 52);
  robot.stamped(kToday);
  robot.start(999);  // no callback of the trace
  robot.end(999, kMs);
  robot.emit(EventKind::kDequeue, {7, 8});
  robot.start(31);
  robot.end(31, kMs);
  EXPECT_EQ(robot.system.instances().back().stamp_ns, 0);
}

TEST(TracedStamps, SimulatedTimeJoinsNothing) {
  Stamping robot;
  robot.begin = 1'000'000'000;
  robot.run(5);
  const TracedModel made = robot.model();
  EXPECT_THAT(made.application.cause_effect_chains, IsEmpty());
  EXPECT_TRUE(has_note(made, "10 messages have stamps of simulated time"));
}

}  // namespace
}  // namespace rclrt::trace

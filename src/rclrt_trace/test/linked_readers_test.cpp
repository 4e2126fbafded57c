// SPDX-License-Identifier: Apache-2.0
// Which callbacks read what message links state, and which chains follow from that.
#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sampling_robot.hpp"

namespace rclrt::trace {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(LinkedReaders, ATimerWithTwoValuesHasOneProposedList) {
  Sampling robot;
  robot.node(4, "lidar");
  robot.publisher(13, 4, "/scans");
  robot.timer(60, 4, 10 * kMs, 61);
  robot.subscription(70, 2, "/scans", 71);
  robot.start(61);
  robot.publish(13, 1000);
  robot.end(61, kMs);
  robot.take(70, 1000);
  robot.start(71);
  robot.end(71, kMs);
  robot.run();
  EXPECT_THAT(robot.model().proposals,
              Contains("if it does, planner_timer_1 has 'reads: [planner_images, planner_scans]'"));
}

TEST(LinkedReaders, ACallbackOfAnotherNodeThatPublishesOnTheTopicReadsNothing) {
  Sampling robot;
  robot.node(4, "other");
  robot.publisher(14, 4, "/path");
  robot.timer(60, 4, 20 * kMs, 61);
  robot.link({30}, {11});
  robot.start(61);
  robot.publish(14, 1000);
  robot.end(61, kMs);
  robot.take(50, 1000);
  robot.start(51);
  robot.end(51, kMs);
  robot.run();
  for (const model::Callback& each : robot.model().application.callbacks) {
    EXPECT_EQ(each.reads.empty(), each.id != "planner_timer_1") << each.id;
  }
}

TEST(LinkedReaders, ACallbackThatTakesTheMessageOfTheLinkedOneReadsNothing) {
  Robot robot;
  robot.node(1, "camera");
  robot.publisher(10, 1, "/images");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.node(2, "planner");
  robot.subscription(30, 2, "/images", 31);
  robot.publisher(11, 2, "/features");
  robot.subscription(40, 2, "/features", 41);
  robot.publisher(12, 2, "/path");
  robot.link({30}, {12});
  for (std::uint64_t i = 1; i <= 5; ++i) {
    robot.start(21);
    robot.publish(10, i);
    robot.end(21, kMs);
    robot.take(30, i);
    robot.start(31);
    robot.publish(11, i);
    robot.end(31, kMs);
    robot.take(40, i);
    robot.start(41);
    robot.publish(12, i);
    robot.end(41, kMs);
    robot.now_ns += 5 * kMs;
  }
  const TracedModel made = robot.model();
  EXPECT_THAT(made.application.cause_effect_chains, IsEmpty());
  EXPECT_EQ(made.application.chains.size(), 1U);
}

TEST(LinkedReaders, ChainsWithTheSameEndLeadOnOnce) {
  Robot robot;
  robot.node(1, "sensors");
  robot.publisher(10, 1, "/images");
  robot.publisher(11, 1, "/points");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.timer(22, 1, 10 * kMs, 23);  // both publish points
  robot.timer(24, 1, 10 * kMs, 25);
  robot.node(2, "fusion");
  robot.subscription(30, 2, "/images", 31);
  robot.subscription(32, 2, "/points", 33);
  robot.publisher(12, 2, "/fused");
  robot.node(3, "planner");
  robot.subscription(40, 3, "/fused", 41);
  robot.publisher(13, 3, "/path");
  robot.timer(50, 3, 10 * kMs, 51);
  robot.link({30}, {12});
  robot.link({40}, {13});
  std::uint64_t stamp = 0;
  for (int i = 0; i < 5; ++i) {
    robot.start(21);
    robot.publish(10, ++stamp);
    robot.end(21, kMs);
    robot.take(30, stamp);
    robot.start(31);
    robot.end(31, kMs);
    for (const std::uint64_t timer : {23, 25}) {
      robot.start(timer);
      robot.publish(11, ++stamp);
      robot.end(timer, kMs);
      robot.take(32, stamp);
      robot.start(33);
      robot.publish(12, stamp);
      robot.end(33, kMs);
      robot.take(40, stamp);
      robot.start(41);
      robot.end(41, kMs);
    }
    robot.start(51);
    robot.publish(13, stamp);
    robot.end(51, kMs);
    robot.now_ns += 2 * kMs;
  }
  const TracedModel made = robot.model();
  std::vector<std::vector<std::string>> paths;
  for (std::size_t i = 0; i < made.application.cause_effect_chains.size(); ++i) {
    paths.push_back(path_of(made.application, i));
  }
  EXPECT_THAT(
      paths,
      UnorderedElementsAre(
          ElementsAre("sensors_timer_1", "fusion_images", "fusion_points", "planner_fused",
                      "planner_timer_1"),
          ElementsAre("sensors_timer_2", "fusion_points", "planner_fused", "planner_timer_1"),
          ElementsAre("sensors_timer_3", "fusion_points", "planner_fused", "planner_timer_1")));
}

}  // namespace
}  // namespace rclrt::trace

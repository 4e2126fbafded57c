// SPDX-License-Identifier: Apache-2.0
#include "rclrt/node.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <std_msgs/msg/string.hpp>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using std_msgs::msg::String;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Node, HasItsNameAndNamespace) {
  const Node node(make_context(), "camera", "/front");
  EXPECT_EQ(node.get_name(), "camera");
  EXPECT_EQ(node.get_fully_qualified_name(), "/front/camera");
}

TEST(Node, FollowsRemappingsOfNameAndTopicsFromTheRosArguments) {
  const auto context =
      make_context({"--ros-args", "-r", "__node:=renamed", "-r", "chatter:=/elsewhere/talk"});
  Node node(context, "camera");
  EXPECT_EQ(node.get_name(), "renamed");
  EXPECT_EQ(node.create_publisher<String>("chatter", 10)->get_topic_name(), "/elsewhere/talk");
  EXPECT_EQ(node.create_subscription<String>("chatter", 10, [](const String&) {})->get_topic_name(),
            "/elsewhere/talk");
}

TEST(Node, RefusesAnInvalidNameAndSaysWhichNode) {
  try {
    const Node node(make_context(), "not a name");
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("creating node \"not a name\""), std::string::npos)
        << error.what();
  }
}

TEST(Node, RefusesAnInvalidTopicAndSaysWhichOne) {
  Node node(make_context(), "camera");
  EXPECT_THAT([&] { node.create_publisher<String>("a//b", 10); },
              ThrowsMessage<Error>(HasSubstr("creating a publisher on topic \"a//b\"")));
  EXPECT_THAT([&] { node.create_subscription<String>("a b", 10, [](const String&) {}); },
              ThrowsMessage<Error>(HasSubstr("creating a subscription on topic \"a b\"")));
}

TEST(Node, RefusesADepthOfZero) {
  Node node(make_context(), "camera");
  EXPECT_THAT(
      [&] { node.create_subscription<String>("a", 0, [](const String&) {}); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("needs at least one credit (queue depth)")));
}

TEST(Node, RefusesANegativeDurationOfTheQualityOfService) {
  EXPECT_THAT([&] { QoS(10).deadline(std::chrono::milliseconds(-1)); },
              ThrowsMessage<std::invalid_argument>(
                  "QoS: a deadline, lifespan or lease must not be negative"));
  EXPECT_THAT([&] { QoS(10).lifespan(std::chrono::nanoseconds(-1)); },
              ThrowsMessage<std::invalid_argument>(
                  "QoS: a deadline, lifespan or lease must not be negative"));
}

TEST(Node, RefusesAPublisherWithoutALoan) {
  Node node(make_context(), "node");
  EXPECT_THAT([&] { node.create_publisher<std_msgs::msg::String>("topic", 10, {.loans = 0}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("PublisherOptions::loans must be at least 1")));
}

TEST(Node, RefusesAPeriodThatIsNotPositive) {
  Node node(make_context(), "camera");
  EXPECT_THAT([&] { node.create_wall_timer(std::chrono::seconds(0), [] {}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("a timer's period must be positive, not 0 ns")));
}

TEST(Executors, AnUnknownNameIsRefusedWithThoseThatExist) {
  try {
    make_executor("fast", make_context());
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(
        error.what(),
        "unknown executor \"fast\": choose from wait_set, producer_consumer, "
        "thread_dispatch, preemptive, edf, events, picas, per_group, static_order, workshop");
  }
}

}  // namespace
}  // namespace rclrt::test

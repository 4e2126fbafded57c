// SPDX-License-Identifier: Apache-2.0
// The examples run, print what they promise, and end at once on a signal.
#include <std_msgs/msg/int32.hpp>
#include <std_msgs/msg/int64.hpp>

#include "program.hpp"

namespace rclrt_rclcpp::test {
namespace {

bool says(const Program& program, const std::string& text) {
  return program.output().find(text) != std::string::npos;
}

TEST(Examples, PingPongSaysWhatOfEachPathWasAnswered) {
  Program program("PING_PONG", {"--ros-args", "-p", "duration:=0.5"});
  EXPECT_EQ(program.exit_code(), 0);
  EXPECT_TRUE(says(program, "of configured 50 pings")) << program.output();
  EXPECT_TRUE(says(program, "High prio path: Received ")) << program.output();
  EXPECT_TRUE(says(program, "Low priority callbacks ran for ")) << program.output();
}

TEST(Examples, PingPongEndsWhileItsCallbacksTakeAllOfTheCpu) {
  Program program("PING_PONG", {"--ros-args", "-p", "duration:=1000.0"});
  ASSERT_TRUE(eventually([&] { return says(program, "Running experiment"); }));
  program.signal(SIGINT);
  EXPECT_EQ(program.exit_code(), 0) << program.output();
}

TEST(Examples, AnIntegerIsANumberOfSecondsToo) {
  Program ping_pong("PING_PONG", {"--ros-args", "-p", "duration:=1"});
  EXPECT_EQ(ping_pong.exit_code(), 0) << ping_pong.output();
  EXPECT_TRUE(says(ping_pong, "of configured 100 pings")) << ping_pong.output();
}

TEST(Examples, ATimeThatIsNoneIsNamedAndTheExitCodeIs2) {
  const auto refused = [](const std::string& name, const std::string& value) {
    Program started("PING_PONG", {"--ros-args", "-p", name + ":=" + value});
    EXPECT_EQ(started.exit_code(), 2) << name << " " << value << started.output();
    EXPECT_TRUE(says(started, "parameter " + name + " is ")) << started.output();
  };
  for (const std::string value : {"0", "-1", "0.0", "-1.0", "1e-10", ".nan", ".inf", "1e7", "a"}) {
    refused("ping_period", value);
  }
  refused("duration", "0");
  refused("high_busyloop", "-1");
  refused("low_busyloop", "-1");
}

class PingPong : public Ros {};

TEST_F(PingPong, APongThatItHasNotAskedForIsIgnored) {
  Program program("PING_PONG", {"--ros-args", "-p", "duration:=1000.0", "-p", "ping_period:=0.1"});
  ASSERT_TRUE(eventually([&] { return says(program, "Running experiment"); }));
  const auto node = std::make_shared<rclcpp::Node>("other");
  std::string topic;
  ASSERT_TRUE(eventually([&] {
    for (const auto& each : node->get_topic_names_and_types()) {
      topic = each.first.ends_with("/high_pong") ? each.first : topic;
    }
    return !topic.empty();
  })) << program.output();
  const auto publisher = node->create_publisher<std_msgs::msg::Int32>(topic, rclcpp::QoS(10));
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  std_msgs::msg::Int32 pong;
  for (int i = 0; i < 100; ++i) {  // the subscription is best effort
    pong.data = i % 2 == 0 ? -1 : 1'000'000;
    publisher->publish(pong);
    std::this_thread::sleep_for(1ms);
  }
  program.signal(SIGINT);
  EXPECT_EQ(program.exit_code(), 0) << program.output();
}

class OneLine : public Ros {};

TEST_F(OneLine, TheNodeAnswersUntilCtrlC) {
  Program program("ONE_LINE");
  const auto node = std::make_shared<rclcpp::Node>("user");
  const auto state = node->create_publisher<std_msgs::msg::Int64>("state", 10);
  const auto command = node->create_subscription<std_msgs::msg::Int64>(
      "command", 10, [](const std_msgs::msg::Int64&) {});
  std_msgs::msg::Int64 message;
  rclcpp::MessageInfo info;
  // Published repeatedly, because the two nodes discover each other topic by topic.
  ASSERT_TRUE(eventually([&] {
    state->publish(message);
    return command->take(message, info);
  })) << program.output();
  program.signal(SIGINT);
  EXPECT_EQ(program.exit_code(), 0) << program.output();
}

}  // namespace
}  // namespace rclrt_rclcpp::test

// SPDX-License-Identifier: Apache-2.0
// The examples run, say what they promise to say, and end at once when told to.
#include <algorithm>

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

TEST(Examples, MixedCriticalitySaysHowLateTheControlLoopWas) {
  for (const std::string executor : {"rclrt", "--single-threaded"}) {
    std::vector<std::string> arguments{"--ros-args", "-p", "duration:=0.5"};
    if (executor != "rclrt") {
      arguments.insert(arguments.begin(), executor);
    }
    Program program("MIXED_CRITICALITY", arguments);
    EXPECT_EQ(program.exit_code(), 0);
    EXPECT_TRUE(says(program, "late by p50 ")) << program.output();
  }
}

TEST(Examples, MixedCriticalityRefusesWhatItDoesNotKnow) {
  Program program("MIXED_CRITICALITY", {"--sngle-threaded"});
  EXPECT_EQ(program.exit_code(), 2);
}

class OneLine : public Ros {};

TEST_F(OneLine, TheNodeIsThereUntilCtrlC) {
  Program program("ONE_LINE");
  const auto node = std::make_shared<rclcpp::Node>("user");
  ASSERT_TRUE(eventually([&] {
    const std::vector<std::string> names = node->get_node_names();
    return std::find(names.begin(), names.end(), "/control") != names.end();
  })) << program.output();
  program.signal(SIGINT);
  EXPECT_EQ(program.exit_code(), 0) << program.output();
}

}  // namespace
}  // namespace rclrt_rclcpp::test

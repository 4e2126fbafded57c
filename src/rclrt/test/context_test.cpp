// SPDX-License-Identifier: Apache-2.0
#include "rclrt/context.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

TEST(Context, KeepsTheArgumentsThatAreNotForRos) {
  const auto context = make_context({"--rate", "5", "--ros-args", "-r", "a:=b", "--", "file"});
  EXPECT_EQ(context->arguments(), (std::vector<std::string>{"--rate", "5", "file"}));
}

TEST(Context, RefusesARemappingThatCannotBeParsed) {
  try {
    make_context({"--ros-args", "-r", "a:=:="});
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("error while starting ROS: "), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("a:=:="), std::string::npos) << error.what();
  }
}

TEST(Context, IsNotOkAfterShutdownAndASecondShutdownDoesNothing) {
  const auto context = make_context();
  EXPECT_TRUE(context->ok());
  context->shutdown();
  EXPECT_FALSE(context->ok());
  context->shutdown();
}

TEST(Context, AfterTheLastOneSignalsDoWhatTheyDidBefore) {
  struct sigaction before{};
  struct sigaction during{};
  struct sigaction after{};
  sigaction(SIGTERM, nullptr, &before);
  {
    const auto first = make_context({}, true);
    const auto second = make_context({}, true);
    first->shutdown();
    sigaction(SIGTERM, nullptr, &during);
  }
  sigaction(SIGTERM, nullptr, &after);
  EXPECT_NE(during.sa_handler, before.sa_handler);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

class ContextWithExecutor : public EveryExecutor {};
INSTANTIATE_TEST_SUITE_P(, ContextWithExecutor, ::testing::ValuesIn(executor_names()),
                         parameter_name);

TEST_P(ContextWithExecutor, ShutdownEndsARunningSpin) {
  Node node(context, "node");
  std::atomic<bool> ran{false};
  const auto timer = node.create_wall_timer(std::chrono::milliseconds(1), [&] { ran = true; });
  const auto spinning = executor();
  spinning->add_node(node);
  std::thread thread([&] { spinning->spin(); });
  EXPECT_TRUE(eventually([&] { return ran.load(); }));
  context->shutdown();
  thread.join();
}

TEST_P(ContextWithExecutor, SpinReturnsAtOnceAfterAShutdown) {
  Node node(context, "node");
  const auto timer = node.create_wall_timer(std::chrono::milliseconds(1), [] {});
  const auto spinning = executor();
  spinning->add_node(node);
  spinning->prepare();
  context->shutdown();
  spinning->spin();
}

TEST_P(ContextWithExecutor, SpinReturnsAtOnceAfterAShutdownWithoutPrepareToo) {
  Node node(context, "node");
  const auto timer = node.create_wall_timer(std::chrono::milliseconds(1), [] {});
  const auto spinning = executor();
  spinning->add_node(node);
  context->shutdown();
  spinning->spin();
  spinning->spin();  // and stays so
}

TEST_P(ContextWithExecutor, SigintEndsASpinUnderLoad) {
  context = make_context({}, true);
  Node node(context, "node");
  std::atomic<int> runs{0};
  const auto timer = node.create_wall_timer(std::chrono::milliseconds(1), [&] {
    if (++runs == 3) {
      std::raise(SIGINT);
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < end) {
    }
  });
  // All CPUs: on one, an overloaded SCHED_FIFO thread would keep the signal thread waiting.
  const auto spinning = executor();
  spinning->add_node(node);
  spinning->spin();
  EXPECT_FALSE(context->ok());
  EXPECT_GE(runs.load(), 3);
}

}  // namespace
}  // namespace rclrt::test

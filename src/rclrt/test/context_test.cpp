// SPDX-License-Identifier: Apache-2.0
#include "rclrt/context.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <csignal>
#include <cstdint>

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
  const auto spinning = executor();
  spinning->add_node(node);
  spinning->spin();
  EXPECT_FALSE(context->ok());
  EXPECT_GE(runs.load(), 3);
}

std::atomic<int> own_handler_runs{0};

TEST(Context, AHandlerInstalledAfterItHasTheSignalAndStays) {
  const auto context = make_context({}, true);
  struct sigaction own{};
  own.sa_handler = [](int) { ++own_handler_runs; };
  struct sigaction before{};
  sigaction(SIGINT, &own, &before);
  for (int i = 1; i <= 2; ++i) {
    kill(getpid(), SIGINT);  // pending for the process: any thread may take it
    EXPECT_TRUE(eventually([i] { return own_handler_runs.load() == i; }));
  }
  EXPECT_TRUE(context->ok());
  sigaction(SIGINT, &before, nullptr);
}

/// Keeps the calling thread, and the threads that it creates, on one CPU.
class OnOneCpu {
 public:
  OnOneCpu() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnOneCpu() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

  int cpu() const { return allowed_.back(); }

 private:
  const std::vector<int> allowed_ = realtime::allowed_cpus();
  cpu_set_t before_{};
};

TEST_P(ContextWithExecutor, SigintIsTakenWhileARealtimeCallbackHasTheOnlyCpu) {
  if (const auto reason = realtime::why_no_realtime(99)) {
    GTEST_SKIP() << *reason;
  }
  context.reset();
  const OnOneCpu pinned;
  context = make_context({}, true);
  Node node(context, "node");
  bool taken = false;
  const auto timer = node.create_wall_timer(std::chrono::milliseconds(1), [&] {
    if (!context->ok()) {
      return;  // a second instance may come after all; our handlers are gone
    }
    kill(getpid(), SIGINT);
    // Too short for the kernel to give threads without real time their share.
    const std::int64_t end_ns = realtime::thread_cpu_now_ns() + 200'000'000;
    while (!taken && realtime::thread_cpu_now_ns() < end_ns) {
      taken = !context->ok();
    }
    context->shutdown();
  });
  const auto spinning = executor({.cpus = {pinned.cpu()}});
  spinning->add_node(node);
  spinning->spin();
  EXPECT_TRUE(taken);
}

}  // namespace
}  // namespace rclrt::test

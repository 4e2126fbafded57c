// SPDX-License-Identifier: Apache-2.0
// Start, changes and end of an executor.
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

#include "capability.hpp"

namespace rclrt::test {
namespace {

using namespace std::chrono_literals;
using testing::ThrowsMessage;

class LifeCycle : public Capability {};
INSTANTIATE_TEST_SUITE_P(Every, LifeCycle, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(LifeCycle, NodesComeAndGoWhileItSpins) {
  const auto spinning = executor();
  std::thread spinner([&] { spinning->spin(); });
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> runs{0};
    Node passing(context, "passing");
    passing.create_wall_timer(1ms, [&] { ++runs; });
    spinning->add_node(passing);
    EXPECT_TRUE(eventually([&] { return runs > 2; }));
    spinning->remove_node(passing);
    const int then = runs;
    std::this_thread::yield();
    EXPECT_EQ(runs, then);
  }
  spinning->cancel();
  spinner.join();
}

TEST_P(LifeCycle, PrioritiesChangeWhileItSpins) {
  std::atomic<int> level{0};
  const auto timer =
      node.create_wall_timer(1ms, [&](const InstanceInfo& info) { level = info.level; });
  const auto spinning = executor();
  spinning->add_node(node);
  std::thread spinner([&] { spinning->spin(); });
  spinning->set_priority(timer, 7);
  EXPECT_TRUE(eventually([&] { return level == 7; }));
  spinning->cancel();
  spinner.join();
  if (is("wait_set") || is("events")) {
    RCLRT_NOT_OFFERED("it records priorities and ignores them");
  }
  if (is("edf")) {
    RCLRT_NOT_OFFERED("deadlines decide what runs, not priorities");
  }
}

TEST_P(LifeCycle, CancelFromAnyThreadAndSpinAgain) {
  std::atomic<int> runs{0};
  node.create_wall_timer(1ms, [&] { ++runs; });
  const auto spinning = executor();
  spinning->add_node(node);
  for (int round = 0; round < 3; ++round) {
    std::thread other([&, before = runs.load()] {
      EXPECT_TRUE(eventually([&] { return runs > before; }));
      spinning->cancel();
    });
    spinning->spin();
    other.join();
  }
}

TEST_P(LifeCycle, SpinSomeSpinOnceAndSpinUntilComplete) {
  std::promise<void> tenth;
  int runs = 0;
  node.create_wall_timer(1ms, [&] {
    if (++runs == 10) {
      tenth.set_value();
    }
  });
  const auto spinning = executor();
  spinning->add_node(node);
  EXPECT_TRUE(spinning->spin_once());
  spinning->spin_some();
  if (runs < 10) {
    EXPECT_EQ(spinning->spin_until_future_complete(tenth.get_future()), SpinResult::kComplete);
  }
}

TEST_P(LifeCycle, AnExceptionOfACallbackEndsSpinWhichRethrowsIt) {
  node.create_wall_timer(1ms, [] { throw std::runtime_error("bad day"); });
  EXPECT_THAT([&] { spin(*executor()); }, ThrowsMessage<std::runtime_error>("bad day"));
}

TEST_P(LifeCycle, ShuttingTheContextDownEndsSpin) {
  std::thread other;
  node.create_wall_timer(1ms, [&] {
    if (!other.joinable()) {
      other = std::thread([&] { context->shutdown(); });
    }
  });
  spin(*executor());
  other.join();
  EXPECT_FALSE(context->ok());
}

}  // namespace
}  // namespace rclrt::test

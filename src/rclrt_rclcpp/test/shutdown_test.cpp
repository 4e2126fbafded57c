// SPDX-License-Identifier: Apache-2.0
// The end at any moment: a shutdown, a signal, or the destruction of an executor, each while
// callbacks run and messages come.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <std_msgs/msg/int64.hpp>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {
namespace {

using std_msgs::msg::Int64;

constexpr int kRounds = 20;

void busy(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Timers and subscriptions that are busy most of the time, in groups of their own.
class Busy : public rclcpp::Node {
 public:
  Busy() : Node("busy") {
    for (int i = 0; i < 3; ++i) {
      rclcpp::SubscriptionOptions options;
      options.callback_group = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
      publishers_.push_back(create_publisher<Int64>("topic_" + std::to_string(i), 10));
      timers_.push_back(create_wall_timer(
          1ms,
          [this, publisher = publishers_.back()] {
            busy(200us);
            publisher->publish(Int64());
            ++runs;
          },
          options.callback_group));
      subscriptions_.push_back(create_subscription<Int64>(
          "topic_" + std::to_string(i), 10,
          [this](const Int64&) {
            busy(300us);
            ++runs;
          },
          options));
    }
  }

  std::atomic<int> runs{0};

 private:
  std::vector<rclcpp::Publisher<Int64>::SharedPtr> publishers_;
  std::vector<rclcpp::Subscription<Int64>::SharedPtr> subscriptions_;
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
};

template <typename E>
class Shutdown : public ::testing::Test {
 protected:
  ~Shutdown() override { rclcpp::shutdown(); }

  /// Spins busy nodes, and calls `end` while they run; expects that `spin` returns, and everything
  /// ends.
  template <typename End>
  static void round(int number, End end) {
    rclcpp::init(0, nullptr);
    E executor;
    const auto node = std::make_shared<Busy>();
    executor.add_node(node);
    std::atomic<bool> returned{false};
    std::thread spinning([&] {
      executor.spin();
      returned = true;
    });
    EXPECT_TRUE(eventually([&] { return node->runs > number; }));
    end(executor);
    EXPECT_TRUE(eventually([&] { return returned.load(); }));
    executor.cancel();
    spinning.join();
    rclcpp::shutdown();
  }
};
TYPED_TEST_SUITE(Shutdown, AllExecutors, ExecutorName);

TYPED_TEST(Shutdown, ByAnotherThreadEndsTheSpin) {
  for (int i = 0; i < kRounds; ++i) {
    this->round(i, [](rclcpp::Executor&) { rclcpp::shutdown(); });
  }
}

TYPED_TEST(Shutdown, BySignalEndsTheSpin) {
  for (int i = 0; i < kRounds; ++i) {
    this->round(i, [](rclcpp::Executor&) { kill(getpid(), SIGINT); });
  }
}

TYPED_TEST(Shutdown, ByCancelEndsTheSpin) {
  for (int i = 0; i < kRounds; ++i) {
    this->round(i, [](rclcpp::Executor& executor) { executor.cancel(); });
  }
}

TYPED_TEST(Shutdown, AnExecutorMayEndWhileMessagesComeForItsNodes) {
  rclcpp::init(0, nullptr);
  const auto node = std::make_shared<Busy>();
  const auto other = std::make_shared<rclcpp::Node>("other");
  const auto publisher = other->create_publisher<Int64>("topic_0", 10);
  std::atomic<bool> stop{false};
  std::thread publishing([&] {
    while (!stop) {
      publisher->publish(Int64());
      std::this_thread::sleep_for(100us);
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    TypeParam executor;
    executor.add_node(node);
    const int before = node->runs;
    const Spinning spinning(executor);
    EXPECT_TRUE(eventually([&] { return node->runs > before + i; }));
  }  // the executor ends first, the node stays
  stop = true;
  publishing.join();
}

}  // namespace
}  // namespace rclrt_rclcpp::test

// SPDX-License-Identifier: Apache-2.0
// rclcpp's own executors beside a robot: what its plan and its monitor reach.
#include <algorithm>
#include <memory>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <string>
#include <thread>
#include <type_traits>

#include "folder.hpp"
#include "monitor_fixture.hpp"
#if __has_include(<rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>)
#include <rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>
#define RCLRT_HAS_EVENTS_CBG 1
#endif

namespace rclrt_robot::test {
namespace {

/// A node with a timer, which an executor of rclcpp spins on a thread of its own.
class Outside {
 public:
  explicit Outside(std::unique_ptr<rclcpp::Executor> executor) : executor_(std::move(executor)) {
    executor_->add_node(node_);
    thread_ = std::thread([this] { executor_->spin(); });
  }
  ~Outside() {
    executor_->cancel();
    thread_.join();
  }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

  int runs() const { return runs_.load(); }

 private:
  std::atomic<int> runs_{0};
  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("outside");
  const rclcpp::TimerBase::SharedPtr timer_ = node_->create_wall_timer(2ms, [this] { ++runs_; });
  const std::unique_ptr<rclcpp::Executor> executor_;
  std::thread thread_;
};

template <typename Executor>
class OtherExecutors : public MonitorTest {
 protected:
  /// Makes it with two threads, if their number can be stated.
  static std::unique_ptr<rclcpp::Executor> make() {
    if constexpr (std::is_constructible_v<Executor, rclcpp::ExecutorOptions, std::size_t>) {
      return std::make_unique<Executor>(rclcpp::ExecutorOptions(), 2);
    } else {
      return std::make_unique<Executor>();
    }
  }
  /// Returns a part of the name of the function that its own thread runs; none: it has no thread
  /// but the one that spins it.
  static std::string own_thread() {
    if (std::is_same_v<Executor, rclcpp::executors::SingleThreadedExecutor>) {
      return "";
    }
    if (std::is_same_v<Executor, rclcpp::executors::MultiThreadedExecutor>) {
      return "MultiThreadedExecutor";
    }
    const bool has_timers_thread =
        std::is_same_v<Executor, rclcpp::experimental::executors::EventsExecutor>;
    return has_timers_thread ? "TimersManager" : "EventsCBGExecutor";
  }

  /// Returns whether a thread that runs this function has the scheduling of its rule.
  static bool has_planned(const rclrt::realtime::ThreadPlanReport& report, std::size_t rule,
                          const std::string& function) {
    return std::any_of(report.threads.begin(), report.threads.end(), [&](const auto& each) {
      return each.rule == rule && each.found.nice == 4 + static_cast<int>(rule) &&
             each.origin.function.find(function) != std::string::npos;
    });
  }

  Folder folder_;
};

using RclcppExecutors = ::testing::Types<rclcpp::executors::SingleThreadedExecutor,
                                         rclcpp::executors::MultiThreadedExecutor,
#ifdef RCLRT_HAS_EVENTS_CBG
                                         rclcpp::executors::EventsCBGExecutor,
#endif
                                         rclcpp::experimental::executors::EventsExecutor>;
TYPED_TEST_SUITE(OtherExecutors, RclcppExecutors, );

TYPED_TEST(OtherExecutors, HaveTheirThreadsInThePlanAndTheirCallbacksAreNotMonitored) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer starts every thread by a function of its own";
#endif
  RobotOptions options = load_robot(this->folder_.write("robot.yaml", R"(
rclrt: 1
callbacks:
  - {node: /inside, timer: 0, priority: 2, deadline_ms: 1000}
  - {node: /outside, timer: 0, priority: 1, deadline_ms: 0.001}
monitor: {period_ms: 50}
threads:
  - {function: "*Outside*", policy: other, nice: 4}
  - {library: "librclcpp*", policy: other, nice: 5}
)"));
  options.thread_period = 10ms;
  Robot robot(std::move(options));
  const auto inside = std::make_shared<rclcpp::Node>("inside");
  const auto timer = inside->create_wall_timer(10ms, [] {});
  robot.executor().add_node(inside);
  const Outside outside(this->make());
  const std::string own = this->own_thread();
  const auto all_planned = [&] {
    const auto report = robot.threads();
    return this->has_planned(report, 0, "Outside") &&
           (own.empty() || this->has_planned(report, 1, own));
  };
  const auto monitored = [&] { return this->operator_.statuses("rclrt: /inside timer 0").size(); };
  this->spin(
      robot, [&] { return outside.runs() > 100 && monitored() > 2 && all_planned(); },
      [&] {
        EXPECT_GT(outside.runs(), 100);
        EXPECT_GT(monitored(), 2U);
        EXPECT_TRUE(all_planned());
        EXPECT_TRUE(this->operator_.statuses("rclrt: /outside timer 0").empty());
        // The entry for a callback that no monitor sees is reported, so it is not forgotten.
        const auto unmatched = robot.executor().unmatched();
        EXPECT_TRUE(std::any_of(unmatched.begin(), unmatched.end(), [](const auto& each) {
          return each.find("/outside") != std::string::npos;
        }));
      });
}

}  // namespace
}  // namespace rclrt_robot::test

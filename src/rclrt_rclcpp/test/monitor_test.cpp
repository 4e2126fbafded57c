// SPDX-License-Identifier: Apache-2.0
// What operators are told of missed deadlines.
#include <algorithm>
#include <atomic>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "rclrt_rclcpp/robot.hpp"

namespace rclrt_rclcpp::test {
namespace {

using diagnostic_msgs::msg::DiagnosticArray;
using diagnostic_msgs::msg::DiagnosticStatus;

std::string value_of(const DiagnosticStatus& status, const std::string& key) {
  const auto found = std::find_if(status.values.begin(), status.values.end(),
                                  [&](const auto& each) { return each.key == key; });
  return found == status.values.end() ? "" : found->value;
}

/// Spins without end on the calling thread's CPU.
void burn(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Listens as an operator's tool does, in a node and an executor of its own.
class Operator {
 public:
  Operator() {
    executor_.add_node(node_);
    thread_ = std::thread([this] { executor_.spin(); });
    EXPECT_TRUE(eventually([this] { return executor_.is_spinning(); }));
  }
  ~Operator() {
    executor_.cancel();
    thread_.join();
  }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  std::vector<DiagnosticStatus> statuses(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return statuses_[name];
  }

 private:
  std::mutex mutex_;  // guards statuses_
  std::map<std::string, std::vector<DiagnosticStatus>> statuses_;
  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("operator");
  const rclcpp::SubscriptionBase::SharedPtr subscription_ =
      node_->create_subscription<DiagnosticArray>(
          "/diagnostics", rclcpp::QoS(1000), [this](const DiagnosticArray& message) {
            const std::scoped_lock lock(mutex_);
            for (const DiagnosticStatus& status : message.status) {
              statuses_[status.name].push_back(status);
            }
          });
  rclcpp::executors::SingleThreadedExecutor executor_;
  std::thread thread_;
};

class MonitorTest : public Ros {
 protected:
  /// One CPU, whose callbacks share a group: one holds up the other.
  static RobotOptions options() {
    RobotOptions options;
    options.options = on_one_cpu();
    options.monitor = MonitorOptions{.period = 50ms};
    return options;
  }

  /// Spins until `until` holds, and once more for the last message.
  static void spin(Robot& robot, const std::function<bool()>& until) {
    std::thread spinning([&] { robot.spin(); });
    EXPECT_TRUE(eventually(until));
    robot.executor().cancel();
    spinning.join();
  }

  Operator operator_;
};

TEST_F(MonitorTest, TellsOfEachMissWithWhoWasInTheWay) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("node");
  // In one group: the long one, once it runs, delays the other beyond its deadline.
  std::atomic<int> long_runs{0};
  const auto urgent = node->create_wall_timer(5ms, [] {});
  const auto blocking = node->create_wall_timer(40ms, [&] {
    burn(30ms);
    ++long_runs;
  });
  robot.executor().set_timing(urgent, {.priority = 5, .deadline = 10ms});
  robot.executor().set_timing(blocking, {.priority = 1, .deadline = 1h});
  robot.executor().add_node(node);
  const std::string name = "rclrt: /node timer 0";
  spin(robot, [&] {
    const auto statuses = operator_.statuses(name);
    return long_runs > 3 && std::any_of(statuses.begin(), statuses.end(), [](const auto& each) {
             return each.level == DiagnosticStatus::WARN;
           });
  });

  const auto callbacks = robot.executor().callbacks();
  const auto found = std::find_if(callbacks.begin(), callbacks.end(), [](const auto& each) {
    return each.kind == "timer" && each.name == "0";
  });
  ASSERT_NE(found, callbacks.end());
  const std::string missed = std::to_string(found->counters.missed);
  EXPECT_TRUE(eventually([&] {  // none lost, none invented: the last message has all of them
    const auto statuses = operator_.statuses(name);
    return !statuses.empty() && value_of(statuses.back(), "missed") == missed;
  })) << missed;
  // The host may hold up an instance of its own as well.
  const std::vector<DiagnosticStatus> statuses = operator_.statuses(name);
  EXPECT_TRUE(std::any_of(statuses.begin(), statuses.end(), [](const auto& each) {
    return each.level == DiagnosticStatus::WARN &&
           value_of(each, "most_in_the_way") == "/node timer 1" &&
           each.message.find("most in the way: /node timer 1, ") != std::string::npos;
  }));
}

TEST_F(MonitorTest, SaysNothingIsWrongWhereNothingIs) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> runs{0};
  const auto timer = node->create_wall_timer(5ms, [&] { ++runs; });
  const auto without = node->create_wall_timer(5ms, [] {});
  robot.executor().set_timing(timer, {.deadline = 1h});
  robot.executor().add_node(node);
  spin(robot, [&] { return operator_.statuses("rclrt: /node timer 0").size() >= 5; });
  for (const DiagnosticStatus& status : operator_.statuses("rclrt: /node timer 0")) {
    EXPECT_EQ(status.level, DiagnosticStatus::OK) << status.message;
    EXPECT_EQ(value_of(status, "missed"), "0");
    EXPECT_EQ(value_of(status, "deadline_ms"), "3600000.000");
  }
  EXPECT_TRUE(operator_.statuses("rclrt: /node timer 1").empty()) << "it has no deadline";
  const auto process = operator_.statuses("rclrt: process " + std::to_string(getpid()));
  ASSERT_FALSE(process.empty());
  EXPECT_EQ(value_of(process.back(), "with_deadline"), "1");
  EXPECT_EQ(process.back().level == DiagnosticStatus::OK, robot.executor().engine().realtime());
}

TEST_F(MonitorTest, CallsItAnErrorWhenACallbackDoesNotEnd) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<bool> end{false};
  const auto timer = node->create_wall_timer(5ms, [&] {
    while (!end) {
      std::this_thread::sleep_for(1ms);
    }
  });
  robot.executor().set_timing(timer, {.deadline = 10ms});
  robot.executor().add_node(node);
  spin(robot, [&] {
    const auto statuses = operator_.statuses("rclrt: /node timer 0");
    end = std::any_of(statuses.begin(), statuses.end(), [](const DiagnosticStatus& each) {
      return each.level == DiagnosticStatus::ERROR &&
             each.message.rfind("nothing has ended for 50 ms", 0) == 0;
    });
    return end.load();
  });
}

}  // namespace
}  // namespace rclrt_rclcpp::test

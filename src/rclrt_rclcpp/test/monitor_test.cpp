// SPDX-License-Identifier: Apache-2.0
// What operators are told of missed deadlines.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <iterator>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "folder.hpp"
#include "listener.hpp"
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

/// What an operator's tool hears.
class Operator {
 public:
  std::vector<DiagnosticStatus> statuses(const std::string& name) {
    std::vector<DiagnosticStatus> result;
    for (const DiagnosticArray& message : listener_.messages()) {
      std::copy_if(message.status.begin(), message.status.end(), std::back_inserter(result),
                   [&](const DiagnosticStatus& each) { return each.name == name; });
    }
    return result;
  }

 private:
  Listener<DiagnosticArray> listener_{"/diagnostics"};
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
  static void spin(
      Robot& robot, const std::function<bool()>& until,
      const std::function<void()>& at_end = [] {}) {
    std::thread spinning([&] { robot.spin(); });
    EXPECT_TRUE(eventually(until));
    at_end();
    robot.executor().cancel();
    spinning.join();
  }

  static std::string process_name() {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    return std::string("rclrt: process ") + host.data() + " " + std::to_string(getpid());
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

TEST_F(MonitorTest, WritesATraceOfTheLastSecondsBeforeAMiss) {
  const Folder folder;
  RobotOptions with_traces = options();
  with_traces.monitor->traces = folder / ".";
  {
    Robot robot(std::move(with_traces));
    const auto node = std::make_shared<rclcpp::Node>("node");
    const auto late = node->create_wall_timer(20ms, [] { burn(5ms); });
    robot.executor().set_timing(late, {.deadline = 1ms});
    robot.executor().add_node(node);
    spin(robot, [&] { return std::filesystem::exists(folder / "miss-1.pftrace"); });
  }
  EXPECT_GT(std::filesystem::file_size(folder / "miss-1.pftrace"), 0U);
}

TEST_F(MonitorTest, RefusesAFolderForTracesThatDoesNotExist) {
  RobotOptions with_traces = options();
  with_traces.monitor->traces = "/nowhere/at all";
  EXPECT_THROW(Robot{std::move(with_traces)}, std::invalid_argument);
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
  const auto process = operator_.statuses(process_name());
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
  spin(
      robot,
      [&] {
        const auto statuses = operator_.statuses("rclrt: /node timer 0");
        return std::any_of(statuses.begin(), statuses.end(), [](const DiagnosticStatus& each) {
          return each.level == DiagnosticStatus::ERROR &&
                 each.message.rfind("nothing has ended for ", 0) == 0;
        });
      },
      [&] { end = true; });
}

TEST_F(MonitorTest, TellsOfASubscriptionOnceThatIsReachedInTwoWays) {
  Robot robot(options());
  const auto node =
      std::make_shared<rclcpp::Node>("node", rclcpp::NodeOptions().use_intra_process_comms(true));
  std::atomic<int> received{0};
  const auto subscription =
      node->create_subscription<Message>("topic", 10, [&](const Message&) { ++received; });
  const auto publisher = node->create_publisher<Message>("topic", 10);
  const auto timer = node->create_wall_timer(5ms, [&] { publisher->publish(Message()); });
  robot.executor().set_timing(subscription, {.deadline = 1h});
  robot.executor().add_node(node);
  const std::string name = "rclrt: /node subscription /topic";
  spin(robot, [&] { return received > 10 && operator_.statuses(name).size() >= 5; });
  const auto processes = operator_.statuses(process_name()).size();
  EXPECT_LE(operator_.statuses(name).size(), processes) << "one in each message";
  for (const DiagnosticStatus& status : operator_.statuses(name)) {
    EXPECT_EQ(status.level, DiagnosticStatus::OK) << status.message;
  }
}

TEST_F(MonitorTest, ATopicThatIsRefusedIsThrownAndTheRobotGoesOn) {
  RobotOptions wrong = options();
  wrong.monitor->topic = "/1 is no topic";
  Robot robot(std::move(wrong));
  EXPECT_THROW(robot.spin(), rclcpp::exceptions::InvalidTopicNameError);
  EXPECT_THROW(robot.spin(), rclcpp::exceptions::InvalidTopicNameError) << "not: already spinning";
}

TEST_F(MonitorTest, ASecondSpinIsRefusedAndLeavesTheFirstAlone) {
  const Folder folder;
  RobotOptions recorded = options();
  recorded.recording = RecordingOptions{.directory = folder / "out"};
  Robot robot(std::move(recorded));
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto timer = node->create_wall_timer(5ms, [] {});
  robot.executor().set_timing(timer, {.deadline = 1h});
  robot.executor().add_node(node);
  spin(robot, [&] {
    if (!operator_.statuses(process_name()).empty()) {
      EXPECT_THROW(robot.spin(), std::runtime_error);
      EXPECT_FALSE(std::filesystem::exists(folder / "out" / "results.json"));
    }
    return operator_.statuses(process_name()).size() >= 4;
  });
  EXPECT_TRUE(std::filesystem::exists(folder / "out" / "results.json")) << "by the first";
}

}  // namespace
}  // namespace rclrt_rclcpp::test

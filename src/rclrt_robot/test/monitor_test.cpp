// SPDX-License-Identifier: Apache-2.0
// Reports of missed deadlines to operators.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <rclrt_msgs/msg/deadline_miss.hpp>
#include <statistics_msgs/msg/metrics_message.hpp>
#include <statistics_msgs/msg/statistic_data_type.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "folder.hpp"
#include "monitor_fixture.hpp"

namespace rclrt_robot::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

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
  // The hypervisor may also delay an instance directly.
  const std::vector<DiagnosticStatus> statuses = operator_.statuses(name);
  EXPECT_TRUE(std::any_of(statuses.begin(), statuses.end(), [](const auto& each) {
    return each.level == DiagnosticStatus::WARN &&
           value_of(each, "most_in_the_way") == "/node timer 1" &&
           each.message.find("most in the way: /node timer 1, ") != std::string::npos;
  }));
}

TEST_F(MonitorTest, PublishesEachMissWithAllThatWasInItsWay) {
  using rclrt_msgs::msg::DeadlineMiss;
  RobotOptions with_misses = options();
  with_misses.monitor->misses = "/misses";
  Robot robot(with_misses);
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto urgent = node->create_wall_timer(5ms, [] {});
  const auto blocking = node->create_wall_timer(40ms, [] { burn(30ms); });
  robot.executor().set_timing(urgent, {.priority = 5, .deadline = 10ms});
  robot.executor().set_timing(blocking, {.priority = 1});
  robot.executor().add_node(node);
  Listener<DeadlineMiss> listener{"/misses"};
  const auto before = rclcpp::Clock(RCL_SYSTEM_TIME).now();
  spin(robot, [&] { return listener.messages().size() > 5; });
  const auto after = rclcpp::Clock(RCL_SYSTEM_TIME).now();

  const auto callbacks = robot.executor().callbacks();
  const auto found = std::ranges::find_if(
      callbacks, [](const auto& each) { return each.kind == "timer" && each.name == "0"; });
  ASSERT_NE(found, callbacks.end());
  std::uint64_t told = 0;
  bool is_blamed = false;
  for (const DeadlineMiss& miss : listener.messages()) {
    told += miss.dropped + (rclcpp::Duration(miss.late).nanoseconds() > 0 ? 1 : 0);
    EXPECT_EQ(miss.callback, "/node timer 0");
    const std::int64_t stamp_ns = rclcpp::Time(miss.stamp).nanoseconds();
    EXPECT_GT(stamp_ns, before.nanoseconds() - 1'000'000'000);
    EXPECT_LE(stamp_ns, after.nanoseconds());
    std::vector<std::int64_t> times;
    for (const auto& cause : miss.causes) {
      times.push_back(rclcpp::Duration(cause.time).nanoseconds());
    }
    EXPECT_TRUE(std::ranges::is_sorted(times, std::ranges::greater()));
    is_blamed = is_blamed || (!times.empty() && miss.causes.front().what == "/node timer 1" &&
                              times.front() > 1'000'000);
  }
  EXPECT_TRUE(is_blamed);
  EXPECT_LE(told, found->counters.missed) << "none invented; the first may come before the match";
}

TEST_F(MonitorTest, ASecondSpinTellsOfItsOwnTimeOnly) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> runs{0};
  const auto timer = node->create_wall_timer(5ms, [&] { ++runs; });
  robot.executor().set_timing(timer, {.deadline = 1h});
  robot.executor().add_node(node);
  const std::string name = "rclrt: /node timer 0";
  spin(robot, [&] { return runs > 20 && !operator_.statuses(name).empty(); });
  const auto number = [](const DiagnosticStatus& status, const char* key) {
    return std::stoul(value_of(status, key));
  };
  ASSERT_TRUE(eventually([&] {
    return number(operator_.statuses(name).back(), "completed") == static_cast<unsigned>(runs);
  }));
  const std::size_t before = operator_.statuses(name).size();
  const DiagnosticStatus last = operator_.statuses(name).back();
  spin(robot, [&] { return operator_.statuses(name).size() > before; });
  const DiagnosticStatus first = operator_.statuses(name)[before];
  const auto since = [&](const char* key) { return number(first, key) - number(last, key); };
  // On a busy machine a release may be lost: then it is counted.
  EXPECT_EQ(first.message, std::to_string(since("missed")) + " of " +
                               std::to_string(since("completed") + since("dropped")) + " missed");
}

TEST_F(MonitorTest, PublishesStatisticsOfResponses) {
  using statistics_msgs::msg::MetricsMessage;
  using statistics_msgs::msg::StatisticDataType;
  Listener<MetricsMessage> statistics("/statistics");
  RobotOptions with_statistics = options();
  with_statistics.monitor->statistics = "/statistics";
  Robot robot(std::move(with_statistics));
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto timer = node->create_wall_timer(10ms, [] { burn(1ms); });
  robot.executor().set_timing(timer, {.deadline = 1h});
  robot.executor().add_node(node);
  const auto value = [](const MetricsMessage& message, std::uint8_t type) {
    for (const auto& each : message.statistics) {
      if (each.data_type == type) {
        return each.data;
      }
    }
    return -1.0;
  };
  const std::string name = "rclrt: /node timer 0";
  spin(robot,
       [&] { return statistics.messages().size() >= 5 && operator_.statuses(name).size() >= 5; });
  const auto statuses = operator_.statuses(name);
  const double completed = std::stod(value_of(statuses.back(), "completed"));
  double samples = 0;
  EXPECT_TRUE(eventually([&] {  // each instance is in one message
    samples = 0;
    for (const MetricsMessage& each : statistics.messages()) {
      samples += value(each, StatisticDataType::STATISTICS_DATA_TYPE_SAMPLE_COUNT);
    }
    return samples >= completed;
  })) << samples
      << " of " << completed;
  for (const MetricsMessage& each : statistics.messages()) {
    EXPECT_EQ(each.measurement_source_name, "/node");
    EXPECT_EQ(each.metrics_source, "/node timer 0 response");
    EXPECT_EQ(each.unit, "ms");
    EXPECT_LE(rclcpp::Time(each.window_start), rclcpp::Time(each.window_stop));
    if (value(each, StatisticDataType::STATISTICS_DATA_TYPE_SAMPLE_COUNT) > 0) {
      EXPECT_GE(value(each, StatisticDataType::STATISTICS_DATA_TYPE_MINIMUM), 0.99);
    }
  }
  const auto measured = std::find_if(statuses.begin(), statuses.end(), [](const auto& each) {
    return !value_of(each, "p99_ms").empty();
  });
  ASSERT_NE(measured, statuses.end());
  EXPECT_GE(std::stod(value_of(*measured, "p50_ms")), 0.99);
  EXPECT_GE(std::stod(value_of(*measured, "max_ms")), std::stod(value_of(*measured, "p99_ms")));
  EXPECT_GT(std::stod(value_of(operator_.statuses(process_name()).back(), "cpu_percent")), 0);
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

TEST_F(MonitorTest, TracesOfEarlierRunsCount) {
  const Folder folder;
  for (int i = 1; i <= 15; ++i) {
    std::ofstream(folder / ("miss-" + std::to_string(i) + ".pftrace").c_str());
  }
  for (const bool is_last : {true, false}) {
    RobotOptions with_traces = options();
    with_traces.monitor->traces = folder / ".";
    Robot robot(std::move(with_traces));
    const auto node = std::make_shared<rclcpp::Node>("node");
    std::atomic<int> runs{0};
    const auto late = node->create_wall_timer(20ms, [&] {
      burn(5ms);
      ++runs;
    });
    robot.executor().set_timing(late, {.deadline = 1ms});
    robot.executor().add_node(node);
    spin(robot,
         [&] { return is_last ? std::filesystem::exists(folder / "miss-16.pftrace") : runs > 60; });
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "miss-17.pftrace"));
}

TEST_F(MonitorTest, RefusesAFolderForTracesThatDoesNotExist) {
  RobotOptions with_traces = options();
  with_traces.monitor->traces = "/nowhere/at all";
  EXPECT_THAT(
      [&] { Robot{std::move(with_traces)}; },
      ThrowsMessage<std::invalid_argument>(HasSubstr("there is no directory /nowhere/at all")));
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
  std::string missed = "0";  // a busy machine may lose releases, which are reported, too
  for (const DiagnosticStatus& status : operator_.statuses("rclrt: /node timer 0")) {
    const bool is_same = missed == value_of(status, "missed");
    missed = value_of(status, "missed");
    EXPECT_EQ(status.level == DiagnosticStatus::OK, is_same) << status.message;
    EXPECT_EQ(missed, value_of(status, "dropped"));
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

TEST_F(MonitorTest, APeriodOutOfRangeIsRefusedAtOnceWithItsNameAndTheRange) {
  for (const auto period : {0ms, -5ms}) {
    RobotOptions wrong = options();
    wrong.monitor->period = period;
    EXPECT_THAT([&] { Robot robot(wrong); },
                ThrowsMessage<std::invalid_argument>("MonitorOptions::period is " +
                                                     std::to_string(period.count()) +
                                                     " ms; expected at least 1 ms"));
  }
  RobotOptions wrong = options();
  wrong.thread_period = 0ms;
  EXPECT_THAT([&] { Robot robot(wrong); },
              ThrowsMessage<std::invalid_argument>(
                  "RobotOptions::thread_period is 0 ms; expected at least 1 ms"));
}

TEST_F(MonitorTest, APeriodThatCannotBeIsRefusedBeforeAnythingIsWritten) {
  const Folder folder;
  RobotOptions wrong = options();
  wrong.monitor->period = 0ms;
  wrong.recording = RecordingOptions{.directory = folder / "out"};
  EXPECT_THAT([&] { Robot robot(wrong); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("MonitorOptions::period")));
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_F(MonitorTest, ATopicThatIsRefusedIsThrownAndTheRobotGoesOn) {
  RobotOptions wrong = options();
  wrong.monitor->topic = "/1 is no topic";
  Robot robot(std::move(wrong));
  EXPECT_THAT([&] { robot.spin(); }, ThrowsMessage<rclcpp::exceptions::InvalidTopicNameError>(
                                         HasSubstr("/1 is no topic")));
  EXPECT_THAT([&] { robot.spin(); },
              ThrowsMessage<rclcpp::exceptions::InvalidTopicNameError>(HasSubstr("/1 is no topic")))
      << "not: already spinning";
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
      EXPECT_THAT([&] { robot.spin(); },
                  ThrowsMessage<std::runtime_error>("Robot::spin() called while already spinning"));
      EXPECT_FALSE(std::filesystem::exists(folder / "out" / "results.json"));
    }
    return operator_.statuses(process_name()).size() >= 4;
  });
  EXPECT_TRUE(std::filesystem::exists(folder / "out" / "results.json")) << "by the first";
}

}  // namespace
}  // namespace rclrt_robot::test

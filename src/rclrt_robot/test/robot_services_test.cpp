// SPDX-License-Identifier: Apache-2.0
// Callbacks that wait, as operators see them; and the behaviour of a process without priorities.
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "monitor_fixture.hpp"
#include "waiting_component.hpp"

namespace rclrt_robot::test {
namespace {

class StallsOnDiagnostics : public MonitorTest {};

TEST_F(StallsOnDiagnostics, NameThePriorityWhoseWorkersAllWaitAndHowManyInstancesAreQueued) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  RobotOptions robot_options = options();
  robot_options.options.engine.workers_per_level = 1;
  Robot robot(robot_options);
  WaitingComponent component;
  component.wait = 200ms;  // repeatedly
  component.add_to(robot.executor());
  const auto told = [&] {
    const auto all = operator_.statuses("rclrt: priority 0");
    return std::ranges::any_of(all, [](const DiagnosticStatus& each) {
      return each.level == DiagnosticStatus::ERROR &&
             each.message.starts_with("priority 0: every worker waits, ") &&
             value_of(each, "waiting") == "/client group 1 timer 0";
    });
  };
  spin(robot, told);
}

class ProgressOnDiagnostics : public MonitorTest {};

TEST_F(ProgressOnDiagnostics, NamesTheCallbackThatWaitsAndTheOneThatEndsInstead) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  std::atomic<bool> is_overloaded{true};
  std::atomic<int> runs{0};
  // While one of the urgent timers runs, the other is due again: the CPU is never free.
  const auto overload = [&] {
    if (is_overloaded) {
      burn(3ms);
    }
  };
  const auto urgent = node->create_wall_timer(2ms, overload);
  const auto other = node->create_wall_timer(2ms, overload);
  const auto starving = node->create_wall_timer(10ms, [&] { ++runs; }, group);
  robot.executor().set_priority(urgent, 5);
  robot.executor().set_priority(other, 5);
  robot.executor().set_priority(starving, 1);
  robot.executor().add_node(node);
  const auto last = [&] {
    const auto statuses = operator_.statuses("rclrt: /node group 1 timer 0 progress");
    return statuses.empty() ? DiagnosticStatus() : statuses.back();
  };
  spin(robot, [&] {
    if (is_overloaded && last().level == DiagnosticStatus::WARN &&
        !value_of(last(), "ended_most_often").empty()) {
      const DiagnosticStatus status = last();
      EXPECT_TRUE(status.message.starts_with("no instance has ended for ")) << status.message;
      EXPECT_TRUE(value_of(status, "ended_most_often").starts_with("/node timer "));
      EXPECT_EQ(value_of(status, "priority"), "1");
      EXPECT_EQ(value_of(status, "its_priority"), "5");
      EXPECT_GE(std::stoi(value_of(status, "releases")), 3);
      is_overloaded = false;
    }
    const DiagnosticStatus status = last();
    return !is_overloaded && status.level == DiagnosticStatus::OK &&
           status.message == "its instances end" && runs > 0;
  });
  EXPECT_TRUE(operator_.statuses("rclrt: /node timer 0 progress").empty());

  // A callback that is removed has one more status, and then none.
  robot.executor().remove_node(node);
  const std::string gone = "the executor does not have it any more";
  spin(robot, [&] { return last().message == gone; });
  EXPECT_EQ(last().level, DiagnosticStatus::OK);
  const std::size_t published = operator_.statuses(process_name()).size();
  spin(robot, [&] { return operator_.statuses(process_name()).size() > published + 2; });
  const auto statuses = operator_.statuses("rclrt: /node group 1 timer 0 progress");
  EXPECT_EQ(std::ranges::count(statuses, gone, &DiagnosticStatus::message), 1);
}

TEST_F(ProgressOnDiagnostics, ATimerThatWaitsIsOverdueAndACancelledOneIsNot) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto waiting = node->create_wall_timer(5ms, [] {});
  const auto cancelled = node->create_wall_timer(7ms, [] {});
  cancelled->cancel();
  robot.executor().add_node(node);  // and it does not spin
  const auto timer = [&](const std::string& name) {
    const auto all = robot.executor().callbacks();
    const auto found = std::ranges::find_if(
        all, [&](const auto& each) { return each.kind == "timer" && each.name == name; });
    return found == all.end() ? rclrt_rclcpp::CallbackInfo() : *found;
  };
  EXPECT_TRUE(eventually([&] { return timer("0").overdue > 20ms; }));
  EXPECT_EQ(timer("0").period, 5ms);
  EXPECT_EQ(timer("1").period, 7ms);
  EXPECT_EQ(timer("1").overdue, 0ns);
}

class WithoutPriorities : public Ros {};

TEST_F(WithoutPriorities, AProcessHasNormalSchedulingAndWithOneWhatIsUrgentHasNot) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  Robot robot(RobotOptions{});
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> low{-1};
  std::atomic<int> high{-1};
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto policy = [] { return static_cast<int>(rclrt::realtime::read_scheduling(0)->policy); };
  const auto first = node->create_wall_timer(1ms, [&] { low = policy(); });
  const auto second = node->create_wall_timer(1ms, [&] { high = policy(); }, group);
  robot.executor().set_priority(second, 3);
  robot.executor().add_node(node);
  std::thread spinning([&] { robot.spin(); });
  EXPECT_TRUE(eventually([&] { return low >= 0 && high >= 0; }));
  robot.executor().cancel();
  spinning.join();
  EXPECT_EQ(low, static_cast<int>(rclrt::realtime::Policy::kOther));
  EXPECT_EQ(high, static_cast<int>(rclrt::realtime::Policy::kFifo));
}

}  // namespace
}  // namespace rclrt_robot::test

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

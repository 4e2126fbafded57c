// SPDX-License-Identifier: Apache-2.0
// Components written for a MultiThreadedExecutor: they wait for a service of their own process
// within a callback. Also the behaviour of a process without priorities.
#include <algorithm>
#include <atomic>
#include <string>
#include <test_msgs/srv/basic_types.hpp>
#include <vector>

#include "monitor_fixture.hpp"

namespace rclrt_rclcpp::test {
namespace {

using Service = test_msgs::srv::BasicTypes;

/// A timer in a reentrant group calls a service of another node and waits for the answer.
class Component {
 public:
  Component()
      : server_(std::make_shared<rclcpp::Node>("server")),
        client_node_(std::make_shared<rclcpp::Node>("client")) {
    service_ = server_->create_service<Service>(
        "component", [](std::shared_ptr<Service::Request>, std::shared_ptr<Service::Response>) {});
    group_ = client_node_->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
    client_ = client_node_->create_client<Service>("component", rclcpp::ServicesQoS(), group_);
    timer_ = client_node_->create_wall_timer(
        20ms,
        [this] {
          const auto future = client_->async_send_request(std::make_shared<Service::Request>());
          answered += future.wait_for(wait) == std::future_status::ready ? 1 : 0;
          ++calls;
        },
        group_);
  }

  void add_to(rclcpp::Executor& executor) const {
    executor.add_node(server_);
    executor.add_node(client_node_);
    EXPECT_TRUE(client_->wait_for_service(20s));
  }

  std::chrono::milliseconds wait{20'000};
  std::atomic<int> calls{0};
  std::atomic<int> answered{0};

 private:
  rclcpp::Node::SharedPtr server_;
  rclcpp::Node::SharedPtr client_node_;
  rclcpp::ServiceBase::SharedPtr service_;
  rclcpp::CallbackGroup::SharedPtr group_;
  rclcpp::Client<Service>::SharedPtr client_;
  rclcpp::TimerBase::SharedPtr timer_;
};

template <typename E>
class WaitingServices : public Ros {};
using Offering = ::testing::Types<PreemptiveExecutor, ProducerConsumerExecutor, PerGroupExecutor>;
TYPED_TEST_SUITE(WaitingServices, Offering, ExecutorName);

TYPED_TEST(WaitingServices, AreAnsweredWithoutAnySettingBesideAChainThatLosesNothing) {
  const auto allowed = rclrt::realtime::allowed_cpus();
  for (const std::size_t cpus : {1, 2}) {
    Options options;
    options.engine.cpus.assign(
        allowed.begin(),
        allowed.begin() + static_cast<std::ptrdiff_t>(std::min(cpus, allowed.size())));
    TypeParam executor(options);
    Component component;
    const auto chain = std::make_shared<rclcpp::Node>("chain");
    const auto publisher = chain->create_publisher<Message>("step", 100);
    std::atomic<int> sent{0};
    std::atomic<int> received{0};
    const auto source = chain->create_wall_timer(5ms, [&] {
      ++sent;
      publisher->publish(Message());
    });
    const auto sink =
        chain->create_subscription<Message>("step", 100, [&](const Message&) { ++received; });
    executor.add_node(chain);
    component.add_to(executor);
    {
      const Spinning spinning(executor);
      EXPECT_TRUE(eventually([&] { return component.calls >= 15; }));
      const int until = sent;
      EXPECT_TRUE(eventually([&] { return received >= until; })) << received << " of " << until;
    }
    EXPECT_EQ(component.answered, component.calls) << cpus << " CPUs";
  }
}

class StallsOnDiagnostics : public MonitorTest {};

TEST_F(StallsOnDiagnostics, NameThePriorityWhoseWorkersAllWaitAndHowManyInstancesAreQueued) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  RobotOptions robot_options = options();
  robot_options.options.engine.workers_per_level = 1;
  Robot robot(robot_options);
  Component component;
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
}  // namespace rclrt_rclcpp::test

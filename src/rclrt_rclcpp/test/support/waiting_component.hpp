// SPDX-License-Identifier: Apache-2.0
// A component that waits for a service of its own process within a callback.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <test_msgs/srv/basic_types.hpp>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {

/// A timer in a reentrant group calls a service of another node and waits for the answer.
class WaitingComponent {
 public:
  WaitingComponent()
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
  using Service = test_msgs::srv::BasicTypes;

  rclcpp::Node::SharedPtr server_;
  rclcpp::Node::SharedPtr client_node_;
  rclcpp::ServiceBase::SharedPtr service_;
  rclcpp::CallbackGroup::SharedPtr group_;
  rclcpp::Client<Service>::SharedPtr client_;
  rclcpp::TimerBase::SharedPtr timer_;
};

}  // namespace rclrt_rclcpp::test

// SPDX-License-Identifier: Apache-2.0
// Entities that no executor runs: the benchmark takes from them by hand.
#pragma once

#include <cstdint>
#include <memory>
#include <std_msgs/msg/int64.hpp>
#include <std_srvs/srv/empty.hpp>
#include <string>

#include "rclrt/rclrt.hpp"

namespace rclrt::bench {

using Message = std_msgs::msg::Int64;
using Empty = std_srvs::srv::Empty;

class SubscriptionByHand final : public Subscription<Message> {
 public:
  SubscriptionByHand(std::shared_ptr<NodeHandle> node, const std::string& topic)
      : Subscription(std::move(node), topic, 10, {}) {}

  bool take_now(Message& message) {
    InstanceInfo info;
    info.ready_ns = 1;  // the time of arrival is not used
    return take(&message, info);
  }

 protected:
  executor::Outcome run(InstanceInfo&) override { return executor::Outcome::kEmpty; }
};

class ServiceByHand final : public Service<Empty> {
 public:
  ServiceByHand(std::shared_ptr<NodeHandle> node, const std::string& name)
      : Service(std::move(node), name, 10, {}) {}

  bool take_now(rmw_request_id_t& id) {
    InstanceInfo info;
    info.ready_ns = 1;
    Empty::Request request;
    return take(&request, id, info);
  }
  void respond_now(rmw_request_id_t& id) {
    Empty::Response response;
    respond(id, &response);
  }

 protected:
  executor::Outcome run(InstanceInfo&) override { return executor::Outcome::kEmpty; }
};

class ClientByHand final : public ClientBase {
 public:
  ClientByHand(std::shared_ptr<NodeHandle> node, const std::string& name)
      : ClientBase(std::move(node),
                   rosidl_typesupport_cpp::get_service_type_support_handle<Empty>(), name, 10, {}) {
  }

  void send_now() {
    const Empty::Request request;
    send(&request);
  }
  bool take_now() {
    InstanceInfo info;
    info.ready_ns = 1;
    Empty::Response response;
    std::int64_t request = 0;
    return take(&response, request, info);
  }

 protected:
  executor::Outcome run(InstanceInfo&) override { return executor::Outcome::kEmpty; }
};

}  // namespace rclrt::bench

// SPDX-License-Identifier: Apache-2.0
// Services and clients of a running application.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt_msgs/msg/chain_message.hpp>
#include <rclrt_msgs/srv/chain_call.hpp>
#include <vector>

#include "rclrt/rclrt.hpp"

namespace rclrt::runner {

/// The work of a callback for a message from this input of model::inputs().
using MessageWork =
    std::function<void(const rclrt_msgs::msg::ChainMessage& message, std::size_t input)>;

/// The server of one service. It runs a callback for each request, from any client.
class LiveService {
 public:
  /// Creates the service on the middleware. `responses` has, for each input, the message that is
  /// sent back when `work` returns; both must exist until the service is destroyed. A request from
  /// a foreign client is counted and gets an empty response. Throws Error.
  LiveService(const model::Application& application, std::size_t callback, Node& node,
              const CallbackOptions& options, MessageWork work,
              std::vector<const rclrt_msgs::msg::ChainMessage*> responses);

  const std::shared_ptr<ServiceBase>& entity() const { return service_; }
  std::size_t expected_clients() const { return clients_.size(); }
  /// Returns how many clients the ROS graph shows. Throws Error.
  std::size_t count_clients() const;
  /// Returns how many servers of this name the ROS graph shows. Throws Error.
  std::size_t count_servers() const;
  /// Returns, after the run, how many requests came from outside the application.
  std::uint64_t foreign_requests() const { return foreign_requests_; }

 private:
  std::optional<std::size_t> input_of(std::uint32_t client) const;

  std::shared_ptr<NodeHandle> node_;
  std::vector<std::uint32_t> clients_;  // the callbacks' indices, as the inputs
  MessageWork work_;
  std::vector<const rclrt_msgs::msg::ChainMessage*> responses_;
  std::uint64_t foreign_requests_ = 0;  // counted by the callback, which excludes itself
  std::shared_ptr<ServiceBase> service_;
};

/// A client with which the callbacks of its node send requests. For each response it runs a
/// callback of its own.
class LiveClient {
 public:
  /// Creates it on the middleware; `work` is used until the client ends. Throws Error.
  LiveClient(const model::Application& application, std::size_t callback, Node& node,
             const CallbackOptions& options, MessageWork work);

  /// Sends a request. From any thread. Throws Error.
  void send(const rclrt_msgs::msg::ChainMessage& message);

  const std::shared_ptr<Client<rclrt_msgs::srv::ChainCall>>& entity() const { return client_; }

 private:
  const std::uint32_t number_;
  const MessageWork work_;
  std::shared_ptr<Client<rclrt_msgs::srv::ChainCall>> client_;
};

}  // namespace rclrt::runner

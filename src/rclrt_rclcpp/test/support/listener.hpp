// SPDX-License-Identifier: Apache-2.0
// Another subscriber of a topic.
#pragma once

#include <memory>
#include <mutex>
#include <rclcpp/rclcpp.hpp>
#include <thread>
#include <vector>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {

/// Collects the received messages, in an executor of its own.
template <typename MessageT>
class Listener {
 public:
  explicit Listener(const char* topic)
      : subscription_(node_->create_subscription<MessageT>(topic, rclcpp::QoS(1000),
                                                           [this](const MessageT& message) {
                                                             const std::scoped_lock lock(mutex_);
                                                             messages_.push_back(message);
                                                           })) {
    executor_.add_node(node_);
    thread_ = std::thread([this] { executor_.spin(); });
    EXPECT_TRUE(eventually([this] { return executor_.is_spinning(); }));
  }
  ~Listener() {
    executor_.cancel();
    thread_.join();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::vector<MessageT> messages() {
    const std::scoped_lock lock(mutex_);
    return messages_;
  }

 private:
  std::mutex mutex_;  // guards messages_
  std::vector<MessageT> messages_;
  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("listener");
  const rclcpp::Subscription<MessageT>::SharedPtr subscription_;
  rclcpp::executors::SingleThreadedExecutor executor_;
  std::thread thread_;
};

}  // namespace rclrt_rclcpp::test

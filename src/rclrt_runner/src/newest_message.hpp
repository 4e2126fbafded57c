// SPDX-License-Identifier: Apache-2.0
// The newest message of a topic, which a callback takes when it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <rclrt_msgs/msg/chain_message.hpp>
#include <string>
#include <utility>

#include "rclrt/rclrt.hpp"

namespace rclrt::runner {

/// A subscription of depth 1 that no executor waits for. So the middleware keeps the newest message
/// until a callback takes it. Not thread-safe.
class NewestMessage final : public Subscription<rclrt_msgs::msg::ChainMessage> {
 public:
  using Message = rclrt_msgs::msg::ChainMessage;

  /// Makes the subscription. Throws Error.
  NewestMessage(const Node& node, const std::string& topic, const std::string& reader)
      : Subscription(node.handle(), topic, QoS(1), options(reader)) {}

  /// Takes the newest message if there is one that was not taken yet. It does not count unless
  /// `is_own(message)`; then the result is false. Throws Error.
  template <typename IsOwn>
  bool take(const IsOwn& is_own) {
    InstanceInfo info{};
    if (!Subscription::take(&message_, info)) {
      return true;  // the last one is still the newest one
    }
    const bool own = is_own(std::as_const(message_));
    sent_ns_ = own ? message_.sent_ns : sent_ns_;
    return own;
  }

  /// Returns when the newest message was sent; 0: none was taken.
  std::int64_t sent_ns() const noexcept { return sent_ns_; }

 protected:
  executor::Outcome run(InstanceInfo& /*info*/) override { return executor::Outcome::kEmpty; }

 private:
  static CallbackOptions options(const std::string& reader) {
    CallbackOptions result;
    result.name = reader + " newest message";
    return result;
  }

  Message message_;  // reused: a message of a size seen before allocates nothing
  std::int64_t sent_ns_ = 0;
};

}  // namespace rclrt::runner

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rcl/publisher.h>

#include <memory>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>

#include "rclrt/qos.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt {

class Node;
struct NodeHandle;

class PublisherBase {
 public:
  RCLRT_SETUP PublisherBase(std::shared_ptr<NodeHandle> node,
                            const rosidl_message_type_support_t* type, const std::string& topic,
                            const QoS& qos);
  ~PublisherBase();
  PublisherBase(const PublisherBase&) = delete;
  PublisherBase& operator=(const PublisherBase&) = delete;

  /// After remapping, with its namespace.
  std::string topic_name() const;
  /// How many subscriptions it is matched with now.
  std::size_t subscription_count() const;

 protected:
  bool publish_untyped(const void* message) noexcept;

 private:
  const std::shared_ptr<NodeHandle> node_;
  rcl_publisher_t publisher_;
};

template <typename T>
class Publisher : public PublisherBase {
 public:
  RCLRT_SETUP Publisher(std::shared_ptr<NodeHandle> node, const std::string& topic, const QoS& qos)
      : PublisherBase(std::move(node), rosidl_typesupport_cpp::get_message_type_support_handle<T>(),
                      topic, qos) {}

  /// Sends `message`. Thread-safe. False when it was not sent, because the context is shut down or
  /// the middleware refused it. rmw_fastrtps itself allocates about once per call.
  bool publish(const T& message) noexcept { return publish_untyped(&message); }
};

}  // namespace rclrt

// SPDX-License-Identifier: Apache-2.0
// Warns of publishers and subscriptions that are not matched because of their QoS.
#pragma once

#include <rcl/event.h>
#include <rcl/publisher.h>
#include <rcl/subscription.h>
#include <rosidl_runtime_c/message_type_support_struct.h>

#include <cstddef>
#include <memory>

#include "rclrt/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt {

struct NodeHandle;

namespace detail {

/// Makes the warnings of one context. Defined in the library.
class QosWarner;

/// Warns of incompatible QoS. While this object exists, each report of the middleware that this
/// publisher or subscription could not be matched with another one becomes a warning on stderr, as
/// in rclcpp by default. The warning names both nodes, the policies and what to change. Does
/// nothing if the middleware has no such report. The publisher or subscription and its node must
/// outlive this object.
class RCLRT_EXPORT QosWarning {
 public:
  RCLRT_SETUP QosWarning(NodeHandle& node, const rcl_publisher_t& publisher,
                         const rosidl_message_type_support_t& type);
  RCLRT_SETUP QosWarning(NodeHandle& node, const rcl_subscription_t& subscription,
                         const rosidl_message_type_support_t& type);
  /// Ends the warnings: no listener runs any more after it has returned.
  ~QosWarning();
  QosWarning(const QosWarning&) = delete;
  QosWarning& operator=(const QosWarning&) = delete;

  /// Looks for incompatible endpoints as after a report of the middleware.
  RCLRT_SETUP void look() const noexcept;

 private:
  friend class QosWarner;
  struct Endpoint;

  void listen(rcl_ret_t initialised);
  static void on_mismatch(const void* self, std::size_t count);

  const std::unique_ptr<const Endpoint> endpoint_;
  QosWarner& warner_;
  rcl_event_t event_;
  bool listens_ = false;
};

}  // namespace detail

}  // namespace rclrt

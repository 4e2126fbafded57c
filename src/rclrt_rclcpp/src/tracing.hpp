// SPDX-License-Identifier: Apache-2.0
// Writes to a trace which entities an executor runs, and how: other tracepoints do not show it.
#pragma once

#include <cstdint>
#include <memory>
#include <rclcpp/rclcpp.hpp>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/executor.hpp"

namespace rclrt_rclcpp {

// Returns the address by which ros2_tracing's events identify the entity; nullptr: they do not.
inline const void* trace_handle(const rclcpp::SubscriptionBase::SharedPtr& subscription) {
  return subscription->get_subscription_handle().get();
}
inline const void* trace_handle(const rclcpp::TimerBase::SharedPtr& timer) {
  return timer->get_timer_handle().get();
}
inline const void* trace_handle(const rclcpp::ServiceBase::SharedPtr& service) {
  return service->get_service_handle().get();
}
inline const void* trace_handle(const std::shared_ptr<void>& /*other*/) { return nullptr; }

/// Writes a trace event: the executor runs `entity` as this callback. Call it again if the priority
/// has changed. Does nothing without `rclrt trace record`, or if `entity` is nullptr.
void trace_entity(const rclrt::executor::Executor& executor, const void* entity,
                  const rclrt::executor::Callback& callback);

/// Returns whether `rclrt trace record` has loaded its events, so that stamps are worth reading.
bool traces_stamps() noexcept;

/// Writes a trace event: the message that the calling thread has taken has this stamp, in
/// nanoseconds since 1970. Does nothing for 0.
void trace_stamp(std::int64_t stamp_ns) noexcept;

}  // namespace rclrt_rclcpp

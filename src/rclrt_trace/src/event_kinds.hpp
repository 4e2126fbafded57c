// SPDX-License-Identifier: Apache-2.0
// The events of ros2_tracing, rclrt and the kernel from which a model is made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rclrt::trace {

/// Kinds of events. kEventTypes has the fields of each.
enum class EventKind : std::uint8_t {
  // Creation of entities; see is_creation().
  kNodeInit,
  kPublisherInit,
  kSubscriptionInit,
  kSubscriptionObject,
  kSubscriptionCallback,
  kServiceInit,
  kServiceCallback,
  kTimerInit,
  kTimerCallback,
  kTimerNode,
  kCallbackAdded,
  kSynchronizerInput,
  kExecutorCallback,
  kExecutorEntity,
  kMessageLink,
  // Events at run time.
  kCallbackRelease,
  kCallbackStart,
  kCallbackEnd,
  kRclPublish,
  kRmwPublish,
  kIntraPublish,
  kRmwTake,
  kTake,
  kEnqueue,
  kDequeue,
  kValueStored,
  kValueRead,
  kMessageStamp,
  // Switches of threads; see is_scheduling().
  kThreadSwitch,
  kKernelSwitch,
  kSwitchesLost,
  // Not events of the trace: events are missing here. numbers: the time until which they may be
  // missing (INT64_MAX: up to the end of the trace), and the time since which.
  kLoss,    // the tracer had no room for them
  kDamage,  // the file is damaged or cut off
};

/// Returns whether the event describes an entity, not something that happens at run time.
constexpr bool is_creation(EventKind kind) { return kind < EventKind::kCallbackRelease; }

/// Returns whether the event reports which thread runs. The other events are complete without it.
constexpr bool is_scheduling(EventKind kind) {
  return kind >= EventKind::kThreadSwitch && kind <= EventKind::kSwitchesLost;
}

inline constexpr std::size_t kMostNumbers = 6;
inline constexpr std::size_t kMostTexts = 2;
inline constexpr std::size_t kMostLists = 2;

/// The name of an event, and the names of its fields that are read: first numbers, then texts, then
/// lists of numbers, in the order of TraceEvent.
struct EventType {
  EventKind kind;
  std::string_view name;
  std::array<const char*, kMostNumbers> numbers{};
  std::array<const char*, kMostTexts> texts{};
  std::array<const char*, kMostLists> lists{};
};

inline constexpr auto kEventTypes = [] {
  using enum EventKind;
  return std::to_array<EventType>({
      {kNodeInit, "ros2:rcl_node_init", {"node_handle"}, {"node_name", "namespace"}},
      {kPublisherInit,
       "ros2:rcl_publisher_init",
       {"publisher_handle", "node_handle", "rmw_publisher_handle", "queue_depth"},
       {"topic_name"}},
      {kSubscriptionInit,
       "ros2:rcl_subscription_init",
       {"subscription_handle", "node_handle", "rmw_subscription_handle", "queue_depth"},
       {"topic_name"}},
      {kSubscriptionObject,
       "ros2:rclcpp_subscription_init",
       {"subscription_handle", "subscription"}},
      {kSubscriptionCallback,
       "ros2:rclcpp_subscription_callback_added",
       {"subscription", "callback"}},
      {kServiceInit, "ros2:rcl_service_init", {"service_handle", "node_handle"}, {"service_name"}},
      {kServiceCallback, "ros2:rclcpp_service_callback_added", {"service_handle", "callback"}},
      {kTimerInit, "ros2:rcl_timer_init", {"timer_handle", "period"}},
      {kTimerCallback, "ros2:rclcpp_timer_callback_added", {"timer_handle", "callback"}},
      {kTimerNode, "ros2:rclcpp_timer_link_node", {"timer_handle", "node_handle"}},
      {kCallbackStart, "ros2:callback_start", {"callback", "is_intra_process"}},
      {kCallbackEnd, "ros2:callback_end", {"callback"}},
      {kRclPublish, "ros2:rcl_publish", {"publisher_handle"}},
      {kRmwPublish, "ros2:rmw_publish", {"rmw_publisher_handle", "timestamp"}},
      {kIntraPublish, "ros2:rclcpp_intra_publish", {"publisher_handle", "message"}},
      {kRmwTake, "ros2:rmw_take", {"rmw_subscription_handle", "source_timestamp", "taken"}},
      {kTake, "ros2:rclcpp_take", {"message"}},
      {kEnqueue, "ros2:rclcpp_ring_buffer_enqueue", {"buffer", "index"}},
      {kDequeue, "ros2:rclcpp_ring_buffer_dequeue", {"buffer", "index"}},
      {kCallbackAdded,
       "rclrt:callback_added",
       {"callback", "node_handle", "priority", "group", "reentrant", "deadline"},
       {"name", "kind"}},
      {kSynchronizerInput,
       "rclrt:synchronizer_input_added",
       {"synchronizer", "callback", "window"}},
      {kExecutorCallback,
       "rclrt:executor_callback_added",
       {"executor", "callback"},
       {"name", "cpus"}},
      {kExecutorEntity,
       "rclrt:executor_entity_added",
       {"executor", "entity", "priority", "group", "reentrant", "deadline"},
       {"name", "cpus"}},
      // A node states that its publishers use what the subscriptions took in earlier callbacks.
      {kMessageLink, "ros2:message_link_periodic_async", {}, {}, {"subs", "pubs"}},
      {kMessageLink, "ros2:message_link_partial_sync", {}, {}, {"subs", "pubs"}},
      {kCallbackRelease, "rclrt:callback_release", {"callback", "release", "ready"}},
      {kValueStored, "rclrt:value_stored", {"value", "number"}},
      {kValueRead, "rclrt:value_read", {"value", "number"}},
      {kMessageStamp, "rclrt:message_stamped", {"stamp"}},
      {kThreadSwitch, "rclrt:thread_switch", {"state"}},
      {kKernelSwitch, "sched_switch", {"prev_tid", "next_tid", "prev_state"}},
      {kSwitchesLost, "rclrt:thread_switches_lost", {"count", "since"}},
  });
}();

}  // namespace rclrt::trace

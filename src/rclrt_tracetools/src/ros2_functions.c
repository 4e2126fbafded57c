/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of tracetools, which rcl, rmw_fastrtps, rclcpp and rclrt call. */
#include "ros2_provider.h"
#include "tracetools/tracetools.h"

bool ros_trace_compile_status() { return true; }

/* Defines the three functions of an event. Takes its parameters, then their names. */
#define RCLRT_DEFINE(event, parameters, ...)                                             \
  bool ros_trace_enabled_##event() { return lttng_ust_tracepoint_enabled(ros2, event); } \
  void ros_trace_##event parameters { lttng_ust_tracepoint(ros2, event, __VA_ARGS__); }  \
  void ros_trace_do_##event parameters { lttng_ust_do_tracepoint(ros2, event, __VA_ARGS__); }

// A parameter list takes no parentheses around names.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define RCLRT_DEFINE_1(event, a) RCLRT_DEFINE(event, (const void* a), a)
#define RCLRT_DEFINE_2(event, a, b) RCLRT_DEFINE(event, (const void* a, const void* b), a, b)
// NOLINTEND(bugprone-macro-parentheses)

RCLRT_DEFINE_1(rcl_init, context_handle)
RCLRT_DEFINE(rcl_node_init,
             (const void* node_handle, const void* rmw_handle, const char* node_name,
              const char* node_namespace),
             node_handle, rmw_handle, node_name, node_namespace)
RCLRT_DEFINE(rmw_publisher_init, (const void* rmw_publisher_handle, const uint8_t* gid),
             rmw_publisher_handle, gid)
RCLRT_DEFINE(rcl_publisher_init,
             (const void* publisher_handle, const void* node_handle,
              const void* rmw_publisher_handle, const char* topic_name, const size_t queue_depth),
             publisher_handle, node_handle, rmw_publisher_handle, topic_name, queue_depth)
/* The event has no field for the publisher. The event of rcl_publish, which follows, has one. */
RCLRT_DEFINE(rclcpp_publish,
             (const void* publisher_handle __attribute__((unused)), const void* message), message)
RCLRT_DEFINE_2(rclcpp_intra_publish, publisher_handle, message)
RCLRT_DEFINE_2(rcl_publish, publisher_handle, message)
RCLRT_DEFINE(rmw_publish,
             (const void* rmw_publisher_handle, const void* message, int64_t timestamp),
             rmw_publisher_handle, message, timestamp)
RCLRT_DEFINE(rmw_subscription_init, (const void* rmw_subscription_handle, const uint8_t* gid),
             rmw_subscription_handle, gid)
RCLRT_DEFINE(rcl_subscription_init,
             (const void* subscription_handle, const void* node_handle,
              const void* rmw_subscription_handle, const char* topic_name,
              const size_t queue_depth),
             subscription_handle, node_handle, rmw_subscription_handle, topic_name, queue_depth)
RCLRT_DEFINE_2(rclcpp_subscription_init, subscription_handle, subscription)
RCLRT_DEFINE_2(rclcpp_subscription_callback_added, subscription, callback)
RCLRT_DEFINE(rmw_take,
             (const void* rmw_subscription_handle, const void* message, int64_t source_timestamp,
              const bool taken),
             rmw_subscription_handle, message, source_timestamp, taken)
RCLRT_DEFINE_1(rcl_take, message)
RCLRT_DEFINE_1(rclcpp_take, message)
RCLRT_DEFINE(rcl_service_init,
             (const void* service_handle, const void* node_handle, const void* rmw_service_handle,
              const char* service_name),
             service_handle, node_handle, rmw_service_handle, service_name)
RCLRT_DEFINE_2(rclcpp_service_callback_added, service_handle, callback)
RCLRT_DEFINE(rcl_client_init,
             (const void* client_handle, const void* node_handle, const void* rmw_client_handle,
              const char* service_name),
             client_handle, node_handle, rmw_client_handle, service_name)
RCLRT_DEFINE(rcl_timer_init, (const void* timer_handle, int64_t period), timer_handle, period)
RCLRT_DEFINE_2(rclcpp_timer_callback_added, timer_handle, callback)
RCLRT_DEFINE_2(rclcpp_timer_link_node, timer_handle, node_handle)
RCLRT_DEFINE(rclcpp_callback_register, (const void* callback, const char* function_symbol),
             callback, function_symbol)
RCLRT_DEFINE(callback_start, (const void* callback, const bool is_intra_process), callback,
             is_intra_process)
RCLRT_DEFINE_1(callback_end, callback)
RCLRT_DEFINE_2(rcl_lifecycle_state_machine_init, node_handle, state_machine)
RCLRT_DEFINE(rcl_lifecycle_transition,
             (const void* state_machine, const char* start_label, const char* goal_label),
             state_machine, start_label, goal_label)
bool ros_trace_enabled_rclcpp_executor_get_next_ready() {
  return lttng_ust_tracepoint_enabled(ros2, rclcpp_executor_get_next_ready);
}
void ros_trace_rclcpp_executor_get_next_ready() {
  lttng_ust_tracepoint(ros2, rclcpp_executor_get_next_ready);
}
void ros_trace_do_rclcpp_executor_get_next_ready() {
  lttng_ust_do_tracepoint(ros2, rclcpp_executor_get_next_ready);
}
RCLRT_DEFINE(rclcpp_executor_wait_for_work, (const int64_t timeout), timeout)
RCLRT_DEFINE_1(rclcpp_executor_execute, handle)
RCLRT_DEFINE_2(rclcpp_ipb_to_subscription, ipb, subscription)
RCLRT_DEFINE_2(rclcpp_buffer_to_ipb, buffer, ipb)
RCLRT_DEFINE(rclcpp_construct_ring_buffer, (const void* buffer, const uint64_t capacity), buffer,
             capacity)
RCLRT_DEFINE(rclcpp_ring_buffer_enqueue,
             (const void* buffer, const uint64_t index, const uint64_t size,
              const bool overwritten),
             buffer, index, size, overwritten)
RCLRT_DEFINE(rclcpp_ring_buffer_dequeue,
             (const void* buffer, const uint64_t index, const uint64_t size), buffer, index, size)
RCLRT_DEFINE_1(rclcpp_ring_buffer_clear, buffer)

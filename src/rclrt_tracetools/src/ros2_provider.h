/* SPDX-License-Identifier: Apache-2.0 */
/* The events of ros2_tracing 8, with its names and fields, so that its readers also read our traces.
   LTTng's macros include this file several times, each time with different macros. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ros2

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./ros2_provider.h"

#if !defined(RCLRT_ROS2_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define RCLRT_ROS2_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracetools/version.h"

/* A field with the name of its argument. */
#define RCLRT_POINTER(name) lttng_ust_field_integer_hex(const void*, name, name##_arg)
#define RCLRT_INTEGER(type, name) lttng_ust_field_integer(type, name, name##_arg)
#define RCLRT_STRING(name) lttng_ust_field_string(name, name##_arg)
/* The first bytes of a GID; their number is that of rmw. */
#define RCLRT_GID lttng_ust_field_array(uint8_t, gid, gid_arg, 16)

/* Events with one or two pointers. */
#define RCLRT_EVENT_1(event, a)                                                    \
  LTTNG_UST_TRACEPOINT_EVENT(ros2, event, LTTNG_UST_TP_ARGS(const void*, a##_arg), \
                             LTTNG_UST_TP_FIELDS(RCLRT_POINTER(a)))
#define RCLRT_EVENT_2(event, a, b)                                                          \
  LTTNG_UST_TRACEPOINT_EVENT(ros2, event,                                                   \
                             LTTNG_UST_TP_ARGS(const void*, a##_arg, const void*, b##_arg), \
                             LTTNG_UST_TP_FIELDS(RCLRT_POINTER(a) RCLRT_POINTER(b)))

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(ros2, rcl_init,
  LTTNG_UST_TP_ARGS(const void*, context_handle_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(context_handle)
    lttng_ust_field_string(version, TRACETOOLS_VERSION_STR)))

LTTNG_UST_TRACEPOINT_EVENT(ros2, rcl_node_init,
  LTTNG_UST_TP_ARGS(const void*, node_handle_arg, const void*, rmw_handle_arg,
                    const char*, node_name_arg, const char*, namespace_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(node_handle) RCLRT_POINTER(rmw_handle)
    RCLRT_STRING(node_name) RCLRT_STRING(namespace)))

LTTNG_UST_TRACEPOINT_EVENT(ros2, rmw_publisher_init,
  LTTNG_UST_TP_ARGS(const void*, rmw_publisher_handle_arg, const uint8_t*, gid_arg),
  LTTNG_UST_TP_FIELDS(RCLRT_POINTER(rmw_publisher_handle) RCLRT_GID))

LTTNG_UST_TRACEPOINT_EVENT(ros2, rcl_publisher_init,
  LTTNG_UST_TP_ARGS(const void*, publisher_handle_arg, const void*, node_handle_arg,
                    const void*, rmw_publisher_handle_arg, const char*, topic_name_arg,
                    size_t, queue_depth_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(publisher_handle) RCLRT_POINTER(node_handle)
    RCLRT_POINTER(rmw_publisher_handle) RCLRT_STRING(topic_name)
    RCLRT_INTEGER(size_t, queue_depth)))

RCLRT_EVENT_1(rclcpp_publish, message)
RCLRT_EVENT_2(rclcpp_intra_publish, publisher_handle, message)
RCLRT_EVENT_2(rcl_publish, publisher_handle, message)

LTTNG_UST_TRACEPOINT_EVENT(ros2, rmw_publish,
  LTTNG_UST_TP_ARGS(const void*, rmw_publisher_handle_arg, const void*, message_arg,
                    int64_t, timestamp_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(rmw_publisher_handle) RCLRT_POINTER(message)
    RCLRT_INTEGER(int64_t, timestamp)))

LTTNG_UST_TRACEPOINT_EVENT(ros2, rmw_subscription_init,
  LTTNG_UST_TP_ARGS(const void*, rmw_subscription_handle_arg, const uint8_t*, gid_arg),
  LTTNG_UST_TP_FIELDS(RCLRT_POINTER(rmw_subscription_handle) RCLRT_GID))

LTTNG_UST_TRACEPOINT_EVENT(ros2, rcl_subscription_init,
  LTTNG_UST_TP_ARGS(const void*, subscription_handle_arg, const void*, node_handle_arg,
                    const void*, rmw_subscription_handle_arg, const char*, topic_name_arg,
                    size_t, queue_depth_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(subscription_handle) RCLRT_POINTER(node_handle)
    RCLRT_POINTER(rmw_subscription_handle) RCLRT_STRING(topic_name)
    RCLRT_INTEGER(size_t, queue_depth)))

RCLRT_EVENT_2(rclcpp_subscription_init, subscription_handle, subscription)
RCLRT_EVENT_2(rclcpp_subscription_callback_added, subscription, callback)

LTTNG_UST_TRACEPOINT_EVENT(ros2, rmw_take,
  LTTNG_UST_TP_ARGS(const void*, rmw_subscription_handle_arg, const void*, message_arg,
                    int64_t, source_timestamp_arg, bool, taken_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(rmw_subscription_handle) RCLRT_POINTER(message)
    RCLRT_INTEGER(int64_t, source_timestamp) RCLRT_INTEGER(int, taken)))

RCLRT_EVENT_1(rcl_take, message)
RCLRT_EVENT_1(rclcpp_take, message)

LTTNG_UST_TRACEPOINT_EVENT(ros2, rcl_service_init,
  LTTNG_UST_TP_ARGS(const void*, service_handle_arg, const void*, node_handle_arg,
                    const void*, rmw_service_handle_arg, const char*, service_name_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(service_handle) RCLRT_POINTER(node_handle)
    RCLRT_POINTER(rmw_service_handle) RCLRT_STRING(service_name)))

RCLRT_EVENT_2(rclcpp_service_callback_added, service_handle, callback)

LTTNG_UST_TRACEPOINT_EVENT(ros2, rcl_client_init,
  LTTNG_UST_TP_ARGS(const void*, client_handle_arg, const void*, node_handle_arg,
                    const void*, rmw_client_handle_arg, const char*, service_name_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(client_handle) RCLRT_POINTER(node_handle)
    RCLRT_POINTER(rmw_client_handle) RCLRT_STRING(service_name)))

LTTNG_UST_TRACEPOINT_EVENT(ros2, rcl_timer_init,
  LTTNG_UST_TP_ARGS(const void*, timer_handle_arg, int64_t, period_arg),
  LTTNG_UST_TP_FIELDS(RCLRT_POINTER(timer_handle) RCLRT_INTEGER(int64_t, period)))

RCLRT_EVENT_2(rclcpp_timer_callback_added, timer_handle, callback)
RCLRT_EVENT_2(rclcpp_timer_link_node, timer_handle, node_handle)

LTTNG_UST_TRACEPOINT_EVENT(ros2, rclcpp_callback_register,
  LTTNG_UST_TP_ARGS(const void*, callback_arg, const char*, symbol_arg),
  LTTNG_UST_TP_FIELDS(RCLRT_POINTER(callback) RCLRT_STRING(symbol)))

LTTNG_UST_TRACEPOINT_EVENT(ros2, callback_start,
  LTTNG_UST_TP_ARGS(const void*, callback_arg, bool, is_intra_process_arg),
  LTTNG_UST_TP_FIELDS(RCLRT_POINTER(callback) RCLRT_INTEGER(int, is_intra_process)))

RCLRT_EVENT_1(callback_end, callback)
RCLRT_EVENT_2(rcl_lifecycle_state_machine_init, node_handle, state_machine)

LTTNG_UST_TRACEPOINT_EVENT(ros2, rcl_lifecycle_transition,
  LTTNG_UST_TP_ARGS(const void*, state_machine_arg, const char*, start_label_arg,
                    const char*, goal_label_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(state_machine) RCLRT_STRING(start_label) RCLRT_STRING(goal_label)))

LTTNG_UST_TRACEPOINT_EVENT(ros2, rclcpp_executor_get_next_ready,
  LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_EVENT(ros2, rclcpp_executor_wait_for_work,
  LTTNG_UST_TP_ARGS(int64_t, timeout_arg),
  LTTNG_UST_TP_FIELDS(RCLRT_INTEGER(int64_t, timeout)))

RCLRT_EVENT_1(rclcpp_executor_execute, handle)
RCLRT_EVENT_2(rclcpp_ipb_to_subscription, ipb, subscription)
RCLRT_EVENT_2(rclcpp_buffer_to_ipb, buffer, ipb)

LTTNG_UST_TRACEPOINT_EVENT(ros2, rclcpp_construct_ring_buffer,
  LTTNG_UST_TP_ARGS(const void*, buffer_arg, uint64_t, capacity_arg),
  LTTNG_UST_TP_FIELDS(RCLRT_POINTER(buffer) RCLRT_INTEGER(uint64_t, capacity)))

LTTNG_UST_TRACEPOINT_EVENT(ros2, rclcpp_ring_buffer_enqueue,
  LTTNG_UST_TP_ARGS(const void*, buffer_arg, uint64_t, index_arg, uint64_t, size_arg,
                    bool, overwritten_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(buffer) RCLRT_INTEGER(uint64_t, index) RCLRT_INTEGER(uint64_t, size)
    RCLRT_INTEGER(int, overwritten)))

LTTNG_UST_TRACEPOINT_EVENT(ros2, rclcpp_ring_buffer_dequeue,
  LTTNG_UST_TP_ARGS(const void*, buffer_arg, uint64_t, index_arg, uint64_t, size_arg),
  LTTNG_UST_TP_FIELDS(
    RCLRT_POINTER(buffer) RCLRT_INTEGER(uint64_t, index) RCLRT_INTEGER(uint64_t, size)))

RCLRT_EVENT_1(rclcpp_ring_buffer_clear, buffer)
/* clang-format on */

#endif /* RCLRT_ROS2_PROVIDER_H */

#include <lttng/tracepoint-event.h>

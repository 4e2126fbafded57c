/* SPDX-License-Identifier: Apache-2.0 */
/* Events with rclrt's data on callbacks, which ros2_tracing lacks. Times are in nanoseconds.
   LTTng's macros include this file several times, each time with different macros. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER rclrt

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./rclrt_provider.h"

#if !defined(RCLRT_RCLRT_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define RCLRT_RCLRT_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* A callback was created. The node's handle is as in ros2:rcl_node_init, 0 without a node. Members
   of one group have the same group. */
LTTNG_UST_TRACEPOINT_EVENT(rclrt, callback_added,
  LTTNG_UST_TP_ARGS(const void*, callback_arg, const void*, node_handle_arg,
                    const char*, name_arg, const char*, kind_arg, int32_t, priority_arg,
                    const void*, group_arg, int, reentrant_arg, int64_t, deadline_arg),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_hex(const void*, callback, callback_arg)
    lttng_ust_field_integer_hex(const void*, node_handle, node_handle_arg)
    lttng_ust_field_string(name, name_arg)
    lttng_ust_field_string(kind, kind_arg)
    lttng_ust_field_integer(int32_t, priority, priority_arg)
    lttng_ust_field_integer_hex(const void*, group, group_arg)
    lttng_ust_field_integer(int, reentrant, reentrant_arg)
    lttng_ust_field_integer(int64_t, deadline, deadline_arg)))

/* A callback is an input of a synchroniser. A window of 0 requires equal stamps. */
LTTNG_UST_TRACEPOINT_EVENT(rclrt, synchronizer_input_added,
  LTTNG_UST_TP_ARGS(const void*, synchronizer_arg, const void*, callback_arg,
                    int64_t, window_arg),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_hex(const void*, synchronizer, synchronizer_arg)
    lttng_ust_field_integer_hex(const void*, callback, callback_arg)
    lttng_ust_field_integer(int64_t, window, window_arg)))

/* An executor runs a callback from now on. cpus: comma-separated numbers; empty for all. */
LTTNG_UST_TRACEPOINT_EVENT(rclrt, executor_callback_added,
  LTTNG_UST_TP_ARGS(const void*, executor_arg, const char*, name_arg, const char*, cpus_arg,
                    const void*, callback_arg),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_hex(const void*, executor, executor_arg)
    lttng_ust_field_string(name, name_arg)
    lttng_ust_field_string(cpus, cpus_arg)
    lttng_ust_field_integer_hex(const void*, callback, callback_arg)))

/* An executor runs an entity of rclcpp from now on, at this priority; also emitted after a change
   of the priority. The entity's handle is as in the events ros2:*_init. Members of one group have
   the same group. */
LTTNG_UST_TRACEPOINT_EVENT(rclrt, executor_entity_added,
  LTTNG_UST_TP_ARGS(const void*, executor_arg, const char*, name_arg, const char*, cpus_arg,
                    const void*, entity_arg, int32_t, priority_arg, const void*, group_arg,
                    int, reentrant_arg, int64_t, deadline_arg),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_hex(const void*, executor, executor_arg)
    lttng_ust_field_string(name, name_arg)
    lttng_ust_field_string(cpus, cpus_arg)
    lttng_ust_field_integer_hex(const void*, entity, entity_arg)
    lttng_ust_field_integer(int32_t, priority, priority_arg)
    lttng_ust_field_integer_hex(const void*, group, group_arg)
    lttng_ust_field_integer(int, reentrant, reentrant_arg)
    lttng_ust_field_integer(int64_t, deadline, deadline_arg)))

/* The next ros2:callback_start of this thread is for this release. */
LTTNG_UST_TRACEPOINT_EVENT(rclrt, callback_release,
  LTTNG_UST_TP_ARGS(const void*, callback_arg, int64_t, release_arg, int64_t, ready_arg),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_hex(const void*, callback, callback_arg)
    lttng_ust_field_integer(int64_t, release, release_arg)
    lttng_ust_field_integer(int64_t, ready, ready_arg)))

/* The callback that this thread runs stores a value for others: a SampledValue of rclrt_realtime.
   Values are numbered from 1. The event comes before the value can be read. Its data count from
   since, CLOCK_MONOTONIC; 0: unknown. is_whole: since is their true origin. */
LTTNG_UST_TRACEPOINT_EVENT(rclrt, value_stored,
  LTTNG_UST_TP_ARGS(const void*, value_arg, uint64_t, number_arg, int64_t, since_arg,
                    int, is_whole_arg),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_hex(const void*, value, value_arg)
    lttng_ust_field_integer(uint64_t, number, number_arg)
    lttng_ust_field_integer(int64_t, since, since_arg)
    lttng_ust_field_integer(int, is_whole, is_whole_arg)))

/* The callback that this thread runs has read the value with this number; 0: none was stored. */
LTTNG_UST_TRACEPOINT_EVENT(rclrt, value_read,
  LTTNG_UST_TP_ARGS(const void*, value_arg, uint64_t, number_arg),
  LTTNG_UST_TP_FIELDS(
    lttng_ust_field_integer_hex(const void*, value, value_arg)
    lttng_ust_field_integer(uint64_t, number, number_arg)))

/* The message that this thread has taken last has this header.stamp, in nanoseconds since 1970. */
LTTNG_UST_TRACEPOINT_EVENT(rclrt, message_stamped,
  LTTNG_UST_TP_ARGS(int64_t, stamp_arg),
  LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int64_t, stamp, stamp_arg)))
/* clang-format on */

#endif /* RCLRT_RCLRT_PROVIDER_H */

#include <lttng/tracepoint-event.h>

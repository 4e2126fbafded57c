/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that rclrt, rclrt_rclcpp and rclrt_realtime call if this library is loaded: see
   their src/tracing.cpp, of the last one src/sampled_value.cpp. */
#include "rclrt_provider.h"

void rclrt_trace_callback_added(const void* callback, const void* node_handle, const char* name,
                                const char* kind, int32_t priority, const void* group,
                                int reentrant, int64_t deadline_ns);
void rclrt_trace_synchronizer_input_added(const void* synchronizer, const void* callback,
                                          int64_t window_ns);
void rclrt_trace_executor_callback_added(const void* executor, const char* name, const char* cpus,
                                         const void* callback);
void rclrt_trace_executor_entity_added(const void* executor, const char* name, const char* cpus,
                                       const void* entity, int32_t priority, const void* group,
                                       int reentrant, int64_t deadline_ns);
void rclrt_trace_callback_release(const void* callback, int64_t release_ns, int64_t ready_ns);
void rclrt_trace_value_stored(const void* value, uint64_t number, int64_t since_ns, int is_whole);
void rclrt_trace_value_read(const void* value, uint64_t number);
void rclrt_trace_message_stamped(int64_t stamp_ns);

void rclrt_trace_callback_added(const void* callback, const void* node_handle, const char* name,
                                const char* kind, int32_t priority, const void* group,
                                int reentrant, int64_t deadline_ns) {
  lttng_ust_tracepoint(rclrt, callback_added, callback, node_handle, name, kind, priority, group,
                       reentrant, deadline_ns);
}

void rclrt_trace_synchronizer_input_added(const void* synchronizer, const void* callback,
                                          int64_t window_ns) {
  lttng_ust_tracepoint(rclrt, synchronizer_input_added, synchronizer, callback, window_ns);
}

void rclrt_trace_executor_callback_added(const void* executor, const char* name, const char* cpus,
                                         const void* callback) {
  lttng_ust_tracepoint(rclrt, executor_callback_added, executor, name, cpus, callback);
}

void rclrt_trace_executor_entity_added(const void* executor, const char* name, const char* cpus,
                                       const void* entity, int32_t priority, const void* group,
                                       int reentrant, int64_t deadline_ns) {
  lttng_ust_tracepoint(rclrt, executor_entity_added, executor, name, cpus, entity, priority, group,
                       reentrant, deadline_ns);
}

void rclrt_trace_callback_release(const void* callback, int64_t release_ns, int64_t ready_ns) {
  lttng_ust_tracepoint(rclrt, callback_release, callback, release_ns, ready_ns);
}

void rclrt_trace_value_stored(const void* value, uint64_t number, int64_t since_ns, int is_whole) {
  lttng_ust_tracepoint(rclrt, value_stored, value, number, since_ns, is_whole);
}

void rclrt_trace_value_read(const void* value, uint64_t number) {
  lttng_ust_tracepoint(rclrt, value_read, value, number);
}

void rclrt_trace_message_stamped(int64_t stamp_ns) {
  lttng_ust_tracepoint(rclrt, message_stamped, stamp_ns);
}

// SPDX-License-Identifier: Apache-2.0
#include "tracing.hpp"

#include <string>

#include "rclrt/node.hpp"

// Trace events that ros2_tracing does not have. The functions are in the library
// librclrt_tracepoints, if `rclrt trace record` has loaded it. They are weak, so nothing here
// depends on LTTng.
extern "C" {
[[gnu::weak]] void rclrt_trace_callback_added(const void* callback, const void* node_handle,
                                              const char* name, const char* kind,
                                              std::int32_t priority, const void* group,
                                              int reentrant, std::int64_t deadline_ns);
[[gnu::weak]] void rclrt_trace_synchronizer_input_added(const void* synchronizer,
                                                        const void* callback,
                                                        std::int64_t window_ns);
[[gnu::weak]] void rclrt_trace_executor_callback_added(const void* executor, const char* name,
                                                       const char* cpus, const void* callback);
[[gnu::weak]] void rclrt_trace_callback_release(const void* callback, std::int64_t release_ns,
                                                std::int64_t ready_ns);
[[gnu::weak]] void rclrt_trace_message_stamped(std::int64_t stamp_ns);
}

namespace rclrt::detail {

namespace {

const void* id(const executor::Callback& callback) { return &callback; }

void trace_callback(const executor::Callback& callback, const NodeHandle* node, const char* kind) {
  TRACETOOLS_TRACEPOINT(rclcpp_callback_register, id(callback), callback.name().c_str());
  if (rclrt_trace_callback_added != nullptr) {
    rclrt_trace_callback_added(id(callback), node != nullptr ? &node->node : nullptr,
                               callback.name().c_str(), kind, callback.level(), &callback.group(),
                               callback.group().type() == executor::GroupType::kReentrant ? 1 : 0,
                               callback.deadline_ns());
  }
}

}  // namespace

void trace_timer(const executor::Callback& timer, const NodeHandle& node, std::int64_t period_ns) {
  // The engine's own timer is its own handle, too.
  TRACETOOLS_TRACEPOINT(rcl_timer_init, id(timer), period_ns);
  TRACETOOLS_TRACEPOINT(rclcpp_timer_callback_added, id(timer), id(timer));
  TRACETOOLS_TRACEPOINT(rclcpp_timer_link_node, id(timer), static_cast<const void*>(&node.node));
  trace_callback(timer, &node, "timer");
}

void trace_subscription(const executor::Callback& callback, const NodeHandle& node,
                        const rcl_subscription_t& subscription) {
  TRACETOOLS_TRACEPOINT(rclcpp_subscription_init, static_cast<const void*>(&subscription),
                        id(callback));
  TRACETOOLS_TRACEPOINT(rclcpp_subscription_callback_added, id(callback), id(callback));
  trace_callback(callback, &node, "subscription");
}

void trace_service(const executor::Callback& callback, const NodeHandle& node,
                   const rcl_service_t& service) {
  TRACETOOLS_TRACEPOINT(rclcpp_service_callback_added, static_cast<const void*>(&service),
                        id(callback));
  trace_callback(callback, &node, "service");
}

void trace_client(const executor::Callback& callback, const NodeHandle& node) {
  trace_callback(callback, &node, "client");
}

void trace_guard_condition(const executor::Callback& callback) {
  trace_callback(callback, nullptr, "guard condition");
}

void trace_synchronizer_input(const void* state, const executor::Callback& callback,
                              std::int64_t window_ns) {
  if (rclrt_trace_synchronizer_input_added != nullptr) {
    rclrt_trace_synchronizer_input_added(state, id(callback), window_ns);
  }
}

void trace_added(const executor::Executor& executor, const executor::Callback& callback) {
  if (rclrt_trace_executor_callback_added == nullptr) {
    return;
  }
  std::string cpus;
  for (const int cpu : executor.options().cpus) {
    cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
  }
  rclrt_trace_executor_callback_added(&executor, executor.options().name.c_str(), cpus.c_str(),
                                      id(callback));
}

void trace_stamp(std::int64_t stamp_ns) noexcept {
  if (rclrt_trace_message_stamped != nullptr && stamp_ns > 0) {
    rclrt_trace_message_stamped(stamp_ns);
  }
}

void trace_start(const executor::Callback& callback, const executor::InstanceInfo& info,
                 bool intra_process) noexcept {
  if (rclrt_trace_callback_release != nullptr) {
    rclrt_trace_callback_release(id(callback), info.release_ns, info.ready_ns);
  }
  TRACETOOLS_DO_TRACEPOINT(callback_start, id(callback), intra_process);
}

}  // namespace rclrt::detail

// SPDX-License-Identifier: Apache-2.0
#include "tracing.hpp"

#include <cstdint>
#include <string>

// A trace event of the library librclrt_tracepoints, if `rclrt trace record` has loaded it. Weak,
// so that nothing here depends on LTTng.
extern "C" {
[[gnu::weak]] void rclrt_trace_executor_entity_added(const void* executor, const char* name,
                                                     const char* cpus, const void* entity,
                                                     std::int32_t priority, const void* group,
                                                     int reentrant, std::int64_t deadline_ns);
[[gnu::weak]] void rclrt_trace_message_stamped(std::int64_t stamp_ns);
}

namespace rclrt_rclcpp {

namespace engine = rclrt::executor;

void trace_entity(const engine::Executor& executor, const void* entity,
                  const engine::Callback& callback) {
  if (rclrt_trace_executor_entity_added == nullptr || entity == nullptr) {
    return;
  }
  std::string cpus;
  for (const int cpu : executor.options().cpus) {
    cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
  }
  rclrt_trace_executor_entity_added(
      &executor, executor.options().name.c_str(), cpus.c_str(), entity, callback.level(),
      &callback.group(), callback.group().type() == engine::GroupType::kReentrant ? 1 : 0,
      callback.deadline_ns());
}

bool traces_stamps() noexcept { return rclrt_trace_message_stamped != nullptr; }

void trace_stamp(std::int64_t stamp_ns) noexcept {
  if (traces_stamps() && stamp_ns > 0) {
    rclrt_trace_message_stamped(stamp_ns);
  }
}

}  // namespace rclrt_rclcpp

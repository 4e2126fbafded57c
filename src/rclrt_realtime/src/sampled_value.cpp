// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/sampled_value.hpp"

// Trace events of the library librclrt_tracepoints, if `rclrt trace record` has loaded it. Weak, so
// that nothing here depends on LTTng. LTTng writes into a ring of memory, which does not wait.
extern "C" {
[[gnu::weak]] void rclrt_trace_value_stored(const void* value, std::uint64_t number,
                                            std::int64_t since_ns,
                                            int is_whole) noexcept RCLRT_NONBLOCKING;
[[gnu::weak]] void rclrt_trace_value_read(const void* value,
                                          std::uint64_t number) noexcept RCLRT_NONBLOCKING;
}

namespace rclrt::realtime::detail {

void trace_stored(const void* value, std::uint64_t number,
                  Origin origin) noexcept RCLRT_NONBLOCKING {
  if (rclrt_trace_value_stored != nullptr) {
    rclrt_trace_value_stored(value, number, origin.since_ns, origin.is_whole ? 1 : 0);
  }
}

void trace_read(const void* value, std::uint64_t number) noexcept RCLRT_NONBLOCKING {
  if (rclrt_trace_value_read != nullptr) {
    rclrt_trace_value_read(value, number);
  }
}

}  // namespace rclrt::realtime::detail

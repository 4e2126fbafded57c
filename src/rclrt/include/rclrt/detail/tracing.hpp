// SPDX-License-Identifier: Apache-2.0
// The tracepoints of ros2_tracing: the existing entities, and the runs of user code. Nothing is
// written unless a trace session listens; see docs/reference/traces.md.
#pragma once

#include <tracetools/tracetools.h>

#include <cstdint>

#include "rclrt/executor/callback.hpp"
#include "rclrt/export.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/stamp.hpp"

namespace rclrt {

struct NodeHandle;

namespace detail {

/// Traces that a timer with this period belongs to the node.
RCLRT_EXPORT void trace_timer(const executor::Callback& timer, const NodeHandle& node,
                              std::int64_t period_ns);
/// Writes a trace event: `callback` is an input of a synchroniser. `state` identifies the
/// synchroniser and is the same for all of its inputs. The window is the largest difference of
/// stamps in a set, in nanoseconds; 0: the stamps must be equal.
RCLRT_EXPORT void trace_synchronizer_input(const void* state, const executor::Callback& callback,
                                           std::int64_t window_ns);
/// Traces the start of user code and its release.
RCLRT_EXPORT void trace_start(const executor::Callback& callback,
                              const executor::InstanceInfo& info, bool intra_process) noexcept;

/// Traces the stamp of the message that the calling thread has taken, in nanoseconds since 1970.
RCLRT_EXPORT void trace_stamp(std::int64_t stamp_ns) noexcept;
/// Traces the stamp of a message if messages of this type have one.
template <typename T>
void trace_stamp_of(const T& message) noexcept {
  if constexpr (realtime::Stamped<T>) {
    if (TRACETOOLS_TRACEPOINT_ENABLED(callback_start)) [[unlikely]] {
      trace_stamp(realtime::stamp_ns(message));
    }
  }
}

/// The scope of user code: traces its start and its end. It checks only at the start whether a
/// trace session is active. So a session that contains the start of an instance also contains its
/// end.
class UserCode {
 public:
  UserCode(const executor::Callback& callback, executor::InstanceInfo& info,
           bool intra_process = false) noexcept {
    info.start_ns = realtime::monotonic_now_ns();
    if (TRACETOOLS_TRACEPOINT_ENABLED(callback_start)) [[unlikely]] {
      traced_ = &callback;
      trace_start(callback, info, intra_process);
    }
  }
  ~UserCode() {
    if (traced_ != nullptr) [[unlikely]] {
      TRACETOOLS_TRACEPOINT(callback_end, static_cast<const void*>(traced_));
    }
  }
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

 private:
  const executor::Callback* traced_ = nullptr;
};

}  // namespace detail

}  // namespace rclrt

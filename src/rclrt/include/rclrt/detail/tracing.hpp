// SPDX-License-Identifier: Apache-2.0
// The tracepoints of ros2_tracing: what exists, and when user code runs. Nothing is written unless
// a trace session listens; see docs/tracing.md.
#pragma once

#include <tracetools/tracetools.h>

#include <cstdint>

#include "rclrt/executor/callback.hpp"
#include "rclrt/export.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt {

struct NodeHandle;

namespace detail {

/// Says that a timer with this period belongs to the node.
RCLRT_EXPORT void trace_timer(const executor::Callback& timer, const NodeHandle& node,
                              std::int64_t period_ns);
/// Says that `callback` is an input of a synchroniser, whose inputs all name the same `state`. A
/// window of 0 is that of equal stamps.
RCLRT_EXPORT void trace_synchronizer_input(const void* state, const executor::Callback& callback,
                                           std::int64_t window_ns);
/// Says for which release user code starts, with the start itself.
RCLRT_EXPORT void trace_start(const executor::Callback& callback,
                              const executor::InstanceInfo& info, bool intra_process) noexcept;

/// User code runs as long as this exists: notes when it started. Asks for a session once, so that
/// a session has the end of each instance whose start it has.
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

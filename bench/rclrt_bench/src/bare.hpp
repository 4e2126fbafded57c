// SPDX-License-Identifier: Apache-2.0
// The physical limits: what the kernel and the middleware cost without any executor.
#pragma once

#include <cstddef>
#include <memory>

#include "rclrt/context.hpp"
#include "rclrt/realtime/thread.hpp"
#include "samples.hpp"

namespace rclrt::bench {

/// How bare threads run: like the executors' own, on one CPU.
struct Bare {
  realtime::Scheduling urgent;  ///< the thread that waits
  realtime::Scheduling normal;  ///< the thread that wakes it
};

/// Lateness of clock_nanosleep to an absolute time.
void measure_nanosleep(const Bare& bare, std::int64_t period_ns, std::size_t count, Samples& into);

/// From before FUTEX_WAKE in one thread to the return from FUTEX_WAIT in a more urgent one on the
/// same CPU.
void measure_futex_wake(const Bare& bare, std::int64_t period_ns, std::size_t count, Samples& into);

/// From before a publish to after the take of that message, in one thread.
void measure_publish_take(const Bare& bare, const std::shared_ptr<Context>& context,
                          std::int64_t period_ns, std::size_t count, Samples& into);

}  // namespace rclrt::bench

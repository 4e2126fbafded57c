// SPDX-License-Identifier: Apache-2.0
// The conditions under which a case runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rclrt/callback_options.hpp"
#include "rclrt/context.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::bench {

/// The period of every case, 1 kHz, unless the case has another one.
inline constexpr std::int64_t kPeriod_ns = 1'000'000;

struct Setting {
  std::shared_ptr<Context> context;
  std::string executor;
  std::vector<int> cpus;
  bool realtime = false;    ///< SCHED_FIFO is permitted
  std::size_t warm_up = 0;  ///< periods before the first sample
  std::size_t samples = 0;

  /// Returns the options of a callback with this priority. For `edf` they have a deadline, too,
  /// which is shorter for a higher priority.
  CallbackOptions callback(int priority) const {
    CallbackOptions options{.priority = priority};
    if (executor == "edf") {
      options.deadline = std::chrono::nanoseconds(kPeriod_ns) / (2 * priority);
    }
    return options;
  }

  /// Returns the scheduling of threads that are as urgent as the executors' threads.
  realtime::Scheduling urgent() const { return fifo(94); }
  /// Returns the scheduling of the thread that causes the work: less urgent than every executor's
  /// threads, more urgent than the rest of the system.
  realtime::Scheduling stimulus() const { return fifo(50); }

 private:
  realtime::Scheduling fifo(int priority) const {
    if (!realtime) {
      return {realtime::Policy::kOther, 0, cpus};
    }
    return {realtime::Policy::kFifo, priority, cpus};
  }
};

}  // namespace rclrt::bench

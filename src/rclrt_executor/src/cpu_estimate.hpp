// SPDX-License-Identifier: Apache-2.0
// Measures the CPU time of instances with few readings of the thread's CPU clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

/// Estimates the CPU time of each instance that a thread runs; used by that thread only. An exact
/// value needs two readings of the thread's CPU clock for each instance. A reading is a system
/// call, and takes half a microsecond in a virtual machine. The estimate needs fewer readings. A
/// short instance counts as computing for all of its duration, without a reading. A longer instance
/// gets all CPU time since the last reading. That includes the short instances and other work of
/// the thread since then. So an estimate is never above the instance's duration and never below its
/// true CPU time. It exceeds the truth by at most kMostUnread times kShort_ns, plus the CPU time of
/// the thread between these instances, which is small if the thread only runs instances. For an
/// instance that computed all the time the estimate is exact.
class CpuEstimate {
 public:
  static constexpr std::int64_t kShort_ns = 20'000;
  static constexpr int kMostUnread = 16;  // short ones in a row without a reading

  /// Returns the argument for `took` of an instance that begins. `is_exact`: reads the clock now.
  std::int64_t begin(bool is_exact) noexcept RCLRT_NONBLOCKING {
    if (is_exact || now_ns_ < 0) {
      now_ns_ = realtime::thread_cpu_now_ns();
    }
    return now_ns_;
  }

  /// Returns the CPU time in nanoseconds of an instance that ends after `duration_ns`.
  std::int64_t took(std::int64_t begin_ns, std::int64_t duration_ns,
                    bool is_exact) noexcept RCLRT_NONBLOCKING {
    if (!is_exact && duration_ns < kShort_ns && ++unread_ < kMostUnread) {
      return duration_ns;
    }
    unread_ = 0;
    now_ns_ = realtime::thread_cpu_now_ns();
    return is_exact ? now_ns_ - begin_ns : std::min(now_ns_ - begin_ns, duration_ns);
  }

 private:
  std::int64_t now_ns_ = -1;  // the last reading of the thread's CPU clock; -1: there is none
  int unread_ = 0;
};

}  // namespace rclrt::executor

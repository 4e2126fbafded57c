// SPDX-License-Identifier: Apache-2.0
// The CPU time of instances with few readings of the thread's CPU clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

/// Tells how much CPU time each instance of a thread took. A reading is a system call, half a
/// microsecond in a virtual machine. An estimate saves two: what is short is taken to have computed
/// all the time, and what is longer since the last reading, with the short ones and whatever else
/// the thread has done meanwhile. So an estimate is never above the instance's duration and never
/// below the truth; beyond it by no more than kMostUnread times kShort_ns and what the thread has
/// computed between these instances, which is little where instances are all that it does, and
/// not at all for one that computed all the time. Belongs to one thread.
class CpuEstimate {
 public:
  static constexpr std::int64_t kShort_ns = 20'000;
  static constexpr int kMostUnread = 16;  // short ones in a row without a reading

  /// Returns what `took` needs of an instance that begins. Exact: as the clock says now.
  std::int64_t begin(bool is_exact) noexcept RCLRT_NONBLOCKING {
    if (is_exact || now_ns_ < 0) {
      now_ns_ = realtime::thread_cpu_now_ns();
    }
    return now_ns_;
  }

  /// Returns the CPU time in nanoseconds of an instance that ends after this duration.
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

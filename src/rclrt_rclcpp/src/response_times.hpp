// SPDX-License-Identifier: Apache-2.0
// Response times of the instances of one callback.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "rclrt/executor/instance.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt_rclcpp/miss_details.hpp"

namespace rclrt_rclcpp {

/// The shortest of some times: a hint for the blame.
class LeastTime {
 public:
  TimeBefore note(std::int64_t time_ns) noexcept {
    // relaxed: if two threads store at once, the larger value may remain
    const std::int64_t least_ns = std::min(time_ns, least_ns_.load(std::memory_order_relaxed));
    least_ns_.store(least_ns, std::memory_order_relaxed);
    return {time_ns, time_ns - least_ns};
  }

 private:
  std::atomic<std::int64_t> least_ns_{INT64_MAX};
};

/// The response times of a callback, in microseconds, with an error of at most 1 %. A response time
/// begins when the deadline begins to count, and lasts to the end of user code. The threads that
/// run the callback write it; any thread may read it.
class ResponseTimes {
 public:
  void note(const rclrt::executor::InstanceInfo& info, std::int64_t end_ns) noexcept {
    us_.record((end_ns - info.counts_from_ns()) / 1'000);
    const std::int64_t run_ns = end_ns - info.start_ns;
    // relaxed: a hint, see least_run_ns_
    if (run_ns < least_run_ns_.load(std::memory_order_relaxed)) {
      least_run_ns_.store(run_ns, std::memory_order_relaxed);
    }
  }

  const rclrt::realtime::Histogram& us() const noexcept { return us_; }

  /// Returns by how much `run_ns` exceeds the shortest run.
  std::int64_t beyond_least_ns(std::int64_t run_ns) const noexcept {
    return std::max<std::int64_t>(run_ns - least_run_ns_.load(std::memory_order_relaxed), 0);
  }

 private:
  rclrt::realtime::Histogram us_{{.lowest = 1, .highest = 3'600'000'000, .significant_digits = 2}};
  // A hint for the blame: if two threads store at once, the larger value may remain.
  std::atomic<std::int64_t> least_run_ns_{INT64_MAX};
};

}  // namespace rclrt_rclcpp

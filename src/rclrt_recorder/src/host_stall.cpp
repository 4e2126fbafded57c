// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/host_stall.hpp"

#include <algorithm>

namespace rclrt::recorder {

StallTimeline::StallTimeline(std::span<const HostStall> stalls,
                             const std::optional<std::set<int>>& cpus) {
  for (const HostStall& stall : stalls) {
    // From here on the probe was ready: the kernel or another thread caused the rest.
    const std::int64_t end_ns = stall.end_ns - stall.waited_ns;
    if ((!cpus || cpus->contains(stall.cpu)) && stall.start_ns < end_ns) {
      intervals_.push_back({stall.start_ns, end_ns});
    }
  }
  std::sort(intervals_.begin(), intervals_.end(),
            [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
  std::vector<Interval> merged;
  for (const Interval& interval : intervals_) {
    if (!merged.empty() && interval.start_ns <= merged.back().end_ns) {
      merged.back().end_ns = std::max(merged.back().end_ns, interval.end_ns);
    } else {
      merged.push_back(interval);
    }
  }
  intervals_ = std::move(merged);
}

std::int64_t StallTimeline::stalled_ns(std::int64_t start_ns, std::int64_t end_ns) const {
  std::int64_t total_ns = 0;
  auto interval = std::lower_bound(
      intervals_.begin(), intervals_.end(), start_ns,
      [](const Interval& candidate, std::int64_t time_ns) { return candidate.end_ns <= time_ns; });
  for (; interval != intervals_.end() && interval->start_ns < end_ns; ++interval) {
    total_ns += std::min(interval->end_ns, end_ns) - std::max(interval->start_ns, start_ns);
  }
  return total_ns;
}

}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
#include "event_history.hpp"

#include <algorithm>

namespace rclrt::realtime {

EventHistory::EventHistory(std::size_t capacity) : events_(capacity) { open_.reserve(kMaxOpen); }

void EventHistory::add(const TraceEvent& event) {
  if (size_ == events_.size()) {
    forget_oldest();
  }
  const std::size_t end = oldest_ + size_;
  events_[end < events_.size() ? end : end - events_.size()] = event;
  ++size_;
}

void EventHistory::forget_before(std::int64_t time_ns) {
  while (size_ != 0 && events_[oldest_].end_ns < time_ns) {
    forget_oldest();
  }
}

void EventHistory::forget_oldest() {
  const TraceEvent& event = events_[oldest_];
  if (event.kind == TraceKind::kBegin && open_.size() < kMaxOpen) {
    open_.push_back(event);
  } else if (event.kind == TraceKind::kEnd) {
    const auto innermost = std::find_if(open_.rbegin(), open_.rend(), [&](const TraceEvent& begin) {
      return begin.thread == event.thread && begin.name == event.name;
    });
    if (innermost != open_.rend()) {
      open_.erase(innermost.base() - 1);
    }
  }
  oldest_ = oldest_ + 1 == events_.size() ? 0 : oldest_ + 1;
  --size_;
}

}  // namespace rclrt::realtime

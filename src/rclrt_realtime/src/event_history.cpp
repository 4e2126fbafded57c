// SPDX-License-Identifier: Apache-2.0
#include "event_history.hpp"

#include <algorithm>
#include <limits>

namespace rclrt::realtime {

bool comes_before(const TraceEvent& a, const TraceEvent& b) {
  const auto end_of = [](const TraceEvent& event) {
    return event.kind == TraceKind::kSpan ? event.end_ns : std::numeric_limits<std::int64_t>::max();
  };
  return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : end_of(a) > end_of(b);
}

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

std::span<const TraceEvent> EventHistory::sorted() {
  std::rotate(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(oldest_),
              events_.end());
  oldest_ = 0;
  const std::span<TraceEvent> held(events_.data(), size_);
  std::stable_sort(held.begin(), held.end(), comes_before);
  return held;
}

}  // namespace rclrt::realtime

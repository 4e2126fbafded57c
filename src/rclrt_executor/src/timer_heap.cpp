// SPDX-License-Identifier: Apache-2.0
#include "timer_heap.hpp"

#include <algorithm>
#include <utility>

#include "timer_release.hpp"

namespace rclrt::executor {

/// Returns the number of entries if the parent has no children.
std::size_t TimerHeap::earliest_child(std::size_t parent) const noexcept RCLRT_NONBLOCKING {
  const std::size_t first = parent * kChildren + 1;
  const std::size_t end = std::min(first + kChildren, entries_.size());
  std::size_t best = first;
  for (std::size_t i = first + 1; i < end; ++i) {
    best = entries_[i].next_ns < entries_[best].next_ns ? i : best;
  }
  return std::min(best, entries_.size());
}

/// Returns the earliest release except those of the first entry.
std::int64_t TimerHeap::second_ns() const noexcept RCLRT_NONBLOCKING {
  const std::size_t child = earliest_child(0);
  return child < entries_.size() ? entries_[child].next_ns : kNever;
}

[[gnu::hot]] std::int64_t TimerHeap::next_ns() const noexcept RCLRT_NONBLOCKING {
  if (entries_.empty()) {
    return kNever;
  }
  return is_ordered_ ? entries_[0].next_ns : std::min(entries_[0].next_ns, second_ns());
}

[[gnu::hot]] std::int64_t TimerHeap::next_beside_ns(const Callback& running) const noexcept
    RCLRT_NONBLOCKING {
  if (!entries_.empty() && entries_[0].timer == &running &&
      may_be_released_late(*entries_[0].timer)) {
    return second_ns();
  }
  return next_ns();
}

std::int64_t TimerHeap::following_ns() const noexcept RCLRT_NONBLOCKING {
  if (entries_.empty()) {
    return kNever;
  }
  const Entry& first = entries_[0];
  if (may_be_released_late(*first.timer)) {
    return second_ns();
  }
  std::int64_t own_ns = 0;
  return __builtin_add_overflow(first.next_ns, first.timer->timer().period_ns, &own_ns)
             ? second_ns()
             : std::min(own_ns, second_ns());
}

[[gnu::hot]] Instance* TimerHeap::expire_first(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
  update_order();
  Entry& first = entries_[0];
  Instance* const released = expire(*first.timer, now_ns);
  first.next_ns = schedule_of(*first.timer).next_ns();
  is_ordered_ = false;
  return released;
}

void TimerHeap::update_order() noexcept RCLRT_NONBLOCKING {
  if (!std::exchange(is_ordered_, true)) {
    sift_down(0);
  }
}

void TimerHeap::sift_up(std::size_t index) noexcept RCLRT_NONBLOCKING {
  const Entry moved = entries_[index];
  while (index > 0 && moved.next_ns < entries_[(index - 1) / kChildren].next_ns) {
    entries_[index] = entries_[(index - 1) / kChildren];
    index = (index - 1) / kChildren;
  }
  entries_[index] = moved;
}

void TimerHeap::sift_down(std::size_t index) noexcept RCLRT_NONBLOCKING {
  const Entry moved = entries_[index];
  for (std::size_t child = earliest_child(index);
       child < entries_.size() && entries_[child].next_ns < moved.next_ns;
       child = earliest_child(index)) {
    entries_[index] = entries_[child];
    index = child;
  }
  entries_[index] = moved;
}

void TimerHeap::add(TimerCallback* timer) {
  update_order();
  entries_.push_back({schedule_of(*timer).next_ns(), timer});
  sift_up(entries_.size() - 1);
}

void TimerHeap::remove(const TimerCallback* timer) noexcept {
  update_order();
  const auto place = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.timer == timer; });
  if (place == entries_.end()) {
    return;
  }
  const auto index = static_cast<std::size_t>(place - entries_.begin());
  *place = entries_.back();
  entries_.pop_back();
  if (index < entries_.size()) {
    sift_down(index);
    sift_up(index);
  }
}

}  // namespace rclrt::executor

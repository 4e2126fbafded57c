// SPDX-License-Identifier: Apache-2.0
#include "release_queue.hpp"

#include <algorithm>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/event_count.hpp"

namespace rclrt::executor {

namespace {
bool later(TimerCallback* a, TimerCallback* b) {
  return a->schedule().next_ns() > b->schedule().next_ns();
}
}  // namespace

void ReleaseQueue::push(Instance* instance) noexcept RCLRT_NONBLOCKING {
  Instance* head = pushed_.load(std::memory_order_relaxed);
  do {
    instance->next = head;
    // seq_cst: publishes the instance and orders the push before a look at who sleeps.
  } while (!pushed_.compare_exchange_weak(head, instance, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
}

void ReleaseQueue::append(Instance* instance) noexcept {
  instance->next = nullptr;
  instance->order = next_order_++;
  (first_ == nullptr ? first_ : last_->next) = instance;
  last_ = instance;
}

/// All that was pushed, the oldest first.
Instance* ReleaseQueue::take_pushed() noexcept {
  Instance* pushed = nullptr;
  if (has_pushed()) {
    for (Instance* newest = pushed_.exchange(nullptr, std::memory_order_seq_cst);
         newest != nullptr;) {
      Instance* const older = newest->next;
      newest->next = pushed;
      pushed = newest;
      newest = older;
    }
  }
  return pushed;
}

void ReleaseQueue::merge(Instance* pushed, std::int64_t now_ns) noexcept {
  while (next_timer_ns() <= now_ns) {
    while (pushed != nullptr && pushed->ready_ns <= next_timer_ns()) {
      append(std::exchange(pushed, pushed->next));
    }
    std::pop_heap(timers_.begin(), timers_.end(), later);
    Instance* const released = timers_.back()->expire(now_ns);
    std::push_heap(timers_.begin(), timers_.end(), later);
    if (released != nullptr) {
      append(released);
    }
  }
  while (pushed != nullptr) {
    append(std::exchange(pushed, pushed->next));
  }
}

void ReleaseQueue::collect() noexcept {
  Instance* const pushed = take_pushed();  // before the clock is read: in order of release
  merge(pushed, timers_.empty() ? 0 : realtime::monotonic_now_ns());
}

void ReleaseQueue::collect(std::int64_t now_ns) noexcept { merge(take_pushed(), now_ns); }

Instance* ReleaseQueue::unlink_first() noexcept { return std::exchange(first_, first_->next); }

void ReleaseQueue::put_back(Instance* instance) noexcept {
  Instance** link = &first_;
  while (*link != nullptr && (*link)->order < instance->order) {
    link = &(*link)->next;
  }
  if (*link == nullptr) {
    last_ = instance;
  }
  instance->next = *link;
  *link = instance;
}

void ReleaseQueue::take_out(const Callback& callback, Instance*& taken) noexcept {
  last_ = nullptr;
  for (Instance** link = &first_; *link != nullptr;) {
    Instance* const instance = *link;
    if (instance->callback == &callback) {
      *link = instance->next;
      instance->next = std::exchange(taken, instance);
    } else {
      last_ = instance;
      link = &instance->next;
    }
  }
}

void ReleaseQueue::discard_all() noexcept {
  timers_.clear();  // nothing is released any more
  collect();
  while (first_ != nullptr) {
    Instance* const instance = unlink_first();
    instance->callback->discard(instance);
  }
}

void ReleaseQueue::add_timer(TimerCallback* timer) {
  timers_.push_back(timer);
  std::push_heap(timers_.begin(), timers_.end(), later);
}

void ReleaseQueue::remove_timer(TimerCallback* timer) noexcept {
  if (std::erase(timers_, timer) != 0) {
    std::make_heap(timers_.begin(), timers_.end(), later);
  }
}

std::int64_t ReleaseQueue::next_timer_ns() const noexcept {
  return timers_.empty() ? realtime::EventCount::kForever : timers_.front()->schedule().next_ns();
}

}  // namespace rclrt::executor

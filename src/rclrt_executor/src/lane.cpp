// SPDX-License-Identifier: Apache-2.0
#include "lane.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

namespace {
bool later(TimerCallback* a, TimerCallback* b) {
  return a->schedule().next_ns() > b->schedule().next_ns();
}
}  // namespace

void Lane::add_timer(TimerCallback* timer) {
  {
    const std::scoped_lock lock(consumer_);
    timers_.push_back(timer);
    std::push_heap(timers_.begin(), timers_.end(), later);
    has_timers_.store(true);
  }
  available_.notify_all();  // who keeps the time looks again, whoever that is
}

void Lane::remove_timer(TimerCallback* timer) noexcept {
  const std::scoped_lock lock(consumer_);
  std::erase(timers_, timer);
  std::make_heap(timers_.begin(), timers_.end(), later);
  has_timers_.store(!timers_.empty());
}

void Lane::take_out(const Callback& callback, Instance*& taken) noexcept {
  const std::scoped_lock lock(consumer_);
  collect();
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

Lane::~Lane() {
  timers_.clear();  // nothing is released any more
  collect();
  while (first_ != nullptr) {
    Instance* const instance = unlink_first();
    instance->callback->discard(instance);
  }
}

void Lane::push(Instance* instance) noexcept RCLRT_NONBLOCKING {
  Instance* head = pushed_.load(std::memory_order_relaxed);
  do {
    instance->next = head;
    // seq_cst: publishes the instance and orders the push before notify's look at the waiters.
  } while (!pushed_.compare_exchange_weak(head, instance, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
}

std::int64_t Lane::next_timer_ns() const noexcept {
  return timers_.empty() ? realtime::EventCount::kForever : timers_.front()->schedule().next_ns();
}

void Lane::append(Instance* instance) noexcept {
  instance->next = nullptr;
  instance->order = next_order_++;
  (first_ == nullptr ? first_ : last_->next) = instance;
  last_ = instance;
}

/// Moves what was pushed and the timers that are due to the end of the list, merged by release.
void Lane::collect() noexcept {
  Instance* pushed = nullptr;  // oldest first
  if (pushed_.load(std::memory_order_relaxed) != nullptr) {
    for (Instance* newest = pushed_.exchange(nullptr, std::memory_order_seq_cst);
         newest != nullptr;) {
      Instance* const older = newest->next;
      newest->next = pushed;
      pushed = newest;
      newest = older;
    }
  }
  if (!timers_.empty()) {
    const std::int64_t now = realtime::monotonic_now_ns();
    while (next_timer_ns() <= now) {
      while (pushed != nullptr && pushed->ready_ns <= next_timer_ns()) {
        append(std::exchange(pushed, pushed->next));
      }
      std::pop_heap(timers_.begin(), timers_.end(), later);
      Instance* const released = timers_.back()->expire(now);
      std::push_heap(timers_.begin(), timers_.end(), later);
      if (released != nullptr) {
        append(released);
      }
    }
  }
  while (pushed != nullptr) {
    append(std::exchange(pushed, pushed->next));
  }
}

Instance* Lane::unlink_first() noexcept { return std::exchange(first_, first_->next); }

void Lane::resume(Instance* instance) noexcept RCLRT_WAITS {
  {
    const std::scoped_lock lock(consumer_);
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
  available_.notify_one();
}

bool Lane::enter(Instance* instance, WorkerPriority& priority) noexcept {
  Group& group = instance->callback->group();
  priority.raise_to(group.ceiling());  // first: who is inside is never below the ceiling
  if (group.enter(instance)) {
    return true;
  }
  priority.restore();
  return false;
}

Instance* Lane::try_pop(WorkerPriority& priority, bool& more) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(consumer_);
  collect();
  Instance* found = nullptr;
  while (found == nullptr && first_ != nullptr) {
    Instance* const instance = unlink_first();
    Callback& callback = *instance->callback;
    callback.hold();  // before it is in no list that `take_out` or the group's `unpark` sees
    if (use_ == Use::kPass || enter(instance, priority)) {
      found = instance;
    } else {
      callback.let_go();
    }
  }
  more = first_ != nullptr;
  return found;
}

bool Lane::has_work() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(consumer_);
  return first_ != nullptr || pushed_.load(std::memory_order_seq_cst) != nullptr;
}

Instance* Lane::pop(const std::atomic<bool>& stop, WorkerPriority& priority) noexcept RCLRT_WAITS {
  for (;;) {
    if (stop.load()) {
      return nullptr;
    }
    priority.restore();  // its level may have moved while it slept, or just as it was lowered
    bool more = false;
    if (Instance* const instance = try_pop(priority, more)) {
      // This worker is busy now. Another one takes what is left (timers due together wake only
      // one) and keeps the time. Nobody sleeps: no system call.
      if (more || (has_timers_.load() && !timekeeper_.load())) {
        available_.notify_one();
      }
      return instance;
    }
    const auto key = available_.prepare_wait();
    if (stop.load() || has_work()) {
      available_.cancel_wait();
      continue;
    }
    std::int64_t wake_up_ns = realtime::EventCount::kForever;
    bool timekeeper = false;
    if (has_timers_.load()) {
      timekeeper = !timekeeper_.exchange(true);
      if (timekeeper) {
        const std::scoped_lock lock(consumer_);
        wake_up_ns = next_timer_ns();
      }
    }
    available_.wait_until(key, wake_up_ns);
    if (timekeeper) {
      timekeeper_.store(false);  // whoever sleeps next takes over
    }
  }
}

}  // namespace rclrt::executor

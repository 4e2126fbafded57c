// SPDX-License-Identifier: Apache-2.0
#include "lane.hpp"

#include <mutex>

namespace rclrt::executor {

void Lane::add_timer(TimerCallback* timer) {
  {
    const std::scoped_lock lock(consumer_);
    queue_.add_timer(timer);
    has_timers_.store(true);
  }
  available_.notify_all();  // who keeps the time looks again, whoever that is
}

void Lane::remove_timer(TimerCallback* timer) noexcept {
  const std::scoped_lock lock(consumer_);
  queue_.remove_timer(timer);
  has_timers_.store(queue_.has_timers());
}

void Lane::take_out(const Callback& callback, Instance*& taken) noexcept {
  const std::scoped_lock lock(consumer_);
  queue_.collect();
  queue_.take_out(callback, taken);
}

Lane::~Lane() { queue_.discard_all(); }

void Lane::resume(Instance* instance) noexcept RCLRT_WAITS {
  {
    const std::scoped_lock lock(consumer_);
    queue_.put_back(instance);
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
  queue_.collect();
  Instance* found = nullptr;
  while (found == nullptr && queue_.first() != nullptr) {
    Instance* const instance = queue_.unlink_first();
    Callback& callback = *instance->callback;
    callback.hold();  // before it is in no list that `take_out` or the group's `unpark` sees
    if (use_ == Use::kPass || enter(instance, priority)) {
      found = instance;
    } else {
      callback.let_go();
    }
  }
  more = queue_.first() != nullptr;
  return found;
}

bool Lane::has_work() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(consumer_);
  return queue_.first() != nullptr || queue_.has_pushed();
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
        wake_up_ns = queue_.next_timer_ns();
      }
    }
    available_.wait_until(key, wake_up_ns);
    if (timekeeper) {
      timekeeper_.store(false);  // whoever sleeps next takes over
    }
  }
}

}  // namespace rclrt::executor

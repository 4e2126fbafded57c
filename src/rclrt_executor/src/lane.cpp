// SPDX-License-Identifier: Apache-2.0
#include "lane.hpp"

#include <cstdint>
#include <mutex>

#include "access.hpp"

// What is gnu::hot, here and elsewhere, is the path of an instance: the linker puts it side by
// side. After a millisecond of sleep its code is in no cache, and fewer lines and pages are to be
// fetched.

namespace rclrt::executor {

void Lane::add_timer(TimerCallback* timer) {
  {
    const std::scoped_lock lock(consumer_);
    queue_.timers().add(timer);
  }
  wake_all();  // who keeps the time looks again, whoever that is
}

void Lane::remove_timer(TimerCallback* timer) noexcept {
  const std::scoped_lock lock(consumer_);
  queue_.timers().remove(timer);
}

void Lane::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  const std::scoped_lock lock(consumer_);
  queue_.collect();
  queue_.remove_queued(callback, taken);
}

Lane::~Lane() { queue_.discard_all(); }

void Lane::resume(Instance* instance) noexcept RCLRT_WAITS {
  {
    const std::scoped_lock lock(consumer_);
    queue_.put_back(instance);
  }
  wake_one();
}

[[gnu::hot]] void Lane::wake_one() noexcept RCLRT_NONBLOCKING {
  for (const Role role : {Role::kFollower, Role::kBackup, Role::kLeader}) {
    if (wakeup(role).notify_one()) {
      return;
    }
  }
  outside_.notify_one();
}

void Lane::wake_all() noexcept RCLRT_NONBLOCKING {
  for (realtime::EventCount& each : wakeups_) {
    each.notify_all();
  }
  outside_.notify_all();
}

[[gnu::hot]] bool Lane::enter(Instance* instance, WorkerPriority& priority) noexcept {
  detail::GroupState& group = group_of(*instance->callback);
  priority.raise_to(group.ceiling());  // first: who is inside is never below the ceiling
  if (group.enter(instance)) {
    return true;
  }
  priority.restore();
  return false;
}

/// The first instance that may run.
[[gnu::hot]] Instance* Lane::take(WorkerPriority& priority,
                                  std::int64_t ready_by_ns) noexcept RCLRT_WAITS {
  queue_.collect();
  while (Instance* const instance = queue_.first_ready_by(ready_by_ns)) {
    queue_.remove_first(instance);
    Callback& callback = *instance->callback;
    // Before it is in no list that `remove_queued` or the group's `unpark` sees.
    state_of(callback).pin();
    if (use_ == Use::kPass || enter(instance, priority)) {
      return instance;
    }
    state_of(callback).unpin();
  }
  return nullptr;
}

Instance* Lane::try_pop(std::int64_t ready_by_ns, WorkerPriority& priority) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(consumer_);
  return take(priority, ready_by_ns);
}

Instance* Lane::try_pop(std::int64_t ready_by_ns) noexcept RCLRT_WAITS {
  WorkerPriority priority;
  return try_pop(ready_by_ns, priority);
}

bool Lane::has_waiting() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(consumer_);
  queue_.collect();
  return queue_.first() != nullptr;
}

std::int64_t Lane::next_release_ns() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(consumer_);
  return queue_.timers().next_ns();
}

[[gnu::hot]] Instance* Lane::pop(const std::atomic<bool>& stop,
                                 WorkerPriority& priority) noexcept RCLRT_WAITS {
  Role role = Role::kFollower;
  for (;;) {
    priority.restore();  // its level may have moved while it slept, or just as it was lowered
    std::unique_lock lock(consumer_);
    watch_.leave(role);
    if (stop.load()) {
      return nullptr;
    }
    if (Instance* const instance = take(priority, INT64_MAX)) {
      // This worker is busy now. Another one takes what is left (timers due together wake only one)
      // or keeps the time. Nobody sleeps: no system call.
      const bool wake = queue_.first() != nullptr ||
                        watch_.lacks_leader(queue_.timers().next_beside_ns(*instance->callback));
      lock.unlock();
      if (wake) {
        wake_one();
      }
      return instance;
    }
    TimerHeap& timers = queue_.timers();
    timers.settle();
    const LaneWatch::Sleep sleep = watch_.take_role(timers.next_ns(), timers.following_ns());
    role = sleep.role;
    const auto key = wakeup(role).prepare_wait();
    if (stop.load() || queue_.has_pushed()) {
      wakeup(role).cancel_wait();
      continue;
    }
    lock.unlock();
    wakeup(role).wait_until(key, sleep.until_ns);
    __builtin_prefetch(&consumer_, 1);  // which may be in no cache any more
  }
}

}  // namespace rclrt::executor

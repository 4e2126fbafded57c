// SPDX-License-Identifier: Apache-2.0
#include "lane.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>

#include "access.hpp"
#include "rclrt/realtime/clock.hpp"
#include "releaser.hpp"

// The functions that run for every instance have the attribute gnu::hot, here and in other files.
// The linker places such functions side by side. After a millisecond of sleep their code is in no
// cache, and the placement reduces the number of cache lines and pages that must be fetched.

namespace rclrt::executor {

namespace {

/// Returns the CPU of the calling thread: from a variable of the thread, or from the vDSO.
int this_cpu() noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("reading the number of the CPU does not sleep", sched_getcpu());
}

}  // namespace

void Lane::add_timer(TimerCallback* timer) {
  {
    const std::scoped_lock lock(consumer_);
    queue_.timers().add(timer);
  }
  wake_all();  // the worker that keeps the time re-reads the next release
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

void Lane::set_limit(std::size_t workers) noexcept {
  const bool grows = workers > sleepers_.limit();
  sleepers_.set_limit(workers);
  if (grows) {
    wake_all();  // a release that saw the old limit may have woken none
  }
}

/// The calling thread may be at a ceiling above its own priority, which it restores afterwards. The
/// ceiling counts: as long as it lasts, the kernel puts a woken worker that is not more urgent onto
/// another CPU.
void Lane::resume(Instance* instance) noexcept RCLRT_WAITS {
  {
    const std::scoped_lock lock(consumer_);
    queue_.put_back(instance);
  }
  wake_one(false);
}

/// Returns where a worker should be woken: on the CPU of the calling thread if the worker will
/// preempt that thread and the kernel then moves that thread to another CPU, which it does at once
/// only with SCHED_FIFO. Otherwise on another CPU. `follows`: the instance belongs to a stream.
[[gnu::hot]] LaneSleepers::Preference Lane::preference(bool follows) const noexcept
    RCLRT_NONBLOCKING {
  const int urgency = urgency_.load(std::memory_order_relaxed);  // see there
  if (urgency == 0) {
    return {};
  }
  const int own = priority_of_releaser();
  return {.cpu = this_cpu(), .avoids = follows || own == 0 || own >= urgency};
}

/// Returns the CPU of the calling thread; kNone if no preference needs it.
[[gnu::hot]] int Lane::cpu_of_worker() const noexcept RCLRT_NONBLOCKING {
  // relaxed: see there
  return urgency_.load(std::memory_order_relaxed) == 0 ? LaneSleepers::Preference::kNone
                                                       : this_cpu();
}

[[gnu::hot]] void Lane::wake_one(bool follows) noexcept RCLRT_NONBLOCKING {
  if (!sleepers_.wake_one(preference(follows)) && !spares_.wakeup.notify_one()) {
    outside_.notify_one();
  }
}

void Lane::wake_all() noexcept RCLRT_NONBLOCKING {
  sleepers_.wake_all();
  spares_.wake_all();
  outside_.notify_all();
}

[[gnu::hot]] bool Lane::enter(Instance* instance, WorkerPriority& priority) noexcept {
  detail::GroupState& group = group_of(*instance->callback);
  priority.raise_to(group.ceiling());  // first: the member inside is never below the ceiling
  if (group.enter(instance)) {
    return true;
  }
  priority.restore();
  return false;
}

/// Takes the first instance that may run.
[[gnu::hot]] Instance* Lane::take(WorkerPriority& priority,
                                  std::int64_t ready_by_ns) noexcept RCLRT_WAITS {
  queue_.collect();
  while (Instance* const instance = queue_.first_ready_by(ready_by_ns)) {
    queue_.remove_first(instance);
    Callback& callback = *instance->callback;
    // Pinned while it is still in a list that `remove_queued` or the group's `unpark` sees.
    state_of(callback).pin();
    if (use_ == Use::kForward || enter(instance, priority)) {
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

void Lane::add_worker(LaneWorker& worker) noexcept {
  const std::scoped_lock lock(consumer_);
  spares_.add(worker);
}

void Lane::forget_workers() noexcept {
  const std::scoped_lock lock(consumer_);
  spares_.clear();
}

/// Takes an instance for `worker` and makes the worker busy with it. Called with the lock held.
[[gnu::hot]] Instance* Lane::take_for(LaneWorker& worker) noexcept RCLRT_WAITS {
  Instance* const instance = take(worker.priority, INT64_MAX);
  if (instance != nullptr) {
    // relaxed: see LaneWorker::turn
    worker.turn.store(worker.turn.load(LaneWorker::kRelaxed) + 1, LaneWorker::kRelaxed);
  }
  return instance;
}

[[gnu::hot]] Instance* Lane::pop_as_worker(const std::atomic<bool>& stop,
                                           LaneWorker& worker) noexcept RCLRT_WAITS {
  Role role = Role::kFollower;
  std::unique_lock lock(consumer_);
  worker.end_turn();
  if (worker.slot == nullptr) {
    worker.slot = &sleepers_.arrive();
  }
  for (;;) {
    watch_.leave(role);
    if (stop.load()) {
      sleepers_.depart(*std::exchange(worker.slot, nullptr));
      return nullptr;
    }
    if (Instance* const instance = take_for(worker)) {
      // This worker is busy now. If instances remain, another worker is woken to take them (timers
      // that are due together wake only one worker); otherwise one may be woken to wait for the
      // next timer release. It is woken on another CPU, because this one is busy. If no worker
      // sleeps, or no further one can have work, this makes no system call.
      const bool is_left = queue_.first() != nullptr;
      const bool wake =
          is_left || watch_.lacks_leader(queue_.timers().next_beside_ns(*instance->callback));
      const bool tell_spare = is_left || (wake && spares_.sleeps_for_ever());
      lock.unlock();
      if (wake && !sleepers_.wake_one({.cpu = cpu_of_worker(), .avoids = true}) && tell_spare) {
        spares_.wakeup.notify_one();
      }
      return instance;
    }
    TimerHeap& timers = queue_.timers();
    timers.update_order();
    const LaneWatch::Sleep sleep = watch_.take_role(timers.next_ns(), timers.following_ns());
    role = sleep.role;
    const auto word = sleepers_.fall_asleep(*worker.slot, role, cpu_of_worker());
    if (stop.load() || queue_.has_pushed()) {
      sleepers_.rise(*worker.slot, word);
      continue;
    }
    lock.unlock();
    sleepers_.sleep(*worker.slot, word, sleep.until_ns);
    __builtin_prefetch(&consumer_, 1);  // it may be in no cache any more
    lock.lock();
  }
}

Instance* Lane::pop_as_spare(const std::atomic<bool>& stop,
                             LaneWorker& spare) noexcept RCLRT_WAITS {
  for (;;) {
    {
      std::unique_lock lock(consumer_);
      spares_.take_token(spare, spare.end_turn());
      if (stop.load()) {
        spares_.give_token_away(spare);
        return nullptr;
      }
      if (!spares_.has_token(spare)) {
        const auto key = spares_.idle.prepare_wait();
        if (stop.load()) {
          spares_.idle.cancel_wait();
          continue;
        }
        lock.unlock();
        // The notification may be for the spare that has taken the token meanwhile.
        spares_.wakeup.notify_one();
        spares_.idle.wait(key);
        continue;
      }
    }
    spares_.check(spare, realtime::monotonic_now_ns());
    if (Instance* const instance = stand_in_or_sleep(stop, spare)) {
      return instance;
    }
  }
}

/// Takes an instance in place of a worker that waits, or sleeps until the next check.
Instance* Lane::stand_in_or_sleep(const std::atomic<bool>& stop,
                                  LaneWorker& spare) noexcept RCLRT_WAITS {
  std::unique_lock lock(consumer_);
  if (!spares_.has_token(spare)) {
    return nullptr;
  }
  const bool all_busy = spares_.all_busy(sleepers_.limit());
  const bool stands_in = spares_.may_stand_in(sleepers_.limit());
  if (all_busy) {
    queue_.collect();
  }
  if (stands_in) {
    if (Instance* const instance = take_for(spare)) {
      spares_.give_token_away(spare);
      lock.unlock();
      spares_.idle.notify_one();
      return instance;
    }
  }
  const std::int64_t next_ns = all_busy ? queue_.timers().next_ns() : INT64_MAX;
  const bool lets_time_pass = all_busy && !stands_in && queue_.first() != nullptr;
  std::int64_t until_ns = next_ns;
  if (lets_time_pass) {
    until_ns = realtime::monotonic_now_ns() + SpareWatch::kPatience_ns;
  } else if (!stands_in && next_ns != INT64_MAX) {
    until_ns = std::max(next_ns, realtime::monotonic_now_ns()) + SpareWatch::kPatience_ns;
  }
  spares_.set_until(until_ns);
  realtime::EventCount& wakeup = lets_time_pass ? spares_.patience : spares_.wakeup;
  const auto key = wakeup.prepare_wait();
  // A spare thread does not take an instance that was pushed while a worker was free. That worker
  // may only be waiting for this CPU.
  if (stop.load() || (all_busy && !lets_time_pass && queue_.has_pushed())) {
    wakeup.cancel_wait();
    return nullptr;
  }
  lock.unlock();
  wakeup.wait_until(key, until_ns);
  return nullptr;
}

}  // namespace rclrt::executor

// SPDX-License-Identifier: Apache-2.0
#include "edf_queue.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "access.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

/// The waiting instances with one relative deadline.
class EdfQueue::DeadlineClass final : public detail::ReadySink {
 public:
  DeadlineClass(EdfQueue& with_owner, std::int64_t with_relative_ns)
      : owner(with_owner), relative_ns(with_relative_ns) {}

  void submit(Instance* instance) noexcept RCLRT_NONBLOCKING override {
    const std::int64_t deadline_ns = deadline_of(instance->release_ns);
    queue.push(instance);  // from here on the consumer owns it
    owner.announce(deadline_ns, relative_ns);
  }
  void resume(Instance* instance) noexcept RCLRT_WAITS override { owner.resume(*this, instance); }

  /// Returns the absolute deadline of a release.
  std::int64_t deadline_of(std::int64_t release_ns) const noexcept RCLRT_NONBLOCKING {
    return deadline_ns(release_ns, relative_ns);
  }

  EdfQueue& owner;
  const std::int64_t relative_ns;
  ReleaseQueue queue;
  Instance* pushed = nullptr;  // while `collect` runs
};

std::int64_t EdfQueue::deadline_ns(std::int64_t release_ns,
                                   std::int64_t relative_ns) noexcept RCLRT_NONBLOCKING {
  std::int64_t sum = 0;
  if (relative_ns == kBackground || __builtin_add_overflow(release_ns, relative_ns, &sum)) {
    return kBackground;
  }
  return std::min(sum, kBackground);
}

EdfQueue::EdfQueue(realtime::EventCount& outside) : outside_(outside) {}

EdfQueue::~EdfQueue() {
  for (const auto& deadline_class : classes_) {
    deadline_class->queue.discard_all();
  }
}

EdfQueue::DeadlineClass* EdfQueue::find_class(std::int64_t relative_ns) const noexcept {
  const auto place = std::lower_bound(
      classes_.begin(), classes_.end(), relative_ns,
      [](const auto& each, std::int64_t value) { return each->relative_ns < value; });
  return place != classes_.end() && (*place)->relative_ns == relative_ns ? place->get() : nullptr;
}

detail::ReadySink& EdfQueue::deadline_class(std::int64_t relative_ns) {
  if (DeadlineClass* const found = find_class(relative_ns)) {
    return *found;
  }
  auto made = std::make_unique<DeadlineClass>(*this, relative_ns);
  DeadlineClass& result = *made;
  std::vector<std::unique_ptr<DeadlineClass>> larger;
  larger.reserve(classes_.size() + 1);  // allocates before the lock is taken
  {
    const std::scoped_lock lock(mutex_);
    std::move(classes_.begin(), classes_.end(), std::back_inserter(larger));
    classes_.swap(larger);
    const auto place = std::find_if(classes_.begin(), classes_.end(), [&](const auto& each) {
      return each->relative_ns > relative_ns;
    });
    classes_.insert(place, std::move(made));
  }
  return result;
}

void EdfQueue::add_timer(std::int64_t relative_ns, TimerCallback* timer) {
  std::size_t woken = kNobody;
  {
    const std::scoped_lock lock(mutex_);
    find_class(relative_ns)->queue.timers().add(timer);
    woken = whom_to_wake(kNobody);
  }
  wake(woken);
}

void EdfQueue::remove_timer(TimerCallback* timer) noexcept {
  const std::scoped_lock lock(mutex_);
  for (const auto& deadline_class : classes_) {
    deadline_class->queue.timers().remove(timer);
  }
}

void EdfQueue::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  const std::scoped_lock lock(mutex_);
  collect();
  for (const auto& deadline_class : classes_) {
    deadline_class->queue.remove_queued(callback, taken);
  }
}

void EdfQueue::announce(std::int64_t deadline_ns,
                        std::int64_t relative_ns) noexcept RCLRT_NONBLOCKING {
  if (may_preempt(deadline_ns, relative_ns)) {
    wake(standby_.load());
  }
}

void EdfQueue::resume(DeadlineClass& deadline_class, Instance* instance) noexcept RCLRT_WAITS {
  std::size_t woken = kNobody;
  {
    const std::scoped_lock lock(mutex_);
    deadline_class.queue.put_back(instance);
    woken = whom_to_wake(kNobody);
  }
  wake(woken);
}

void EdfQueue::wake(std::size_t worker) noexcept RCLRT_NONBLOCKING {
  if (worker >= workers_.load() || !slots_[worker].wake.notify_one()) {
    outside_.notify_one();
  }
}

void EdfQueue::wake_all() noexcept RCLRT_NONBLOCKING {
  for (Slot& slot : slots_) {
    slot.wake.notify_all();
  }
  outside_.notify_all();
}

bool EdfQueue::may_preempt(std::int64_t deadline_ns,
                           std::int64_t relative_ns) const noexcept RCLRT_NONBLOCKING {
  return deadline_ns < earliest_ns_.load() && relative_ns < ceiling_ns_.load();
}

/// Updates the gate after an instance has started or ended. The instance that ended need not be the
/// top of the stack: the top may sleep in its callback, or may run without SCHED_FIFO.
void EdfQueue::update_gate() noexcept {
  std::int64_t earliest_ns = kNothing;
  std::int64_t ceiling_ns = kNothing;
  std::size_t standby = 0;
  for (std::size_t i = 0; i < workers_.load(); ++i) {
    if (slots_[i].started) {
      earliest_ns = std::min(earliest_ns, slots_[i].deadline_ns);
      ceiling_ns = std::min(ceiling_ns, slots_[i].ceiling_ns);
      standby = i + 1;
    }
  }
  earliest_ns_.store(earliest_ns);
  ceiling_ns_.store(ceiling_ns);
  standby_.store(standby);
}

void EdfQueue::collect() noexcept {
  for (const auto& deadline_class : classes_) {
    deadline_class->pushed =
        deadline_class->queue.take_pushed();  // before the clock is read, for the order
  }
  const std::int64_t now_ns = realtime::monotonic_now_ns();
  for (const auto& deadline_class : classes_) {
    deadline_class->queue.merge(std::exchange(deadline_class->pushed, nullptr), now_ns);
  }
}

/// Returns the deadline_class of the instance with the earliest deadline; among equal deadlines, of
/// the instance with the earliest release. nullptr: no instance became ready by `ready_by_ns`.
EdfQueue::DeadlineClass* EdfQueue::best(std::int64_t ready_by_ns) const noexcept {
  DeadlineClass* best = nullptr;
  std::int64_t best_deadline_ns = 0;
  for (const auto& deadline_class : classes_) {
    const Instance* const first = deadline_class->queue.first();
    if (first == nullptr || first->ready_ns > ready_by_ns) {
      continue;
    }
    const std::int64_t deadline_ns = deadline_class->deadline_of(first->release_ns);
    if (best == nullptr || deadline_ns < best_deadline_ns ||
        (deadline_ns == best_deadline_ns && first->release_ns < best->queue.first()->release_ns)) {
      best = deadline_class.get();
      best_deadline_ns = deadline_ns;
    }
  }
  return best;
}

/// Starts the instance with the earliest deadline, if it may start, and returns it; otherwise
/// nullptr. No other instance is tried, because an instance with a later deadline must not start
/// before it.
Instance* EdfQueue::start_best(Slot& slot, std::int64_t ready_by_ns) noexcept {
  for (DeadlineClass* deadline_class = best(ready_by_ns); deadline_class != nullptr;
       deadline_class = best(ready_by_ns)) {
    const std::int64_t deadline_ns =
        deadline_class->deadline_of(deadline_class->queue.first()->release_ns);
    if (!may_preempt(deadline_ns, deadline_class->relative_ns)) {
      return nullptr;
    }
    Instance* const instance = deadline_class->queue.first();
    deadline_class->queue.remove_first(instance);
    Callback& callback = *instance->callback;
    // Pinned while it is still in a list that `remove_queued` or the group's `unpark` sees.
    state_of(callback).pin();
    if (group_of(callback).enter(instance)) {
      slot.started = true;
      slot.deadline_ns = deadline_ns;
      slot.ceiling_ns =
          std::min(deadline_class->relative_ns, group_of(callback).deadline_ceiling_ns());
      update_gate();
      return instance;
    }
    // Happens only while ceilings change: the instance is parked, and returns by `resume`.
    state_of(callback).unpin();
  }
  return nullptr;
}

/// Returns the time until which the standby may sleep.
std::int64_t EdfQueue::next_preempting_release() const noexcept {
  std::int64_t next_ns = realtime::EventCount::kForever;
  for (const auto& deadline_class : classes_) {
    const std::int64_t release_ns = deadline_class->queue.timers().next_ns();
    if (release_ns < next_ns &&
        may_preempt(deadline_class->deadline_of(release_ns), deadline_class->relative_ns)) {
      next_ns = release_ns;
    }
  }
  return next_ns;
}

/// Returns the standby if it has work or would sleep too long.
std::size_t EdfQueue::whom_to_wake(std::size_t except) const noexcept {
  const std::size_t standby = standby_.load();
  if (standby == except || standby >= workers_.load()) {
    return kNobody;
  }
  const std::int64_t wake_up_ns = slots_[standby].wake_up_ns;
  if (wake_up_ns == kAwake) {
    return kNobody;
  }
  const DeadlineClass* const deadline_class = best();
  if (deadline_class != nullptr &&
      may_preempt(deadline_class->deadline_of(deadline_class->queue.first()->release_ns),
                  deadline_class->relative_ns)) {
    return standby;
  }
  return next_preempting_release() < wake_up_ns ? standby : kNobody;
}

Instance* EdfQueue::try_pop(std::size_t worker, bool may_start,
                            std::int64_t& wake_up_ns) noexcept RCLRT_WAITS {
  Instance* instance = nullptr;
  std::size_t woken = kNobody;
  {
    const std::scoped_lock lock(mutex_);
    Slot& slot = slots_[worker];
    slot.wake_up_ns = kAwake;
    if (std::exchange(slot.started, false)) {
      update_gate();
    }
    collect();  // after the gate is stored: see the class
    if (may_start && standby_.load() == worker) {
      instance = start_best(slot);
      if (instance != nullptr) {
        collect();  // after the gate is stored, as above
      } else {
        for (const auto& deadline_class : classes_) {
          deadline_class->queue.timers().update_order();
        }
        slot.wake_up_ns = next_preempting_release();
      }
    } else {
      slot.wake_up_ns = realtime::EventCount::kForever;
    }
    wake_up_ns = slot.wake_up_ns;
    woken = whom_to_wake(worker);
  }
  wake(woken);
  return instance;
}

Instance* EdfQueue::try_pop_on_caller(std::int64_t ready_by_ns) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  workers_.store(1);
  update_gate();
  collect();
  return start_best(slots_[0], ready_by_ns);
}

void EdfQueue::end_on_caller() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  slots_[0].started = false;
  update_gate();
}

std::int64_t EdfQueue::next_release_ns() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  std::int64_t next_ns = INT64_MAX;
  for (const auto& deadline_class : classes_) {
    deadline_class->queue.timers().update_order();
    next_ns = std::min(next_ns, deadline_class->queue.timers().next_ns());
  }
  return next_ns;
}

Instance* EdfQueue::pop(std::size_t worker, const std::atomic<bool>& stop) noexcept RCLRT_WAITS {
  std::int64_t wake_up_ns = 0;
  if (Instance* const instance = try_pop(worker, !stop.load(), wake_up_ns)) {
    return instance;
  }
  realtime::EventCount& event = slots_[worker].wake;
  for (;;) {
    const auto key = event.prepare_wait();
    Instance* const instance = try_pop(worker, !stop.load(), wake_up_ns);
    if (instance != nullptr || stop.load()) {
      event.cancel_wait();
      return instance;
    }
    event.wait_until(key, wake_up_ns);
  }
}

}  // namespace rclrt::executor

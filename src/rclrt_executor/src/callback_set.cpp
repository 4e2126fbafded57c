// SPDX-License-Identifier: Apache-2.0
#include "callback_set.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "dispatcher.hpp"
#include "instance_runner.hpp"
#include "rclrt/realtime/clock.hpp"
#include "spin_state.hpp"
#include "thread_settings.hpp"
#include "timer_release.hpp"

namespace rclrt::executor {

namespace {

/// The epoch of timers before the first spin sets it: never, with room for offsets.
constexpr std::int64_t kNotYet_ns = INT64_MAX / 2;

bool contains(const CallbackSet::Callbacks& list, const std::shared_ptr<Callback>& callback) {
  return std::find(list.begin(), list.end(), callback) != list.end();
}

/// Returns whether the callback's last instance has ended. An instance is pending until it has run
/// or is discarded; meanwhile it is in a list, or the callback is pinned. A thread that pinned the
/// callback unpins it only when the instance is not pending any more.
bool is_quiet(const Callback& callback) noexcept {
  return callback.counters().pending() == 0 && state_of(callback).pins.is_empty();
}

}  // namespace

CallbackSet::CallbackSet(const ExecutorOptions& options, ThreadSettings& threads,
                         InstanceRunner& runner, SpinState& spin)
    : options_(options), threads_(threads), runner_(runner), spin_(spin) {}

bool CallbackSet::knows(const Callback* callback) const noexcept {
  const auto is_it = [callback](const auto& each) { return each.get() == callback; };
  return std::any_of(callbacks_.begin(), callbacks_.end(), is_it) ||
         std::any_of(leaving_.begin(), leaving_.end(), is_it);
}

void CallbackSet::add(std::shared_ptr<Callback> callback) {
  if (!callback) {
    throw std::invalid_argument("executor \"" + options_.name +
                                "\": add() got nullptr; expected a callback");
  }
  Callbacks gone;
  const std::scoped_lock lock(mutex_);
  reap(gone);
  if (contains(callbacks_, callback)) {
    throw std::logic_error("callback \"" + callback->name() + "\" is already in executor \"" +
                           options_.name + "\"");
  }
  callbacks_.push_back(callback);
  if (!prepared_) {
    return;
  }
  bool claimed = false;  // false: another executor has it, or this one has not dropped it yet
  try {
    leaving_.reserve(leaving_.size() + 1);
    claim(*callback);
    claimed = true;
    enter(callback);
  } catch (...) {
    callbacks_.pop_back();
    if (claimed) {
      leave(callback);
      reap(gone);
    }
    throw;
  }
}

/// Attaches the callback: from now on it is released.
void CallbackSet::enter(const std::shared_ptr<Callback>& callback) {
  update_levels();
  if (TimerCallback* const timer = as_timer(*callback)) {
    start_schedule(*timer, epoch_of_late_timers());
  }
  dispatcher_->add(*callback);
  attach(*callback);
}

/// Stops the callback's releases. Returns false if the set does not have it.
bool CallbackSet::start_leaving(const std::shared_ptr<Callback>& callback) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find(callbacks_.begin(), callbacks_.end(), callback);
  if (found == callbacks_.end()) {
    return false;
  }
  if (!prepared_) {
    callbacks_.erase(found);
    return true;
  }
  leaving_.reserve(leaving_.size() + 1);
  callbacks_.erase(found);
  if (attached_) {
    Access::detach(*callback);
  }
  leave(callback);
  if (dispatcher_->traits().levels_by_group) {
    update_levels_after_removal();
  }
  return true;
}

bool CallbackSet::has_left(const std::shared_ptr<Callback>& callback) {
  Callbacks gone;
  const std::scoped_lock lock(mutex_);
  reap(gone);
  return !contains(leaving_, callback);
}

bool CallbackSet::remove(const std::shared_ptr<Callback>& callback) {
  const bool removed = start_leaving(callback);
  const bool in_a_callback = runner_.in_own_callback();
  while (!has_left(callback)) {
    if (in_a_callback) {
      spin_.wake_spinner();  // the spinner drops the callback
      break;
    }
    await_unpinned(*callback);
  }
  return removed;
}

/// Waits until no thread has a removed callback pinned, but at most a millisecond; the caller calls
/// it again and again. There is one special case. An instance that another thread is just
/// submitting is pending but not pinned, and nothing reports when it arrives in its queue. The
/// function then sleeps for 50 us, and the caller's next `reap` gives up the instance.
void CallbackSet::await_unpinned(Callback& callback) noexcept {
  const std::int64_t now_ns = realtime::monotonic_now_ns();
  realtime::QuiescenceGuard& pins = state_of(callback).pins;
  if (pins.is_empty()) {
    realtime::sleep_until_ns(now_ns + 50'000);
  } else {
    pins.wait_until_empty(now_ns + 1'000'000);
  }
}

bool CallbackSet::start_removal(const std::shared_ptr<Callback>& callback) {
  start_leaving(callback);
  const bool left = has_left(callback);
  if (!left) {
    spin_.wake_spinner();  // as above
  }
  return left;
}

/// Moves the callback to `leaving_`, which must have room for it.
void CallbackSet::leave(const std::shared_ptr<Callback>& callback) noexcept {
  leaving_.push_back(callback);
  state_of(*callback).removed.store(true);
  dispatcher_->remove(*callback);
  flush(*callback);
  update_ceiling(state_of(*callback).group);
}

void CallbackSet::reap(Callbacks& gone) {
  gone.reserve(gone.size() + leaving_.size());
  for (auto each = leaving_.begin(); each != leaving_.end();) {
    Callback& callback = **each;
    flush(callback);
    if (!is_quiet(callback)) {
      ++each;
      continue;
    }
    gone.push_back(std::move(*each));
    each = leaving_.erase(each);
    disclaim(callback);
  }
}

bool CallbackSet::reap_all() {
  Callbacks gone;
  const std::scoped_lock lock(mutex_);
  reap(gone);
  return leaving_.empty();
}

/// Gives up the instances that wait in a queue or for the group.
void CallbackSet::flush(Callback& callback) noexcept {
  // All are taken first, because abandoning one may move the next parked one back into its lane.
  Instance* taken = nullptr;
  dispatcher_->remove_queued(callback, taken);
  while (Instance* const parked = group_of(callback).unpark(callback)) {
    parked->next = std::exchange(taken, parked);
  }
  while (taken != nullptr) {
    InstanceRunner::abandon(std::exchange(taken, taken->next));
  }
}

void CallbackSet::claim(Callback& callback) {
  detail::CallbackState& state = state_of(callback);
  const CallbackSet* owner = nullptr;
  if (!state.owner.compare_exchange_strong(owner, this)) {
    throw std::logic_error("callback \"" + callback.name() + "\" is already in executor \"" +
                           owner->options_.name + "\"");
  }
  if (!group_of(callback).claim(this)) {
    state.owner.store(nullptr);
    throw std::logic_error(
        "the group of callback \"" + callback.name() +
        "\" is used in another executor; add all callbacks of a group to one executor");
  }
  std::size_t at_a_time = std::min(threads_.cpu_count(), dispatcher_->traits().max_threads);
  if (threads_.runs_to_completion() && dispatcher_->traits().max_threads == SIZE_MAX) {
    at_a_time = std::min(at_a_time, threads_.worker_count(1));
  }
  runner_.watch(callback, at_a_time);
}

void CallbackSet::disclaim(Callback& callback) noexcept {
  detail::CallbackState& state = state_of(callback);
  if (state.owner.load() != this) {
    return;
  }
  state.pins.wait_until_empty(0);  // it is empty: forgets that a thread has waited
  state.removed.store(false);
  state.sink.store(nullptr);
  state.lane.store(nullptr);
  state.ordering_deadline_ns.store(INT64_MAX, std::memory_order_relaxed);  // publishes no data
  const auto is_member = [&](const auto& other) {
    return other.get() != &callback && &state_of(*other).group == &state.group;
  };
  if (std::none_of(callbacks_.begin(), callbacks_.end(), is_member) &&
      std::none_of(leaving_.begin(), leaving_.end(), is_member)) {
    Access::state(state.group).release(this);
  }
  state.owner.store(nullptr);  // from here on another executor may claim it
}

void CallbackSet::attach(Callback& callback) {
  const std::size_t undelivered = callback.take_undelivered();
  if (dispatcher_->traits().polls) {
    return;  // the next poll finds them
  }
  Access::attach(callback);
  if (callback.type() != EntityType::kTimer) {
    // The middleware announced these to an earlier executor and will not do so again.
    const std::int64_t now = realtime::monotonic_now_ns();
    for (std::size_t i = 0; i < undelivered; ++i) {
      callback.release(now, now);
    }
  }
}

void CallbackSet::prepare() {
  Callbacks gone;
  const std::scoped_lock lock(mutex_);
  if (prepared_) {
    return;
  }
  if (unusable_) {
    throw std::logic_error("prepare() of executor \"" + options_.name +
                           "\" has failed before; create a new executor");
  }
  threads_.update_realtime(dispatcher_->traits());
  try {
    for (const auto& callback : callbacks_) {
      claim(*callback);
    }
    update_levels();
    epoch_ns_.store(kNotYet_ns);
    for (const auto& callback : callbacks_) {
      if (TimerCallback* const timer = as_timer(*callback)) {
        start_schedule(*timer, kNotYet_ns);
      }
      dispatcher_->add(*callback);
    }
    spin_.set_dispatcher(*dispatcher_);
    attached_ = !dispatcher_->traits().polls;
    for (const auto& callback : callbacks_) {
      attach(*callback);
    }
  } catch (...) {
    unusable_ = true;
    give_up_all(gone);
    throw;
  }
  prepared_ = true;
}

void CallbackSet::start_clock() {
  {
    const std::scoped_lock lock(mutex_);
    if (has_clock_) {
      return;
    }
  }
  const std::int64_t epoch_ns = options_.epoch ? options_.epoch() : realtime::monotonic_now_ns();
  const std::scoped_lock lock(mutex_);
  has_clock_ = true;
  epoch_ns_.store(epoch_ns);
  for (const auto& callback : callbacks_) {
    if (TimerCallback* const timer = as_timer(*callback)) {
      restart_locked(*timer, epoch_ns);
    }
  }
}

/// Returns the epoch of a timer that is added now: the current time once a spin has started.
std::int64_t CallbackSet::epoch_of_late_timers() const noexcept {
  return has_clock_ ? realtime::monotonic_now_ns() : epoch_ns_.load();
}

void CallbackSet::restart_locked(TimerCallback& timer, std::int64_t epoch_ns) {
  dispatcher_->remove(timer);  // from here on no thread releases it
  start_schedule(timer, epoch_ns);
  dispatcher_->add(timer);
}

void CallbackSet::restart(TimerCallback& timer) {
  const std::scoped_lock lock(mutex_);
  const auto is_timer = [&](const auto& each) { return each.get() == &timer; };
  if (prepared_ && std::any_of(callbacks_.begin(), callbacks_.end(), is_timer)) {
    restart_locked(timer, epoch_of_late_timers());
  }
}

void CallbackSet::release_due_timers() {
  const std::scoped_lock lock(mutex_);
  const std::int64_t now = realtime::monotonic_now_ns();
  std::vector<Instance*> released;
  for (const auto& callback : callbacks_) {
    TimerCallback* const timer = as_timer(*callback);
    if (timer == nullptr || schedule_of(*timer).next_ns() > now) {
      continue;
    }
    dispatcher_->remove(*timer);
    while (schedule_of(*timer).next_ns() <= now) {
      if (Instance* const instance = expire(*timer, now)) {
        released.push_back(instance);
      }
    }
    dispatcher_->add(*timer);
  }
  std::stable_sort(released.begin(), released.end(), [](const Instance* a, const Instance* b) {
    return a->release_ns < b->release_ns;
  });
  for (Instance* const instance : released) {
    instance->callback->submit(instance);
  }
}

CallbackSet::Callbacks CallbackSet::all() const {
  const std::scoped_lock lock(mutex_);
  return callbacks_;
}

void CallbackSet::clear() noexcept {
  Callbacks gone;
  const std::scoped_lock lock(mutex_);
  give_up_all(gone);
}

void CallbackSet::give_up_all(Callbacks& gone) {
  if (attached_) {
    for (const auto& callback : callbacks_) {
      Access::detach(*callback);
    }
    attached_ = false;
  }
  reap(gone);  // no worker runs, so it drops all
  gone.reserve(gone.size() + callbacks_.size());
  while (!callbacks_.empty()) {
    gone.push_back(std::move(callbacks_.back()));
    callbacks_.pop_back();
    Callback& callback = *gone.back();
    if (state_of(callback).owner.load() == this) {
      dispatcher_->remove(callback);
      flush(callback);
      disclaim(callback);
    }
  }
}

}  // namespace rclrt::executor

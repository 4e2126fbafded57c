// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "miss_watch.hpp"
#include "rclrt/executor/executor.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::executor {

namespace {

/// The epoch of timers until the first spin gives them theirs: never, with room for offsets.
constexpr std::int64_t kNotYet_ns = INT64_MAX / 2;

template <typename List>
bool contains(const List& list, const std::shared_ptr<Callback>& callback) {
  return std::find(list.begin(), list.end(), callback) != list.end();
}

}  // namespace

void Executor::add(std::shared_ptr<Callback> callback) {
  if (!callback) {
    throw std::invalid_argument("nullptr added to executor \"" + options_.name + "\"");
  }
  Callbacks gone;
  const std::scoped_lock lock(configuration_);
  reap(gone);
  if (contains(callbacks_, callback)) {
    throw std::logic_error("callback \"" + callback->name() + "\" is already in executor \"" +
                           options_.name + "\"");
  }
  callbacks_.push_back(callback);
  if (!prepared_) {
    return;
  }
  bool claimed = false;  // or another executor has it, or this one is about to let go of it
  try {
    leaving_.reserve(leaving_.size() + 1);
    claim(*callback);
    claimed = true;
    settle_levels();
    if (TimerCallback* const timer = as_timer(*callback)) {
      timer->start(has_spun_ ? realtime::monotonic_now_ns() : epoch_ns_.load());
    }
    on_added(*callback);
    attach(*callback);
  } catch (...) {
    callbacks_.pop_back();
    if (claimed) {
      leave(callback);
      reap(gone);
    }
    throw;
  }
}

/// From here on it is not released. False: the executor does not have it.
bool Executor::start_leaving(const std::shared_ptr<Callback>& callback) {
  const std::scoped_lock lock(configuration_);
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
    callback->detach();
  }
  leave(callback);
  return true;
}

bool Executor::has_left(const std::shared_ptr<Callback>& callback) {
  Callbacks gone;
  const std::scoped_lock lock(configuration_);
  reap(gone);
  return !contains(leaving_, callback);
}

bool Executor::remove(const std::shared_ptr<Callback>& callback) {
  const bool removed = start_leaving(callback);
  const bool in_a_callback = in_own_callback();
  while (!has_left(callback)) {
    if (in_a_callback) {
      stopped_.post();  // the thread in spin lets go of it
      break;
    }
    // Polled: being notified would cost every instance of every callback.
    realtime::sleep_until_ns(realtime::monotonic_now_ns() + 100'000);
  }
  return removed;
}

bool Executor::start_removal(const std::shared_ptr<Callback>& callback) {
  start_leaving(callback);
  const bool left = has_left(callback);
  if (!left) {
    stopped_.post();  // as above
  }
  return left;
}

/// It releases nothing any more; and from here on what a worker picks up is given up. There is room
/// for it in `leaving_`.
void Executor::leave(const std::shared_ptr<Callback>& callback) noexcept {
  leaving_.push_back(callback);
  callback->removed_.store(true);
  on_removed(*callback);
  flush(*callback);
  settle_ceiling(callback->group());
}

/// Lets go of removed callbacks whose last instance has ended.
void Executor::reap(Callbacks& gone) {
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

bool Executor::have_all_left() {
  Callbacks gone;
  const std::scoped_lock lock(configuration_);
  reap(gone);
  return leaving_.empty();
}

/// An instance is pending until it was run or discarded, in a list or held; who holds it has let go
/// only after that.
bool Executor::is_quiet(const Callback& callback) const noexcept {
  return callback.counters().pending() == 0 && callback.pins_.load() == 0 &&
         has_forgotten(callback);
}

void Executor::flush(Callback& callback) noexcept {
  // All first: abandoning one may bring the next that is parked back into its lane.
  Instance* taken = nullptr;
  remove_queued(callback, taken);
  while (Instance* const parked = callback.group().unpark(callback)) {
    parked->next = std::exchange(taken, parked);
  }
  while (taken != nullptr) {
    abandon(std::exchange(taken, taken->next));
  }
}

void Executor::set_level(const std::shared_ptr<Callback>& callback, int level) {
  const std::scoped_lock lock(configuration_);
  if (!contains(callbacks_, callback)) {
    throw std::logic_error("set_level: the callback is not in executor \"" + options_.name + "\"");
  }
  const int before = callback->level_.exchange(level);
  if (!prepared_ || before == level) {
    return;
  }
  try {
    settle_levels();
    on_removed(*callback);
    on_added(*callback);
  } catch (...) {
    callback->level_.store(before);
    on_removed(*callback);
    on_added(*callback);
    settle_levels();
    throw;
  }
}

void Executor::require_levels(std::vector<int> levels) const {
  const std::scoped_lock lock(configuration_);
  static_cast<void>(mapped_with(std::move(levels)));
}

void Executor::restart(TimerCallback& timer) {
  const std::scoped_lock lock(configuration_);
  const auto is_timer = [&](const auto& each) { return each.get() == &timer; };
  if (!prepared_ || std::none_of(callbacks_.begin(), callbacks_.end(), is_timer)) {
    return;
  }
  on_removed(timer);  // from here on the schedule is in nobody's hands
  timer.start(has_spun_ ? realtime::monotonic_now_ns() : epoch_ns_.load());
  on_added(timer);
}

std::vector<std::shared_ptr<Callback>> Executor::callbacks() const {
  const std::scoped_lock lock(configuration_);
  return callbacks_;
}

TimerCallback* Executor::as_timer(Callback& callback) noexcept {
  return callback.type() == EntityType::kTimer ? static_cast<TimerCallback*>(&callback) : nullptr;
}

void Executor::settle_realtime() {
  realtime_reason_.clear();
  if (options_.realtime == Realtime::kOff) {
    realtime_reason_ = "switched off";
    return;
  }
  const auto reason = why_no_realtime();
  if (!reason) {
    realtime_ = true;
    return;
  }
  if (options_.realtime == Realtime::kRequire) {
    throw std::runtime_error("executor \"" + options_.name + "\": " + *reason);
  }
  realtime_reason_ = *reason;
  static std::once_flag noticed;  // once per process, whatever the number of executors
  std::call_once(noticed, [&] {
    std::fprintf(stderr, "rclrt: running without real-time scheduling: %s\n", reason->c_str());
  });
}

void Executor::claim(Callback& callback) {
  const Executor* owner = nullptr;
  if (!callback.owner_.compare_exchange_strong(owner, this)) {
    throw std::logic_error("callback \"" + callback.name() + "\" is already in executor \"" +
                           owner->options_.name + "\"");
  }
  if (!callback.group().claim(this)) {
    callback.owner_.store(nullptr);
    throw std::logic_error("the group of callback \"" + callback.name() +
                           "\" is used in another executor: keep its members in one");
  }
  if (watch_) {
    callback.kept_name_ = &watch_->keep(callback.name());
    if (callback.deadline_ns() != 0) {
      watch_->set_cpus(concurrency());
      watch_->start();
    }
  }
}

void Executor::disclaim(Callback& callback) noexcept {
  if (callback.owner_.load() != this) {
    return;
  }
  callback.removed_.store(false);
  set_sinks(callback, nullptr, nullptr);
  Group& group = callback.group();
  const auto is_member = [&](const auto& other) {
    return other.get() != &callback && &other->group() == &group;
  };
  if (std::none_of(callbacks_.begin(), callbacks_.end(), is_member) &&
      std::none_of(leaving_.begin(), leaving_.end(), is_member)) {
    group.release(this);
  }
  callback.owner_.store(nullptr);  // from here on it may be another executor's
}

/// These levels and those that are known already, as far as they are mapped.
PriorityMap Executor::mapped_with(std::vector<int> levels) const {
  std::erase_if(levels, [&](int level) { return !maps_levels() || is_reserved(level); });
  if (priorities_) {
    levels.insert(levels.end(), priorities_->levels().begin(), priorities_->levels().end());
  }
  return PriorityMap(std::move(levels), options_.top_priority);
}

/// Maps the levels of all callbacks to priorities; moves threads, then the groups' ceilings.
void Executor::settle_levels() {
  require_groups_unreserved_or_whole();
  std::vector<int> levels;
  for (const auto& callback : callbacks_) {
    levels.push_back(callback->level());
  }
  priorities_ = mapped_with(std::move(levels));
  settle_priorities();
  std::map<Group*, int> ceilings;
  for (const auto& callback : callbacks_) {
    const int os_priority = mapped_priority(callback->level());
    callback->os_priority_.store(os_priority);
    int& ceiling = ceilings[&callback->group()];
    ceiling = std::max(ceiling, os_priority);
  }
  for (const auto& [group, ceiling] : ceilings) {
    group->set_ceiling(ceiling);
  }
}

void Executor::settle_ceiling(Group& group) noexcept {
  int ceiling = 0;
  for (const auto& callback : callbacks_) {
    if (&callback->group() == &group) {
      ceiling = std::max(ceiling, callback->os_priority_.load());
    }
  }
  group.set_ceiling(ceiling);
}

void Executor::attach(Callback& callback) {
  const std::uint64_t left_behind = callback.take_undelivered();
  if (!listens()) {
    return;  // polling finds what is there
  }
  callback.attach();
  if (callback.type() != EntityType::kTimer) {
    // The middleware announced these to an earlier executor and will not do so again.
    const std::int64_t now = realtime::monotonic_now_ns();
    for (std::uint64_t i = 0; i < left_behind; ++i) {
      callback.release(now, now);
    }
  }
}

void Executor::prepare() {
  Callbacks gone;
  const std::scoped_lock lock(configuration_);
  if (prepared_) {
    return;
  }
  if (unusable_) {
    throw std::logic_error("prepare() of executor \"" + options_.name +
                           "\" has failed before: make a new one");
  }
  realtime::require_allowed_cpus(options_.cpus);
  require_reservations_possible();
  settle_realtime();
  try {
    for (const auto& callback : callbacks_) {
      claim(*callback);
    }
    settle_levels();
    start_timers(kNotYet_ns);
    for (const auto& callback : callbacks_) {
      on_added(*callback);
    }
    ready_to_wake_.store(true);
    attached_ = listens();
    for (const auto& callback : callbacks_) {
      attach(*callback);
    }
  } catch (...) {
    unusable_ = true;
    give_up_callbacks(gone);
    throw;
  }
  prepared_ = true;
}

void Executor::start_timers(std::int64_t epoch_ns) {
  epoch_ns_.store(epoch_ns);
  for (const auto& callback : callbacks_) {
    if (TimerCallback* const timer = as_timer(*callback)) {
      timer->start(epoch_ns);
    }
  }
  retime();
}

void Executor::shut_down() noexcept {
  Callbacks gone;
  const std::scoped_lock lock(configuration_);
  give_up_callbacks(gone);
}

void Executor::give_up_callbacks(Callbacks& gone) {
  if (attached_) {
    for (const auto& callback : callbacks_) {
      callback->detach();
    }
    attached_ = false;
  }
  reap(gone);  // no worker runs, so it takes them all
  gone.reserve(gone.size() + callbacks_.size());
  while (!callbacks_.empty()) {
    gone.push_back(std::move(callbacks_.back()));
    callbacks_.pop_back();
    Callback& callback = *gone.back();
    if (callback.owner_.load() == this) {
      on_removed(callback);
      flush(callback);
      disclaim(callback);
    }
  }
}

}  // namespace rclrt::executor

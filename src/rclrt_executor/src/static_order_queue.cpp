// SPDX-License-Identifier: Apache-2.0
#include "static_order_queue.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "access.hpp"
#include "callback_set.hpp"
#include "instance_runner.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

/// The waiting instances of one callback.
struct StaticOrderQueue::Place final : detail::ReadySink {
  explicit Place(StaticOrderQueue& with_owner) : owner(with_owner) {}

  void submit(Instance* instance) noexcept RCLRT_NONBLOCKING override {
    queue.push(instance);
    owner.wake();
  }
  void resume(Instance* instance) noexcept RCLRT_WAITS override {
    {
      const std::scoped_lock lock(owner.mutex_);
      queue.put_back(instance);
    }
    owner.wake();
  }

  StaticOrderQueue& owner;
  ReleaseQueue queue;
  Instance* pushed = nullptr;          // while `collect` runs
  const Callback* callback = nullptr;  // only compared: the callback may be destroyed
  bool is_in_order = false;
  int level = 0;
  std::uint64_t number = 0;    // within its level
  Instance* member = nullptr;  // in the set, and pinned
  InstanceInfo info;           // valid once the instance was read
  bool was_read = false;
  bool is_being_read = false;  // by the thread, with `mutex_` free
};

StaticOrderQueue::StaticOrderQueue(realtime::EventCount& outside,
                                   std::shared_ptr<const StaticOrderTrigger> trigger)
    : outside_(outside), trigger_(std::move(trigger)) {}

StaticOrderQueue::~StaticOrderQueue() {
  for (const auto& place : places_) {
    place->queue.discard_all();
  }
}

void StaticOrderQueue::wake() noexcept RCLRT_NONBLOCKING {
  if (!wakeup_.notify_one()) {
    outside_.notify_one();
  }
}

/// Returns the callback's place, or else the place of a removed callback, or a new one.
StaticOrderQueue::Place& StaticOrderQueue::place_of(Callback& callback,
                                                    const CallbackSet& callbacks) {
  if (const auto own = place_by_callback_.find(&callback); own != place_by_callback_.end()) {
    std::erase(left_, own->second);  // the callback is added again, or another one has its address
    return *own->second;
  }
  Place* place = left_place(callbacks);
  if (place == nullptr) {
    make_room();
    places_.push_back(std::make_unique<Place>(*this));
    place = places_.back().get();
  }
  place_by_callback_.emplace(&callback, place);
  return *place;
}

/// Returns the place of a removed callback, for another one; nullptr if there is none.
StaticOrderQueue::Place* StaticOrderQueue::left_place(const CallbackSet& callbacks) {
  const auto found = std::ranges::find_if(
      left_, [&](const Place* place) { return !callbacks.knows(place->callback); });
  if (found == left_.end()) {
    return nullptr;
  }
  Place* const place = *found;
  left_.erase(found);
  place_by_callback_.erase(place->callback);
  return place;
}

/// Reserves memory in all lists for one more callback, before the lock of the queue is taken. The
/// configuration is locked, so no other thread changes the capacity of the lists.
void StaticOrderQueue::make_room() {
  if (order_.capacity() > places_.size()) {
    return;
  }
  const std::size_t room = 2 * places_.size() + 1;
  left_.reserve(room);
  std::vector<Place*> order;
  std::vector<CallbackReadiness> readiness;
  order.reserve(room);
  readiness.reserve(room);
  const std::scoped_lock lock(mutex_);
  order.assign(order_.begin(), order_.end());
  readiness.assign(readiness_.begin(), readiness_.end());
  order.swap(order_);
  readiness.swap(readiness_);
}

/// Inserts the place by its level and number. Both lists have room.
void StaticOrderQueue::put_in_order(Place& place) noexcept {
  const auto at = std::ranges::upper_bound(order_, &place, [](const Place* a, const Place* b) {
    return a->level != b->level ? a->level > b->level : a->number < b->number;
  });
  readiness_.insert(readiness_.begin() + (at - order_.begin()), {.callback = place.callback});
  order_.insert(at, &place);
  place.is_in_order = true;
  next_ = next_unread_ = 0;
}

void StaticOrderQueue::take_out_of_order(Place& place) noexcept {
  const auto at = std::ranges::find(order_, &place);
  readiness_.erase(readiness_.begin() + (at - order_.begin()));
  order_.erase(at);
  place.is_in_order = false;
  next_ = next_unread_ = 0;
}

void StaticOrderQueue::add(Callback& callback, const CallbackSet& callbacks) {
  Place& place = place_of(callback, callbacks);
  {
    const std::scoped_lock lock(mutex_);
    const int level = callback.level();
    if (place.is_in_order && place.level != level) {
      take_out_of_order(place);
    } else if (!place.is_in_order) {
      place.callback = &callback;
      place.number = next_number_++;
    }
    place.level = level;
    if (!place.is_in_order) {
      put_in_order(place);
    }
    if (TimerCallback* const timer = as_timer(callback)) {
      place.queue.timers().add(timer);
    }
  }
  state_of(callback).sink.store(&place);
  state_of(callback).lane.store(&place);
  wake();
}

void StaticOrderQueue::remove(Callback& callback) noexcept {
  const auto found = place_by_callback_.find(&callback);
  if (found == place_by_callback_.end()) {
    return;
  }
  Place& place = *found->second;
  {
    const std::scoped_lock lock(mutex_);
    if (TimerCallback* const timer = as_timer(callback)) {
      place.queue.timers().remove(timer);
    }
    if (place.is_in_order && state_of(callback).removed.load()) {
      take_out_of_order(place);
      left_.push_back(&place);  // it has room for all
    }
  }
  wake();  // without the callback, the trigger may hold
}

void StaticOrderQueue::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  const auto found = place_by_callback_.find(&callback);
  if (found == place_by_callback_.end()) {
    return;
  }
  Place& place = *found->second;
  Instance* read = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    place.queue.collect();
    place.queue.remove_queued(callback, taken);
    Instance* const member = place.member;
    if (member == nullptr || place.is_being_read) {
      return;
    }
    place.member = nullptr;
    if (place.was_read) {
      read = member;
    } else {
      member->next = std::exchange(taken, member);
      state_of(*member->callback).unpin();
    }
  }
  if (read != nullptr) {  // the middleware needs time, and takes its own locks
    Callback& own = *read->callback;
    InstanceRunner::give_up_read(own, read);
    state_of(own).unpin();
  }
}

/// Moves the pushed instances, and those of the timers that are due at one time, into the queues.
void StaticOrderQueue::collect() noexcept {
  for (Place* const place : order_) {
    place->pushed = place->queue.take_pushed();
  }
  const std::int64_t now_ns = realtime::monotonic_now_ns();
  for (Place* const place : order_) {
    place->queue.merge(std::exchange(place->pushed, nullptr), now_ns);
  }
}

/// Returns whether the trigger holds for the instances that became ready by `ready_by_ns`.
bool StaticOrderQueue::is_triggered(std::int64_t ready_by_ns) noexcept {
  collect();
  bool any = false;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    readiness_[i].ready = order_[i]->queue.first_ready_by(ready_by_ns) != nullptr;
    any = any || readiness_[i].ready;
  }
  return any && trigger_->holds(readiness_);
}

/// Forms the set, if the trigger holds. The last set must have run.
bool StaticOrderQueue::form_set(std::int64_t ready_by_ns) noexcept {
  if (!is_triggered(ready_by_ns)) {
    return false;
  }
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (readiness_[i].ready) {
      Place& place = *order_[i];
      place.member = place.queue.first();
      place.queue.remove_first(place.member);
      place.was_read = false;
      state_of(*place.member->callback).pin();
    }
  }
  next_ = next_unread_ = 0;
  return true;
}

StaticOrderQueue::Place* StaticOrderQueue::next_member() noexcept {
  for (; next_ < order_.size(); ++next_) {
    if (order_[next_]->member != nullptr) {
      return order_[next_];
    }
  }
  return nullptr;
}

StaticOrderQueue::Place* StaticOrderQueue::next_unread() noexcept {
  for (; next_unread_ < order_.size(); ++next_unread_) {
    Place* const place = order_[next_unread_];
    if (place->member != nullptr && !place->was_read) {
      return place;
    }
  }
  return nullptr;
}

StaticOrderQueue::Member StaticOrderQueue::take_member() noexcept {
  Place* const place = next_member();
  if (place == nullptr) {
    return {};
  }
  Instance* const instance = std::exchange(place->member, nullptr);
  static_cast<void>(group_of(*instance->callback).try_enter());  // no other runs, so it is free
  return {.instance = instance, .info = place->info, .was_read = place->was_read};
}

std::int64_t StaticOrderQueue::next_release_ns() noexcept {
  std::int64_t next_ns = INT64_MAX;
  for (Place* const place : order_) {
    next_ns = std::min(next_ns, place->queue.timers().next_ns());
  }
  return next_ns;
}

bool StaticOrderQueue::has_pushed() const noexcept {
  return std::ranges::any_of(order_, [](const Place* place) { return place->queue.has_pushed(); });
}

bool StaticOrderQueue::await_set(const std::atomic<bool>& stop) noexcept RCLRT_WAITS {
  for (;;) {
    std::unique_lock lock(mutex_);
    runs_ = false;
    if (stop.load()) {
      return false;
    }
    if (next_member() != nullptr || form_set(INT64_MAX)) {
      runs_ = true;
      return true;
    }
    const std::int64_t until_ns = next_release_ns();
    const auto key = wakeup_.prepare_wait();
    if (stop.load() || has_pushed()) {
      wakeup_.cancel_wait();
      continue;
    }
    lock.unlock();
    wakeup_.wait_until(key, until_ns);
  }
}

void StaticOrderQueue::read_set(InstanceRunner& runner) noexcept RCLRT_WAITS {
  std::unique_lock lock(mutex_);
  while (Place* const place = next_unread()) {
    place->is_being_read = true;
    lock.unlock();
    const std::optional<InstanceInfo> info = runner.read(place->member);
    lock.lock();
    place->is_being_read = false;
    if (info) {
      place->info = *info;
      place->was_read = true;
    } else {
      Callback& callback = *std::exchange(place->member, nullptr)->callback;
      state_of(callback).unpin();
    }
  }
}

StaticOrderQueue::Member StaticOrderQueue::take() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  return take_member();
}

Instance* StaticOrderQueue::take_on_caller(std::int64_t ready_by_ns,
                                           std::int64_t& next_release_ns) noexcept {
  const std::scoped_lock lock(mutex_);
  Instance* instance = nullptr;
  if (next_member() != nullptr || form_set(ready_by_ns)) {
    instance = take_member().instance;  // no input was read: see SpinControl::run_one_on_caller
  }
  next_release_ns = this->next_release_ns();
  return instance;
}

bool StaticOrderQueue::holds_back() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  return !runs_ && next_member() == nullptr && !is_triggered(INT64_MAX);
}

}  // namespace rclrt::executor

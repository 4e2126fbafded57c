// SPDX-License-Identifier: Apache-2.0
#include "static_order_queue.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "access.hpp"
#include "callback_set.hpp"
#include "instance_runner.hpp"

namespace rclrt::executor {

/// Where the instances of one callback wait.
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
  const Callback* callback = nullptr;  // compared only: it may have gone
  int level = 0;
  std::uint64_t number = 0;    // within its level
  Instance* member = nullptr;  // of the set, and pinned
  InstanceInfo info;           // once it was read, as the next
  bool was_read = false;
  bool is_being_read = false;  // by the thread, with `mutex_` free
};

StaticOrderQueue::StaticOrderQueue(realtime::EventCount& outside, StaticOrderTrigger trigger)
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

/// Returns the callback's place, or one whose callback has gone, or a new one.
StaticOrderQueue::Place& StaticOrderQueue::place_of(Callback& callback,
                                                    const CallbackSet& callbacks) {
  const auto is_own = [&](const auto& place) { return place->callback == &callback; };
  const auto is_free = [&](const auto& place) {
    return place->member == nullptr &&
           std::ranges::none_of(callbacks.locked(),
                                [&](const auto& each) { return each.get() == place->callback; });
  };
  auto found = std::ranges::find_if(places_, is_own);
  if (found == places_.end()) {
    const std::scoped_lock lock(mutex_);  // `member` is the thread's, too
    found = std::ranges::find_if(places_, is_free);
  }
  if (found != places_.end()) {
    return **found;
  }
  // Allocates before the lock is taken.
  auto made = std::make_unique<Place>(*this);
  std::vector<Place*> order;
  std::vector<CallbackReadiness> readiness;
  order.reserve(places_.size() + 1);
  readiness.reserve(places_.size() + 1);
  places_.push_back(std::move(made));
  {
    const std::scoped_lock lock(mutex_);
    order.assign(order_.begin(), order_.end());
    readiness.assign(readiness_.begin(), readiness_.end());
    order.swap(order_);
    readiness.swap(readiness_);
  }
  return *places_.back();
}

/// After a change of what is in the order. There is room in both lists.
void StaticOrderQueue::settle_order() {
  std::ranges::sort(order_, [](const Place* a, const Place* b) {
    return a->level != b->level ? a->level > b->level : a->number < b->number;
  });
  readiness_.clear();
  for (const Place* const place : order_) {
    readiness_.push_back({.callback = place->callback});
  }
  next_ = 0;
}

void StaticOrderQueue::add(Callback& callback, const CallbackSet& callbacks) {
  Place& place = place_of(callback, callbacks);
  TimerCallback* const timer = as_timer(callback);
  {
    const std::scoped_lock lock(mutex_);
    if (std::ranges::find(order_, &place) == order_.end()) {
      place.callback = &callback;
      place.number = next_number_++;
      order_.push_back(&place);
    }
    place.level = callback.level();
    settle_order();
    if (timer != nullptr) {
      place.queue.timers().add(timer);
    }
  }
  state_of(callback).sink.store(&place);
  state_of(callback).lane.store(&place);
  wake();
}

void StaticOrderQueue::remove(Callback& callback) noexcept {
  const bool leaves = state_of(callback).removed.load();
  {
    const std::scoped_lock lock(mutex_);
    TimerCallback* const timer = as_timer(callback);
    for (Place* const place : order_) {
      if (timer != nullptr && place->callback == &callback) {
        place->queue.timers().remove(timer);
      }
    }
    if (leaves) {
      std::erase_if(order_, [&](const Place* place) { return place->callback == &callback; });
      settle_order();
    }
  }
  wake();  // without it, the trigger may hold
}

void StaticOrderQueue::remove_queued(const Callback& callback, Instance*& taken) noexcept {
  const std::scoped_lock lock(mutex_);
  for (const auto& place : places_) {
    place->queue.collect();
    place->queue.remove_queued(callback, taken);
    Instance* const member = place->member;
    if (member == nullptr || member->callback != &callback || place->is_being_read) {
      continue;
    }
    Callback& own = *member->callback;
    place->member = nullptr;
    if (place->was_read) {
      InstanceRunner::give_up_read(own, member);
    } else {
      member->next = std::exchange(taken, member);
    }
    state_of(own).unpin();
  }
}

/// Makes the set, if the trigger holds for what became ready by then. The last one has run.
bool StaticOrderQueue::form_set(std::int64_t ready_by_ns) noexcept {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    order_[i]->queue.collect();
    readiness_[i].ready = order_[i]->queue.first_ready_by(ready_by_ns) != nullptr;
  }
  const auto is_ready = [](const CallbackReadiness& each) { return each.ready; };
  if (std::ranges::none_of(readiness_, is_ready) || !trigger_(readiness_)) {
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
  next_ = 0;
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

StaticOrderQueue::Member StaticOrderQueue::take_member() noexcept {
  Place* const place = next_member();
  if (place == nullptr) {
    return {};
  }
  Instance* const instance = std::exchange(place->member, nullptr);
  static_cast<void>(group_of(*instance->callback).try_enter());  // nobody else runs: it is free
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
  const auto is_unread = [](const Place* place) {
    return place->member != nullptr && !place->was_read;
  };
  std::unique_lock lock(mutex_);
  for (auto next = std::ranges::find_if(order_, is_unread); next != order_.end();
       next = std::ranges::find_if(order_, is_unread)) {
    Place& place = **next;
    place.is_being_read = true;
    lock.unlock();
    place.info = runner.read(place.member);
    lock.lock();
    place.is_being_read = false;
    place.was_read = true;
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
    instance = take_member().instance;  // nothing was read: see StaticOrderDispatcher::run
  }
  next_release_ns = this->next_release_ns();
  return instance;
}

bool StaticOrderQueue::holds_back() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  if (runs_ || next_member() != nullptr) {
    return false;
  }
  for (std::size_t i = 0; i < order_.size(); ++i) {
    order_[i]->queue.collect();
    readiness_[i].ready = order_[i]->queue.first() != nullptr;
  }
  return !trigger_(readiness_);
}

}  // namespace rclrt::executor

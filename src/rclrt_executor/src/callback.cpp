// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/callback.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rclrt::executor {

Callback::Callback(CallbackOptions options) : state_(*this, std::move(options)) {}

}  // namespace rclrt::executor

namespace rclrt::executor::detail {

CallbackState::CallbackState(Callback& callback, CallbackOptions callback_options)
    : credits(&callback,
              callback_options.overload == Overload::kQueue ? callback_options.credits : 1),
      group(callback_options.group ? *callback_options.group : own_group),
      level(callback_options.level),
      deadline_ns(callback_options.deadline_ns),
      overload(callback_options.overload),
      options(std::move(callback_options)) {
  if (deadline_ns < 0) {
    throw std::invalid_argument(
        "callback \"" + options.name +
        "\": the deadline is a duration after the release and must not be negative");
  }
}

Counters CallbackState::counters() const noexcept RCLRT_NONBLOCKING {
  // The order of the loads keeps a snapshot taken while running from showing a negative pending.
  Counters result;
  result.completed = completed.load(std::memory_order_acquire);
  result.dropped = dropped.load(std::memory_order_acquire);
  // relaxed is enough: the two loads above acquire, so this load also counts the releases of the
  // instances that they count. PAIRS WITH: count(), drop(), discard() and end_without_run()
  result.released = released.load(std::memory_order_relaxed);
  result.missed = missed.load(std::memory_order_relaxed);  // as `released`
  return result;
}

[[gnu::hot]] Instance* CallbackState::make_instance(
    std::int64_t release_ns, std::int64_t ready_ns) noexcept RCLRT_NONBLOCKING {
  // relaxed: the instance's completion or drop, which comes later, is a release
  released.fetch_add(1, std::memory_order_relaxed);
  Instance* instance = credits.take();
  if (instance == nullptr) {
    refuse(release_ns);
    return nullptr;
  }
  instance->release_ns = release_ns;
  instance->ready_ns = ready_ns;
  return instance;
}

void CallbackState::refuse(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING {
  if (overload == Overload::kKeepLast) {
    keep_newest(release_ns);
  }
  drop(1);
}

void CallbackState::drop(std::uint64_t count) noexcept RCLRT_NONBLOCKING {
  if (deadline_ns != 0) {
    // relaxed: statistics; the release below orders them for counters()
    missed.fetch_add(count, std::memory_order_relaxed);
    unreported_drops.fetch_add(count, std::memory_order_relaxed);
  }
  dropped.fetch_add(count, std::memory_order_release);  // PAIRS WITH: counters()
}

void CallbackState::keep_newest(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING {
  // relaxed: only a prediction. release; PAIRS WITH: begin()
  std::int64_t newest = newest_ns.load(std::memory_order_relaxed);
  while (newest < release_ns &&
         !newest_ns.compare_exchange_weak(newest, release_ns, std::memory_order_release,
                                          std::memory_order_relaxed)) {
  }
}

[[gnu::hot]] InstanceInfo CallbackState::begin(Instance* instance) noexcept RCLRT_NONBLOCKING {
  InstanceInfo info{.release_ns = instance->release_ns,
                    .ready_ns = instance->ready_ns,
                    .level = level.load(std::memory_order_relaxed)};  // a number, orders nothing
  if (overload == Overload::kSkipIfRunning) {
    return info;
  }
  // The credit is given back before the message is taken. So at every moment there are at least as
  // many instances as messages, and every message has an instance that takes it. A surplus instance
  // finds no message (kEmpty), because a newer message replaced the one that it was made for.
  credits.give_back(instance);
  if (overload == Overload::kKeepLast) {
    // PAIRS WITH: keep_newest()
    const std::int64_t newest = newest_ns.exchange(INT64_MIN, std::memory_order_acquire);
    if (credits.all_out()) {
      keep_newest(newest);  // the next instance already waits: `newest` may be later than that
    } else {
      info.release_ns = std::max(info.release_ns, newest);
      info.ready_ns = std::max(info.ready_ns, newest);
    }
  }
  return info;
}

[[gnu::hot]] void CallbackState::end(Instance* instance) noexcept RCLRT_NONBLOCKING {
  if (overload == Overload::kSkipIfRunning) {
    credits.give_back(instance);
  }
}

void CallbackState::end_without_run(Instance* instance) noexcept RCLRT_NONBLOCKING {
  end(instance);
  dropped.fetch_add(1, std::memory_order_release);  // PAIRS WITH: counters()
}

void CallbackState::discard(Instance* instance) noexcept RCLRT_NONBLOCKING {
  credits.give_back(instance);
  undelivered.add(1);
  dropped.fetch_add(1, std::memory_order_release);  // PAIRS WITH: counters()
}

}  // namespace rclrt::executor::detail

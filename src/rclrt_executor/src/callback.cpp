// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/callback.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rclrt::executor {

Callback::Callback(CallbackOptions options)
    : credits_(this, options.overload == Overload::kQueue ? options.credits : 1),
      group_(options.group ? *options.group : own_group_),
      level_(options.level),
      deadline_ns_(options.deadline_ns),
      overload_(options.overload),
      options_(std::move(options)) {
  if (deadline_ns_ < 0) {
    throw std::invalid_argument("callback \"" + options_.name +
                                "\": a deadline is a time after the release: not negative");
  }
}

Counters Callback::counters() const noexcept RCLRT_NONBLOCKING {
  // The order of the loads keeps a snapshot taken while running from showing a negative pending.
  const auto completed = completed_.load(std::memory_order_acquire);
  const auto dropped = dropped_.load(std::memory_order_acquire);
  return {released_.load(std::memory_order_relaxed), completed, dropped,
          missed_.load(std::memory_order_relaxed)};
}

[[gnu::hot]] Instance* Callback::make_instance(std::int64_t release_ns,
                                               std::int64_t ready_ns) noexcept RCLRT_NONBLOCKING {
  released_.fetch_add(1, std::memory_order_relaxed);
  Instance* instance = credits_.take();
  if (instance == nullptr) {
    refuse(release_ns);
    return nullptr;
  }
  instance->release_ns = release_ns;
  instance->ready_ns = ready_ns;
  return instance;
}

void Callback::refuse(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING {
  if (overload_ == Overload::kKeepLast) {
    keep_newest(release_ns);
  }
  drop(1);
}

void Callback::drop(std::uint64_t count) noexcept RCLRT_NONBLOCKING {
  if (deadline_ns_ != 0) {
    missed_.fetch_add(count, std::memory_order_relaxed);
    dropped_untold_.fetch_add(count, std::memory_order_relaxed);
  }
  dropped_.fetch_add(count, std::memory_order_release);
}

void Callback::keep_newest(std::int64_t release_ns) noexcept RCLRT_NONBLOCKING {
  std::int64_t newest = newest_ns_.load(std::memory_order_relaxed);
  while (newest < release_ns &&
         !newest_ns_.compare_exchange_weak(newest, release_ns, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
}

[[gnu::hot]] InstanceInfo Callback::begin(Instance* instance) noexcept RCLRT_NONBLOCKING {
  InstanceInfo info{
      .release_ns = instance->release_ns, .ready_ns = instance->ready_ns, .level = level()};
  if (overload_ == Overload::kSkipIfRunning) {
    return info;
  }
  // Before the message is taken: at every moment there are at least as many instances as messages,
  // so no message is ever left behind without one. An instance too many finds nothing to take
  // (kEmpty): its message was replaced by a newer one.
  credits_.give_back(instance);
  if (overload_ == Overload::kKeepLast) {
    const std::int64_t newest = newest_ns_.exchange(INT64_MIN, std::memory_order_acquire);
    if (credits_.all_out()) {
      keep_newest(newest);  // the next instance waits already: `newest` may have come after it
    } else {
      info.release_ns = std::max(info.release_ns, newest);
      info.ready_ns = std::max(info.ready_ns, newest);
    }
  }
  return info;
}

[[gnu::hot]] void Callback::end(Instance* instance) noexcept RCLRT_NONBLOCKING {
  if (overload_ == Overload::kSkipIfRunning) {
    credits_.give_back(instance);
  }
}

void Callback::discard(Instance* instance) noexcept RCLRT_NONBLOCKING {
  credits_.give_back(instance);
  undelivered_.fetch_add(1);
  dropped_.fetch_add(1, std::memory_order_release);
}

}  // namespace rclrt::executor

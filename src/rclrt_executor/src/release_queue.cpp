// SPDX-License-Identifier: Apache-2.0
#include "release_queue.hpp"

#include <utility>

#include "access.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {

[[gnu::hot]] void ReleaseQueue::push(Instance* instance) noexcept RCLRT_NONBLOCKING {
  Instance* head = pushed_.load(std::memory_order_relaxed);  // only a prediction
  do {
    instance->next = head;
    // seq_cst: publishes the instance, and orders the push before the read of which worker sleeps.
  } while (!pushed_.compare_exchange_weak(head, instance, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
}

[[gnu::hot]] void ReleaseQueue::append(Instance* instance) noexcept {
  instance->order = next_order_++;
  waiting_.insert(instance, level_of(*instance));
}

[[gnu::hot]] Instance* ReleaseQueue::take_pushed() noexcept {
  Instance* pushed = nullptr;
  if (has_pushed()) {
    for (Instance* newest = pushed_.exchange(nullptr, std::memory_order_seq_cst);
         newest != nullptr;) {
      Instance* const older = newest->next;
      newest->next = pushed;
      pushed = newest;
      newest = older;
    }
  }
  return pushed;
}

[[gnu::hot]] void ReleaseQueue::merge(Instance* pushed, std::int64_t now_ns) noexcept {
  for (std::int64_t due_ns = timers_.next_ns(); due_ns <= now_ns; due_ns = timers_.next_ns()) {
    while (pushed != nullptr && pushed->ready_ns <= due_ns) {
      append(std::exchange(pushed, pushed->next));
    }
    if (Instance* const released = timers_.expire_first(now_ns)) {
      append(released);
    }
  }
  while (pushed != nullptr) {
    append(std::exchange(pushed, pushed->next));
  }
}

[[gnu::hot]] void ReleaseQueue::collect() noexcept {
  Instance* const pushed = take_pushed();  // before the clock is read, to keep the order of release
  merge(pushed, timers_.empty() ? 0 : realtime::monotonic_now_ns());
}

void ReleaseQueue::discard_all() noexcept {
  timers_.clear();  // makes no releases any more
  collect();
  while (Instance* const instance = first()) {
    remove_first(instance);
    state_of(*instance->callback).discard(instance);
  }
}

}  // namespace rclrt::executor

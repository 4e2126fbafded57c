// SPDX-License-Identifier: Apache-2.0
// The thread that looks after an executor's entities while somebody spins.
#include <algorithm>
#include <utility>

#include "entity_registry.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt_rclcpp {

namespace {
/// While a callback runs on that has left, the thread looks so often whether it has ended.
constexpr std::int64_t kSoon_ns = 1'000'000;
}  // namespace

void Executor::EntityRegistry::maintenance_loop() {
  std::int64_t watch_ns = rclrt::realtime::monotonic_now_ns() + kSecond_ns;
  while (!stop_.load()) {
    const auto key = changes_.bell().prepare_wait();
    if (stop_.load()) {
      changes_.bell().cancel_wait();
      return;
    }
    if (changes_.noted()) {
      const Gate::Inside inside(gate_);
      if (inside.allowed()) {
        changes_.bell().cancel_wait();
        refresh_if_noted();
        continue;
      }
    }
    const bool unfinished = unfinished_.exchange(false);
    const std::int64_t soon_ns = rclrt::realtime::monotonic_now_ns() + kSoon_ns;
    changes_.bell().wait_until(key, unfinished ? std::min(watch_ns, soon_ns) : watch_ns);
    if (unfinished) {
      changes_.note();
    }
    if (const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns(); now_ns >= watch_ns) {
      watch_ns = now_ns + kSecond_ns;
      if (const Gate::Inside inside(gate_); inside.allowed()) {
        warn_of_deadlocks();
      }
      if (part_) {
        part_->note_threads();
      }
    }
  }
}

void Executor::EntityRegistry::begin_spin() {
  if (part_) {
    part_->begin_spin();
  }
  {
    const std::scoped_lock lock(error_mutex_);
    failed_.store(false);  // what is still wrong is found again
    error_ = nullptr;
  }
  gate_.open();
  changes_.bell().notify_all();
  clocks_.look();
}

void Executor::EntityRegistry::end_spin() {
  gate_.close();
  finish_leaving(Wait::kNo);  // nothing runs any more
  if (part_) {
    part_->end_spin();
  }
}

void Executor::EntityRegistry::fail(const std::exception_ptr& error) {
  if (rclcpp::ok(context_)) {  // at a shutdown nothing fits any more, and that is no error
    const std::scoped_lock lock(error_mutex_);
    error_ = error;
    failed_.store(true);
  }
  engine_->cancel();
}

void Executor::EntityRegistry::rethrow() {
  std::exception_ptr error;
  {
    const std::scoped_lock lock(error_mutex_);
    error = error_;
  }
  if (error) {
    std::rethrow_exception(error);
  }
}

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
#include "maintenance_thread.hpp"

#include <algorithm>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt_rclcpp {

namespace {
constexpr std::int64_t kSecond_ns = 1'000'000'000;
/// While a callback runs on that has left, the thread looks so often whether it has ended.
constexpr std::int64_t kSoon_ns = 1'000'000;
}  // namespace

MaintenanceThread::MaintenanceThread(const std::string& name, Changes& changes, Gate& gate,
                                     Tasks tasks)
    : changes_(changes),
      gate_(gate),
      tasks_(std::move(tasks)),
      thread_({.name = name}, [this] { run(); }) {}

MaintenanceThread::~MaintenanceThread() {
  stop_.store(true);
  changes_.bell().notify_all();
  thread_.join();
}

void MaintenanceThread::refresh_soon() noexcept {
  unfinished_.store(true);
  changes_.bell().notify_one();
}

void MaintenanceThread::run() {
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
        tasks_.refresh();
        continue;
      }
    }
    if (changes_.take_publisher()) {  // one that comes while nobody spins is asked for again
      const Gate::Inside inside(gate_);
      if (inside.allowed()) {
        changes_.bell().cancel_wait();
        tasks_.look_at_publishers();
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
        tasks_.look();
      }
      tasks_.each_second();
    }
  }
}

}  // namespace rclrt_rclcpp

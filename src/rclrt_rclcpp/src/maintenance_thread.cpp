// SPDX-License-Identifier: Apache-2.0
#include "maintenance_thread.hpp"

#include <algorithm>
#include <utility>

#include "rclrt/realtime/clock.hpp"

namespace rclrt_rclcpp {

namespace {
constexpr std::int64_t kSecond_ns = 1'000'000'000;
/// Interval between two checks whether a removed callback that still runs has ended.
constexpr std::int64_t kSoon_ns = 1'000'000;
}  // namespace

MaintenanceThread::MaintenanceThread(const std::string& name, Changes& changes,
                                     rclrt::realtime::QuiescenceGuard& gate, Tasks tasks)
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
  bool is_scan_due = false;  // set once a second; a scan waits for the gate and for refreshes
  while (!stop_.load()) {
    const auto key = changes_.bell().prepare_wait();
    if (stop_.load()) {
      changes_.bell().cancel_wait();
      return;
    }
    if (changes_.noted() && inside([this] { tasks_.refresh(); })) {
      changes_.bell().cancel_wait();
      continue;
    }
    if (is_scan_due && inside([this] { tasks_.scan(); })) {
      is_scan_due = false;
    }
    if (changes_.publisher_noted() && inside([this] {
          changes_.take_publisher();
          tasks_.scan_publishers();
        })) {
      changes_.bell().cancel_wait();
    } else {
      wait(key, watch_ns);
    }
    if (const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns(); now_ns >= watch_ns) {
      watch_ns = now_ns + kSecond_ns;
      is_scan_due = true;
      tasks_.each_second();
    }
  }
}

/// Does a task if the gate is open. Returns whether it did.
template <typename Task>
bool MaintenanceThread::inside(const Task& task) {
  const rclrt::realtime::QuiescenceGuard::Inside inside(gate_);
  if (inside.allowed()) {
    task();
  }
  return inside.allowed();
}

/// Waits for the bell, or until `until_ns`.
void MaintenanceThread::wait(rclrt::realtime::EventCount::Key key, std::int64_t until_ns) {
  const bool unfinished = unfinished_.exchange(false);
  const std::int64_t soon_ns = rclrt::realtime::monotonic_now_ns() + kSoon_ns;
  changes_.bell().wait_until(key, unfinished ? std::min(until_ns, soon_ns) : until_ns);
  if (unfinished) {
    changes_.note();
  }
}

}  // namespace rclrt_rclcpp

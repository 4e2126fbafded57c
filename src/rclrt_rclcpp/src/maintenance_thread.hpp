// SPDX-License-Identifier: Apache-2.0
// The thread that keeps an executor's entities up to date while it spins.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "entity_callback.hpp"
#include "rclrt/realtime/quiescence_guard.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt_rclcpp {

/// The thread that updates the engine when entities change, at normal priority. While the gate is
/// open, it refreshes the registry after each reported change, and scans everything once a second.
/// It never waits for a callback, because all entities need this thread.
class MaintenanceThread {
 public:
  struct Tasks {
    std::function<void()> refresh;          ///< with the gate held open
    std::function<void()> scan;             ///< once a second, with the gate held open
    std::function<void()> scan_publishers;  ///< when one is unknown; otherwise as `scan`
    std::function<void()> each_second;      ///< whether the gate is open or not
  };
  MaintenanceThread(const std::string& name, Changes& changes,
                    rclrt::realtime::QuiescenceGuard& gate, Tasks tasks);
  ~MaintenanceThread();
  MaintenanceThread(const MaintenanceThread&) = delete;
  MaintenanceThread& operator=(const MaintenanceThread&) = delete;

  /// Refreshes again in a millisecond: for unfinished work of which no thread will notify.
  void refresh_soon() noexcept;

 private:
  void run();
  template <typename Task>
  bool inside(const Task& task);
  void wait(rclrt::realtime::EventCount::Key key, std::int64_t until_ns);

  Changes& changes_;
  rclrt::realtime::QuiescenceGuard& gate_;
  const Tasks tasks_;
  std::atomic<bool> unfinished_{false};
  std::atomic<bool> stop_{false};
  rclrt::realtime::Thread thread_;
};

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
// The thread that empties rings: one pass per period, at normal priority.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {

/// Calls `pass` once per period from a SCHED_OTHER thread of its own, and once more at the end.
class PeriodicDrain {
 public:
  /// `pass` must not throw. Throws std::invalid_argument for a period below 1 ms, or
  /// std::system_error when the thread cannot be started.
  PeriodicDrain(const std::string& thread_name, std::chrono::milliseconds period,
                std::function<void()> pass);
  ~PeriodicDrain() { stop(); }
  PeriodicDrain(const PeriodicDrain&) = delete;
  PeriodicDrain& operator=(const PeriodicDrain&) = delete;

  /// Returns after a pass that began after the call; at once when the drain has stopped.
  /// Thread-safe.
  void flush();

  /// A last pass, and the end of the thread. Thread-safe.
  void stop();

 private:
  void run();

  const std::chrono::milliseconds period_;
  const std::function<void()> pass_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::uint64_t begun_ = 0;   // passes
  std::uint64_t done_ = 0;    // passes
  std::uint64_t wanted_ = 0;  // the pass somebody waits for
  bool stop_ = false;
  bool ended_ = false;
  std::mutex joining_;  // guards thread_'s end
  Thread thread_;
};

}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
// The thread that empties rings: one pass per period, at normal priority.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {

/// Calls `pass` once per period on a thread of its own at normal priority, and once more when it is
/// stopped or destroyed.
///
///     MpscQueue<Record> queue(1024);                      // real-time threads push
///     PeriodicDrain drain("records", 10ms, [&] {          // destroyed before the queue
///       for (Record record; queue.try_pop(record);) { write(record); }
///     });
///
/// Thread rules of a `robot.yaml` do not apply to this thread: it counts as one of rclrt's own.
class RCLRT_REALTIME_EXPORT PeriodicDrain {
 public:
  /// Starts the thread. `pass` must not throw. Throws std::invalid_argument for a period below 1
  /// ms, or std::system_error when the thread cannot be started.
  RCLRT_SETUP PeriodicDrain(const std::string& thread_name, std::chrono::milliseconds period,
                            std::function<void()> pass);
  ~PeriodicDrain() { stop(); }
  PeriodicDrain(const PeriodicDrain&) = delete;
  PeriodicDrain& operator=(const PeriodicDrain&) = delete;

  /// Waits until a pass that began after this call has ended; returns at once if the drain has
  /// stopped. Thread-safe.
  RCLRT_SETUP void flush();

  /// Makes a last pass and ends the thread. Thread-safe.
  RCLRT_SETUP void stop();

 private:
  void run();

  const std::chrono::milliseconds period_;
  const std::function<void()> pass_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::uint64_t begun_ = 0;   // passes
  std::uint64_t done_ = 0;    // passes
  std::uint64_t wanted_ = 0;  // the latest pass that a thread waits for
  bool stop_ = false;
  bool ended_ = false;
  std::mutex joining_;  // guards the end of thread_
  Thread thread_;
};

}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
// Releases an event of the application while it runs, by a thread outside of the executors.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "rclrt/model/application.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::runner {

/// Calls a function at each release of an event, as a driver's thread does. If real-time scheduling
/// is permitted, its thread has a priority above all threads of the executors. Not thread-safe: one
/// owner uses it.
class EventSource {
 public:
  /// Called with the number of the release, from 0, and its nominal time.
  using Emit = std::function<void(std::uint64_t number, std::int64_t release_ns)>;

  EventSource(const model::Event& event, std::string id, Emit emit);

  ~EventSource() { stop(); }
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  /// Returns why the threads cannot have their priority; std::nullopt if they can.
  static std::optional<std::string> why_no_realtime();

  /// Starts the thread, which waits for the epoch. Call once.
  void start();

  /// Begins the releases, which are relative to `epoch_ns` (positive) of CLOCK_MONOTONIC.
  void begin(std::int64_t epoch_ns);

  /// Ends the releases, whether they have begun or not. After it has returned, the function is not
  /// running and will not be called. May be called again.
  void stop();

 private:
  static constexpr std::int64_t kNever_ns = -1;

  void release(const realtime::StopFlag& stop);

  const model::Event event_;
  const std::string id_;
  const Emit emit_;
  std::atomic<std::int64_t> epoch_ns_{0};  // 0 until it is known; changes once, by the owner
  realtime::Thread thread_;                // last: it uses the others until it has ended
};

}  // namespace rclrt::runner

// SPDX-License-Identifier: Apache-2.0
// What releases an event of the application while it runs: a thread outside of the executors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "rclrt/model/application.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::runner {

/// Calls a function at each release of an event, as a driver's thread calls what it drives: above
/// all threads of the executors, where real-time scheduling is permitted. Not thread-safe: one
/// owner.
class EventSource {
 public:
  /// Called with the number of the release, from 0, and its nominal time.
  using Emit = std::function<void(std::uint64_t number, std::int64_t release_ns)>;

  EventSource(const model::Event& event, std::string id, Emit emit);

  /// Starts the releases, which are relative to `epoch_ns` of CLOCK_MONOTONIC. Call once.
  void begin(std::int64_t epoch_ns);

  /// Ends them; none is under way afterwards.
  void stop() { thread_.stop(); }

 private:
  const model::Event event_;
  const std::string id_;
  const Emit emit_;
  realtime::Thread thread_;  // last: it uses the others until it has ended
};

}  // namespace rclrt::runner

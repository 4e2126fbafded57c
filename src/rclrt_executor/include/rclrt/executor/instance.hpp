// SPDX-License-Identifier: Apache-2.0
// One release of a callback: its data while it runs and afterwards.
#pragma once

#include <cstdint>

#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

class Callback;
struct Instance;  // a queued instance; opaque to bindings

/// The outcome of an instance that a worker picked up.
enum class Outcome : std::uint8_t {
  kRan,       ///< user code ran
  kBuffered,  ///< the message was kept for later (an input of a sync without its partner)
  kEmpty,     ///< no message was found: the middleware had replaced it
  kThrew,     ///< user code ended with an exception
};

/// The data of a running instance that its callback may read. Times are CLOCK_MONOTONIC in
/// nanoseconds.
struct InstanceInfo {
  std::uint64_t id = 0;         ///< unique within the executor, in order of start
  std::int64_t release_ns = 0;  ///< a timer's nominal release; otherwise when it became ready
  std::int64_t ready_ns = 0;    ///< when the work became ready: a timer's nominal release, or the
                                ///< time at which the middleware announced the message; 0 if the
                                ///< executor polls and the entity has not set it yet
  std::int64_t start_ns = 0;    ///< first instruction of user code; set by the entity
  /// The time from which the deadline counts, such as the time at which the data of the message was
  /// measured. The entity sets it. 0: the deadline counts from the release.
  std::int64_t since_ns = 0;
  int level = 0;  ///< the callback's priority; higher is more urgent

  /// Returns the time from which its deadline counts.
  std::int64_t counts_from_ns() const noexcept RCLRT_NONBLOCKING {
    return since_ns != 0 ? since_ns : release_ns;
  }
};

/// A finished instance, as executors hand it to an `InstanceSink`.
struct InstanceRecord {
  InstanceInfo info;
  const Callback* callback = nullptr;
  std::int64_t end_ns = 0;
  std::int64_t cpu_ns = 0;        ///< CPU time of the thread between pick-up and end
  std::uint32_t preemptions = 0;  ///< involuntary context switches meanwhile
  std::uint32_t slot = 0;         ///< index of the level's worker that ran it, from 0
  Outcome outcome = Outcome::kRan;
  int start_cpu = -1;  ///< CPU of the thread at pick-up; -1: not known
  int end_cpu = -1;    ///< ditto, at the end
};

/// Receives every finished instance on the thread that ran it. Must not block or throw.
class RCLRT_EXECUTOR_EXPORT InstanceSink {
 public:
  virtual ~InstanceSink() = default;
  /// Takes a finished instance; called once for each.
  virtual void record(const InstanceRecord& record) noexcept RCLRT_NONBLOCKING = 0;
};

/// Returns the instance that the calling thread is running; nullptr outside a callback.
RCLRT_EXECUTOR_EXPORT const InstanceInfo* current_instance() noexcept RCLRT_NONBLOCKING;

}  // namespace rclrt::executor

// SPDX-License-Identifier: Apache-2.0
// The executors of one process, running.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <rclrt/model/application.hpp>
#include <span>
#include <vector>

#include "live_application.hpp"
#include "rclrt/rclrt.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/recorder/instance_log.hpp"
#include "run.hpp"

namespace rclrt::runner {

/// Returns the scheduling of the threads that start a run: the highest priority, if it is
/// permitted. With a lower one, the first releases would pass on a busy machine before these
/// threads get a CPU.
realtime::Scheduling starting();

/// Returns whether the executors can have real-time scheduling: whether the kernel permits the
/// lowest `top_priority` of the executors.
bool may_be_realtime(const model::Application& application);

/// Starts several executors at a common epoch, which is set when the threads of all of them exist.
/// So no release is lost, however long a busy machine takes to start the threads. Thread-safe.
class CommonStart {
 public:
  explicit CommonStart(std::size_t executors) : missing_(executors) {}

  /// Called by each executor once its threads exist. Returns the epoch.
  std::int64_t arrive_and_wait();

  /// Waits until all have arrived, at most for `limit`. Returns whether they have.
  bool wait_for_all(std::chrono::nanoseconds limit);

  /// Sets the epoch; only the first call counts.
  void state_epoch(std::int64_t epoch_ns);

 private:
  std::mutex mutex_;  // guards the two below; taken before the run only
  std::condition_variable changed_;
  std::size_t missing_;
  std::optional<std::int64_t> epoch_ns_;
};

/// The executors of the application while they run; each spins on a thread of its own until this
/// object is destroyed. Not thread-safe: one owner uses it.
class Spinning {
 public:
  /// Makes and prepares the executors with these indices. The arguments must outlive it.
  Spinning(const model::Application& application, std::span<const std::size_t> own,
           const RunOptions& options, const LiveApplication& live,
           const std::shared_ptr<Context>& context, recorder::InstanceLog& log);

  /// Stops.
  ~Spinning() { stop(); }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

  /// Starts the threads; they wait for the epoch.
  void start();

  /// Waits until the threads of all executors exist, at most for `limit`. Returns whether they do.
  bool wait_for_all(std::chrono::nanoseconds limit) { return start_.wait_for_all(limit); }

  /// Starts the executors, once those threads exist.
  void begin(std::int64_t epoch_ns) { start_.state_epoch(epoch_ns); }

  /// Ends the threads, whether they have begun or not. May be called again.
  void stop();

  /// Returns whether an executor has thrown.
  bool failed() const { return failed_.load(); }

  /// Throws the first exception of an executor. Call it after stop().
  void rethrow() const;

  /// Returns the executors, in the order of the indices.
  const std::vector<std::unique_ptr<Executor>>& executors() const { return executors_; }

 private:
  CommonStart start_;
  std::vector<std::unique_ptr<recorder::InstanceLog::Sink>> sinks_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::vector<std::exception_ptr> errors_;  // each written by its thread before it ends
  std::atomic<bool> failed_{false};
  std::vector<realtime::Thread> threads_;
};

}  // namespace rclrt::runner

// SPDX-License-Identifier: Apache-2.0
// The part in which executors differ: which thread runs which instance, and when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "access.hpp"
#include "rclrt/executor/options.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

class CallbackSet;
class InstanceRunner;
class SpinState;
class ThreadSettings;

/// The parts that an executor shares with its dispatcher. They outlive the dispatcher.
struct DispatcherContext {
  const ExecutorOptions& options;
  const ThreadSettings& threads;
  const CallbackSet& callbacks;
  InstanceRunner& runner;
  SpinState& spin;
};

/// The properties of a dispatcher.
struct DispatcherTraits {
  bool maps_levels = true;           ///< each level has a SCHED_FIFO priority of its own
  bool keeps_level_threads = false;  ///< levels have permanent threads, scheduled in their own way
  bool levels_by_group = false;      ///< the level at which a callback runs depends on its group
  bool reads_ahead = false;  ///< takes the input of several instances before the first one runs
  bool polls = false;        ///< polls for work; otherwise entities announce it
  std::size_t max_threads = SIZE_MAX;  ///< maximal number of instances that run at the same time
};

/// The threads that may run a callback.
struct WorkerPool {
  static constexpr std::int64_t kShared = INT64_MIN;

  std::int64_t key = kShared;         ///< the same for callbacks that share the threads
  std::size_t threads = 1;            ///< number of threads; 0: as many as run callbacks now
  std::string name = "the executor";  ///< for reports
};

/// Decides which thread runs which instance; each kind of executor has one. Unless a function's
/// comment says otherwise, it is called with the executor's configuration locked, by one thread at
/// a time.
class Dispatcher {
 public:
  Dispatcher(const DispatcherContext& context, DispatcherTraits traits)
      : context_(context), traits_(traits) {}
  virtual ~Dispatcher() = default;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  const DispatcherTraits& traits() const noexcept RCLRT_NONBLOCKING { return traits_; }

  /// Returns the level at which each of the callbacks runs: by default its own.
  virtual std::vector<int> levels_of(const std::vector<std::shared_ptr<Callback>>& callbacks) const;
  /// Adds a callback: sets the queue for its instances. The dispatcher also releases a timer from
  /// now on; the timer's schedule is started already. Called again, after `remove`, if the level or
  /// the schedule of the callback has changed. Throws std::system_error.
  virtual void add(Callback& callback) = 0;
  /// Releases no more instances of the callback by time.
  virtual void remove(Callback& callback) noexcept = 0;
  /// Moves every instance of the callback that waits in a queue to the list `taken`.
  virtual void remove_queued(const Callback& callback, Instance*& taken) noexcept = 0;
  /// Gives the executor's threads the SCHED_FIFO priorities of their levels (the priorities that
  /// they serve), after these have changed. Nothing to do where threads have no level. Throws
  /// std::system_error if the kernel refuses.
  virtual void apply_priorities() {}
  /// Returns the SCHED_FIFO priority of a level that has one.
  virtual int kernel_priority(int level) const noexcept;

  /// Starts the threads of one spin. If it throws, `stop` follows.
  virtual void start() = 0;
  /// Ends the threads; the configuration is not locked, and the spin is stopping.
  virtual void stop() noexcept = 0;
  /// Wakes every sleeping thread, so that it sees that the spin stops. Thread-safe.
  virtual void wake() noexcept RCLRT_NONBLOCKING = 0;

  /// Returns an instance for the calling thread to run. The instance became ready by `ready_by_ns`,
  /// is pinned, and has entered its group. The caller must call `end_on_caller` after it. If there
  /// is no such instance, returns nullptr and sets `next_release_ns` to the time of the next timer
  /// release. Called while the dispatcher has no threads.
  virtual Instance* take_on_caller(std::int64_t ready_by_ns,
                                   std::int64_t& next_release_ns) noexcept = 0;
  /// Returns whether no instance runs, and the waiting instances will not run until further
  /// instances become ready. Thread-safe; called without the configuration locked.
  virtual bool holds_back() noexcept { return false; }
  /// Reports that the instance has ended; the configuration is not locked.
  virtual void end_on_caller() noexcept {}

  /// Returns the threads that may run a callback; by default all share one.
  virtual WorkerPool pool_of(const Callback& callback) const;
  /// Returns the remedy for a stall: all threads of a pool wait for instances that only they could
  /// run. The text is the end of a sentence.
  virtual std::string stall_advice() const;

  /// Returns the SCHED_FIFO priority of a thread of `level`. Returns 0 without real-time
  /// scheduling, and for a level that has a reservation or is best effort.
  int thread_priority(int level) const noexcept;

 protected:
  const DispatcherContext& context() const noexcept { return context_; }

 private:
  const DispatcherContext context_;
  const DispatcherTraits traits_;
};

}  // namespace rclrt::executor

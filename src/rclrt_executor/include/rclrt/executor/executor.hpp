// SPDX-License-Identifier: Apache-2.0
// The interface of all executors: configuration, life cycle, spinning.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/options.hpp"
#include "rclrt/executor/spin_result.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/duration.hpp"

namespace rclrt::executor {

/// Three phases: configure (constructor, `add`), `prepare`, run (`spin`). One thread calls
/// `prepare` and `spin`. Any thread and any callback may call `add`, `remove`, `set_level` and
/// `cancel` at any time. The first three may allocate and lock, so a callback with a deadline must
/// not call them.
///
/// Derived classes choose only which thread runs which instance and when. All of them have these
/// functions.
class RCLRT_EXECUTOR_EXPORT Executor {
 public:
  /// Detaches all callbacks and drops its references to them. The executor must not be spinning.
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Adds a callback and keeps it alive. After `prepare` the callback takes part at once. The
  /// schedule of a timer that is added while the executor spins starts now. If the callback has a
  /// new level, each level below moves down by one SCHED_FIFO priority, one thread after the other
  /// (under thread_dispatch and workshop only for instances that start afterwards). Throws
  /// std::invalid_argument for nullptr; std::logic_error if an executor has the callback already,
  /// or if another executor has the callback's group; and the exceptions of `prepare` if there are
  /// too few SCHED_FIFO priorities for the levels. If it throws, the executor is unchanged.
  RCLRT_SETUP void add(std::shared_ptr<Callback> callback);

  /// Removes a callback. After this function has returned, no instance of the callback is running
  /// or will run. An instance that waited is counted as dropped. There is one exception: a call
  /// from a callback of this executor cannot wait for running instances. They still end, and the
  /// executor keeps the callback until then. If two callbacks in two executors remove each other,
  /// both wait for ever. Returns false if the executor did not have the callback or has removed it
  /// already.
  RCLRT_SETUP bool remove(const std::shared_ptr<Callback>& callback);

  /// Removes a callback as `remove` does, but does not wait for running instances. Returns true if
  /// no instance of the callback is running or will run. Returns false while one is running: the
  /// executor keeps the callback until then. Call this function again to find out whether the last
  /// instance has ended.
  RCLRT_SETUP bool start_removal(const std::shared_ptr<Callback>& callback);

  /// Changes a callback's priority. Instances that already wait may still run at the old priority.
  /// Throws std::logic_error if the executor does not have the callback, and the exceptions of
  /// `prepare` if there are too few SCHED_FIFO priorities for the levels. If it throws, the
  /// priority is unchanged.
  RCLRT_SETUP void set_level(const std::shared_ptr<Callback>& callback, int level);

  /// Throws std::invalid_argument if callbacks at these levels could not be added, because there
  /// are too few SCHED_FIFO priorities for them and the levels that the executor has or had.
  /// Changes nothing. May be called after `prepare` only.
  RCLRT_SETUP void require_levels(std::vector<int> levels) const;

  /// Restarts a timer's schedule; the timer's `first_release_ns` returns the time of the first
  /// release. An instance that already waits stays queued. Does nothing before `prepare`, or if the
  /// executor does not have the timer. Thread-safe; locks the configuration.
  RCLRT_SETUP void restart(TimerCallback& timer);

  /// Maps levels to SCHED_FIFO priorities, builds queues and attaches the entities. Work that
  /// becomes ready waits until `spin`. `spin` calls `prepare` if it was not called before. Throws
  /// std::invalid_argument if options contradict each other or the levels do not fit,
  /// std::system_error if a system call fails, std::runtime_error if real time is required and not
  /// permitted, and std::logic_error if a callback or its group is in another executor. If it
  /// throws, discard the executor.
  RCLRT_SETUP void prepare();

  /// Creates the executor's threads, and runs callbacks until `cancel` is called or a callback
  /// throws. Once the threads exist, the executor allocates no memory (except under
  /// thread_dispatch). After all threads have stopped, `spin` rethrows the exception of the
  /// callback. At the end, callbacks that run are finished, and instances that wait are kept for
  /// the next `spin`. Throws std::logic_error if the executor is spinning already.
  void spin() RCLRT_WAITS;

  // The next three functions also create the executor's threads and end them again, which takes
  // tens of microseconds for each thread. They check every 20 to 200 µs whether the spin is over.
  // Use them for set-up and tests, not for a loop with a deadline. They treat exceptions of
  // callbacks, `cancel` and `close` as `spin` does.

  /// Runs the instances that are ready now, including those of timers that are due, and returns
  /// when they have ended. Instances that become ready meanwhile may run, too. `wait_set` runs one
  /// set.
  void spin_some() RCLRT_WAITS;

  /// Runs callbacks until one instance has ended. Waits at most `timeout` for it; a negative
  /// timeout means for ever. Returns whether an instance has ended. If several threads run
  /// callbacks, other instances may have started by then; the function returns after they have
  /// ended, too.
  bool spin_once(realtime::SaturatingNanoseconds timeout = std::chrono::nanoseconds(-1))
      RCLRT_WAITS;

  /// Runs callbacks until `future` (std::future or std::shared_future, not a deferred one) is
  /// ready, but at most for `timeout`; a negative timeout means for ever. Runs nothing if the
  /// future is ready already.
  template <typename Future>
  SpinResult spin_until_future_complete(
      const Future& future,
      realtime::SaturatingNanoseconds timeout = std::chrono::nanoseconds(-1)) RCLRT_WAITS {
    return spin_until(
        [&](std::chrono::nanoseconds time) {
          return future.wait_for(time) == std::future_status::ready;
        },
        timeout);
  }

  /// Runs one instance on the calling thread, with that thread's own scheduling, and creates no
  /// thread. The instance is the most urgent one that became ready by `ready_by_ns`
  /// (CLOCK_MONOTONIC). If there is none, waits at most `timeout` for one; a negative timeout means
  /// for ever. Returns whether an instance has run. No other thread of the executor runs, so no
  /// instance preempts it, and no ceiling is raised. Exceptions of callbacks and `cancel` are
  /// treated as by `spin`. Throws std::logic_error under `wait_set`, and under `static_order` with
  /// logical execution time, because these executors do not offer it.
  bool run_one_on_caller(realtime::SaturatingNanoseconds timeout,
                         std::int64_t ready_by_ns = INT64_MAX) RCLRT_WAITS;

  /// Makes the running `spin` return, or the next one if none is running. Thread-safe. The call
  /// must have returned before the executor is destroyed. Async-signal-safe unless the executor
  /// waits in a middleware (`wait_set`).
  void cancel() noexcept RCLRT_NONBLOCKING;

  /// Withdraws a cancel that no spin has seen yet. Call it between two spins.
  void clear_cancel() noexcept RCLRT_NONBLOCKING;

  /// Cancels permanently: every later `spin` returns at once.
  void close() noexcept RCLRT_NONBLOCKING;

  const ExecutorOptions& options() const noexcept RCLRT_NONBLOCKING;
  /// Returns a snapshot, in order of addition.
  RCLRT_SETUP std::vector<std::shared_ptr<Callback>> callbacks() const;

  /// Returns whether threads run under SCHED_FIFO. Valid after `prepare`, as the next three.
  bool realtime() const noexcept RCLRT_NONBLOCKING;
  /// Returns why the threads do not run under SCHED_FIFO, and what to do; empty if they do.
  const std::string& realtime_reason() const noexcept RCLRT_NONBLOCKING;
  /// Returns whether callbacks run to completion, on workers that all levels share; see Preemption.
  bool runs_to_completion() const noexcept RCLRT_NONBLOCKING;
  /// Returns the SCHED_FIFO priority at which callbacks of `level` run; 0 without real-time
  /// scheduling. Under `per_group`, where each group has a thread, `level` must be the highest
  /// level of a group.
  RCLRT_SETUP int kernel_priority(int level) const;
  /// Returns the SCHED_FIFO priority of the thread that runs the callback; 0 without real-time
  /// scheduling. The callback must be in this executor.
  RCLRT_SETUP int kernel_priority(const Callback& callback) const;
  /// Returns the stalls of the last second: instances for which all workers wait. Thread-safe.
  RCLRT_SETUP std::vector<Stall> stalls() const;
  /// Searches for stalls: instances that wait for threads which sleep within callbacks. `spin`
  /// searches by itself; call this function if you use `run_one_on_caller`: its thread cannot
  /// search while it runs a callback. A stall is found by two calls within some hundredths of a
  /// second. Thread-safe. Do not call it from a callback with a deadline.
  RCLRT_SETUP void report_stalls();
  /// Returns the time from which timers count, in CLOCK_MONOTONIC nanoseconds: the result of
  /// ExecutorOptions::epoch, or by default the start of the first `spin`. Not meaningful before the
  /// first `spin`.
  std::int64_t epoch_ns() const noexcept RCLRT_NONBLOCKING;

 protected:
  struct Engine;
  /// Makes an executor of this package.
  RCLRT_SETUP explicit Executor(std::unique_ptr<Engine> engine) noexcept;

 private:
  SpinResult spin_until(const std::function<bool(std::chrono::nanoseconds)>& complete,
                        std::chrono::nanoseconds timeout) RCLRT_WAITS;

  const std::unique_ptr<Engine> engine_;
};

}  // namespace rclrt::executor

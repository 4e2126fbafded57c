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

/// Three phases: configure (constructor, `add`), `prepare`, run (`spin`). One thread prepares and
/// spins. `add`, `remove`, `set_level` and `cancel` may be called at any time from any thread and
/// from callbacks; the first three may allocate and lock, so not from a callback with a deadline.
///
/// Derived classes only choose how instances are dispatched; all have these functions.
class RCLRT_EXECUTOR_EXPORT Executor {
 public:
  /// Detaches all callbacks and drops its references to them. The executor must not be spinning.
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Adds a callback and keeps it alive. After `prepare` it takes part at once; a timer that is
  /// added while the executor spins counts from now. A new level moves those below it down by one
  /// SCHED_FIFO priority each, which takes effect thread by thread (under thread_dispatch and
  /// workshop only for instances that start afterwards). Throws std::invalid_argument for nullptr;
  /// std::logic_error when an executor has the callback already, or another executor has its group;
  /// as `prepare` when the levels do not fit. If it throws, the executor is unchanged.
  RCLRT_SETUP void add(std::shared_ptr<Callback> callback);

  /// Removes a callback. When it has returned, no instance of the callback is running or will run,
  /// whichever thread removed it. An instance that waited is a counted drop. A call from a callback
  /// of this executor cannot wait for running instances: they still end, and the executor keeps the
  /// callback until then. Two callbacks that remove each other from two executors wait for ever.
  /// Returns false when the executor did not have the callback, or has removed it already.
  RCLRT_SETUP bool remove(const std::shared_ptr<Callback>& callback);

  /// Removes a callback as `remove` does, but does not wait for instances that run. Returns true if
  /// no instance runs or will run. Otherwise the executor keeps the callback until the last one has
  /// ended; call it again to find out.
  RCLRT_SETUP bool start_removal(const std::shared_ptr<Callback>& callback);

  /// Changes a callback's priority. Instances already waiting may still run at the old one. Throws
  /// std::logic_error when the executor does not have the callback, and as `prepare` when the
  /// levels do not fit. If it throws, the priority is unchanged.
  RCLRT_SETUP void set_level(const std::shared_ptr<Callback>& callback, int level);

  /// Throws std::invalid_argument if callbacks at these levels could not be added, because they do
  /// not fit together with the levels that the executor has or had. Changes nothing. After
  /// `prepare` only.
  RCLRT_SETUP void require_levels(std::vector<int> levels) const;

  /// Restarts a timer's schedule: calls the timer's `first_release_ns` for the time of the first
  /// release. An instance that already waits stays queued. Does nothing to a timer that the
  /// executor does not have, or before `prepare`. Thread-safe; locks the configuration.
  RCLRT_SETUP void restart(TimerCallback& timer);

  /// Maps priorities, builds queues and attaches the entities. Work that becomes ready waits until
  /// `spin`. `spin` calls `prepare` if the user did not. Throws std::invalid_argument,
  /// std::system_error, std::runtime_error when real time is required and not permitted,
  /// std::logic_error when a callback or its group is in another executor. If it throws, discard
  /// the executor.
  RCLRT_SETUP void prepare();

  /// Creates the executor's threads, and runs callbacks until `cancel`, or until a callback throws.
  /// After the threads exist it allocates nothing (except under thread_dispatch). An exception of a
  /// callback is rethrown here after all threads have stopped. Running callbacks are finished;
  /// waiting instances are kept for the next `spin`. Throws std::logic_error when it is spinning
  /// already.
  void spin() RCLRT_WAITS;

  // The following three also create the threads and end them again, which takes tens of
  // microseconds for each. They check every 20 to 200 µs whether the spin is over. Use them for
  // set-up and tests, not for a loop with a deadline. Exceptions, cancel and close are as in
  // `spin`.

  /// Runs the instances that are ready now, those of due timers included, and returns when they
  /// have ended. Instances that become ready meanwhile may run, too; wait_set runs one set.
  void spin_some() RCLRT_WAITS;

  /// Runs until an instance has ended. Waits for one at most `timeout`; negative: for ever. Returns
  /// whether one has ended. Where several threads run callbacks, all instances that have started by
  /// then end, too.
  bool spin_once(realtime::SaturatingNanoseconds timeout = std::chrono::nanoseconds(-1))
      RCLRT_WAITS;

  /// Runs until `future` (std::future or std::shared_future, not a deferred one) is ready, at most
  /// `timeout`; negative: for ever. Runs nothing if the future is ready already.
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
  /// thread. It is the most urgent instance that became ready by `ready_by_ns` (CLOCK_MONOTONIC).
  /// Waits for one at most `timeout`; negative: for ever. Returns whether one has run. No other
  /// thread runs, so no instance preempts it, and no ceiling is raised. Exceptions and cancel are
  /// as in `spin`. Throws std::logic_error under `wait_set`, and under `static_order` with logical
  /// execution time, because they do not offer it.
  bool run_one_on_caller(realtime::SaturatingNanoseconds timeout,
                         std::int64_t ready_by_ns = INT64_MAX) RCLRT_WAITS;

  /// Makes the running `spin`, or the next one, return. Thread-safe. The call must have returned
  /// before the executor is destroyed. Async-signal-safe unless the executor waits in a middleware
  /// (wait_set).
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
  /// Returns the SCHED_FIFO priority at which callbacks of `level` run; 0 without real time.
  /// Where each group has a thread, `level` must be the highest level of a group.
  RCLRT_SETUP int kernel_priority(int level) const;
  /// Returns the SCHED_FIFO priority of the thread that runs the callback; 0 without real time. The
  /// callback must be in this executor.
  RCLRT_SETUP int kernel_priority(const Callback& callback) const;
  /// Returns the stalls of the last second: instances for which all workers wait. Thread-safe.
  RCLRT_SETUP std::vector<Stall> stalls() const;
  /// Searches for stalls, in addition to the searches of `spin`. Use it with `run_one_on_caller`: a
  /// thread that runs callbacks cannot search. One result needs two calls within some hundredths of
  /// a second. Thread-safe. Do not call it from a callback with a deadline.
  RCLRT_SETUP void report_stalls();
  /// Returns the time from which timers count, CLOCK_MONOTONIC: as in the options, or the start of
  /// the first `spin`. Not meaningful before the first `spin`.
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

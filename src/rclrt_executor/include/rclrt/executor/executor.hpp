// SPDX-License-Identifier: Apache-2.0
// What all executors offer: configuration, life cycle, spinning.
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
  /// Detaches and lets go of all callbacks. The executor must not be spinning.
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Adds a callback and keeps it alive. After `prepare` it takes part at once; a timer that is
  /// added while the executor spins counts from now. A new level moves those below it down by one
  /// SCHED_FIFO priority each, which takes effect thread by thread (under thread_dispatch and
  /// workshop only for instances that start afterwards). Throws std::invalid_argument for nullptr;
  /// std::logic_error when an executor has the callback already, or another one its group; as
  /// `prepare` when the levels do not fit. The executor is then as before.
  RCLRT_SETUP void add(std::shared_ptr<Callback> callback);

  /// Removes a callback. When it has returned, no instance of the callback is running or will run,
  /// whichever thread removed it; an instance that waited is a counted drop. Called from a callback
  /// of this executor it cannot wait for those that run: they still end, and the executor keeps the
  /// callback until then. Two callbacks that remove each other from two executors wait for ever.
  /// Returns false when it did not have the callback, or it was removed already.
  RCLRT_SETUP bool remove(const std::shared_ptr<Callback>& callback);

  /// Removes a callback as `remove` does, but does not wait for instances that run. Returns true if
  /// none runs or will run; otherwise the executor keeps the callback until the last has ended:
  /// call it again to know.
  RCLRT_SETUP bool start_removal(const std::shared_ptr<Callback>& callback);

  /// Changes a callback's priority. Instances already waiting may still run at the old one. Throws
  /// std::logic_error when it does not have the callback, and as `prepare` when the levels do not
  /// fit; the priority is then as before.
  RCLRT_SETUP void set_level(const std::shared_ptr<Callback>& callback, int level);

  /// Throws std::invalid_argument if callbacks at these levels could not be added, because they do
  /// not fit with those that it has or had. Changes nothing. After `prepare` only.
  RCLRT_SETUP void require_levels(std::vector<int> levels) const;

  /// Restarts a timer's schedule: asks it when its first release is to be (`first_release_ns`). An
  /// instance that waits already stays. Does nothing to a timer that the executor does not have, or
  /// before `prepare`. Thread-safe; locks the configuration.
  RCLRT_SETUP void restart(TimerCallback& timer);

  /// Maps priorities, builds queues and attaches the entities. Work that becomes ready waits until
  /// `spin`, which calls it if the user did not. Throws std::invalid_argument, std::system_error,
  /// std::runtime_error when real time is required and not permitted, std::logic_error when a
  /// callback or its group is in another executor. If it throws, discard the executor.
  RCLRT_SETUP void prepare();

  /// Creates its threads, which is the last thing it allocates (thread_dispatch excepted), and
  /// runs callbacks until `cancel`, or until one throws: that exception is rethrown here after all
  /// threads have stopped. Callbacks under way are finished; instances still waiting are kept for
  /// the next `spin`. Throws std::logic_error when it is spinning already.
  void spin() RCLRT_WAITS;

  // The following three also create the threads and end them again, tens of microseconds each, and
  // look every 20 to 200 µs whether it is time to end: for set-up and tests, not for a loop with a
  // deadline. Exceptions, cancel and close as in `spin`.

  /// Runs what is ready now, timers that are due included, and returns when that has ended. What
  /// becomes ready meanwhile may run, too; wait_set runs one set.
  void spin_some() RCLRT_WAITS;

  /// Runs until an instance has ended, and waits for one at most `timeout`; negative: for ever.
  /// Returns whether one has. Where several threads run callbacks, those that have started by then
  /// end, too.
  bool spin_once(realtime::SaturatingNanoseconds timeout = std::chrono::nanoseconds(-1))
      RCLRT_WAITS;

  /// Runs until `future` (std::future or std::shared_future, not a deferred one) is ready, at most
  /// `timeout`; negative: for ever. Runs nothing if it is ready already.
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

  /// Runs one instance on the calling thread, at that thread's own scheduling and without creating
  /// any: the most urgent one of those that became ready by `ready_by_ns` (CLOCK_MONOTONIC). Waits
  /// for one at most `timeout`; negative: for ever. Returns whether one has run. Nothing preempts
  /// it and no ceiling is raised, for no other thread runs. Exceptions and cancel as in `spin`.
  /// Throws std::logic_error under `wait_set`, and `static_order` with logical execution time,
  /// which do not offer it.
  bool run_one_on_caller(realtime::SaturatingNanoseconds timeout,
                         std::int64_t ready_by_ns = INT64_MAX) RCLRT_WAITS;

  /// Makes the running `spin`, or the next one, return. Thread-safe; must have returned before the
  /// executor is destroyed. Async-signal-safe unless the executor waits in a middleware (wait_set).
  void cancel() noexcept RCLRT_NONBLOCKING;

  /// Takes back a cancel that no spin has seen yet; between two spins.
  void clear_cancel() noexcept RCLRT_NONBLOCKING;

  /// Cancels, for good: every later `spin` returns at once.
  void close() noexcept RCLRT_NONBLOCKING;

  const ExecutorOptions& options() const noexcept RCLRT_NONBLOCKING;
  /// Returns a snapshot, in order of addition.
  RCLRT_SETUP std::vector<std::shared_ptr<Callback>> callbacks() const;

  /// Returns whether threads run under SCHED_FIFO. After `prepare` only, as the next three.
  bool realtime() const noexcept RCLRT_NONBLOCKING;
  /// Returns why they do not, and what to do; empty if they do.
  const std::string& realtime_reason() const noexcept RCLRT_NONBLOCKING;
  /// Returns whether callbacks run to completion, on workers that all levels share; see Preemption.
  bool runs_to_completion() const noexcept RCLRT_NONBLOCKING;
  /// Returns the SCHED_FIFO priority at which callbacks of `level` run; 0 without real time. Under
  /// `per_group` of a level that is the highest of a group.
  RCLRT_SETUP int os_priority(int level) const;
  /// Returns the SCHED_FIFO priority of the thread that runs the callback, which this executor has;
  /// 0 without real time.
  RCLRT_SETUP int os_priority(const Callback& callback) const;
  /// Returns what stalled within the last second: instances whose workers all wait. Thread-safe.
  RCLRT_SETUP std::vector<Stall> stalls() const;
  /// Looks for such, besides the looks of `spin`: where callbacks run on the caller's thread, which
  /// cannot look. Twice within some hundredths of a second for one result. Thread-safe; not from a
  /// callback with a deadline.
  RCLRT_SETUP void look_for_stalls();
  /// Returns the time from which timers count, CLOCK_MONOTONIC: as in the options, or the start of
  /// the first `spin`; without meaning before.
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

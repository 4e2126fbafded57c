// SPDX-License-Identifier: Apache-2.0
// What all executors share: configuration, life cycle, running one instance.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/options.hpp"
#include "rclrt/executor/priority_map.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::executor {

class LaneSet;
class MissWatch;
class WorkerPriority;

/// How `spin_until_complete` ended.
enum class SpinResult {
  kComplete,     ///< the future is ready
  kTimeout,      ///< it is not, and the time is over
  kInterrupted,  ///< it is not: somebody cancelled
};

/// Three phases: configure (constructor, `add`), `prepare`, run (`spin`). One thread prepares and
/// spins. `add`, `remove`, `set_level` and `cancel` may be called at any time from any thread and
/// from callbacks; the first three may allocate and lock, so not from a callback with a deadline.
class RCLRT_EXECUTOR_EXPORT Executor {
 public:
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// The executor keeps the callback alive. After `prepare` the callback takes part at once; a
  /// timer that comes while the executor spins counts from now. A new level moves those below it
  /// down by one SCHED_FIFO priority each, which takes effect thread by thread (under
  /// thread_dispatch only for instances that start afterwards).
  /// Throws std::invalid_argument for nullptr; std::logic_error when an executor has the callback
  /// already, or another one its group; as `prepare` when the levels do not fit. The executor is
  /// then as before.
  RCLRT_SETUP void add(std::shared_ptr<Callback> callback);

  /// When it has returned, no instance of the callback is running or will run, whoever removed it;
  /// what waited is a counted drop. Called from a callback of this executor it cannot wait for
  /// those that run: they still end, and the executor keeps the callback until then. Two callbacks
  /// that remove each other from two executors wait for ever. False when it did not have the
  /// callback, or it was removed already.
  RCLRT_SETUP bool remove(const std::shared_ptr<Callback>& callback);

  /// As `remove`, but does not wait for instances that run. True: none runs or will run; else the
  /// executor keeps the callback until the last has ended: call it again to know.
  RCLRT_SETUP bool start_removal(const std::shared_ptr<Callback>& callback);

  /// Changes a callback's priority. Instances already waiting may still run at the old one. Throws
  /// std::logic_error when it does not have the callback, and as `prepare` when the levels do not
  /// fit; the priority is then as before.
  RCLRT_SETUP void set_level(const std::shared_ptr<Callback>& callback, int level);

  /// After `prepare`: throws std::invalid_argument if callbacks at these levels could not be added,
  /// because they do not fit with those that it has or had. Changes nothing.
  RCLRT_SETUP void require_levels(std::vector<int> levels) const;

  /// Asks a timer anew when its first release is to be (`first_release_ns`); from any thread. An
  /// instance that waits already stays. Nothing happens to a timer that the executor does not have,
  /// or before `prepare`. Allocates nothing, but locks the configuration.
  RCLRT_SETUP void restart(TimerCallback& timer);

  /// Maps priorities, builds queues and attaches the entities. Work that becomes ready waits until
  /// `spin`. Called by `spin` if the user did not. Throws std::invalid_argument, std::system_error,
  /// std::runtime_error when real time is required and not permitted, std::logic_error when a
  /// callback or its group is in another executor. After a throw the executor is of no more use.
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

  /// Runs until an instance has ended, waiting for one at most as long; negative: for ever. True if
  /// one has. Where several threads run callbacks, those that have started by then end, too.
  bool spin_once(std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) RCLRT_WAITS;

  /// Runs until `future` (std::future or std::shared_future, not a deferred one) is ready, at most
  /// as long; negative: for ever. Runs nothing if it is ready already.
  template <typename Future>
  SpinResult spin_until_complete(const Future& future,
                                 std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1))
      RCLRT_WAITS {
    return spin_until(
        [&](std::chrono::nanoseconds time) {
          return future.wait_for(time) == std::future_status::ready;
        },
        timeout);
  }

  /// Runs one instance on the calling thread, at that thread's own scheduling and without creating
  /// any: the most urgent one of those that became ready by `ready_by_ns` (CLOCK_MONOTONIC). Waits
  /// for one at most as long; negative: for ever. True if one has run. Nothing preempts it and no
  /// ceiling is raised, for nobody else runs. Exceptions and cancel as in `spin`. `wait_set` does
  /// not offer it and throws std::logic_error.
  bool run_one_on_caller(std::chrono::nanoseconds timeout,
                         std::int64_t ready_by_ns = INT64_MAX) RCLRT_WAITS;

  /// Makes the running `spin`, or the next one, return. Thread-safe; must have returned before the
  /// executor is destroyed. Async-signal-safe unless the executor waits in a middleware (wait_set).
  void cancel() noexcept RCLRT_NONBLOCKING;

  /// Takes back a cancel that no spin has seen yet; between two spins.
  void clear_cancel() noexcept RCLRT_NONBLOCKING;

  /// Cancels, for good: every later `spin` returns at once.
  void close() noexcept RCLRT_NONBLOCKING;

  const ExecutorOptions& options() const noexcept RCLRT_NONBLOCKING { return options_; }
  /// A snapshot, in order of addition.
  RCLRT_SETUP std::vector<std::shared_ptr<Callback>> callbacks() const;

  /// After `prepare`: whether threads run under SCHED_FIFO, and if not, why and what to do.
  bool realtime() const noexcept RCLRT_NONBLOCKING { return realtime_; }
  const std::string& realtime_reason() const noexcept RCLRT_NONBLOCKING { return realtime_reason_; }
  /// After `prepare`: the SCHED_FIFO priority at which callbacks of `level` run; 0 without real
  /// time.
  RCLRT_SETUP int os_priority(int level) const;
  /// From which time timers count, CLOCK_MONOTONIC: as in the options, or the start of the first
  /// `spin`; without meaning before.
  std::int64_t epoch_ns() const noexcept RCLRT_NONBLOCKING { return epoch_ns_.load(); }

 protected:
  /// What ends a spin besides `cancel`.
  enum class SpinLimit : std::uint8_t {
    kNone,
    kOne,       ///< the end of an instance
    kReadyNow,  ///< that what was ready at its start has ended
  };

  /// For derived executors.
  RCLRT_SETUP explicit Executor(ExecutorOptions options);

  // These are called with the configuration locked, `stop_threads` excepted.

  /// Takes a callback in: its sinks, and its time if it is a timer, whose schedule is started. Also
  /// called again when its level has changed, after `on_removed`.
  virtual void on_added(Callback& callback) = 0;
  /// Releases no more of it by time.
  virtual void on_removed(Callback& callback) noexcept = 0;
  /// The schedules of all timers were started anew.
  virtual void retime() noexcept {}
  /// Moves every instance of it that waits in a queue to the list `taken`.
  virtual void remove_queued(const Callback& callback, Instance*& taken) noexcept = 0;
  /// Whether no thread looks at it any more; instances apart.
  virtual bool has_forgotten(const Callback& /*callback*/) const noexcept { return true; }
  /// The SCHED_FIFO priorities of the levels have changed.
  virtual void settle_priorities() {}
  /// Whether levels have SCHED_FIFO priorities of their own, and so must fit into their range.
  virtual bool maps_levels() const noexcept { return true; }
  /// Whether levels have threads that last, and so may have reservations.
  virtual bool offers_reservations() const noexcept { return false; }
  /// The SCHED_FIFO priority of a level with real time.
  virtual int priority_of(int level) const noexcept;
  /// What a worker's instance has for `ExecutionInterval::priority`: which of two has the CPU.
  virtual int rank_of(int os_priority, std::uint32_t /*slot*/) const noexcept {
    return os_priority;
  }
  /// What an instance has for `ExecutionInterval::deadline_ns`.
  virtual std::int64_t ordering_deadline_ns(Callback& /*callback*/,
                                            std::int64_t /*release_ns*/) const noexcept {
    return INT64_MAX;
  }
  /// Starts and ends the threads of one spin. `stopping()` is true when `stop_threads` is called.
  virtual void start_threads() = 0;
  virtual void stop_threads() noexcept = 0;
  /// Wakes every thread that sleeps, so that it sees `stopping()`.
  virtual void wake_threads() noexcept RCLRT_NONBLOCKING = 0;

  /// For `run_one_on_caller`, with the configuration locked: the instance to run, which has entered
  /// its group and is held; nullptr when there is none.
  virtual Instance* take_on_caller(std::int64_t /*ready_by_ns*/) noexcept { return nullptr; }
  /// That instance has ended.
  virtual void end_on_caller() noexcept {}
  /// When the next timer is due; with the configuration locked.
  virtual std::int64_t next_release_ns() noexcept { return INT64_MAX; }
  /// Rung for whatever becomes ready and finds no sleeping worker.
  realtime::EventCount& caller_wakeup() noexcept { return caller_wakeup_; }

  /// Of the running spin. Those who poll end it by `cancel` when nothing is ready: with kReadyNow
  /// after one set, with kOne once the deadline has passed.
  SpinLimit limit() const noexcept { return limit_.load(); }
  std::int64_t spin_deadline_ns() const noexcept { return spin_deadline_ns_.load(); }
  /// Whether entities announce their work (`Callback::attach`) or are polled.
  virtual bool listens() const noexcept { return true; }

  /// Derived destructors call this first: no entity releases work into them afterwards.
  void shut_down() noexcept;

  /// The first call of every thread: none takes work before all are there, so the first instances
  /// meet the same priorities as all later ones.
  void await_start() noexcept RCLRT_WAITS;

  bool stopping() const noexcept RCLRT_NONBLOCKING { return stop_.load(); }
  const std::atomic<bool>& stop_flag() const noexcept { return stop_; }
  /// Ends the spin with the exception being handled.
  void fail() noexcept;

  /// Runs `instance`, which has entered its group, on the calling thread, gives it back to its
  /// callback, leaves the group and ends what `priority` was raised for.
  void execute(Instance* instance, std::uint32_t slot, WorkerPriority& priority) noexcept;
  /// Gives up an instance that was taken from a queue and cannot run: a counted drop.
  void abandon(Instance* instance) noexcept;
  /// Runs an instance that was found by polling and never queued. `ready_ns` may be 0: unknown,
  /// the entity fills in both times. The caller sees to the group.
  void execute(Callback& callback, std::int64_t release_ns, std::int64_t ready_ns,
               std::uint32_t slot) noexcept;

  /// The SCHED_FIFO priority of a level, which must be known; 0 without real time.
  int mapped_priority(int level) const noexcept {
    return realtime_ && !is_reserved(level) ? priority_of(level) : 0;
  }
  /// Whether a level has a budget under SCHED_DEADLINE.
  bool is_reserved(int level) const noexcept { return options_.reservations.contains(level); }
  /// Where the callback's instances go: when they become ready, and after waiting for their group.
  static void set_sinks(Callback& callback, ReadySink* ready, ReadySink* lane) noexcept {
    callback.sink_.store(ready);
    callback.lane_.store(lane);
  }
  /// An instance that `Lane::pop` gave out is in other hands, and this its last access.
  static void unpin(Callback& callback) noexcept RCLRT_NONBLOCKING { callback.unpin(); }
  /// The SCHED_FIFO priority of the callback's level as it is now; lives as long as the callback.
  static const std::atomic<int>& os_priority_of(const Callback& callback) noexcept {
    return callback.os_priority_;
  }
  /// The callback as a timer; nullptr when it is none.
  static TimerCallback* as_timer(Callback& callback) noexcept;
  /// Guards the configuration: `callbacks_`, `leaving_`, `priorities_`, the flags beside them, and
  /// what derived executors build from them. Never taken on the path of an instance.
  std::mutex& configuration() const noexcept { return configuration_; }
  const std::vector<std::shared_ptr<Callback>>& locked_callbacks() const noexcept {
    return callbacks_;
  }
  /// Thread options at a SCHED_FIFO priority, or at normal scheduling without real time.
  realtime::ThreadOptions thread_options(const std::string& suffix, int os_priority) const;
  /// Thread options of a worker of `level`: the same, or its reservation.
  realtime::ThreadOptions level_thread_options(int level) const;
  /// How many CPUs the executor's threads may use.
  std::size_t cpu_count() const;
  /// How many instances can run at the same time, at most.
  virtual std::size_t concurrency() const { return cpu_count(); }

 private:
  using Callbacks = std::vector<std::shared_ptr<Callback>>;

  void settle_realtime();
  std::optional<std::string> why_no_realtime() const;
  void require_reservations_possible() const;
  void require_groups_unreserved_or_whole() const;
  // `ended` waits for a moment and says whether this spin is over; nullptr: it ends by cancel.
  using Ended = std::function<bool()>;
  void guarded_spin(const std::function<void()>& spin);
  void do_spin(const Ended& ended);
  void finish_spin();
  void limited_spin(SpinLimit limit, std::int64_t deadline_ns);
  SpinResult spin_until(const std::function<bool(std::chrono::nanoseconds)>& complete,
                        std::chrono::nanoseconds timeout);
  void start_clock();
  void release_due_timers();
  Ended all_ended() const;
  bool any_pending() const;
  void claim(Callback& callback);
  void disclaim(Callback& callback) noexcept;
  PriorityMap mapped_with(std::vector<int> levels) const;
  void settle_levels();
  void settle_ceiling(Group& group) noexcept;
  void attach(Callback& callback);
  void start_timers(std::int64_t epoch_ns);
  void flush(Callback& callback) noexcept;
  bool is_quiet(const Callback& callback) const noexcept;
  // What they let go of goes into `gone`, which ends when the configuration is unlocked: what a
  // callback owns may use the executor in its destructor.
  void leave(const std::shared_ptr<Callback>& callback) noexcept;
  void reap(Callbacks& gone);
  bool start_leaving(const std::shared_ptr<Callback>& callback);
  bool has_left(const std::shared_ptr<Callback>& callback);
  bool have_all_left();
  void give_up_callbacks(Callbacks& gone);
  void run(Callback& callback, InstanceInfo& info, std::uint32_t slot, int priority) noexcept;
  Outcome run_observed(Callback& callback, InstanceInfo& info, std::uint32_t slot,
                       int priority) noexcept;
  Outcome run_user_code(Callback& callback, InstanceInfo& info) noexcept;
  Outcome count(Callback& callback, Outcome outcome) const noexcept;
  void judge(Callback& callback, const InstanceInfo& info, const ExecutionInterval& interval,
             bool has_budget) noexcept;
  /// Whether the calling thread is in a callback that this executor runs.
  bool in_own_callback() const noexcept RCLRT_NONBLOCKING;

  friend class LaneSet;

  const ExecutorOptions options_;
  mutable std::mutex configuration_;
  Callbacks callbacks_;
  Callbacks leaving_;  // removed, not yet quiet
  std::optional<PriorityMap> priorities_;
  bool prepared_ = false;
  bool unusable_ = false;  // prepare has thrown half-way
  bool attached_ = false;
  bool has_spun_ = false;
  bool realtime_ = false;
  std::string realtime_reason_;
  std::atomic<std::int64_t> epoch_ns_{0};

  // For the thread in spin: posted after stop_ was set, and when a callback removed one that runs.
  realtime::Semaphore stopped_;
  std::atomic<bool> closed_{false};    // never cleared
  std::atomic<bool> spinning_{false};  // who sets it is the one thread in spin
  std::atomic<std::int64_t> spin_deadline_ns_{0};
  std::atomic<bool> one_ended_{false};  // of kOne
  std::atomic<bool> started_{false};    // all threads of this spin exist
  realtime::EventCount caller_wakeup_;  // the thread in run_one_on_caller sleeps on it
  realtime::EventCount start_;
  std::atomic<bool> ready_to_wake_{false};  // do_prepare is done: wake_threads may be called
  std::atomic_flag failed_;                 // who sets it first owns error_ until spin has joined
  std::exception_ptr error_;

  // What every instance looks at.
  alignas(64) InstanceSink* const sink_;
  const std::unique_ptr<MissWatch> watch_;  // nullptr without a handler for misses
  std::atomic<std::uint64_t> next_id_{0};   // relaxed: only uniqueness counts
  // Set before the threads start and after they have ended; relaxed where instances end.
  std::atomic<SpinLimit> limit_{SpinLimit::kNone};
  // Set by cancel or fail, cleared by spin when it returns: a cancel before spin is not lost.
  std::atomic<bool> stop_{false};
};

}  // namespace rclrt::executor

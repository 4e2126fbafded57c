// SPDX-License-Identifier: Apache-2.0
// What all executors share: configuration, life cycle, running one instance.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/options.hpp"
#include "rclrt/executor/priority_map.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::executor {

class WorkerPriority;

/// Three phases: configure (constructor, `add`), `prepare`, run (`spin`). One thread configures,
/// prepares and spins; `cancel` may be called from any thread and from callbacks.
class Executor {
 public:
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// The executor keeps the callback alive. Throws std::logic_error after `prepare`, or when it
  /// has the callback already, std::invalid_argument for nullptr.
  RCLRT_SETUP void add(std::shared_ptr<Callback> callback);

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

  /// Makes the running `spin`, or the next one, return. Thread-safe; must have returned before the
  /// executor is destroyed. Async-signal-safe unless the executor waits in a middleware (wait_set).
  void cancel() noexcept RCLRT_NONBLOCKING;

  /// Cancels, for good: every later `spin` returns at once.
  void close() noexcept RCLRT_NONBLOCKING;

  const ExecutorOptions& options() const noexcept RCLRT_NONBLOCKING { return options_; }
  const std::vector<std::shared_ptr<Callback>>& callbacks() const noexcept RCLRT_NONBLOCKING {
    return callbacks_;
  }

  /// After `prepare`: whether threads run under SCHED_FIFO, and if not, why and what to do.
  bool realtime() const noexcept RCLRT_NONBLOCKING { return realtime_; }
  const std::string& realtime_reason() const noexcept RCLRT_NONBLOCKING { return realtime_reason_; }
  /// After `prepare`: the SCHED_FIFO priority at which callbacks of `level` run; 0 without real
  /// time.
  virtual int os_priority(int level) const noexcept RCLRT_NONBLOCKING;
  /// From which time timers count, CLOCK_MONOTONIC: as in the options, or the start of the first
  /// `spin`.
  std::int64_t epoch_ns() const noexcept RCLRT_NONBLOCKING { return epoch_ns_; }

 protected:
  /// For derived executors.
  RCLRT_SETUP explicit Executor(ExecutorOptions options);

  /// Builds what the executor needs and sets each callback's sink. Called once.
  virtual void do_prepare() = 0;
  /// Starts and ends the threads of one spin. `stopping()` is true when `stop_threads` is called.
  virtual void start_threads() = 0;
  virtual void stop_threads() noexcept = 0;
  /// Wakes every thread that sleeps, so that it sees `stopping()`.
  virtual void wake_threads() noexcept RCLRT_NONBLOCKING = 0;

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

  const PriorityMap& priorities() const noexcept RCLRT_NONBLOCKING { return *priorities_; }
  /// Where the callback's instances go: when they become ready, and after waiting for their group.
  static void set_sinks(Callback& callback, ReadySink* ready, ReadySink* resumed) noexcept {
    callback.sink_ = ready;
    callback.resume_sink_ = resumed;
  }
  /// The timers among the callbacks that `chosen` accepts.
  template <typename Predicate>
  std::vector<TimerCallback*> timers(Predicate chosen) const {
    std::vector<TimerCallback*> result;
    for (const auto& callback : callbacks_) {
      if (callback->type() == EntityType::kTimer && chosen(*callback)) {
        result.push_back(static_cast<TimerCallback*>(callback.get()));
      }
    }
    return result;
  }
  /// Thread options at a SCHED_FIFO priority, or at normal scheduling without real time.
  realtime::ThreadOptions thread_options(const std::string& suffix, int os_priority) const;
  /// How many CPUs the executor's threads may use.
  std::size_t cpu_count() const;

 private:
  void settle_realtime();
  void do_spin();
  void claim_callbacks();
  void attach_callbacks();
  void start_timers(std::int64_t epoch_ns);
  void run(Callback& callback, InstanceInfo& info, std::uint32_t slot) noexcept;

  const ExecutorOptions options_;
  std::vector<std::shared_ptr<Callback>> callbacks_;
  std::optional<PriorityMap> priorities_;
  bool prepared_ = false;
  bool unusable_ = false;  // prepare has thrown half-way
  bool attached_ = false;
  bool has_spun_ = false;
  bool realtime_ = false;
  std::string realtime_reason_;
  std::int64_t epoch_ns_ = 0;

  // Set by cancel or fail, cleared by spin when it returns: a cancel before spin is not lost.
  std::atomic<bool> stop_{false};
  realtime::Semaphore stopped_;        // posted after stop_ was set, for the thread in spin
  std::atomic<bool> closed_{false};    // never cleared
  std::atomic<bool> spinning_{false};  // who sets it is the one thread in spin
  std::atomic<bool> started_{false};   // all threads of this spin exist
  realtime::EventCount start_;
  std::atomic<bool> ready_to_wake_{false};  // do_prepare is done: wake_threads may be called
  std::atomic<std::uint64_t> next_id_{0};   // relaxed: only uniqueness counts
  std::atomic_flag failed_;                 // who sets it first owns error_ until spin has joined
  std::exception_ptr error_;
};

}  // namespace rclrt::executor

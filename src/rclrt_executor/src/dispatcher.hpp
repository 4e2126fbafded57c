// SPDX-License-Identifier: Apache-2.0
// What makes one kind of executor differ from another: which thread runs which instance, and when.
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

/// What an executor shares with its dispatcher, and which outlives it.
struct DispatcherContext {
  const ExecutorOptions& options;
  const ThreadSettings& threads;
  const CallbackSet& callbacks;
  InstanceRunner& runner;
  SpinState& spin;
};

/// What a dispatcher offers.
struct DispatcherTraits {
  bool maps_levels = true;           ///< each level has a SCHED_FIFO priority of its own
  bool keeps_level_threads = false;  ///< levels have threads that last, each scheduled its own way
  bool levels_by_group = false;      ///< a callback leaves its group at another level
  bool reads_ahead = false;  ///< takes the input of several instances before the first one runs
  bool polls = false;        ///< asks for work; otherwise entities announce it
  std::size_t max_threads = SIZE_MAX;  ///< how many instances it runs at the same time, at most
};

/// The threads that may run a callback.
struct WorkerPool {
  static constexpr std::int64_t kShared = INT64_MIN;

  std::int64_t key = kShared;         ///< the same for callbacks that share them
  std::size_t threads = 1;            ///< how many there are; 0: as many as run callbacks now
  std::string name = "the executor";  ///< for people
};

/// Decides which thread runs which instance. The functions are called with the configuration
/// locked, by one thread at a time, unless they say otherwise.
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
  /// Takes a callback in: sets where its instances go, and keeps the time for it if it is a timer,
  /// whose schedule is started. Called again, after `remove`, when its level or its schedule has
  /// changed. Throws std::system_error.
  virtual void add(Callback& callback) = 0;
  /// Releases no more instances of the callback by time.
  virtual void remove(Callback& callback) noexcept = 0;
  /// Moves every instance of the callback that waits in a queue to the list `taken`.
  virtual void remove_queued(const Callback& callback, Instance*& taken) noexcept = 0;
  /// Gives threads the SCHED_FIFO priorities that their levels have now. Throws std::system_error.
  virtual void settle_priorities() {}
  /// Returns the SCHED_FIFO priority of a level that has one.
  virtual int os_priority(int level) const noexcept;

  /// Starts the threads of one spin. If it throws, `stop` follows.
  virtual void start() = 0;
  /// Ends them; the configuration is not locked, and the spin is stopping.
  virtual void stop() noexcept = 0;
  /// Wakes every thread that sleeps, so that it sees that the spin stops. Any thread.
  virtual void wake() noexcept RCLRT_NONBLOCKING = 0;

  /// Returns an instance for the calling thread to run, which became ready by `ready_by_ns`, is
  /// pinned and has entered its group; `end_on_caller` follows. nullptr when there is none: then
  /// sets when the next timer is due. Called while no threads run.
  virtual Instance* take_on_caller(std::int64_t ready_by_ns,
                                   std::int64_t& next_release_ns) noexcept = 0;
  /// Returns whether nothing runs, and what waits will not before more becomes ready. Any thread;
  /// the configuration is not locked.
  virtual bool holds_back() noexcept { return false; }
  /// Tells that the instance has ended; the configuration is not locked.
  virtual void end_on_caller() noexcept {}

  /// Returns the threads that may run a callback; by default all share one.
  virtual WorkerPool pool_of(const Callback& callback) const;
  /// Returns what helps if all of them wait for what only they could run: a sentence's end.
  virtual std::string stall_advice() const;

  /// Returns the SCHED_FIFO priority of a thread of `level`; 0 without real time, with a
  /// reservation, or at best effort.
  int thread_priority(int level) const noexcept;

 protected:
  const DispatcherContext& context() const noexcept { return context_; }

 private:
  const DispatcherContext context_;
  const DispatcherTraits traits_;
};

}  // namespace rclrt::executor

// SPDX-License-Identifier: Apache-2.0
// The callbacks of one executor: its current ones, and those that were removed and still run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "access.hpp"
#include "priority_map.hpp"
#include "rclrt/executor/options.hpp"

namespace rclrt::executor {

class Dispatcher;
class InstanceRunner;
class SpinState;
class ThreadSettings;

/// The callbacks of an executor. `mutex()` guards the executor's configuration: this set, its
/// ThreadSettings, and what the dispatcher builds from them. No thread locks it in order to release
/// or run an instance.
///
/// A callback is in at most one set at a time (see `claim`). Its removal has two steps. After
/// `leave` it is not released any more, and workers give up its instances. `reap` drops the set's
/// reference to it once it is quiet: no instance of it is pending, and no thread has it pinned.
class CallbackSet {
 public:
  using Callbacks = std::vector<std::shared_ptr<Callback>>;

  CallbackSet(const ExecutorOptions& options, ThreadSettings& threads, InstanceRunner& runner,
              SpinState& spin);
  /// Must be called once, before everything else.
  void set_dispatcher(Dispatcher& dispatcher) { dispatcher_ = &dispatcher; }

  // As the functions of Executor.
  void add(std::shared_ptr<Callback> callback);
  bool remove(const std::shared_ptr<Callback>& callback);
  bool start_removal(const std::shared_ptr<Callback>& callback);
  void set_level(const std::shared_ptr<Callback>& callback, int level);
  void require_levels(std::vector<int> levels) const;
  void restart(TimerCallback& timer);
  void prepare();
  Callbacks all() const;
  int kernel_priority(int level) const;
  int kernel_priority(const Callback& callback) const;
  std::int64_t epoch_ns() const noexcept { return epoch_ns_.load(); }

  /// Starts the schedules of all timers. Only the first call does so, however long ago `prepare`
  /// was. Called while no thread takes work.
  void start_clock();
  /// Makes the due releases of timers. Called while no threads run.
  void release_due_timers();
  /// Drops the set's references to removed callbacks that are quiet. Returns false if one is not.
  bool reap_all();
  /// Detaches all callbacks and drops the references. Called while no threads run.
  void clear() noexcept;

  std::mutex& mutex() const noexcept { return mutex_; }
  /// Returns the callbacks of the set. The mutex must be locked.
  const Callbacks& locked() const noexcept { return callbacks_; }
  /// Returns whether the callback at this address is in the set, or was removed and still has
  /// instances that are pending or pinned. The mutex must be locked.
  bool knows(const Callback* callback) const noexcept;

 private:
  void enter(const std::shared_ptr<Callback>& callback);
  bool start_leaving(const std::shared_ptr<Callback>& callback);
  bool has_left(const std::shared_ptr<Callback>& callback);
  void leave(const std::shared_ptr<Callback>& callback) noexcept;
  static void await_unpinned(Callback& callback) noexcept;
  // The functions that have a parameter `gone` move the callbacks that they drop into it. Destroy
  // `gone` with the mutex unlocked: objects that a callback owns may use the executor in their
  // destructors.
  void reap(Callbacks& gone);
  void give_up_all(Callbacks& gone);
  void claim(Callback& callback);
  void disclaim(Callback& callback) noexcept;
  void attach(Callback& callback);
  void flush(Callback& callback) noexcept;
  void restart_locked(TimerCallback& timer, std::int64_t epoch_ns);
  std::int64_t epoch_of_late_timers() const noexcept;

  PriorityMap mapped_with(std::vector<int> levels) const;
  void update_levels();
  void update_levels_after_removal() noexcept;
  void update_ceiling(Group& group) noexcept;
  void require_groups_unreserved_or_whole() const;

  const ExecutorOptions& options_;
  ThreadSettings& threads_;
  InstanceRunner& runner_;
  SpinState& spin_;
  Dispatcher* dispatcher_ = nullptr;

  mutable std::mutex mutex_;  // guards the following members, except epoch_ns_
  Callbacks callbacks_;
  Callbacks leaving_;  // removed, not yet quiet
  bool prepared_ = false;
  bool unusable_ = false;  // prepare has thrown half-way
  bool attached_ = false;
  bool has_clock_ = false;  // the schedules were started by a spin
  std::atomic<std::int64_t> epoch_ns_{0};
};

}  // namespace rclrt::executor

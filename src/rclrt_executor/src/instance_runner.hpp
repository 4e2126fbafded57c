// SPDX-License-Identifier: Apache-2.0
// Runs one instance: begins it, calls user code, checks its deadline and reports its record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "access.hpp"
#include "miss_watch.hpp"
#include "rclrt/executor/options.hpp"
#include "running_table.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

class SpinState;
class ThreadSettings;

/// Called by the threads of a dispatcher.
class InstanceRunner {
 public:
  InstanceRunner(const ExecutorOptions& options, const ThreadSettings& threads, SpinState& spin);

  /// The worker on which an instance runs.
  struct Worker {
    std::uint32_t slot = 0;  ///< its index among the level's workers, from 0
    int priority = 0;        ///< of two instances, the one with the higher priority has the CPU
    bool polls = false;      ///< another worker may have taken the message
    bool only_runs_instances = false;  ///< all other work of the thread is short
  };

  /// Returns the table of running instances.
  const RunningTable& running() const noexcept { return running_; }

  /// Runs `instance` on the calling thread; the caller has pinned it, and it has entered its group.
  /// Then gives the instance back to its callback, leaves the group, unpins the callback and
  /// restores `priority`.
  void execute(Instance* instance, const Worker& worker, WorkerPriority& priority) noexcept;
  /// Begins `instance`, which is pinned, and takes its input. A call of `execute_read` or
  /// `give_up_read` must follow. If taking the input throws, the spin ends, the instance is given
  /// up, and the result is std::nullopt.
  std::optional<InstanceInfo> read(Instance* instance) noexcept;
  /// Runs, as `execute` does, an instance that `read` has begun with `info`.
  void execute_read(Instance* instance, InstanceInfo info, const Worker& worker,
                    WorkerPriority& priority) noexcept;
  /// Gives up an instance of `callback` that was read: a counted drop.
  static void give_up_read(Callback& callback, Instance* instance) noexcept;
  /// Runs an instance that was found by polling and was never in a queue. If `ready_ns` is 0
  /// (unknown), the entity sets both times when it takes its message. The caller has pinned the
  /// callback and entered its group.
  void execute_polled(Callback& callback, std::int64_t release_ns, std::int64_t ready_ns,
                      std::uint32_t slot) noexcept;
  /// Gives up an instance that was taken from a queue and cannot run: a counted drop.
  static void abandon(Instance* instance) noexcept;

  /// Prepares to watch the deadline of a callback that its executor has claimed. `cpus` is the
  /// number of instances that can run at the same time.
  RCLRT_SETUP void watch(Callback& callback, std::size_t cpus);
  /// Returns whether the calling thread is in a callback that this runner runs.
  bool in_own_callback() const noexcept RCLRT_NONBLOCKING;

 private:
  void run(Callback& callback, InstanceInfo& info, const Worker& worker) noexcept;
  static void leave(Callback& callback, WorkerPriority& priority) noexcept;
  Outcome run_observed(Callback& callback, InstanceInfo& info, const Worker& worker) noexcept;
  Outcome run_user_code(Callback& callback, InstanceInfo& info) noexcept;
  ExecutionInterval interval_of(Callback& callback, const InstanceInfo& info,
                                int priority) const noexcept;
  void judge(Callback& callback, const InstanceInfo& info, const ExecutionInterval& interval,
             bool has_budget) noexcept;

  const ThreadSettings& threads_;
  SpinState& spin_;
  RunningTable running_;
  InstanceSink* const sink_;
  const std::unique_ptr<MissWatch> watch_;  // nullptr without a handler for misses
  // On a cache line of its own: every instance changes it.
  alignas(64) std::atomic<std::uint64_t> next_id_{0};  // relaxed: only uniqueness counts
};

}  // namespace rclrt::executor

// SPDX-License-Identifier: Apache-2.0
// Scheduling, CPUs and stacks of an executor's threads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "priority_map.hpp"
#include "rclrt/executor/options.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::executor {

struct DispatcherTraits;

/// Guarded by the configuration; `realtime` and `reason` do not change after `update_realtime`.
class ThreadSettings {
 public:
  explicit ThreadSettings(const ExecutorOptions& options) : options_(options) {}

  /// Decides whether the threads get real-time scheduling, from the options and the permissions.
  /// Throws std::invalid_argument if options contradict each other, std::runtime_error if real time
  /// is required and not permitted, and std::system_error if the CPUs have no room for a
  /// reservation.
  void update_realtime(const DispatcherTraits& traits);
  bool realtime() const noexcept RCLRT_NONBLOCKING { return realtime_; }
  /// Returns whether instances run to completion, on workers that all levels share.
  bool runs_to_completion() const noexcept RCLRT_NONBLOCKING {
    return options_.preemption == Preemption::kNever ||
           (options_.preemption == Preemption::kByRealtime && !realtime_);
  }
  /// Returns why there is no real time, and the remedy; empty with real time.
  const std::string& reason() const noexcept RCLRT_NONBLOCKING { return reason_; }

  /// Returns the map from levels to SCHED_FIFO priorities for `levels` and for the levels that the
  /// executor already has. Levels without such a priority (reserved, best effort) are left out.
  /// Throws std::invalid_argument if there are too few priorities.
  PriorityMap mapped_with(std::vector<int> levels, bool maps_levels) const;
  void set_priorities(PriorityMap priorities) { priorities_ = std::move(priorities); }
  /// Returns the SCHED_FIFO priority of the workers of a level. There must be a map.
  int kernel_priority(int level) const noexcept {
    return runs_to_completion() ? options_.top_priority - 1 : priorities_->kernel_priority(level);
  }

  /// Returns whether a level has a budget under SCHED_DEADLINE.
  bool is_reserved(int level) const noexcept { return options_.reservations.contains(level); }
  /// Returns whether a level's threads have normal scheduling, with real time too.
  bool is_best_effort(int level) const noexcept {
    return options_.best_effort_below && level < *options_.best_effort_below && !is_reserved(level);
  }
  /// Returns thread options at a SCHED_FIFO priority, or at normal scheduling without real time.
  realtime::ThreadOptions thread_options(const std::string& suffix, int kernel_priority) const;
  /// Returns thread options of the scheduler thread, on its own CPUs where it has any.
  realtime::ThreadOptions scheduler_thread_options() const;
  /// Returns the thread options for a worker of `level`: with the level's reservation, at best
  /// effort, or otherwise as `thread_options`.
  realtime::ThreadOptions level_thread_options(int level, int kernel_priority) const;
  /// Returns the number of workers that the options state. If they state none, returns `otherwise`
  /// if levels have workers of their own.
  std::size_t worker_count(std::size_t otherwise) const;
  /// Returns the highest number of workers that a level can have in any spin: the CPUs on which the
  /// calling thread may run can change from one spin to the next.
  std::size_t most_workers() const;
  /// Returns the number of spare threads that a level may have for callbacks that wait.
  std::size_t spare_count() const noexcept {
    return options_.workers_per_level != 0 || options_.preemption == Preemption::kNever
               ? 0
               : options_.spare_workers;
  }
  /// Returns the number of CPUs that the executor's threads may use.
  std::size_t cpu_count() const;

 private:
  void require_level_threads(const DispatcherTraits& traits) const;
  void require_reservations_possible() const;
  std::optional<std::string> why_no_realtime() const;
  bool uses_kernel_priorities() const;

  const ExecutorOptions& options_;
  std::optional<PriorityMap> priorities_;
  bool is_updated_ = false;  // `realtime_` is known
  mutable std::optional<bool> expects_realtime_;
  bool realtime_ = false;
  std::string reason_;
};

}  // namespace rclrt::executor

// SPDX-License-Identifier: Apache-2.0
#include "thread_settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "dispatcher.hpp"
#include "lane_set.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::executor {

namespace {

/// Returns how much of a stack is touched: what callbacks use as a rule, and not its end, which
/// realtime::Thread keeps free.
std::size_t stack_to_prefault(const ExecutorOptions& options) {
  constexpr std::size_t kMost = std::size_t{128} << 10;
  constexpr std::size_t kEnd = std::size_t{64} << 10;
  const std::size_t room =
      options.stack_size == 0 ? kMost : options.stack_size - std::min(options.stack_size, kEnd);
  return std::min({options.prefault, kMost, room});
}

}  // namespace

void ThreadSettings::update_realtime(const DispatcherTraits& traits) {
  realtime::require_allowed_cpus(options_.cpus);
  realtime::require_allowed_cpus(options_.scheduler_cpus);
  require_level_threads(traits);
  require_reservations_possible();
  reason_.clear();
  is_updated_ = true;
  if (options_.realtime == Realtime::kOff) {
    reason_ = "switched off";
    return;
  }
  const auto reason = why_no_realtime();
  if (!reason) {
    realtime_ = true;
    if (options_.prefault != 0) {
      realtime::keep_heap();  // otherwise touched memory would be given back
      // The middleware enlarges its buffers in the heap of the thread that created the nodes.
      realtime::prefault_thread_heap(options_.prefault);
      realtime::prefault_libraries();
    }
    return;
  }
  if (options_.realtime == Realtime::kRequire) {
    throw std::runtime_error("executor \"" + options_.name + "\": " + *reason);
  }
  reason_ = *reason;
  static std::once_flag noticed;  // once per process, whatever the number of executors
  std::call_once(noticed, [&] {
    std::fprintf(stderr, "rclrt: running without real-time scheduling: %s\n", reason->c_str());
  });
}

/// Throws std::invalid_argument if the options give levels a reservation or best effort, and the
/// executor has no threads for each level.
void ThreadSettings::require_level_threads(const DispatcherTraits& traits) const {
  if (options_.reservations.empty() && !options_.best_effort_below) {
    return;
  }
  const std::string executor = "executor \"" + options_.name + "\": ";
  const bool is_reserved = !options_.reservations.empty();
  const std::string what = is_reserved ? "have a reservation" : "be best effort";
  // A group's thread may have normal scheduling, but a budget belongs to a level.
  if (!traits.keeps_level_threads && (is_reserved || !traits.levels_by_group)) {
    throw std::invalid_argument(executor +
                                "its levels have no threads of their own, so no level can " + what +
                                (is_reserved ? "; use preemptive or producer_consumer"
                                             : "; use preemptive, producer_consumer or per_group"));
  }
  if (options_.preemption == Preemption::kNever) {
    throw std::invalid_argument(
        executor + "without preemption all levels share the threads, so no level can " + what +
        "; leave out Preemption::kNever or that setting");
  }
}

void ThreadSettings::require_reservations_possible() const {
  if (options_.reservations.empty()) {
    return;
  }
  const std::string executor = "executor \"" + options_.name + "\": ";
  if (!options_.cpus.empty()) {
    throw std::invalid_argument(executor +
                                "the kernel gives a reservation only to a thread that may use "
                                "every CPU: leave cpus empty, or put the reserved level into an "
                                "executor of its own");
  }
  if (options_.reservations.size() > LaneSet::kMaxReservations) {
    throw std::invalid_argument(executor + "at most " + std::to_string(LaneSet::kMaxReservations) +
                                " levels can have a reservation; state fewer reservations");
  }
  for (const auto& [level, budget] : options_.reservations) {
    if (budget.runtime.count() < 1024 || budget.runtime > budget.deadline ||
        budget.deadline > budget.period) {
      throw std::invalid_argument(executor + "the reservation of level " + std::to_string(level) +
                                  " is not possible: choose 1024 ns <= runtime <= deadline <= "
                                  "period");
    }
  }
}

/// Returns std::nullopt if threads may have the required scheduling; otherwise the reason.
std::optional<std::string> ThreadSettings::why_no_realtime() const {
  if (const auto reason = realtime::why_no_realtime(options_.top_priority)) {
    return reason;
  }
  for (const auto& [level, budget] : options_.reservations) {
    try {
      realtime::Thread(
          {.name = "permission",
           .scheduling = {.policy = realtime::Policy::kDeadline, .reservation = budget}},
          [] {})
          .join();
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::operation_not_permitted) {
        throw;
      }
      return error.what();
    }
  }
  return std::nullopt;
}

/// Returns whether the threads have SCHED_FIFO priorities, or will have them. Before
/// `update_realtime` the first call checks once whether the kernel permits them.
bool ThreadSettings::uses_kernel_priorities() const {
  if (!is_updated_ && !expects_realtime_) {
    expects_realtime_ =
        options_.realtime != Realtime::kOff && !realtime::why_no_realtime(options_.top_priority);
  }
  return is_updated_ ? realtime_ : *expects_realtime_;
}

PriorityMap ThreadSettings::mapped_with(std::vector<int> levels, bool maps_levels) const {
  const bool maps =
      maps_levels && options_.preemption != Preemption::kNever && uses_kernel_priorities();
  std::erase_if(levels,
                [&](int level) { return !maps || is_reserved(level) || is_best_effort(level); });
  if (priorities_) {
    levels.insert(levels.end(), priorities_->levels().begin(), priorities_->levels().end());
  }
  return PriorityMap(std::move(levels), options_.top_priority);
}

realtime::ThreadOptions ThreadSettings::thread_options(const std::string& suffix,
                                                       int kernel_priority) const {
  realtime::ThreadOptions result{.name = options_.name + " " + suffix,
                                 .stack_size = options_.stack_size};
  result.scheduling.cpus = options_.cpus;
  if (realtime_) {
    result.scheduling.policy = realtime::Policy::kFifo;
    result.scheduling.priority = kernel_priority;
    result.stack_prefault = stack_to_prefault(options_);
    result.heap_prefault = options_.prefault;
  }
  return result;
}

realtime::ThreadOptions ThreadSettings::scheduler_thread_options() const {
  realtime::ThreadOptions result = thread_options("sched", options_.top_priority);
  if (!options_.scheduler_cpus.empty()) {
    result.scheduling.cpus = options_.scheduler_cpus;
  }
  return result;
}

realtime::ThreadOptions ThreadSettings::level_thread_options(int level, int kernel_priority) const {
  realtime::ThreadOptions result = thread_options("L" + std::to_string(level), kernel_priority);
  if (realtime_ && is_reserved(level)) {
    result.scheduling.policy = realtime::Policy::kDeadline;
    result.scheduling.reservation = options_.reservations.at(level);
  } else if (realtime_ && is_best_effort(level)) {
    result.scheduling.policy = realtime::Policy::kOther;
    result.scheduling.priority = 0;
  }
  return result;
}

std::size_t ThreadSettings::worker_count(std::size_t otherwise) const {
  if (options_.workers_per_level != 0) {
    return options_.workers_per_level;
  }
  return runs_to_completion() ? cpu_count() : otherwise;
}

std::size_t ThreadSettings::most_workers() const {
  if (options_.workers_per_level != 0) {
    return options_.workers_per_level;
  }
  const auto machine = static_cast<std::size_t>(std::max(sysconf(_SC_NPROCESSORS_CONF), 1L));
  return options_.cpus.empty() ? std::max(cpu_count(), machine) : options_.cpus.size();
}

std::size_t ThreadSettings::cpu_count() const {
  return options_.cpus.empty() ? realtime::allowed_cpus().size() : options_.cpus.size();
}

}  // namespace rclrt::executor

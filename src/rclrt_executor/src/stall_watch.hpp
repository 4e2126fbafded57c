// SPDX-License-Identifier: Apache-2.0
// Finds instances that wait for threads which wait themselves.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "dispatcher.hpp"
#include "rclrt/executor/stall.hpp"
#include "running_table.hpp"

namespace rclrt::executor {

/// Periodically checks, at normal priority, which threads sleep within callbacks. A thread counts
/// as stalled since the last check if two conditions hold. It is asleep at the check and still a
/// moment later, in the same instance. And instances are queued that no other thread could run. The
/// stalled time is summed up, so repeated short waits are found, too. The sum is reported when it
/// reaches ten periods. Each check also subtracts a tenth of the time since the last check from the
/// sum.
///
/// `mutex_` guards all data. The mutex of the configuration may be locked while `mutex_` is held,
/// not the other way round.
class StallWatch {
 public:
  StallWatch(const ExecutorOptions& options, const CallbackSet& callbacks,
             const RunningTable& running)
      : options_(options), callbacks_(callbacks), running_(running) {}

  /// Searches for stalls. Returns the time of the next search; INT64_MAX: never.
  std::int64_t check(const Dispatcher& dispatcher, std::int64_t now_ns);
  /// Begins a spin: discards all that was found before.
  std::int64_t begin(std::int64_t now_ns);
  /// Returns the stalls of the last second.
  std::vector<Stall> stalls(std::int64_t now_ns) const;

 private:
  using Running = RunningTable::Running;
  /// The pool of threads, or the group of a member that waits.
  using Place = std::pair<Stall::Cause, std::int64_t>;
  struct Total {
    std::int64_t time_ns = 0;
    bool is_reported = false;
    std::int64_t found_ns = 0;  // the last time at which it was found
    Stall stall;                // as it was then
  };

  std::int64_t period_ns() const noexcept;
  std::int64_t report_after_ns() const noexcept;  // the duration after which a stall is reported
  void find(const Dispatcher& dispatcher, const std::vector<Running>& asleep,
            const std::vector<Running>& all);
  void add(Place place, Stall stall);
  void account(std::int64_t now_ns);
  void report(const Stall& stall) const noexcept;

  const ExecutorOptions& options_;
  const CallbackSet& callbacks_;
  const RunningTable& running_;
  mutable std::mutex mutex_;
  std::int64_t checked_ns_ = 0;        // the time of the last decision about stalls
  bool is_second_ = false;             // the first check of two has found `asleep_`
  std::vector<std::uint64_t> asleep_;  // instances
  std::map<Place, Stall> found_;       // by the last search
  std::map<Place, Total> totals_;
};

}  // namespace rclrt::executor

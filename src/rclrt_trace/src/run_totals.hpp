// SPDX-License-Identifier: Apache-2.0
// What is known of all runs of a callback in a trace of any length, in bounded memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "rclrt/recorder/lineage.hpp"
#include "rclrt/recorder/time_distribution.hpp"
#include "traced_instance.hpp"

namespace rclrt::trace {

/// A wait in a run that is as long is no part of the execution time, and is reported. A shorter
/// one, such as for a lock of the middleware, is part of it.
inline constexpr std::int64_t kNotedWait_ns = 500'000;

/// The number of runs of which a trace keeps every detail.
struct RunLimits {
  /// A trace with at most so many runs keeps all of them. A longer one streams: it counts each run
  /// in RunTotals and keeps the latest.
  std::size_t all = 1'000'000;
  /// A trace that streams keeps at least so many of the latest runs, and at most twice as many.
  std::size_t latest = 200'000;
  /// The number of publications that are remembered until their messages are taken. A message is
  /// taken soon or replaced by a newer one, so the oldest ones can be forgotten.
  std::size_t publications = 1'000'000;
};

/// The shortest and the longest time between neighbours in a sequence of times. Times that are not
/// in order, as of runs that overlap, count as if they were.
class Intervals {
 public:
  void add(std::int64_t time_ns);
  std::int64_t least_ns() const { return least_ns_; }  ///< INT64_MAX: there are none
  std::int64_t most_ns() const { return most_ns_; }

 private:
  std::optional<std::int64_t> last_ns_;
  std::int64_t least_ns_ = INT64_MAX;
  std::int64_t most_ns_ = 0;
};

/// The time from the first start to the last end of some runs.
struct RunSpan {
  std::int64_t first_ns = INT64_MAX;
  std::int64_t last_ns = INT64_MIN;

  void add(const RunSpan& other) {
    first_ns = std::min(first_ns, other.first_ns);
    last_ns = std::max(last_ns, other.last_ns);
  }
};

/// Counts, distributions and extremes of all runs of one traced callback.
struct RunTotals {
  std::uint64_t runs = 0;
  /// Execution times: of runs with CPU times, and wall times of the others.
  std::optional<recorder::TimeDistribution> cpu{};
  std::optional<recorder::TimeDistribution> wall{};
  std::int64_t longest_wait_ns = 0;        ///< of runs with CPU times
  std::int64_t longest_other_wait_ns = 0;  ///< of the others
  std::int64_t longest_run_ns = 0;         ///< from start to end
  std::int64_t last_start_ns = INT64_MIN;
  std::map<std::uint32_t, RunSpan> threads{};  ///< that ran it, and when
  std::set<int> cpus{};                        ///< on which runs began
  Intervals starts{};
  Intervals sent{};                 ///< between the times at which the messages of runs were sent
  bool are_sent = true;             ///< these times are known, and differ
  bool has_ready_times = false;     ///< the trace shows when messages were ready
  std::size_t threads_at_once = 0;  ///< the most of its executor that ran callbacks at once

  recorder::TimerReleases releases{};    ///< of a timer
  std::int64_t earliest_ns = INT64_MAX;  ///< the earliest release, publication or start

  /// Adds a run. Runs are added in the order of their ends. `period_ns`: of a timer.
  void add(const TracedInstance& run, std::int64_t period_ns);
  RunSpan span() const;

 private:
  std::int64_t last_sent_ns_ = 0;
};

/// Returns the time that counts as execution time of a run.
std::int64_t execution_time_ns(const TracedInstance& run);

}  // namespace rclrt::trace

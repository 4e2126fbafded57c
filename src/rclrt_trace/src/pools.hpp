// SPDX-License-Identifier: Apache-2.0
// The threads that run the callbacks of one executor, and when a callback was due there and did not
// run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "traced_system.hpp"

namespace rclrt::trace {

/// The threads of a process that run the callbacks of one executor. Callbacks that shared a thread
/// are in one pool, unless the executor is in the trace. All pointers are into the system.
struct Pool {
  std::int64_t process = 0;
  bool is_stated = false;   ///< the trace has the executor itself, as that of rclrt
  std::size_t threads = 0;  ///< the most that ran callbacks at once
  /// Those that ran, and those that never ran, if all other callbacks of their node are in this
  /// pool.
  std::vector<std::uint32_t> callbacks{};
  std::vector<const TracedInstance*> runs{};  ///< ascending by start
  std::vector<std::int64_t> latest_end_ns{};  ///< per run: the latest end up to this run
  /// The runs of each callback, ascending by start.
  std::unordered_map<std::uint32_t, std::vector<const TracedInstance*>> runs_of{};
};

/// Runs that are in progress from `from_ns` to `to_ns`.
struct Stretch {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  const std::vector<const TracedInstance*>& running;
};

/// A time in which a callback was due and did not run.
struct Wait {
  std::uint32_t callback = 0;
  std::int64_t from_ns = 0;  ///< it was released, or its previous run ended if that was later
  std::int64_t to_ns = 0;    ///< its next run began, or events are missing, or its pool ended
  const TracedInstance* next = nullptr;  ///< the run that ended the wait; null: no run did
};

/// Returns the pools of all processes in which a callback ran.
std::vector<Pool> find_pools(const TracedSystem& system);

/// Returns the most threads that these runs occupied at once. Two threads that ran callbacks one
/// after the other count as one: a program may spin in main first, and in a thread later.
std::size_t most_threads_at_once(std::vector<const TracedInstance*> runs);

/// Calls `visit` for each stretch from `from_ns` to `to_ns` in which the same runs are in progress,
/// in order of time. A stretch may be without any run. Takes the steps that it needs from `steps`,
/// and ends when none are left.
void visit_stretches(const Pool& pool, std::int64_t from_ns, std::int64_t to_ns,
                     std::int64_t& steps, const std::function<void(const Stretch&)>& visit);

/// Returns how many threads the runs occupy. A run may be within another one on the same thread.
std::size_t busy_threads(const std::vector<const TracedInstance*>& running);

/// Returns the time between two releases of the callback: the period of a timer, or the mean time
/// between two publications on its topics; 0 if it is not in the trace.
std::int64_t release_interval_ns(const TracedSystem& system, std::uint32_t callback);

/// Returns when the callback was due and did not run, in order of time. A timer is due at the next
/// point of its grid after its previous run began. A subscription is due from the first publication
/// on its topics after its previous run began; the publication must be in the trace. It has no
/// waits before its first run, because its messages may not have reached it yet. No wait includes
/// a time for which events may be missing.
std::vector<Wait> find_waits(const TracedSystem& system, const Pool& pool, std::uint32_t callback);

}  // namespace rclrt::trace

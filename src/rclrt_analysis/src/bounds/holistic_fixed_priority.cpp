// SPDX-License-Identifier: Apache-2.0
// Bounds of single callbacks of one or more executors on one CPU, by the level-i busy period of "An
// extendible approach for analysing fixed priority hard real-time tasks" (Tindell 1992) with the
// immediate ceiling.
//
// Where callbacks of one priority run in order of release (Workload::by_release), those of the same
// executor that arrive later run later. So the instances of all of them are one stream in order of
// arrival. Its longest response bounds each of them. This is used for a single executor only: where
// several exchange messages, it finds bounds at higher loads, but the bound of each instance
// (hyperperiod_bounds.hpp), which is sought where no other exists, is often lower than those.
#include <algorithm>

#include "bounds/holistic.hpp"
#include "bounds/thread_priorities.hpp"

namespace rclrt::analysis::detail {
namespace {

/// Returns whether instances of these two callbacks run in order of arrival. `os`: the priorities
/// of threads.
bool run_in_order(const CoreProblem& problem, const std::vector<int>& os, std::size_t one,
                  std::size_t other) {
  const Workload& work = problem.workload;
  return work.by_release && work.application.executors.size() == 1 && os[one] == os[other] &&
         !work.is_mixed[one] && !work.is_mixed[other] &&
         work.application.executor_of(one) == work.application.executor_of(other);
}

}  // namespace

void holistic_fixed_priority(const CoreProblem& problem, Responses& responses, Budget& budget) {
  const auto& work = problem.workload;
  const std::vector<int> os = thread_priorities(problem.workload, problem.core);
  const std::vector<int> ceiling = thread_ceilings(problem.workload, problem.core, os);
  for (const std::size_t own : problem.core.callbacks) {
    if (!problem.needs(own)) {
      continue;
    }
    std::vector<Stream> others = background_streams(problem);
    std::vector<Stream> in_order = user_streams_of(problem, own);
    Ticks longest = 0;
    for (const std::size_t other : problem.core.callbacks) {
      if (other == own) {
        continue;
      }
      const bool below = os[other] < os[own];
      if (below) {
        const Ticks rest = ceiling[other] >= os[own] ? work.wcet[other] : 0;
        longest = std::max(longest, sum(rest, problem.per_instance));
      }
      const bool waits = run_in_order(problem, os, own, other);
      if (waits) {
        const auto streams = user_streams_of(problem, other);
        in_order.insert(in_order.end(), streams.begin(), streams.end());
      }
      // Each release adds one dispatch overhead to the running callback.
      for (const Stream& stream : streams_of(problem, other, !below && !waits)) {
        if (stream.work > 0) {
          others.push_back(stream);
        }
      }
    }
    // A callback returns after the more urgent ones that it has released.
    const Ticks instant = 1;
    // Later instances of the same callback wait behind it, but queueing them delays whatever runs.
    for (const Stream& stream : streams_of(problem, own, false)) {
      if (stream.work > 0) {
        others.push_back(stream);
      }
    }
    const auto found = response_in_busy_window({in_order, others, longest, instant}, budget);
    responses[own] = found.value_or(kHorizon);
  }
}

}  // namespace rclrt::analysis::detail

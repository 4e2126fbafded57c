// SPDX-License-Identifier: Apache-2.0
#include "bounds/segment_bounds.hpp"

#include <algorithm>

#include "bounds/thread_priorities.hpp"

namespace rclrt::analysis::detail {
namespace {

class SegmentSearch {
 public:
  SegmentSearch(const CoreProblem& problem, const Predecessors& predecessors, Budget& budget)
      : problem_(problem),
        predecessors_(predecessors),
        budget_(budget),
        priority_(thread_priorities(problem.workload, problem.core)),
        ceiling_(thread_ceilings(problem.workload, problem.core, priority_)),
        work_(problem.workload.wcet.size()) {}

  SegmentBound bound(std::size_t last) {
    std::size_t first = last;
    int lowest = priority_[last];
    while (predecessors_[first]) {
      first = *predecessors_[first];
      lowest = std::min(lowest, priority_[first]);
    }
    collect_others(first, last, lowest);
    // More urgent callbacks that the last callback has released run before it returns.
    const Ticks instant = 1;
    const auto own = streams(first, problem_.workload.wcet[last], 0);
    const BusyWindow window{own, others_, blocking_, instant};
    SegmentBound result{first, response_in_busy_window(window, budget_).value_or(kHorizon), {}};
    const auto& flows = problem_.flows[first];
    if (own.size() == 1 && flows.size() == 1 && flows.front().count == 1) {
      result.from_nominal = delay_in_busy_window(window, budget_).value_or(kHorizon);
    }
    return result;
  }

 private:
  /// Returns the work of one instance.
  Ticks work_of(std::size_t callback) const {
    return sum(problem_.workload.wcet[callback], problem_.per_instance);
  }

  /// Returns the callback at which a message arrives that leads to a run of `callback` within a
  /// busy period of the priority `lowest`: goes back through predecessors of at least this
  /// priority.
  std::size_t arrives_at(std::size_t callback, int lowest) const {
    while (predecessors_[callback] && priority_[*predecessors_[callback]] >= lowest) {
      callback = *predecessors_[callback];
    }
    return callback;
  }

  /// Returns the streams of instances that arrive at the callback `first`. Each instance brings
  /// `work`; a message to a sync that only waits for a partner brings `kept`.
  std::vector<Stream> streams(std::size_t first, Ticks work, Ticks kept) const {
    std::vector<Stream> result;
    for (const Flow& flow : problem_.flows[first]) {
      const Ticks each = flow.runs ? work : kept;
      if (each > 0) {
        const Ticks all = product(flow.count, each);
        result.push_back({all, flow.period, flow.jitter, flow.distance, flow.within});
      }
    }
    return result;
  }

  void add(const std::vector<Stream>& streams) {
    others_.insert(others_.end(), streams.begin(), streams.end());
  }

  /// Collects all that delays the last callback of a segment from `first` to `last`, in a busy
  /// period of the priority `lowest`: the streams of other callbacks, and the longest callback that
  /// may have started before.
  void collect_others(std::size_t first, std::size_t last, int lowest) {
    others_.clear();
    std::ranges::fill(work_, 0);
    blocking_ = problem_.workload.order == Workload::Order::kAnyToTheEnd
                    ? product(static_cast<Ticks>(problem_.core.executors.size()),
                              problem_.overheads.polling)
                    : 0;
    for (const std::size_t callback : problem_.core.callbacks) {
      if (priority_[callback] >= lowest) {
        if (callback != last) {
          Ticks& work = work_[arrives_at(callback, lowest)];
          work = sum(work, work_of(callback));
        }
        continue;
      }
      const Ticks rest = ceiling_[callback] >= lowest ? problem_.workload.wcet[callback] : 0;
      blocking_ = std::max(blocking_, sum(rest, problem_.per_instance));
      add(streams_of(problem_, callback, false));
    }
    for (const std::size_t callback : problem_.core.callbacks) {
      if (work_[callback] > 0) {
        add(streams(callback, work_[callback], problem_.per_instance));
      }
    }
    // Later instances of the last callback wait behind it, but queueing them delays whatever runs.
    if (problem_.per_instance > 0) {
      add(streams(first, problem_.per_instance, problem_.per_instance));
    }
    add(background_streams(problem_));
  }

  const CoreProblem& problem_;
  const Predecessors& predecessors_;
  Budget& budget_;
  std::vector<int> priority_;
  std::vector<int> ceiling_;
  std::vector<Ticks> work_;  // that each arrival at a callback brings
  std::vector<Stream> others_;
  Ticks blocking_ = 0;
};

}  // namespace

void segment_bounds(const CoreProblem& problem, const Predecessors& predecessors,
                    std::vector<SegmentBound>& bounds, Budget& budget) {
  const auto has_segment = [&](std::size_t callback) {
    return predecessors[callback] && problem.needs(callback);
  };
  if (std::ranges::none_of(problem.core.callbacks, has_segment)) {
    return;
  }
  SegmentSearch search(problem, predecessors, budget);
  for (const std::size_t callback : problem.core.callbacks) {
    if (has_segment(callback)) {
      bounds[callback] = search.bound(callback);
    }
  }
}

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
// Callbacks of an EDF executor, each bounded by itself: Spuri, "Holistic analysis for deadline
// scheduled real-time distributed systems", INRIA RR-2873, 1996.
//
// Deadlines count from the release of each instance, and each later callback of a chain has its
// own. For an instance that arrives `a` after the start of the busy period, the other instances
// that count are those due by its deadline: they arrive up to a + D_own - D_other. A timer's
// deadline counts from its nominal release, which is not later than its arrival. Taking its own
// deadline late, or those of others early, can only make the bound larger.
//
// Queueing an instance delays the running callback, even if that instance is due later.
//
// Callbacks without a deadline (and without a timer) run behind all that have one, in order of
// arrival.
//
// Groups: an instance with a later deadline runs within the busy period only if it had started
// before, and only if its ceiling, the shortest relative deadline in its group, is no longer than
// the relative deadline of the waiting instance that is due first (Baker 1991). That instance
// became ready within the busy period, and is at most J, the lateness of a timer, older. It is due
// by a + D_own, so its relative deadline, and the ceiling, are no longer than a + D_own + J. The
// instance with the later deadline was released before the busy period, so its own relative
// deadline is longer than a + D_own.
//
// Suppose that several such instances exist. Each of them but the first preempted another one, and
// so has a relative deadline shorter than the ceiling of that one, and than a + D_own + J. The same
// holds for an instance without a group, which is its own ceiling. For each of these the analysis
// counts an arrival, because every stream has a jitter of at least J. All instances of that
// callback which are due by a + D_own became ready before this one, and so before the busy period:
// the arrival that counts is free for it. So at most one instance counts besides the arrivals.
//
// Several executors on one CPU order only their own callbacks. The CPU does not idle while one of
// them has work, so each instance ends before the busy period does.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {
namespace {

struct Group {
  std::size_t members{};
  std::optional<Ticks> shortest;
};

/// Bounds each callback by the longest busy period of the CPU.
void in_any_order(const CoreProblem& problem, Responses& responses, Budget& budget) {
  std::vector<Stream> all = background_streams(problem);
  for (const std::size_t callback : problem.core.callbacks) {
    const std::vector<Stream> streams = streams_of(problem, callback);
    all.insert(all.end(), streams.begin(), streams.end());
  }
  const auto busy = longest_busy_period(all, 1, budget);
  for (const std::size_t callback : problem.core.callbacks) {
    responses[callback] = busy.value_or(kHorizon);
  }
}

void holistic_edf(const CoreProblem& problem, Responses& responses, Budget& budget) {
  if (problem.core.executors.size() > 1) {
    in_any_order(problem, responses, budget);
    return;
  }
  const auto& callbacks = problem.workload.application.callbacks;
  const auto& own_callbacks = problem.core.callbacks;
  const Ticks late = problem.overheads.timer_jitter;
  std::map<std::pair<std::size_t, std::string>, Group> groups;
  for (const std::size_t i : own_callbacks) {
    if (!callbacks[i].group) {
      continue;
    }
    Group& group = groups[{callbacks[i].node, *callbacks[i].group}];
    ++group.members;
    const auto deadline = relative_deadline(callbacks[i]);
    if (deadline && (!group.shortest || *deadline < *group.shortest)) {
      group.shortest = deadline;
    }
  }
  for (const std::size_t own : own_callbacks) {
    const auto deadline = relative_deadline(callbacks[own]);
    std::vector<Interferer> others;
    std::vector<BusyWindow::Blocking> blocking;
    for (const std::size_t other : own_callbacks) {
      if (other == own) {
        continue;
      }
      const auto theirs = relative_deadline(callbacks[other]);
      if (deadline && callbacks[other].group) {
        const Group& group = groups.at({callbacks[other].node, *callbacks[other].group});
        if (group.members > 1 && group.shortest && (!theirs || *theirs > *deadline)) {
          blocking.push_back({sum(problem.workload.wcet[other], problem.per_instance),
                              std::max<Ticks>(0, *group.shortest - *deadline - late),
                              theirs ? *theirs - *deadline : kHorizon});
        }
      }
      add_queueing(problem, other, others);
      std::optional<Ticks> until;
      if (deadline) {
        if (!theirs) {
          continue;
        }
        until = *deadline - *theirs;
      } else if (!theirs) {
        until = 0;
      }
      for (const Stream& stream : user_streams_of(problem, other)) {
        others.push_back({stream, until});
      }
    }
    add_queueing(problem, own, others);
    add_background(problem, others);
    // An instance that is due later may be about to start when the first one arrives.
    blocking.push_back({problem.per_instance, 0, kHorizon});
    const auto streams = user_streams_of(problem, own);
    const auto found = response_in_busy_window({streams, others, blocking, 1}, budget);
    responses[own] = found.value_or(kHorizon);
  }
}

}  // namespace

std::optional<Ticks> relative_deadline(const model::Callback& callback) {
  if (callback.deadline) {
    return callback.deadline->count();
  }
  if (!callback.takes_messages()) {
    return model::period(callback).count();
  }
  return std::nullopt;
}

constinit const KindBounds kinds::kEdf{
    .order = Workload::Order::kAny,
    .bound_core = &holistic_edf,
    .orders_own_only = true,
};

}  // namespace rclrt::analysis::detail

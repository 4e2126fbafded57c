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
// Several executors on one CPU order only their own callbacks. Two bounds hold, and the lower one
// counts. (1) The CPU does not idle while one of them has work, so each instance ends before the
// busy period does. (2) Let X be an instance of executor E that is due at d, and let t be the last
// time up to its release at which E has no ready instance that is due by d. From t to the end of X,
// E always has one. So the CPU runs instances of E as if E were alone, and otherwise callbacks of
// other executors that may run while E has a ready instance (EdfWorkers). An instance of these runs
// after t only if it became ready later than t less its own bound, so that bound is added to its
// jitter. Holistic finds all of these bounds together. When t comes, an instance of another
// executor may be about to start, as may one of E.
#include <algorithm>
#include <map>
#include <optional>
#include <rclrt/model/relative_deadline.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bounds/edf_workers.hpp"
#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {
namespace {

struct Group {
  std::size_t members{};
  std::optional<Ticks> shortest;
};

/// Returns the longest busy period of the CPU; kHorizon if there is no bound.
Ticks busy_in_any_order(const CoreProblem& problem, Budget& budget) {
  std::vector<Stream> all = background_streams(problem);
  for (const std::size_t callback : problem.core.callbacks) {
    const std::vector<Stream> streams = streams_of(problem, callback);
    all.insert(all.end(), streams.begin(), streams.end());
  }
  return longest_busy_period(all, 1, budget).value_or(kHorizon);
}

/// Adds the instances of a callback of another executor. `response`: the bound of that callback.
void add_of_other_executor(const CoreProblem& problem, std::size_t callback, Ticks response,
                           std::vector<Interferer>& others) {
  for (Stream stream : streams_of(problem, callback)) {
    if (stream.work > 0) {
      stream.jitter = sum(stream.jitter, response);
      others.push_back({stream, {}});
    }
  }
}

using Groups = std::map<std::pair<std::size_t, std::string>, Group>;  // by node and name

Groups groups_of(const CoreProblem& problem) {
  const auto& callbacks = problem.workload.application.callbacks;
  Groups groups;
  for (const std::size_t i : problem.core.callbacks) {
    if (!callbacks[i].group) {
      continue;
    }
    Group& group = groups[{callbacks[i].node, *callbacks[i].group}];
    ++group.members;
    const auto deadline = edf_deadline(callbacks[i]);
    if (deadline && (!group.shortest || *deadline < *group.shortest)) {
      group.shortest = deadline;
    }
  }
  return groups;
}

/// Adds what another callback of the same executor delays a callback by, which has this relative
/// deadline.
void add_of_same_executor(const CoreProblem& problem, const Groups& groups,
                          std::optional<Ticks> deadline, std::size_t other,
                          std::vector<Interferer>& others,
                          std::vector<BusyWindow::Blocking>& blocking) {
  const model::Callback& callback = problem.workload.application.callbacks[other];
  const auto theirs = edf_deadline(callback);
  if (deadline && callback.group) {
    const Group& group = groups.at({callback.node, *callback.group});
    if (group.members > 1 && group.shortest && (!theirs || *theirs > *deadline)) {
      const Ticks late = problem.overheads.timer_jitter;
      blocking.push_back({sum(problem.workload.wcet[other], problem.per_instance),
                          std::max<Ticks>(0, *group.shortest - *deadline - late),
                          theirs ? *theirs - *deadline : kHorizon});
    }
  }
  add_queueing(problem, other, others);
  std::optional<Ticks> until;
  if (deadline) {
    if (!theirs) {
      return;
    }
    until = *deadline - *theirs;
  } else if (!theirs) {
    until = 0;
  }
  for (const Stream& stream : user_streams_of(problem, other)) {
    others.push_back({stream, until});
  }
}

void holistic_edf(const CoreProblem& problem, Responses& responses, Budget& budget) {
  const model::Application& application = problem.workload.application;
  const bool alone = problem.core.executors.size() == 1;
  const Ticks in_any_order = alone ? kHorizon : busy_in_any_order(problem, budget);
  const auto workers = alone ? std::nullopt : std::optional<EdfWorkers>(application);
  std::vector<std::size_t> executors;  // of each callback, unless there is only one
  for (std::size_t i = 0; !alone && i < application.callbacks.size(); ++i) {
    executors.push_back(application.executor_of(i));
  }
  const Groups groups = groups_of(problem);
  const Responses before = responses;
  for (const std::size_t own : problem.core.callbacks) {
    const auto deadline = edf_deadline(application.callbacks[own]);
    std::vector<Interferer> others;
    std::vector<BusyWindow::Blocking> blocking;
    for (const std::size_t other : problem.core.callbacks) {
      if (other == own) {
        continue;
      }
      if (alone || executors[other] == executors[own]) {
        add_of_same_executor(problem, groups, deadline, other, others, blocking);
      } else if (workers->may_delay(other, executors[own])) {
        add_of_other_executor(problem, other, before[other], others);
      } else {
        add_queueing(problem, other, others);
      }
    }
    add_queueing(problem, own, others);
    add_background(problem, others);
    if (!alone) {
      const auto more = static_cast<Ticks>(problem.core.executors.size() - 1);
      others.push_back({{product(more, problem.per_instance), kHorizon, 0}, {}});
    }
    // An instance that is due later may be about to start when the first one arrives.
    blocking.push_back({problem.per_instance, 0, kHorizon});
    const auto streams = user_streams_of(problem, own);
    const auto found = response_in_busy_window({streams, others, blocking, 1}, budget);
    responses[own] = std::min(found.value_or(kHorizon), in_any_order);
  }
}

}  // namespace

std::optional<Ticks> edf_deadline(const model::Callback& callback) {
  const auto deadline = model::relative_deadline(callback);
  return deadline ? std::optional<Ticks>(deadline->count()) : std::nullopt;
}

constinit const KindBounds kinds::kEdf{
    .order = Workload::Order::kAny,
    .bound_core = &holistic_edf,
    .orders_own_only = true,
};

}  // namespace rclrt::analysis::detail

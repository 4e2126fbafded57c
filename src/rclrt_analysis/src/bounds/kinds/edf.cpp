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
// Spuri counts deadlines from the nominal arrival, so the whole jitter J_other lets an instance be
// due early. Here only the lateness L of a timer does: an event is released when it occurs, and a
// message when it arrives, and their deadlines count from then. All instances that count arrive in
// the busy period, so each of them is due no earlier than D_other - L. Callbacks with longer
// deadlines than a + D_own + L do not delay the instance, however much jitter they have.
//
// Queueing an instance delays the running callback, even if that instance is due later. A message
// within the executor is queued when its publisher ends. In the busy period of the deadline d, the
// executor runs instances that are due by d, and one that holds them up (see the groups below). So
// these publish all messages that are queued in it, except those of an instance x that ends as it
// starts. x is due later than d, and so are all later instances of its callback. If the analysis
// counts one of these, because timers may be late, then that one stands for x: so x counts up to
// its relative deadline less L. If x had run above an instance that holds the group, its relative
// deadline was shorter than the ceiling, which is at most d + L.
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

#include "bounds/edf_busy_periods.hpp"
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

/// Returns whether instances of the callback are queued only when callbacks of its executor end.
bool is_queued_at_ends(const CoreProblem& problem, std::size_t callback) {
  const model::Application& application = problem.workload.application;
  const auto& inputs = problem.workload.graph.publishers[callback];
  const auto is_near = [&](std::size_t from) {
    return application.executor_of(from) == application.executor_of(callback);
  };
  return !inputs.empty() && problem.overheads.near.max == 0 &&
         std::ranges::all_of(
             inputs, [&](const auto& input) { return std::ranges::all_of(input, is_near); });
}

/// Returns, for each callback, the time to queue its messages to those of `callbacks` that are
/// queued at ends.
std::vector<Ticks> queueing_at_ends(const CoreProblem& problem,
                                    const std::vector<std::size_t>& callbacks) {
  std::vector<Ticks> result(problem.workload.wcet.size());
  for (const std::size_t callback : callbacks) {
    if (!is_queued_at_ends(problem, callback)) {
      continue;
    }
    for (const auto& input : problem.workload.graph.publishers[callback]) {
      for (const std::size_t from : input) {
        result[from] = sum(result[from], problem.per_instance);
      }
    }
  }
  return result;
}

/// Adds what counts for every deadline of the executor: queueing, the work of other executors, and
/// the machine. `at_ends`: with the queueing of its own callbacks that are queued at ends.
/// `responses`: of the callbacks of other executors.
void add_always(const CoreProblem& problem, std::size_t executor,
                const std::optional<EdfWorkers>& workers, const Responses& responses, bool at_ends,
                std::vector<Stream>& always) {
  const model::Application& application = problem.workload.application;
  for (const std::size_t callback : problem.core.callbacks) {
    const bool own = application.executor_of(callback) == executor;
    if (own && !at_ends && is_queued_at_ends(problem, callback)) {
      continue;
    }
    const bool other = workers && !own && workers->may_delay(callback, executor);
    for (Stream stream : streams_of(problem, callback, other)) {
      if (other) {
        stream.jitter = sum(stream.jitter, responses[callback]);
        stream.within = sum(stream.within, responses[callback]);
      }
      if (stream.work > 0) {
        always.push_back(stream);
      }
    }
  }
  const std::vector<Stream> background = background_streams(problem);
  always.insert(always.end(), background.begin(), background.end());
  if (problem.core.executors.size() > 1) {  // an instance of each may be about to start
    const auto more = static_cast<Ticks>(problem.core.executors.size() - 1);
    always.push_back({product(more, problem.per_instance), kHorizon, 0});
  }
}

/// Adds the callback's work that may hold up instances which are due first: queueing at its end
/// and, if it is in a group, its execution. `queueing`: as returned by queueing_at_ends().
void add_blocking(const CoreProblem& problem, const Groups& groups, std::size_t callback,
                  const std::vector<Ticks>& queueing, std::vector<EdfWork::Blocking>& blocking) {
  const model::Callback& own = problem.workload.application.callbacks[callback];
  const auto deadline = edf_deadline(own);
  const Ticks at_end = sum(problem.per_instance, queueing[callback]);
  const Ticks late = problem.overheads.timer_jitter;
  if (queueing[callback] > 0) {
    blocking.push_back({at_end, 0, deadline ? *deadline - late : kHorizon});
  }
  if (!own.group) {
    return;
  }
  const Group& group = groups.at({own.node, *own.group});
  if (group.members > 1 && group.shortest) {
    blocking.push_back({sum(problem.workload.wcet[callback], at_end),
                        std::max<Ticks>(0, *group.shortest - late), deadline.value_or(kHorizon)});
  }
}

/// Returns the callbacks of one executor that are in the core.
std::vector<std::size_t> callbacks_of(const CoreProblem& problem, std::size_t executor) {
  std::vector<std::size_t> result = problem.core.callbacks;
  if (problem.core.executors.size() > 1) {
    std::erase_if(result, [&](std::size_t each) {
      return problem.workload.application.executor_of(each) != executor;
    });
  }
  return result;
}

/// Bounds the callbacks of one executor. `in_any_order`: another bound of each.
void bound_executor(const CoreProblem& problem, std::size_t executor, const Groups& groups,
                    const std::optional<EdfWorkers>& workers, Ticks in_any_order,
                    const Responses& before, Responses& responses, Budget& budget) {
  const auto& all = problem.workload.application.callbacks;
  EdfWork with;     // of callbacks with a deadline
  EdfWork without;  // of the others, in order of arrival behind them
  add_always(problem, executor, workers, before, false, with.always);
  add_always(problem, executor, workers, before, true, without.always);
  // An instance that is due later may be about to start when the first one arrives.
  with.blocking.push_back({problem.per_instance, 0, kHorizon});
  without.blocking = with.blocking;
  const std::vector<std::size_t> callbacks = callbacks_of(problem, executor);
  const std::vector<Ticks> queueing = queueing_at_ends(problem, callbacks);
  for (const std::size_t callback : callbacks) {
    const auto deadline = edf_deadline(all[callback]);
    add_blocking(problem, groups, callback, queueing, with.blocking);
    if (deadline && !problem.limits.empty() && problem.limits[callback] < kHorizon) {
      with.limits.push_back({*deadline, problem.limits[callback]});
    }
    for (const Stream& stream : user_streams_of(problem, callback)) {
      if (deadline) {
        without.always.push_back(stream);
      } else {
        without.due.push_back({stream, 0, problem.overheads.timer_jitter});
      }
    }
    if (deadline) {
      for (const Stream& stream : user_streams_of(problem, callback, queueing[callback])) {
        with.due.push_back({stream, *deadline, problem.overheads.timer_jitter});
      }
    }
  }
  const EdfBusyPeriods in_time(with, budget);
  const auto behind = without.due.empty()
                          ? std::nullopt
                          : std::optional<EdfBusyPeriods>(std::in_place, without, budget);
  for (const std::size_t callback : callbacks) {
    const auto deadline = edf_deadline(all[callback]);
    const Ticks found = deadline ? in_time.response(*deadline) : behind ? behind->response(0) : 0;
    responses[callback] = std::min(found, in_any_order);
  }
}

void holistic_edf(const CoreProblem& problem, Responses& responses, Budget& budget) {
  const model::Application& application = problem.workload.application;
  const bool alone = problem.core.executors.size() == 1;
  const Ticks in_any_order = alone ? kHorizon : busy_in_any_order(problem, budget);
  const auto workers = alone ? std::nullopt : std::optional<EdfWorkers>(application);
  const Groups groups = groups_of(problem);
  const Responses before = responses;
  for (const std::size_t executor : problem.core.executors) {
    bound_executor(problem, executor, groups, workers, in_any_order, before, responses, budget);
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

// SPDX-License-Identifier: Apache-2.0
// The latest ends of instances. docs/explanation/back-and-forth.md has the proof.
#include "bounds/instance_windows.hpp"

#include <algorithm>
#include <utility>

#include "bounds/busy_window.hpp"
#include "bounds/kind.hpp"
#include "bounds/thread_priorities.hpp"

namespace rclrt::analysis::detail {
namespace {

Ticks at(const std::vector<Ticks>& repeated, Ticks n) {
  const auto size = static_cast<Ticks>(repeated.size());
  return repeated[static_cast<std::size_t>(n - (floor_div(n, size) * size))];
}

/// Returns the callback that releases this one.
std::size_t publisher(const Workload& workload, std::size_t callback) {
  return workload.graph.publishers[callback].front().front();
}

}  // namespace

InstanceWindows::InstanceWindows(const Workload& workload, const Cores& cores,
                                 const KindBounds& kind, const Overheads& overheads,
                                 const std::vector<std::size_t>& callbacks)
    : workload_(workload),
      cores_(cores),
      kind_(kind),
      overheads_(overheads),
      callbacks_(callbacks),
      steps_(workload.wcet.size()),
      busy_(cores.cores.size()) {
  for (const std::size_t callback : callbacks_) {
    Step& step = steps_[callback];
    step.executor = cores_.executor_of[callback];
    step.core = cores_.core_of[step.executor];
    step.work = sum(workload_.wcet[callback], workload_.dispatch);
    step.in_group = workload_.application.callbacks[callback].group.has_value();
    const Core& core = cores_.cores[step.core];
    const bool any_order = kind_.orders_own_only && core.executors.size() > 1;
    if (!any_order) {
      const std::vector<int> priority = thread_priorities(workload_, core);
      step.priority = priority[callback];
      step.ceiling = thread_ceilings(workload_, core, priority)[callback];
    }
    if (!workload_.graph.publishers[callback].empty()) {
      const std::size_t from = publisher(workload_, callback);
      const Step& before = steps_[from];
      const Hop& hop = before.executor == step.executor ? overheads_.near : overheads_.far;
      step.path = before.path;
      step.hop = hop.max;
      step.least = sum(before.least, hop.min);
      step.begins_part = before.core != step.core || hop.max > 0 || any_order;
    }
    step.path.push_back(callback);
    step.follows.resize(steps_.size());
  }
  for (const std::size_t callback : callbacks_) {
    for (const std::size_t before : steps_[callback].path) {
      steps_[before].follows[callback] = before != callback;
    }
  }
}

void InstanceWindows::start(const std::vector<KnownReleases>& releases) {
  releases_ = releases;
  forks_.assign(releases_.size(), false);
  for (const std::size_t callback : callbacks_) {
    Step& step = steps_[callback];
    const std::size_t timer = step.path.front();
    step.timer = static_cast<std::size_t>(
        std::ranges::find(releases_, timer, &KnownReleases::timer) - releases_.begin());
    const KnownReleases& known = releases_[step.timer];
    step.latest = sum(known.late, overheads_.timer_jitter);
    for (const std::size_t each : step.path) {
      step.latest = sum(step.latest, sum(steps_[each].hop, steps_[each].work));
    }
    step.ends.assign(static_cast<std::size_t>(known.number), step.latest);
    forks_[step.timer] = forks_[step.timer] || workload_.graph.successors[callback].size() > 1;
  }
}

Ticks InstanceWindows::end(const Instance& instance) const {
  return release(instance) + at(steps_[instance.callback].ends, instance.n);
}

/// Returns the latest arrival of an instance.
Ticks InstanceWindows::arrival(const Instance& instance) const {
  const Step& step = steps_[instance.callback];
  if (step.path.size() == 1) {
    return release(instance) + sum(releases_[step.timer].late, overheads_.timer_jitter);
  }
  return end({step.path[step.path.size() - 2], instance.n}) + step.hop;
}

/// Returns a bound on the longest time for which the CPU is busy; kHorizon if there is none.
Ticks InstanceWindows::longest_busy(std::size_t core, Budget& budget) const {
  std::vector<Stream> streams{{overheads_.stall, kHorizon, 0}};
  for (const std::size_t callback : cores_.cores[core].callbacks) {
    const Step& step = steps_[callback];
    streams.push_back({step.work, releases_[step.timer].period, step.latest});
  }
  if (overheads_.background > 0) {
    streams.push_back({overheads_.background, kMillisecond, kMillisecond});
  }
  const auto executors = static_cast<Ticks>(cores_.cores[core].executors.size());
  const Ticks once = sum(1, product(executors, sum(workload_.dispatch, overheads_.polling)));
  return longest_busy_period(streams, once, budget).value_or(kHorizon);
}

InstanceWindows::Result InstanceWindows::raise(Ticks limit, Budget& budget) {
  limit_ = limit;
  for (std::size_t core = 0; core < busy_.size(); ++core) {
    const auto& there = cores_.cores[core].callbacks;
    if (there.empty() || steps_[there.front()].path.empty()) {
      continue;  // of another component
    }
    busy_[core] = longest_busy(core, budget);
    if (busy_[core] > limit) {
      return Result::kNoBound;
    }
  }
  bool raised = false;
  for (const std::size_t callback : callbacks_) {
    Step& step = steps_[callback];
    for (Ticks n = 0; n < releases_of(callback).number; ++n) {
      const auto found = end_of({callback, n}, budget);
      if (!found || *found - release({callback, n}) > limit) {
        return Result::kNoBound;
      }
      Ticks& own = step.ends[static_cast<std::size_t>(n)];
      const Ticks next = *found - release({callback, n});
      raised = raised || next > own;
      own = std::max(own, next);
      step.latest = std::max(step.latest, own);
    }
  }
  return raised ? Result::kRaised : Result::kUnchanged;
}

/// Returns the latest end of the instance: the lowest of the bounds by each part of its path that
/// ends with it. nullopt if there is none.
std::optional<Ticks> InstanceWindows::end_of(const Instance& instance, Budget& budget) const {
  const Step& step = steps_[instance.callback];
  std::optional<Ticks> least;
  for (std::size_t first = step.path.size(); first-- > 0;) {
    const auto found = end_of_part(part_of(instance, first), budget);
    if (found && (!least || *found < *least)) {
      least = found;
    }
  }
  if (!least) {
    return std::nullopt;
  }
  return std::max(*least, arrival(instance) + step.work);
}

InstanceWindows::Part InstanceWindows::part_of(const Instance& instance, std::size_t first) const {
  const auto& path = steps_[instance.callback].path;
  const Instance begin{path[first], instance.n};
  Part part{.instance = instance,
            .first = first,
            .earliest = earliest(begin),
            .arrival = arrival(begin),
            .single = first + 1 == path.size()};
  for (std::size_t i = first; i < path.size(); ++i) {
    const Step& step = steps_[path[i]];
    part.own = sum(part.own, sum(step.work, i > first ? step.hop : 0));
    auto visit = std::ranges::find(part.visits, step.core, &Visit::core);
    if (visit == part.visits.end()) {
      part.visits.push_back({.core = step.core,
                             .lowest = step.priority,
                             .from = earliest({path[i], instance.n}),
                             .in_order = workload_.by_release,
                             .executor = step.executor});
      visit = part.visits.end() - 1;
    }
    visit->in_order = visit->in_order && step.priority == visit->lowest && !step.in_group &&
                      step.executor == visit->executor;
    visit->lowest = std::min(visit->lowest, step.priority);
    visit->last = path[i];
  }
  for (Visit& visit : part.visits) {
    visit.left = visit.last == instance.callback ? kHorizon : end({visit.last, instance.n});
  }
  add_started(part);
  return part;
}

/// Adds what counts once for each sequence of callbacks on one CPU: a less urgent callback that had
/// started before, and polling points; and for each CPU a stall.
void InstanceWindows::add_started(Part& part) const {
  const auto& path = steps_[part.instance.callback].path;
  std::size_t from = part.first;
  for (std::size_t i = part.first + 1; i <= path.size(); ++i) {
    if (i < path.size() && !steps_[path[i]].begins_part) {
      continue;
    }
    int lowest = steps_[path[from]].priority;
    for (std::size_t each = from; each < i; ++each) {
      lowest = std::min(lowest, steps_[path[each]].priority);
    }
    const std::size_t core = steps_[path[from]].core;
    const auto visit = std::ranges::find(part.visits, core, &Visit::core);
    Ticks longest = 0;
    for (const std::size_t other : cores_.cores[core].callbacks) {
      const Step& step = steps_[other];
      if (step.priority < visit->lowest) {
        const Ticks rest = step.ceiling >= lowest ? workload_.wcet[other] : 0;
        longest = std::max(longest, sum(rest, workload_.dispatch));
      }
    }
    const auto threads = static_cast<Ticks>(cores_.cores[core].executors.size());
    const bool polls = workload_.order == Workload::Order::kAnyToTheEnd;
    const Ticks each_thread =
        sum(kind_.orders_own_only ? workload_.dispatch : 0, polls ? overheads_.polling : 0);
    part.once = sum(part.once, sum(longest, product(threads, each_thread)));
    from = i;
  }
  const auto cpus = static_cast<Ticks>(part.visits.size());
  part.once = sum(part.once, product(cpus, overheads_.stall));
}

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
// The delay of a path by turns: every callback of one thread waits for one callback of each other
// release at a time.
//
// A thread runs ready sets, or callbacks in order of release. A callback that another one publishes
// to takes its turn behind all that was ready before. So a short path sees only a few callbacks of
// a long chain, however much work the rest of that chain brings. Let a release together with all
// callbacks that stem from it be a *flow*, and let the path be released at a.
//
// Ready sets. Up to the start of the path's last callback, the rest of one set and W more sets run
// (path_ready_sets.cpp). A message that is published in a set is in a later one. So in each set, a
// flow runs at most one callback on each of its branches: together at most W + 1 callbacks that
// follow each other. Where sets run in order of priority, the one in set W is not of a lower
// priority than the path's last callback. The flow of the instance under study begins after the
// rest of the set: W callbacks.
//
// Order of release. Let the path have k callbacks, and let r be the release of one of them. Before
// it start only callbacks that were released no later than r. A callback that is released after r
// starts after it. At r, a flow has at most one callback on each of its branches in the queue, and
// one callback of all flows runs. While the path's previous callback runs, which releases it, no
// other callback does. So from a on, each flow runs at most k callbacks that follow each other on a
// branch, and the callback that runs at a may come in addition.
//
// A callback that waits keeps the only thread, so a wait counts as execution (Workload::wcet). With
// several threads, others run meanwhile, and take no turns: see is_mixed.
//
// In both cases, all flows that matter were released in the current busy period. It began no longer
// before a than the longest busy period L lasts. So in the time t from a to the start of the last
// callback, the flows of a timer are at most its releases in a time of L + t. The work of a set of
// a synchroniser counts as a whole.
//
// The most work of a flow in s callbacks that follow each other: let best(c, s) be that of c and
// what follows it, in the next s turns, and most(c, s) the larger of best(c, s) and of the sum of
// most(d, s) over all d to which c publishes. Then most(root, s) is the largest sum of best() over
// callbacks of which none follows another, as at any time of a flow.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bounds/path_bound.hpp"
#include "bounds/path_terms.hpp"

namespace rclrt::analysis::detail {

namespace {

constexpr Ticks kMostTurns = 100;

/// The work of flows, for one number of turns.
class Flows {
 public:
  /// `without`: a callback that does not count, nor does what follows it. nullopt: all count.
  /// `least_in_last`: the lowest Workload::turn of callbacks that run in the last turn. nullopt:
  /// all do.
  Flows(const Workload& workload, Ticks turns, std::optional<std::size_t> without,
        std::optional<int> least_in_last)
      : workload_(workload), turns_(turns), without_(without), least_in_last_(least_in_last) {}

  /// Returns the work of the callback and of what follows it in the first turns.
  Ticks first(std::size_t callback) { return best(callback, turns_); }

  /// Returns the most work of the callback and of what follows it in any turns one after another.
  Ticks most(std::size_t callback) {
    if (stops(callback)) {
      return workload_.dispatch;
    }
    if (const auto at = most_.find(callback); at != most_.end()) {
      return at->second;
    }
    Ticks later = 0;
    for (const std::size_t to : workload_.graph.successors[callback]) {
      later = sum(later, most(to));
    }
    return most_[callback] = std::max(later, best(callback, turns_));
  }

 private:
  /// A message to a sync counts with its dispatch; its sets count elsewhere.
  bool stops(std::size_t callback) const {
    return callback == without_ || is_sync(workload_, callback);
  }

  Ticks best(std::size_t callback, Ticks turns) {
    const bool is_late = turns == 1 && workload_.turn[callback] < least_in_last_;
    if (turns == 0 || is_late || stops(callback)) {
      return workload_.dispatch;  // it is queued
    }
    const std::pair key(callback, turns);
    if (const auto at = best_.find(key); at != best_.end()) {
      return at->second;
    }
    Ticks total = sum(workload_.wcet[callback], workload_.dispatch);
    for (const std::size_t to : workload_.graph.successors[callback]) {
      total = sum(total, best(to, turns - 1));
    }
    return best_[key] = total;
  }

  const Workload& workload_;
  const Ticks turns_;
  const std::optional<std::size_t> without_;
  const std::optional<int> least_in_last_;
  std::map<std::pair<std::size_t, Ticks>, Ticks> best_;
  std::map<std::size_t, Ticks> most_;
};

}  // namespace

/// Returns whether one thread runs all callbacks, in order of release. With several threads, others
/// run while a callback waits.
bool PathBounds::runs_by_release() const {
  if (!workload_.by_release || workload_.order != Workload::Order::kPriority) {
    return false;
  }
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < here_.size(); ++i) {
    if (!here_[i]) {
      continue;
    }
    const bool has_other_priority = first && workload_.priority[i] != workload_.priority[*first];
    if (has_other_priority || workload_.is_mixed[i]) {
      return false;
    }
    first = i;
  }
  return true;
}

/// Returns the most work of a flow of each of Workload::timers in so many turns. `least_in_last`:
/// see Flows.
const std::vector<Ticks>& PathBounds::flows(Ticks turns, std::optional<int> least_in_last) {
  std::vector<Ticks>& most = flows_[{turns, least_in_last}];
  if (most.empty()) {
    Flows all(workload_, turns, std::nullopt, least_in_last);
    for (const std::size_t timer : workload_.timers) {
      most.push_back(all.most(timer));
    }
  }
  return most;
}

/// Returns the lowest bound of the path by turns that is below `limit`. nullopt: there is none.
/// `busy`: the longest busy period.
std::optional<PathBound> PathBounds::lowest_by_turns(const Path& path, const PathTerms& terms,
                                                     Ticks busy, Ticks limit, Budget& budget) {
  const Ticks length = length_of(path);
  const auto in = [&](Ticks turns) {
    return turns <= kMostTurns ? by_turns(path, terms, {turns, busy, limit}, budget) : std::nullopt;
  };
  return by_release_ ? in(length)
                     : with_pending(path, [&](Ticks pending) { return in(length + pending); });
}

/// Returns the bound of the path by turns. nullopt if it is not below `turns.limit` or the budget
/// ends.
std::optional<PathBound> PathBounds::by_turns(const Path& path, const PathTerms& terms,
                                              const Turns& turns, Budget& budget) {
  const std::size_t root = workload_.timers[path.timer];
  const auto least_in_last =
      by_release_ ? std::nullopt : std::optional<int>(workload_.turn[path.last]);
  const Ticks own_turns = by_release_ ? turns.count : turns.count - 1;
  Ticks own = Flows(workload_, own_turns, path.last, least_in_last).first(root);
  for (std::size_t i = 0; i < workload_.graph.successors[path.last].size(); ++i) {
    own = sum(own, workload_.dispatch);
  }
  const Ticks once = sum(sum(own, longest_.work), sum(started_work(terms), 1));
  const std::vector<Ticks>& most = flows(turns.count, least_in_last);
  std::vector<Ticks> work;
  for (const PathTerms::Timer& timer : terms.timers) {
    work.push_back(most[timer.timer]);
  }
  const auto others_of = [&](std::size_t i, Ticks t) {
    const std::size_t timer = terms.timers[i].timer;
    const Ticks all = workload_.releases(timer, jitter_).before(sum(turns.busy, t));
    return all - (timer == path.timer ? 1 : 0);
  };
  const std::size_t steps = 4 * (terms.timers.size() + terms.sets.size());
  const auto start = fixed_point(once, steps, budget, [&](Ticks t) {
    Ticks total = sum(once, background_before(t));
    for (std::size_t i = 0; i < work.size(); ++i) {
      total = sum(total, product(others_of(i, t), work[i]));
    }
    for (const auto& [sync, jobs] : terms.sets) {
      total = sum(total, product(jobs.before(sum(turns.busy, t)), jobs.wcet));
    }
    return total;
  });
  const auto end = start ? end_of_last(path, *start, budget) : std::nullopt;
  if (!end || sum(sum(*end, terms.instant), jitter_) >= turns.limit) {
    return std::nullopt;
  }
  PathBound result;
  result.response = sum(sum(*end, terms.instant), jitter_);
  result.waited = -jitter_;
  const Ticks own_once = sum(sum(own, workload_.first_poll), workload_.wcet[path.last]);
  for (std::size_t i = 0; i < work.size(); ++i) {
    const bool is_own = terms.timers[i].timer == path.timer;
    const Ticks others = others_of(i, *start);
    const Ticks total = sum(product(others, work[i]), is_own ? sum(own_once, terms.instant) : 0);
    if (total > 0) {
      const auto kind = is_own ? Contribution::Kind::kOwn : Contribution::Kind::kInterference;
      result.why.push_back(
          {kind, workload_.timers[terms.timers[i].timer], others + (is_own ? 1 : 0), total});
    }
  }
  for (const auto& [sync, jobs] : terms.sets) {
    const Ticks count = jobs.before(sum(turns.busy, *start));
    result.why.push_back({Contribution::Kind::kSets, sync, count, product(count, jobs.wcet)});
  }
  if (longest_.work > 0) {
    result.why.push_back({Contribution::Kind::kStarted, longest_.callback, 1, longest_.work});
  }
  if (terms.before.started) {
    const Started& started = *terms.before.started;
    result.why.push_back({Contribution::Kind::kStarted, started.callback, 1, started.work});
  }
  if (workload_.background > 0) {
    const Ticks lost = background_before(*end);
    result.why.push_back(
        {Contribution::Kind::kBackground, root, lost / workload_.background, lost});
  }
  if (workload_.stall > 0) {
    result.why.push_back({Contribution::Kind::kStall, root, 1, workload_.stall});
  }
  std::ranges::stable_sort(result.why, std::greater{}, &Contribution::total);
  return result;
}

}  // namespace rclrt::analysis::detail

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
// follow each other.
//
// Order of release. Let the path have k callbacks, and let r be the release of one of them. Before
// it start only callbacks that were released no later than r. A callback that is released after r
// starts after it. At r, a flow has at most one callback on each of its branches in the queue, and
// one callback of all flows runs. While the path's previous callback runs, which releases it, no
// other callback does. So from a on, each flow runs at most k callbacks that follow each other on a
// branch, and the callback that runs at a may come in addition.
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

constexpr std::size_t kMostWithTurns = 500;  // callbacks of an application
constexpr Ticks kMostTurns = 100;

/// The work of flows, for one number of turns.
class Flows {
 public:
  /// `without`: a callback that does not count, nor does what follows it. nullopt: all count.
  Flows(const Workload& workload, Ticks turns, std::optional<std::size_t> without)
      : workload_(workload), turns_(turns), without_(without) {}

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
    if (turns == 0 || stops(callback)) {
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
  std::map<std::pair<std::size_t, Ticks>, Ticks> best_;
  std::map<std::size_t, Ticks> most_;
};

}  // namespace

/// Returns whether the thread runs the callbacks in order of release.
bool PathBounds::runs_by_release() const {
  if (!workload_.by_release || workload_.order != Workload::Order::kPriority) {
    return false;
  }
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < here_.size(); ++i) {
    if (!here_[i]) {
      continue;
    }
    if (first && workload_.priority[i] != workload_.priority[*first]) {
      return false;
    }
    first = i;
  }
  return true;
}

/// Returns the lowest bound of the path by turns that is below `limit`. nullopt: there is none.
std::optional<PathBound> PathBounds::lowest_by_turns(const Path& path, PathTerms& terms,
                                                     Ticks limit, Budget& budget) const {
  const bool sets = workload_.order == Workload::Order::kAnyToTheEnd;
  if (here_.size() > kMostWithTurns || !(sets ? has_own_queues(path) : is_line(path)) ||
      !(sets || runs_by_release()) || terms.load.compare_with_one() >= 0) {
    return std::nullopt;
  }
  const auto busy = end_of_arrivals(path, terms, budget);
  if (!busy) {
    return std::nullopt;
  }
  Ticks length = 1;
  for (auto at = workload_.counted_by[path.last]; at; at = workload_.counted_by[*at]) {
    ++length;
  }
  Ticks pending = 1;  // instances of the path, with the one under study
  while (length + pending <= kMostTurns) {
    auto found = by_turns(path, terms, {sets ? length + pending : length, *busy, limit}, budget);
    if (!found) {
      return std::nullopt;
    }
    const Ticks released = workload_.releases(path.timer, 0).before(*found->response);
    if (!sets || released <= pending) {
      return found;
    }
    pending = released;
  }
  return std::nullopt;
}

/// Returns whether each callback of the path has one publisher, which is the one before it.
bool PathBounds::is_line(const Path& path) const {
  return workload_.source[path.last] == workload_.timers[path.timer] &&
         workload_.lowest_from_timer(path.last).has_value();
}

/// Returns the bound of the path by turns. nullopt if it is not below `turns.limit` or the budget
/// ends.
std::optional<PathBound> PathBounds::by_turns(const Path& path, const PathTerms& terms,
                                              const Turns& turns, Budget& budget) const {
  const std::size_t root = workload_.timers[path.timer];
  Flows all(workload_, turns.count, std::nullopt);
  Flows before_last(workload_, turns.count, path.last);
  Started running;  // with order of release
  for (std::size_t i = 0; runs_by_release() && i < here_.size(); ++i) {
    const Ticks work = here_[i] ? sum(workload_.wcet[i], workload_.dispatch) : 0;
    if (work > running.work) {
      running = {work, i};
    }
  }
  Ticks own = before_last.first(root);
  for (std::size_t i = 0; i < workload_.graph.successors[path.last].size(); ++i) {
    own = sum(own, workload_.dispatch);
  }
  const Ticks once = sum(sum(own, running.work), sum(started_work(terms), 1));
  std::vector<Ticks> work;
  for (const PathTerms::Timer& timer : terms.timers) {
    work.push_back(all.most(workload_.timers[timer.timer]));
  }
  const auto flows = [&](std::size_t i, Ticks t) {
    const std::size_t timer = terms.timers[i].timer;
    const Ticks count = workload_.releases(timer, jitter_).before(sum(turns.busy, t));
    return count - (timer == path.timer ? 1 : 0);
  };
  const std::size_t steps = 4 * (terms.timers.size() + terms.sets.size());
  const auto start = fixed_point(once, steps, budget, [&](Ticks t) {
    Ticks total = sum(once, background_before(t));
    for (std::size_t i = 0; i < work.size(); ++i) {
      total = sum(total, product(flows(i, t), work[i]));
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
    const Ticks count = flows(i, *start);
    const Ticks total = sum(product(count, work[i]), is_own ? sum(own_once, terms.instant) : 0);
    if (total > 0) {
      const auto kind = is_own ? Contribution::Kind::kOwn : Contribution::Kind::kInterference;
      result.why.push_back(
          {kind, workload_.timers[terms.timers[i].timer], count + (is_own ? 1 : 0), total});
    }
  }
  for (const auto& [sync, jobs] : terms.sets) {
    const Ticks count = jobs.before(sum(turns.busy, *start));
    result.why.push_back({Contribution::Kind::kSets, sync, count, product(count, jobs.wcet)});
  }
  if (running.work > 0) {
    result.why.push_back({Contribution::Kind::kStarted, running.callback, 1, running.work});
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

// SPDX-License-Identifier: Apache-2.0
// The worst instance of a path in a busy period of a wait set: ready sets limit the work that comes
// before it.
//
// A thread that runs ready sets starts each callback at most once in a set, and a callback that has
// started runs to its end. So the end of an instance that is released `a` after the start of a busy
// period has two more limits than the work that arrives before it:
//
// After the start. Nothing that is released after the path's last callback has started delays it.
//
// By the sets. From a on, at most the rest of one set and W more sets run until the last callback
// starts. They are the sets 0 to W. All work of set 0 and before was released before a (or at a, if
// the path's first callback is no timer: a set has every timer that is due when it is formed). A
// later release runs in set 1 at the earliest, and its l-th callback in set l, because a message
// that is published in a set is in a later one. So the l-th callback of another timer has started
// at most as often as that timer was released before a, and W - l + 1 times since then. Where sets
// run in order of priority (Workload::turn), and its priority is lower than that of the path's last
// callback, it does not run before that one in set W: W - l times. The same holds for the callbacks
// of the path's own timer. Its release at a counts as a later one.
//
// W is found as follows. A set takes the oldest instance of each callback. A message that is
// published in a set is in the next one, unless older ones of its callback wait. Let n instances of
// the path be released and not ended at a, with the one under study as the last of them. By
// induction over instances and callbacks, the j-th of them has left the i-th callback of the path
// after i + j - 1 more sets. So a path of k callbacks needs W = k + n - 1. If the bound with n is a
// time in which at most n instances of the path are released, never more than n are released and
// not ended: by induction over the instances.
//
// Blass, Casini, Bozhko and Brandenburg, "A ROS 2 response-time analysis exploiting starvation
// freedom and execution-time variance", RTSS 2021: definition 5 and theorem 3 have both limits for
// single callbacks, with timers that are not part of the sets.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "bounds/path_bound.hpp"
#include "bounds/path_terms.hpp"
#include "input_callbacks.hpp"

namespace rclrt::analysis::detail {
namespace {

/// Limits of the search by sets and turns: the steps for all timers and for one path. About 100
/// steps take a microsecond.
constexpr std::int64_t kStepsOfAllPaths = 100'000'000;
constexpr std::int64_t kStepsOfOnePath = 4'000'000;

}  // namespace

/// Returns the steps that the search for one path may take.
std::int64_t PathBounds::steps_by_sets() const {
  const auto timers = static_cast<std::int64_t>(std::max<std::size_t>(1, timers_.size()));
  return std::min(kStepsOfAllPaths / timers, kStepsOfOnePath);
}

/// Returns whether the instances of each callback of the path wait in a queue of their own, which
/// only the previous callback of the path fills.
bool PathBounds::has_own_queues(const Path& path) const {
  const auto& all = workload_.application.callbacks;
  if (!is_line(path)) {
    return false;
  }
  for (std::optional<std::size_t> at = path.last; at; at = workload_.counted_by[*at]) {
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (other != *at && share_queue(all[*at], all[other])) {
        return false;
      }
    }
  }
  return true;
}

/// Returns, for each timer, the work of those callbacks that run once for each release of it and
/// that may delay the path more often than they should: all but the path's last callback and those
/// that follow it.
std::vector<std::vector<OncePerSet>> PathBounds::limited_by_sets(const Path& path) const {
  std::vector<std::vector<OncePerSet>> result(workload_.timers.size());
  for (std::size_t callback = 0; callback < here_.size(); ++callback) {
    if (!here_[callback] || !workload_.lowest_from_timer(callback)) {
      continue;
    }
    bool after = false;
    Ticks before = -1;  // callbacks between the timer and this one, with the timer
    for (std::optional<std::size_t> at = callback; at; at = workload_.counted_by[*at]) {
      after = after || *at == path.last;
      ++before;
    }
    if (after) {
      continue;
    }
    const Ticks without = before + (workload_.turn[callback] < workload_.turn[path.last] ? 1 : 0);
    auto& all = result[workload_.runs[callback].front().timer];
    auto own = std::ranges::find(all, without, &OncePerSet::without);
    if (own == all.end()) {
      own = all.insert(own, OncePerSet{.work = 0, .without = without});
    }
    own->work = sum(own->work, sum(workload_.wcet[callback], workload_.dispatch));
  }
  return result;
}

/// Returns whether a set that is formed when the path is released has the path's first callback.
bool PathBounds::is_seen_at_once(const Path& path) const {
  const model::Callback& first = workload_.application.callbacks[workload_.timers[path.timer]];
  return first.kind() == model::CallbackKind::kTimer;
}

/// Returns the most releases of another timer that may run in the set during which the path is
/// released, or before.
Ticks PathBounds::released_by(const Releases& releases, const Path& path, Ticks arrival) const {
  return is_seen_at_once(path) ? releases.before(arrival) : releases.until(arrival);
}

/// Returns how many instances of the path are released in the busy period before the one that is
/// released at `arrival`.
Ticks PathBounds::earlier_than(Ticks arrival, const Path& path, const PathTerms& terms) const {
  if (terms.before.apart > 0) {
    return (arrival - jitter_ - terms.before.earliest) / workload_.period[path.timer];
  }
  return workload_.releases(path.timer, 0).until(arrival) - 1;
}

/// Returns the most work of the busy period before the last callback starts, plus 1, if the path's
/// instance is released `arrival` after its begin. nullopt if the budget ends.
std::optional<Ticks> PathBounds::start_by_sets(const Path& path, const PathTerms& terms,
                                               const ReadySets& sets, Ticks arrival, Ticks least,
                                               Budget& budget) const {
  const Ticks earlier = earlier_than(arrival, path, terms);
  const Ticks own = sum(product(earlier, terms.head - terms.early), terms.own_first);
  const Ticks once = sum(own, started_work(terms)) - workload_.wcet[path.last] + 1;
  struct Limited {
    Ticks work{};
    Ticks most{};  // runs before the start
  };
  std::vector<std::vector<Limited>> limited;
  std::size_t terms_in_all = terms.timers.size() + terms.sets.size();
  for (const PathTerms::Timer& timer : terms.timers) {
    const Ticks before =
        timer.timer == path.timer ? earlier : released_by(timer.releases, path, arrival);
    auto& all = limited.emplace_back();
    for (const OncePerSet& each : sets.limited[timer.timer]) {
      all.push_back({each.work, sum(before, std::max<Ticks>(0, sets.count - each.without))});
    }
    terms_in_all += all.size();
  }
  return fixed_point(std::max(least, once), 4 * terms_in_all, budget, [&](Ticks t) {
    Ticks total = sum(once, background_before(t));
    for (std::size_t i = 0; i < limited.size(); ++i) {
      const PathTerms::Timer& timer = terms.timers[i];
      const Ticks count = timer.releases.before(t);
      Ticks rest = timer.work;
      for (const Limited& each : limited[i]) {
        total = sum(total, product(std::min(count, each.most), each.work));
        rest -= each.work;
      }
      total = sum(total, product(count, rest));
    }
    for (const auto& [sync, jobs] : terms.sets) {
      total = sum(total, product(jobs.before(t), jobs.wcet));
    }
    return total;
  });
}

/// Returns the end of the busy period: no release of the path's timer from there on needs to be
/// examined. nullopt if the budget ends.
std::optional<Ticks> PathBounds::end_of_arrivals(const Path& path, PathTerms& terms,
                                                 Budget& budget) const {
  const Ticks last_job = jobs_to_follow(path, terms);
  if (last_job < kHorizon) {
    return sum(release_of(last_job, path, terms), jitter_);
  }
  terms.others.rewind();
  const Releases& own = terms.timers.back().releases;
  const Ticks once = sum(started_work(terms), terms.instant);
  return fixed_point(std::max<Ticks>(1, once), terms.others.size(), budget, [&](Ticks t) {
    return sum(sum(once, terms.others.at(t)), product(own.before(t), terms.head - terms.early));
  });
}

/// Returns the lowest bound of the path that is below `limit`, by the order in which the thread
/// runs callbacks: by ready sets, and by turns. nullopt: there is none.
std::optional<PathBound> PathBounds::lowest_by_order(const Path& path, PathTerms& terms,
                                                     Ticks limit, Budget& budget) {
  const bool sets = workload_.order == Workload::Order::kAnyToTheEnd;
  if (here_.size() > kMostInOrder ||
      !(sets ? has_own_queues(path) : by_release_ && is_line(path))) {
    return std::nullopt;
  }
  const auto end_of_all = end_of_arrivals(path, terms, budget);
  if (!end_of_all) {
    return std::nullopt;
  }
  auto result = sets
                    ? lowest_by_sets(path, terms, limited_by_sets(path), *end_of_all, limit, budget)
                    : std::nullopt;
  if (terms.load.compare_with_one() < 0) {  // otherwise the busy period has no known end
    auto other =
        lowest_by_turns(path, terms, *end_of_all, result ? *result->response : limit, budget);
    if (other) {
      result = std::move(other);
    }
  }
  return result;
}

/// Returns the lowest bound of the path by ready sets that is below `limit`. nullopt: there is
/// none. `end_of_all`: no release of the path's timer from there on needs to be examined.
std::optional<PathBound> PathBounds::lowest_by_sets(
    const Path& path, const PathTerms& terms, const std::vector<std::vector<OncePerSet>>& limited,
    Ticks end_of_all, Ticks limit, Budget& budget) const {
  const Ticks length = length_of(path);
  return with_pending(path, [&](Ticks pending) {
    const ReadySets sets{limited, length + pending - 1, end_of_all, limit};
    return terms.before.apart > 0 ? worst_in_phase(path, terms, sets, budget)
                                  : worst_by_sets(path, terms, sets, budget);
  });
}

/// Returns whether each callback of the path has one publisher, which is the one before it.
bool PathBounds::is_line(const Path& path) const {
  return workload_.source[path.last] == workload_.timers[path.timer] &&
         workload_.lowest_from_timer(path.last).has_value();
}

/// Returns the number of callbacks of a path that is a line.
Ticks PathBounds::length_of(const Path& path) const {
  Ticks length = 1;
  for (auto at = workload_.counted_by[path.last]; at; at = workload_.counted_by[*at]) {
    ++length;
  }
  return length;
}

/// Returns the bound for n pending instances of the path, the one under study included, with an n
/// that is no less than the instances released in the time of that bound. nullopt: `bound_of` has
/// none for some n.
std::optional<PathBound> PathBounds::with_pending(
    const Path& path, const std::function<std::optional<PathBound>(Ticks)>& bound_of) const {
  Ticks pending = 1;
  while (true) {
    auto found = bound_of(pending);
    if (!found) {
      return std::nullopt;
    }
    const Ticks released = workload_.releases(path.timer, 0).before(*found->response);
    if (released <= pending) {
      return found;
    }
    pending = released;
  }
}

/// Returns the worst instance of the path if at most `sets.count` sets follow the one in which the
/// instance is released. nullopt if it is not below `sets.limit` or the budget ends.
///
/// The later the release, the later the start of the last callback. So the start for a release at b
/// less the time a bounds all responses to releases from a to b. Releases are examined one by one
/// only where this is above the worst response so far. After many steps, it may be above that by a
/// sixteenth.
std::optional<PathBound> PathBounds::worst_by_sets(const Path& path, const PathTerms& terms,
                                                   const ReadySets& sets, Budget& budget) const {
  const std::int64_t exact_steps = steps_by_sets() / 4;
  const Releases own = workload_.releases(path.timer, 0);
  const std::int64_t steps_before = budget.used();
  struct Worst {
    Ticks response = -1;
    Ticks since{};  // the releases that it bounds are from here on
    Ticks until{};
    Ticks start{};
    Ticks end{};
  } worst;
  Ticks exact = 0;
  Ticks arrival = 0;
  Ticks since = 0;  // a release in (since, arrival] is like one at `arrival`
  Ticks start = 1;  // for the last release examined
  Ticks several = 1;
  while (arrival < sets.end_of_arrivals) {
    const auto found = start_by_sets(path, terms, sets, arrival + several, start, budget);
    if (!found) {
      return std::nullopt;
    }
    const auto end = end_of_last(path, *found, budget);
    if (!end) {
      return std::nullopt;
    }
    const Ticks response = *end - (since - jitter_);
    const bool coarse = budget.used() - steps_before > exact_steps;
    if (several > 0 && response > (coarse ? exact + exact / 16 : exact)) {
      several = several > 1 ? several / 4 : 0;
      continue;
    }
    if (several == 0) {
      exact = std::max(exact, response);
    }
    if (response > worst.response) {
      worst = {response, since, arrival + several, *found, *end};
    }
    if (response >= sets.limit) {
      return std::nullopt;
    }
    start = *found;
    arrival += several;
    const Ticks others = next_arrival(path, terms, sets, arrival);
    const Ticks next = std::min(own.next(arrival), others);
    several = several > 0 ? 2 * several : std::max<Ticks>(1, (next - arrival) / 2);
    arrival = next;
    since = arrival == others && is_seen_at_once(path) ? arrival - 1 : arrival;
  }
  PathBound result = explain_sets(path, terms, sets, worst.until, worst.start, worst.end);
  result.response = worst.response;
  result.waited = worst.since - jitter_;
  return result;
}

/// Returns the next time, in whole ticks, at which released_by() of another timer is greater.
Ticks PathBounds::next_arrival(const Path& path, const PathTerms& terms, const ReadySets& sets,
                               Ticks arrival) const {
  Ticks next = kHorizon;
  for (const PathTerms::Timer& timer : terms.timers) {
    if (sets.limited[timer.timer].empty() || timer.timer == path.timer) {
      continue;
    }
    next = std::min(next, is_seen_at_once(path) ? timer.releases.next(arrival - 1) + 1
                                                : timer.releases.next(arrival));
  }
  return next;
}

/// Returns the end of the last callback of a path, which starts at `start` - 1 and is delayed only
/// by the background from then on.
std::optional<Ticks> PathBounds::end_of_last(const Path& path, Ticks start, Budget& budget) const {
  const Ticks lost = background_before(start);
  return fixed_point(start, 1, budget, [&](Ticks t) {
    return sum(start - 1 + workload_.wcet[path.last], background_before(t) - lost);
  });
}

/// Returns the time lost to the background in a busy period up to `time`.
Ticks PathBounds::background_before(Ticks time) const {
  return product(ceil_div(sum(time, kMillisecond), kMillisecond), workload_.background);
}

/// Returns the terms of a bound by ready sets for releases up to `arrival`: those of the work
/// before the start without a limit by the sets, less what the sets take off.
PathBound PathBounds::explain_sets(const Path& path, const PathTerms& terms, const ReadySets& sets,
                                   Ticks arrival, Ticks start, Ticks end) const {
  const Ticks earlier = earlier_than(arrival, path, terms);
  PathBound result = explain(path, terms, earlier, start, kHorizon);
  for (const PathTerms::Timer& timer : terms.timers) {
    const bool own = timer.timer == path.timer;
    const Ticks before = own ? earlier : released_by(timer.releases, path, arrival);
    const Ticks count = timer.releases.before(start);
    Ticks less = 0;           // work
    Ticks rest = timer.work;  // without a limit
    Ticks most = own ? earlier + 1 : 0;
    for (const OncePerSet& each : sets.limited[timer.timer]) {
      const Ticks runs = sum(before, std::max<Ticks>(0, sets.count - each.without));
      less = sum(less, product(std::max<Ticks>(0, count - runs), each.work));
      most = std::max(most, runs);
      rest -= each.work;
    }
    for (Contribution& term : result.why) {
      if (term.kind == Contribution::Kind::kBackground) {
        term.total = background_before(end);
        term.releases = term.total / workload_.background;
      }
      const auto kind = own ? Contribution::Kind::kOwn : Contribution::Kind::kInterference;
      if (less > 0 && term.kind == kind && term.callback == workload_.timers[timer.timer]) {
        term.total -= less;
        term.releases = rest > 0 ? term.releases : std::min(term.releases, most);
      }
    }
  }
  std::erase_if(result.why, [](const Contribution& term) { return term.total == 0; });
  std::ranges::stable_sort(result.why, std::greater{}, &Contribution::total);
  return result;
}

}  // namespace rclrt::analysis::detail

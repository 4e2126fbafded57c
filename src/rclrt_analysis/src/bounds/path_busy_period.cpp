// SPDX-License-Identifier: Apache-2.0
// The search for the worst instance of a path in its longest busy period.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "bounds/path_bound.hpp"
#include "bounds/path_terms.hpp"

namespace rclrt::analysis::detail {

/// Returns std::nullopt when the busy period is too long to follow.
std::optional<PathBound> PathBounds::worst_in_busy_period(const Path& path, PathTerms& terms,
                                                          Budget& budget) const {
  const Ticks started = started_work(terms);
  const Ticks last_job = jobs_to_follow(path, terms);
  PathBound result;
  result.response = 0;
  Ticks w = 1;
  Ticks worst = -1;
  if (terms.before.earliest > 0) {  // the busy period may end before the first release
    const auto first = fixed_point(sum(started, terms.instant),
                                   std::max(sum(started, terms.instant), w), terms.others, budget);
    if (!first) {
      return std::nullopt;
    }
    w = *first - terms.instant;
    if (w <= terms.before.earliest) {
      return result;
    }
  }
  for (Ticks q = 0; q < last_job; ++q) {
    const Ticks constant = sum(sum(product(q, terms.head - terms.early), terms.own_first),
                               sum(started, terms.instant));
    const auto end = fixed_point(constant, std::max({w, constant, Ticks{1}}), terms.others, budget);
    const Ticks release = release_of(q, path, terms);
    if (!end || release > kHorizon / 2) {
      return std::nullopt;
    }
    w = *end - terms.instant;
    if (w - release > worst) {
      worst = w - release;
      result = explain(path, terms, q, *end, kHorizon);
      result.waited = release;
      result.response = worst;
    }
    // If all work of this instance is done before the next instance arrives, the busy period ends.
    // Releases up to that time also delay the callbacks after the last one, so `terms.after` is
    // added.
    const Ticks next = release_of(q + 1, path, terms);
    if (sum(w, terms.after) > next) {
      continue;
    }
    const auto all = fixed_point(sum(constant, terms.after), *end, terms.others, budget);
    if (!all) {
      return std::nullopt;
    }
    w = *all - terms.instant;
    if (w <= next) {
      break;
    }
  }
  return result;
}

/// Returns the same as worst_in_busy_period(), for paths with PathTerms::ordered: releases at the
/// last callback's priority delay it only if they are not later than its own release.
///
/// If the path has one callback, a later release of that callback lets more releases of others come
/// before it. So each instance is examined at every release time at which one more of them does. In
/// a longer path, the previous callback releases the last one. That happens at the latest when all
/// other work of the busy period is done, so the path's own release times do not matter. A previous
/// callback with an execution time of 0 counts one tick: then releases of others at the same time
/// count as earlier.
std::optional<PathBound> PathBounds::worst_in_order(const Path& path, PathTerms& terms,
                                                    Budget& budget) const {
  const bool single = path.last == workload_.timers[path.timer];
  const Ticks instant = single ? terms.instant : 1;
  const Ticks last_job = jobs_to_follow(path, terms);
  PathBound result;
  result.response = 0;
  Ticks worst = -1;
  Ticks w = 1;
  Ticks all = 1;  // the end of all work so far
  for (Ticks q = 0; q < last_job; ++q) {
    const Ticks release = release_of(q, path, terms);
    const Ticks earlier = sum(product(q, terms.head - terms.early), started_work(terms));
    const Ticks before_last = sum(earlier, instant);
    const auto before = fixed_point(before_last, std::max(before_last, all), terms.others, budget);
    if (!before || release > kHorizon / 2) {
      return std::nullopt;
    }
    if (release > 0 && *before - instant <= release) {
      break;
    }
    const Ticks own = sum(earlier, terms.own_first);
    const Ticks up_to_all = sum(sum(own, terms.after), instant);
    const auto end_of_all =
        fixed_point(up_to_all, std::max(up_to_all, *before), terms.others, budget);
    if (!end_of_all) {
      return std::nullopt;
    }
    all = *end_of_all;
    const Ticks last_arrival = std::min(release_of(q + 1, path, terms) + jitter_, all);
    Ticks arrival = single ? std::max<Ticks>(0, release + jitter_) : *before;
    while (true) {
      const auto work = [&](Ticks t) {
        Ticks total = sum(sum(own, terms.instant), terms.unordered.at(t));
        for (const PathTerms::Ordered& each : terms.ordered) {
          total = sum(
              total,
              product(std::min(each.releases.before(t), each.releases.until(arrival)), each.work));
        }
        return total;
      };
      const auto end = fixed_point(std::max(w, sum(own, terms.instant)),
                                   terms.unordered.size() + 2 * terms.ordered.size(), budget, work);
      if (!end) {
        return std::nullopt;
      }
      w = std::max<Ticks>(1, *end);
      const Ticks nominal = single ? std::max(release, arrival - jitter_) : release;
      if (*end - terms.instant - nominal > worst) {
        worst = *end - terms.instant - nominal;
        result = explain(path, terms, q, *end, arrival);
        result.waited = nominal;
        result.response = worst;
      }
      if (!single) {
        break;
      }
      Ticks next = kHorizon;
      for (const PathTerms::Ordered& each : terms.ordered) {
        next = std::min(next, each.releases.next(arrival));
      }
      if (next >= last_arrival) {
        break;
      }
      arrival = next;
    }
  }
  return result;
}

/// Returns the work that delays a busy period once.
Ticks PathBounds::started_work(const PathTerms& terms) const {
  const Ticks started = terms.before.started ? terms.before.started->work : 0;
  return sum(started, sum(workload_.first_poll, workload_.stall));
}

/// Returns the earliest release of instance q, from the start of the busy period. That of an event
/// is its arrival, with its jitter.
Ticks PathBounds::release_of(Ticks q, const Path& path, const PathTerms& terms) const {
  return sum(workload_.shortest_time(path.timer, q), terms.before.earliest);
}

/// Returns how many instances of the path's timer have to be examined at most.
Ticks PathBounds::jobs_to_follow(const Path& path, const PathTerms& terms) const {
  // At a load of exactly 1 everything repeats after a hyperperiod.
  const auto hyperperiod =
      terms.load.compare_with_one() == 0 ? terms.load.hyperperiod() : std::nullopt;
  if (!hyperperiod) {
    return kHorizon;
  }
  // From `regular` on, the earliest releases of an event with jitter are a period apart.
  const Ticks period = workload_.period[path.timer];
  const Ticks distance = workload_.distance[path.timer];
  const Ticks regular =
      distance < period ? ceil_div(workload_.jitter[path.timer], period - distance) : 0;
  return sum(std::max<Ticks>(1, *hyperperiod / period), regular);
}

/// Returns the terms of the bound of instance q. `end`: the end of the busy window, with
/// PathTerms::instant. `arrival`: when the last callback is released; releases of
/// PathTerms::ordered after it do not count. kHorizon: all count.
PathBound PathBounds::explain(const Path& path, const PathTerms& terms, Ticks q, Ticks end,
                              Ticks arrival) const {
  PathBound result;
  const auto after_it = [&](std::size_t timer) {  // work that counts for earlier releases only
    Ticks work = 0;
    for (const PathTerms::Ordered& each : terms.ordered) {
      if (each.timer == timer && arrival < kHorizon) {
        const Ticks later =
            std::max<Ticks>(0, each.releases.before(end) - each.releases.until(arrival));
        work = product(later, each.work);
      }
    }
    return work;
  };
  const std::size_t timer = workload_.timers[path.timer];
  const PathTerms::Timer& own = terms.timers.back();
  const Ticks releases = std::max(q + 1, own.releases.before(end));
  const Ticks overtaking = product(releases - q - 1, terms.early) - after_it(path.timer);
  const Ticks before = product(q, terms.head);
  result.why.push_back(
      {Contribution::Kind::kOwn, timer, releases, sum(before, sum(terms.own, overtaking))});
  for (const PathTerms::Timer& other : terms.timers) {
    const Ticks count = other.releases.before(end);
    if (other.timer != path.timer && count > 0) {
      result.why.push_back({Contribution::Kind::kInterference, workload_.timers[other.timer], count,
                            product(count, other.work) - after_it(other.timer)});
    }
  }
  for (const auto& [sync, jobs] : terms.sets) {
    const Ticks count = jobs.before(end);
    result.why.push_back({Contribution::Kind::kSets, sync, count, product(count, jobs.wcet)});
  }
  if (const auto& started = terms.before.started) {
    result.why.push_back({Contribution::Kind::kStarted, started->callback, 1, started->work});
  }
  if (workload_.background > 0) {
    const Ticks count = ceil_div(end + kMillisecond, kMillisecond);
    result.why.push_back(
        {Contribution::Kind::kBackground, timer, count, product(count, workload_.background)});
  }
  if (workload_.stall > 0) {
    result.why.push_back({Contribution::Kind::kStall, timer, 1, workload_.stall});
  }
  std::ranges::stable_sort(result.why, std::greater{}, &Contribution::total);
  return result;
}

}  // namespace rclrt::analysis::detail

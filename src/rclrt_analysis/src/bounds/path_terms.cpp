// SPDX-License-Identifier: Apache-2.0
#include "bounds/path_terms.hpp"

#include <algorithm>
#include <utility>

#include "bounds/path_bound.hpp"

namespace rclrt::analysis::detail {

/// Adds the work of a timer's releases to `terms`: `work` for each release. `by_release`: callbacks
/// of the last callback's priority run in order of release.
///
/// In that case, a callback of that priority delays the last callback only if it is released no
/// later. A later one starts after the end of the last callback, and so do the callbacks that it
/// releases. Only the dispatching of the later release delays the last callback.
void PathBounds::add_releases(const Path& path, std::size_t timer, Ticks work,
                              const Releases& releases, bool by_release, PathTerms& terms) const {
  const Ticks queueing = std::min(work, workload_.dispatch);
  const bool in_order =
      by_release && work > queueing && workload_.priority[workload_.timers[timer]] == path.level;
  if (in_order) {
    terms.ordered.push_back({timer, work - queueing, releases});
  }
  terms.timers.push_back({timer, releases, work, in_order ? queueing : work});
}

/// Adds the work of PathTerms::timers to the demand. At a load of exactly 1, only one of two limits
/// is used: see add_sets().
void PathBounds::add_demand(PathTerms& terms) {
  const bool repeats = terms.load.compare_with_one() == 0;
  const auto limit = [&](Releases& releases) {
    if (repeats) {
      releases.distance = releases.period;
      releases.within = releases.jitter;
    }
  };
  const auto add = [](const Releases& releases, Ticks work, Demand& demand) {
    if (releases.has_one_limit()) {
      demand.add(work, releases.period, releases.jitter);
    } else {
      demand.add({.wcet = work,
                  .releases = {{releases.period, releases.jitter}},
                  .also = {{releases.distance, releases.within}}});
    }
  };
  for (PathTerms::Ordered& each : terms.ordered) {
    limit(each.releases);
  }
  for (PathTerms::Timer& each : terms.timers) {
    limit(each.releases);
    add(each.releases, each.work, terms.others);
    add(each.releases, each.unordered, terms.unordered);
  }
}

PathTerms PathBounds::terms_of(const Path& path, std::optional<Ticks> age,
                               const BeforePath& before) {
  const LevelWork& level = work(path.level);
  const std::size_t timer = workload_.timers[path.timer];
  const bool counted =
      level.counted(path.last) && workload_.source[path.last] == timer && level.follows(path.last);
  const bool by_release = counted && workload_.by_release && !workload_.is_mixed[path.last] &&
                          workload_.priority[path.last] == path.level;
  PathTerms terms;
  terms.before = before;
  for (const std::size_t k : timers_) {
    const Ticks head = level.head(workload_.timers[k]);
    terms.load.add(head, workload_.period[k]);
    if (k != path.timer && head > 0) {
      add_releases(path, k, head, releases_of(k, path, before), by_release, terms);
    }
  }
  terms.head = level.head(timer);
  // `instant` is 1 if the path's end comes later than its work. The last callback returns only
  // after the more urgent callbacks that it has released, so releases at the time at which its work
  // ends come first. The same holds if it has no work.
  if (workload_.wcet[path.last] == 0 ||
      workload_.application.callbacks[path.last].waits.count() > 0) {
    terms.instant = 1;
  }
  const bool interrupted =
      workload_.order == Workload::Order::kAny || workload_.is_mixed[path.last];
  if (interrupted) {
    terms.instant = 1;
  }
  // It also does not return before a scheduler thread has handled its releases.
  if (workload_.scheduler > 0 && !workload_.graph.successors[path.last].empty()) {
    terms.instant = 1;
  }
  // Callbacks that follow the last one and are not more urgent start after its end.
  for (const std::size_t to : workload_.graph.successors[path.last]) {
    if (!path.before_successors && workload_.priority[to] > workload_.priority[path.last]) {
      terms.instant = 1;
    } else if (counted && !interrupted && workload_.graph.publishers[to].size() <= 1) {
      terms.after = sum(terms.after, level.head(to) - workload_.dispatch);
    }
  }
  terms.own = terms.head - std::min(terms.after, terms.head);
  // A later instance of the path may overtake with all callbacks except the last, because the last
  // callback runs in order of release. Queueing the later instance still delays whatever runs.
  terms.early = terms.head;
  if (counted) {
    terms.early -= std::min(level.head(path.last) - workload_.dispatch, terms.head);
  }
  terms.own_first = terms.own - std::min(terms.own, terms.early);
  add_releases(path, path.timer, terms.early, workload_.releases(path.timer, jitter_), by_release,
               terms);
  add_background(terms);
  add_sets(level, age, terms);
  add_demand(terms);
  return terms;
}

/// Adds the work of the sets of syncs to `terms`.
///
/// A set is complete in the busy period only by a message that arrives in it. Work that had started
/// before the busy period brings such messages. All other messages stem from releases within the
/// busy period, so their stamps are no earlier than its start, less the jitter. The sets that they
/// complete have a release each of Workload::runs, since RunsOf::earlier before that.
///
/// Without `age`, the work that had started is counted together with the sets that it completes.
/// With `age`, that work was released at most `age` before the busy period, so all sets have a
/// release each of Workload::runs, since RunsOf::earlier and `age` before.
///
/// At a load of exactly 1, the counts must grow after a hyperperiod as they did in it. The lower
/// one of two different counts does not always come from the same of the two, so only one count is
/// used then.
void PathBounds::add_sets(const LevelWork& level, std::optional<Ticks> age,
                          PathTerms& terms) const {
  for (const SetWork& set : level.sets()) {
    LimitedJobs jobs{.wcet = set.work, .releases = {}, .also = {}};
    for (const RunsOf& runs : workload_.runs[set.sync]) {
      const Ticks period = workload_.period[runs.timer];
      const Ticks earlier = sum(runs.earlier, age.value_or(0));
      jobs.releases.push_back({period, sum(jitter_of(runs.timer), earlier), runs.count});
      terms.load.add(product(runs.count, set.work), period);
    }
    if (set.at_most && !age) {
      const Ticks period = workload_.period[*set.at_most];
      const Ticks jitter = jitter_of(*set.at_most);
      const auto& first = jobs.releases.front();
      if (jobs.releases.size() == 1 && first.period == period && first.count == 1) {
        jobs.releases = {{period, jitter}};
      } else {
        jobs.also = {{period, jitter}};
      }
    } else if (!age) {
      for (const RunsOf& message : workload_.messages[set.sync]) {
        jobs.also.push_back({workload_.period[message.timer],
                             sum(jitter_of(message.timer), message.earlier), message.count});
      }
    }
    terms.sets.push_back({set.sync, std::move(jobs)});
  }
  const bool repeats = terms.load.compare_with_one() == 0;
  for (auto& [sync, jobs] : terms.sets) {
    if (repeats) {
      jobs.also.clear();
    }
    terms.others.add(jobs);
    if (!terms.ordered.empty()) {
      terms.unordered.add(jobs);
    }
  }
}

/// Returns how much later than its nominal time a release may be ready: the jitter of an event, and
/// the lateness of its release.
Ticks PathBounds::jitter_of(std::size_t timer) const {
  return sum(workload_.jitter[timer], jitter_);
}

/// Returns the releases of another timer than the path's own that count in the busy period. If a
/// release of that timer was done before (Path::done), its next releases are later by a period or,
/// for those of an event with jitter, at least by what Workload::shortest_time() states. The result
/// may then have a jitter below zero, which means that all of its releases are later.
Releases PathBounds::releases_of(std::size_t timer, const Path& path,
                                 const BeforePath& before) const {
  const Ticks period = workload_.period[timer];
  if (!before.first_releases.empty() && before.first_releases[timer]) {
    const Ticks first = *before.first_releases[timer];
    return {period, -first, period, -first};
  }
  Releases result = workload_.releases(timer, jitter_);
  if (path.done && path.done->timer == timer) {
    const Ticks lag = path.done->lag;
    result.jitter = std::min(result.jitter, sum(lag, result.jitter) - result.period);
    result.within = std::min(result.within, sum(lag, result.within) - result.distance);
  }
  return result;
}

/// Adds the time lost in each millisecond, for any phase of the milliseconds.
void PathBounds::add_background(PathTerms& terms) const {
  if (workload_.background == 0) {
    return;
  }
  terms.load.add(workload_.background, kMillisecond);
  terms.others.add(workload_.background, kMillisecond, kMillisecond);
  terms.unordered.add(workload_.background, kMillisecond, kMillisecond);
}

}  // namespace rclrt::analysis::detail

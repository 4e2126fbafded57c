// SPDX-License-Identifier: Apache-2.0
#include "path_bound.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace rclrt::analysis::detail {

PathBounds::PathBounds(const Workload& workload, std::vector<std::size_t> timers, Ticks jitter,
                       Effort effort)
    : workload_(workload),
      timers_(std::move(timers)),
      jitter_(jitter),
      budget_(effort),
      positions_(workload.wcet.size()),
      here_(workload.wcet.size(), false) {
  for (const std::size_t k : timers_) {
    here_[workload.timers[k]] = true;
  }
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const std::size_t callback = workload.graph.order[i];
    positions_[callback] = i;
    for (const std::size_t to : workload.graph.successors[callback]) {
      here_[to] = here_[to] || here_[callback];
    }
  }
}

const LevelWork& PathBounds::work(int level) {
  auto at = levels_.find(level);
  if (at == levels_.end()) {
    at = levels_.emplace(level, LevelWork(workload_, level, here_)).first;
  }
  return at->second;
}

/// What may have started before the busy period.
struct PathBounds::Before {
  std::optional<Started> started;  ///< it is not preempted
  Ticks earliest{};  ///< the nominal release of the first instance in the busy period, from its start
};

/// The terms of the recurrences of one path.
struct PathBounds::Terms {
  /// Releases at the priority of the last callback. They delay it only if they come no later than
  /// its own release.
  struct Ordered {
    std::size_t timer{};  ///< index into Workload::timers
    Ticks work{};         ///< of each; part of `others`
    Ticks period{};
    Ticks jitter{};
    Ticks until(Ticks t) const { return std::max<Ticks>(0, floor_div(t + jitter, period) + 1); }
    Ticks before(Ticks t) const { return std::max<Ticks>(0, ceil_div(t + jitter, period)); }
    /// Returns the next time after `t` at which `until` is greater.
    Ticks next(Ticks t) const { return product(until(t), period) - jitter; }
  };

  Load load;
  Demand others{Count::kBefore};
  std::vector<Ordered> ordered;
  Demand unordered{Count::kBefore};  ///< `others` without `ordered`; only used if there are some
  Ticks head{};       ///< work of one release, without sets of syncs
  Ticks own{};        ///< of it, what the path's last callback waits for, itself included
  Ticks early{};      ///< of it, what a later instance may do before the one under study ends
  Ticks own_first{};  ///< `own`, in addition to `early`
  Ticks after{};      ///< work that follows the last callback and starts after its end
  Before before;      ///< the busy period
  Ticks instant{};    ///< 1: the end is an instant later than the work
  std::vector<std::pair<std::size_t, LimitedJobs>> sets;  ///< of each sync; part of `others`
};

/// Adds the releases of a timer, each with this work.
///
/// Callbacks of the last callback's priority run in order of release. A timer's callback of that
/// priority which is released after the last callback starts after its end. So do the callbacks that
/// it releases. Only the dispatching of that release delays the last callback.
void PathBounds::add_releases(const Path& path, std::size_t timer, Ticks work, Ticks jitter,
                              Terms& terms) const {
  const Ticks period = workload_.period[timer];
  terms.others.add(work, period, jitter);
  const Ticks queueing = std::min(work, workload_.dispatch);
  const bool in_order = workload_.by_release && workload_.priority[path.last] == path.level &&
                        workload_.priority[workload_.timers[timer]] == path.level &&
                        work > queueing;
  if (in_order) {
    terms.ordered.push_back({timer, work - queueing, period, jitter});
  }
  terms.unordered.add(in_order ? queueing : work, period, jitter);
}

PathBounds::Terms PathBounds::terms_of(const Path& path, std::optional<Ticks> age,
                                       const Before& before) {
  const LevelWork& level = work(path.level);
  Terms terms;
  terms.before = before;
  for (const std::size_t k : timers_) {
    const Ticks head = level.head(workload_.timers[k]);
    terms.load.add(head, workload_.period[k]);
    if (k != path.timer && head > 0) {
      add_releases(path, k, head, jitter_of(k, path), terms);
    }
  }
  const std::size_t timer = workload_.timers[path.timer];
  terms.head = level.head(timer);
  // The last callback returns after the more urgent ones that it has released. That takes an
  // instant, and releases at that very time come first. The same holds if it does no work.
  if (workload_.wcet[path.last] == 0) {
    terms.instant = 1;
  }
  const bool interrupted = workload_.order == Workload::Order::kAny;
  if (interrupted) {
    terms.instant = 1;
  }
  // It also does not return before a scheduler thread has handled its releases.
  if (workload_.scheduler > 0 && !workload_.graph.successors[path.last].empty()) {
    terms.instant = 1;
  }
  const bool counted =
      level.counted(path.last) && workload_.source[path.last] == timer && level.follows(path.last);
  // Callbacks that follow the last one and are not more urgent start after its end.
  for (const std::size_t to : workload_.graph.successors[path.last]) {
    if (!path.before_successors && workload_.priority[to] > workload_.priority[path.last]) {
      terms.instant = 1;
    } else if (counted && !interrupted && workload_.graph.publishers[to].size() <= 1) {
      terms.after = sum(terms.after, level.head(to) - workload_.dispatch);
    }
  }
  terms.own = terms.head - std::min(terms.after, terms.head);
  // A later instance may overtake with all callbacks but the last, which keeps the order of
  // releases. Queueing it still delays whatever runs.
  terms.early = terms.head;
  if (counted) {
    terms.early -= std::min(level.head(path.last) - workload_.dispatch, terms.head);
  }
  terms.own_first = terms.own - std::min(terms.own, terms.early);
  add_releases(path, path.timer, terms.early, jitter_, terms);
  if (!counted) {
    terms.ordered.clear();
  }
  add_background(terms);
  add_sets(level, age, terms);
  return terms;
}

/// Adds the sets of syncs.
///
/// A set is complete in the busy period only by a message that arrives in it. Work that had started
/// before brings such messages. All others stem from releases within the busy period, so their
/// stamps are no earlier than its start, less the jitter. The sets that they complete have a
/// release each of Workload::runs, since `earlier` before that.
///
/// Without `age`, the work that had started is counted with the sets that it completes. With it,
/// that work was released at most `age` before the busy period, so all sets have a release each of
/// Workload::runs, since `earlier` and `age` before.
///
/// At a load of exactly 1, the counts must grow after a hyperperiod as they did in it. The lower
/// one of two different counts is another after some time, so one count remains.
void PathBounds::add_sets(const LevelWork& level, std::optional<Ticks> age, Terms& terms) const {
  for (const SetWork& set : level.sets()) {
    LimitedJobs jobs{.wcet = set.work, .releases = {}, .also = {}};
    for (const RunsOf& runs : workload_.runs[set.sync]) {
      const Ticks period = workload_.period[runs.timer];
      const Ticks earlier = sum(runs.earlier, age.value_or(0));
      jobs.releases.push_back({period, sum(jitter_, earlier), runs.count});
      terms.load.add(product(runs.count, set.work), period);
    }
    if (set.at_most && !age) {
      const Ticks period = workload_.period[*set.at_most];
      const auto& first = jobs.releases.front();
      if (jobs.releases.size() == 1 && first.period == period && first.count == 1) {
        jobs.releases = {{period, jitter_}};
      } else {
        jobs.also = {{period, jitter_}};
      }
    } else if (!age) {
      for (const RunsOf& message : workload_.messages[set.sync]) {
        jobs.also.push_back(
            {workload_.period[message.timer], sum(jitter_, message.earlier), message.count});
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

/// Returns the jitter of another timer than the path's own. After a release that is done, the next
/// one is a period later: a jitter below zero delays all releases.
Ticks PathBounds::jitter_of(std::size_t timer, const Path& path) const {
  if (!path.done || path.done->timer != timer) {
    return jitter_;
  }
  return std::min(jitter_, sum(path.done->lag, jitter_) - workload_.period[timer]);
}

/// Returns the longest time from the release of a callback to its end, or to the end of its own
/// work; absent if no single timer releases it, or if it has no bound.
std::optional<Ticks> PathBounds::age_of(std::size_t callback, bool before_successors) {
  const std::pair key(callback, before_successors);
  if (const auto at = ages_.find(key); at != ages_.end()) {
    return at->second;
  }
  std::optional<Ticks> age;
  if (const auto lowest = workload_.lowest_from_timer(callback)) {
    const bool within = std::exchange(in_age_, true);
    const std::size_t timer = workload_.runs[callback].front().timer;
    age = bound({timer, callback, *lowest, {}, before_successors}).response;
    in_age_ = within;
  }
  return ages_[key] = age;
}

/// Returns the longest time for which work may be under way that has started when a busy period of
/// the level begins, and that completes sets. Its bound depends on lower levels only.
std::optional<Ticks> PathBounds::age_of_started(int level) {
  Ticks oldest = 0;
  for (const std::size_t callback : work(level).before_sets()) {
    const auto age = age_of(callback, false);
    if (!age) {
      return std::nullopt;
    }
    oldest = std::max(oldest, *age);
  }
  return oldest;
}

/// Two counts of the sets bound the response; the lower result holds.
PathBound PathBounds::bound(const Path& path) {
  PathBound result = bound(path, std::nullopt);
  if (result.overloaded || work(path.level).before_sets().empty()) {
    return result;
  }
  if (const auto age = age_of_started(path.level)) {
    PathBound other = bound(path, age);
    if (other.response && (!result.response || *other.response < *result.response)) {
      return other;
    }
  }
  return result;
}

/// Returns what may have started before the busy period; the bound is the largest of all.
///
/// Suppose that a callback which an earlier release of the path's own timer has triggered is running
/// when the busy period begins. That release is at most its age before the begin, and the next one
/// is a period later. So the first release in the busy period is no earlier than the period less the
/// age, and finds that much of the callback's work done.
std::vector<PathBounds::Before> PathBounds::befores_of(const Path& path, bool with_sets) {
  const LevelWork& level = work(path.level);
  const WithSets with = with_sets ? WithSets::kYes : WithSets::kNo;
  Started others;
  Started own;
  std::vector<std::size_t> later;  // of the path's timer, with more work than `others`
  const auto take_longer = [&](std::size_t callback, Started& longest) {
    if (const Ticks left = level.left(callback, with); left > longest.work) {
      longest = {left, callback};
    }
  };
  const auto is_own = [&](std::size_t callback) {
    return workload_.source[callback] == workload_.timers[path.timer] &&
           level.follows(callback);
  };
  for (std::size_t i = 0; i < here_.size(); ++i) {
    if (level.left(i, with) > others.work && !is_own(i)) {
      take_longer(i, others);
    }
  }
  Ticks age = 0;
  for (std::size_t i = 0; i < here_.size(); ++i) {
    if (level.left(i, with) > others.work) {
      take_longer(i, own);
      age = std::max(age, age_of(i, true).value_or(kHorizon));
    }
  }
  const auto before = [this](const Started& started, Ticks earliest) {
    return Before{started.work > 0 ? std::optional(started) : std::nullopt,
                  std::max(-jitter_, earliest)};
  };
  const Ticks earliest = workload_.period[path.timer] - age;
  if (own.work == 0) {
    return {before(others, -jitter_)};
  }
  if (earliest <= -jitter_) {
    return {before(own, -jitter_)};
  }
  return {before(others, -jitter_), before(own, earliest)};
}

PathBound PathBounds::bound(const Path& path, std::optional<Ticks> age) {
  PathBound longest;
  longest.response = -1;
  for (const Before& before : befores_of(path, !age)) {
    PathBound one = bound(path, age, before);
    if (!one.response) {
      return one;
    }
    if (*one.response > *longest.response) {
      longest = std::move(one);
    }
  }
  return longest;
}

PathBound PathBounds::bound(const Path& path, std::optional<Ticks> age, const Before& before) {
  Terms terms = terms_of(path, age, before);
  if (terms.load.compare_with_one() > 0) {
    PathBound none;
    none.overloaded = true;
    none.note =
        "the load of priority " + std::to_string(path.level) + " and above is more than the core";
    return none;
  }
  // An age is an aid for many chains, and must leave them their steps.
  const std::int64_t most = in_age_ ? budget_.left() / 64 : std::int64_t{400'000'000};
  Budget budget = budget_.part(budget_.empty() ? 0 : std::min(budget_.left(), most));
  auto result = worst_in_busy_period(path, terms, budget);
  if (!terms.ordered.empty() && !budget.empty()) {
    terms.others.rewind();
    auto other = worst_in_order(path, terms, budget);
    if (other && (!result || *other->response < *result->response)) {
      result = std::move(other);
    }
  }
  budget_.take(static_cast<std::size_t>(budget.used()));
  if (!result) {  // the worst of the first instances is no bound
    result.emplace();
    result->note = "the busy period is too long to follow";
  }
  return *std::move(result);
}

/// Returns std::nullopt when the busy period is too long to follow.
std::optional<PathBound> PathBounds::worst_in_busy_period(const Path& path, Terms& terms,
                                                          Budget& budget) const {
  const Ticks period = workload_.period[path.timer];
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
    const Ticks release = sum(product(q, period), terms.before.earliest);
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
    // The busy period ends when all work of this instance is done before the next one arrives.
    // Releases up to that time also delay the callbacks after the last one.
    const Ticks next = release + period;
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

/// Returns the same with Terms::ordered.
///
/// Each instance of a path of one callback is examined at the times at which one more release
/// precedes it. In a longer path, the last callback is released when all work of the busy period
/// but its own is done, or earlier; this depends on no time of arrival.
std::optional<PathBound> PathBounds::worst_in_order(const Path& path, Terms& terms,
                                                    Budget& budget) const {
  const Ticks period = workload_.period[path.timer];
  const Ticks started = started_work(terms);
  const Ticks last_job = jobs_to_follow(path, terms);
  const bool single = path.last == workload_.timers[path.timer];
  PathBound result;
  result.response = 0;
  Ticks worst = -1;
  Ticks w = 1;
  Ticks before = sum(started, terms.instant);  // the end of all work but the last callback's
  {
    const auto first = fixed_point(before, std::max<Ticks>(before, 1), terms.others, budget);
    if (!first) {
      return std::nullopt;
    }
    before = *first;
  }
  for (Ticks q = 0; q < last_job; ++q) {
    const Ticks release = sum(product(q, period), terms.before.earliest);
    if (release > kHorizon / 2) {
      return std::nullopt;
    }
    if (before - terms.instant <= release) {
      break;
    }
    const Ticks constant = sum(sum(product(q, terms.head - terms.early), terms.own_first),
                               sum(started, terms.instant));
    const auto all =
        fixed_point(sum(constant, terms.after), std::max(before, sum(constant, terms.after)),
                    terms.others, budget);
    if (!all) {
      return std::nullopt;
    }
    const Ticks last_arrival = std::min(release + jitter_ + period, *all);
    Ticks arrival = single ? std::max<Ticks>(0, release + jitter_) : before;
    while (true) {
      const auto work = [&](Ticks t) {
        Ticks total = sum(constant, terms.unordered.at(t));
        for (const Terms::Ordered& each : terms.ordered) {
          total = sum(total,
                      product(std::min(each.before(t), each.until(arrival)), each.work));
        }
        return total;
      };
      const auto end = fixed_point(std::max({w, constant, Ticks{1}}),
                                   terms.unordered.size() + 2 * terms.ordered.size(), budget, work);
      if (!end) {
        return std::nullopt;
      }
      w = *end - terms.instant;
      const Ticks nominal = single ? std::max(release, arrival - jitter_) : release;
      if (w - nominal > worst) {
        worst = w - nominal;
        result = explain(path, terms, q, *end, arrival);
        result.waited = nominal;
        result.response = worst;
      }
      if (!single) {
        break;
      }
      Ticks next = kHorizon;
      for (const Terms::Ordered& each : terms.ordered) {
        next = std::min(next, each.next(arrival));
      }
      if (next >= last_arrival) {
        break;
      }
      arrival = next;
    }
    before = *all;
  }
  return result;
}

/// Returns the work that delays a busy period once.
Ticks PathBounds::started_work(const Terms& terms) const {
  const Ticks started = terms.before.started ? terms.before.started->work : 0;
  return sum(started, sum(workload_.first_poll, workload_.stall));
}

/// Returns how many instances of the path's timer have to be examined at most.
Ticks PathBounds::jobs_to_follow(const Path& path, const Terms& terms) const {
  // At a load of exactly 1 everything repeats after a hyperperiod.
  const auto hyperperiod =
      terms.load.compare_with_one() == 0 ? terms.load.hyperperiod() : std::nullopt;
  return hyperperiod ? std::max<Ticks>(1, *hyperperiod / workload_.period[path.timer]) : kHorizon;
}

/// `end`: of the busy window, the instant of Terms included. `arrival`: of the last callback, as far
/// as releases of Terms::ordered that come later count no work.
PathBound PathBounds::explain(const Path& path, const Terms& terms, Ticks q, Ticks end,
                              Ticks arrival) const {
  const LevelWork& level = levels_.at(path.level);
  PathBound result;
  const auto after_it = [&](std::size_t timer) {  // work that counts for earlier releases only
    Ticks work = 0;
    for (const Terms::Ordered& each : terms.ordered) {
      if (each.timer == timer && arrival < kHorizon) {
        const Ticks later = std::max<Ticks>(0, each.before(end) - each.until(arrival));
        work = product(later, each.work);
      }
    }
    return work;
  };
  const std::size_t timer = workload_.timers[path.timer];
  const Ticks releases = std::max(q + 1, ceil_div(end + jitter_, workload_.period[path.timer]));
  const Ticks overtaking = product(releases - q - 1, terms.early) - after_it(path.timer);
  const Ticks before = product(q, terms.head);
  result.why.push_back(
      {Contribution::Kind::kOwn, timer, releases, sum(before, sum(terms.own, overtaking))});
  for (const std::size_t k : timers_) {
    const Ticks head = level.head(workload_.timers[k]);
    if (k == path.timer || head == 0) {
      continue;
    }
    const Ticks time = std::max<Ticks>(0, end + jitter_of(k, path));
    const Ticks count = ceil_div(time, workload_.period[k]);
    if (count > 0) {
      result.why.push_back({Contribution::Kind::kInterference, workload_.timers[k], count,
                            product(count, head) - after_it(k)});
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

/// Adds the time lost in each millisecond, for any phase of the milliseconds.
void PathBounds::add_background(Terms& terms) const {
  if (workload_.background == 0) {
    return;
  }
  terms.load.add(workload_.background, kMillisecond);
  terms.others.add(workload_.background, kMillisecond, kMillisecond);
  terms.unordered.add(workload_.background, kMillisecond, kMillisecond);
}

Ticks PathBounds::most_pending(std::size_t callback) {
  const auto& inputs = workload_.graph.publishers[callback];
  if (inputs.empty()) {
    return pending_by(callback, {callback});
  }
  Ticks most = 0;
  for (const auto& input : inputs) {
    most = std::max(most, pending_by(callback, input));
  }
  return most;
}

/// Returns the most pending instances that messages of these publishers release; for a timer, its
/// own.
Ticks PathBounds::pending_by(std::size_t callback, const std::vector<std::size_t>& publishers) {
  struct Reached {
    int level;
    Ticks count;  // paths from here to the callback
  };
  std::map<std::size_t, Reached, std::greater<>> open;  // by position; the last ones first
  const auto reach = [&](std::size_t from, int level, Ticks count) {
    const int lowest = std::min(level, workload_.priority[from]);
    const auto [at, added] = open.try_emplace(positions_[from], Reached{lowest, count});
    if (added) {
      return;
    }
    at->second.level = std::min(at->second.level, lowest);
    at->second.count = sum(at->second.count, count);
  };
  for (const std::size_t from : publishers) {
    reach(from, workload_.priority[callback], 1);
  }
  Ticks most = 0;
  while (!open.empty()) {
    const std::size_t from = workload_.graph.order[open.begin()->first];
    const Reached reached = open.begin()->second;
    open.erase(open.begin());
    for (const auto& input : workload_.graph.publishers[from]) {
      for (const std::size_t before : input) {
        reach(before, reached.level, reached.count);
      }
    }
    if (workload_.source[from] != from) {
      continue;  // not a timer
    }
    const auto k = static_cast<std::size_t>(std::ranges::find(workload_.timers, from) -
                                            workload_.timers.begin());
    const PathBound path = bound({k, callback, reached.level, {}});
    if (!path.response) {
      return kHorizon;
    }
    const Ticks within = sum(*path.response, workload_.return_delay(callback));
    most = sum(most, product(reached.count, ceil_div(within, workload_.period[k])));
  }
  return most;
}

}  // namespace rclrt::analysis::detail

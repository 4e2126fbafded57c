// SPDX-License-Identifier: Apache-2.0
#include "path_bound.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace rclrt::analysis::detail {

namespace {

/// Returns the rate for an interval as text, "250 Hz" or "once in 3 s".
std::string rate_text(Ticks interval) {
  constexpr Ticks kSecond = 1'000'000'000;
  return interval <= kSecond
             ? std::to_string((kSecond + interval / 2) / interval) + " Hz"
             : "once in " + std::to_string((interval + kSecond / 2) / kSecond) + " s";
}

}  // namespace

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

/// The terms of the recurrences of one path.
struct PathBounds::Terms {
  Load load;
  Demand others{Count::kBefore};
  Ticks head{};       ///< work of one release, without what syncs bring
  Ticks own{};        ///< of it, what the path's last callback waits for, itself included
  Ticks early{};      ///< of it, what a later instance may do before the one under study ends
  Ticks own_first{};  ///< `own`, in addition to `early`
  Ticks after{};      ///< work that follows the last callback and starts after its end
  Ticks started{};    ///< what has started before the busy period and is not preempted
  Ticks instant{};    ///< 1: the end is an instant later than the work
};

PathBounds::Terms PathBounds::terms_of(const Path& path) {
  const LevelWork& level = work(path.level);
  Terms terms;
  for (const std::size_t k : timers_) {
    const Ticks head = level.head(workload_.timers[k]);
    terms.load.add(head, workload_.period[k]);
    if (k != path.timer && head > 0) {
      terms.others.add(head, workload_.period[k], jitter_);
    }
  }
  add_background(terms.load, terms.others);
  const std::size_t timer = workload_.timers[path.timer];
  const Ticks period = workload_.period[path.timer];
  // Work behind syncs arrives when a set is complete, possibly before the release under study.
  const Ticks paired = level.behind_syncs(timer);
  terms.head = level.head(timer) - paired;
  const auto alone = [&](std::size_t callback) {
    return level.head(callback) - level.behind_syncs(callback);
  };
  terms.others.add(paired, period, jitter_);
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
    if (workload_.priority[to] > workload_.priority[path.last]) {
      terms.instant = 1;
    } else if (counted && !interrupted && workload_.graph.publishers[to].size() <= 1) {
      terms.after = sum(terms.after, alone(to) - workload_.dispatch);
    }
  }
  terms.own = terms.head - std::min(terms.after, terms.head);
  // A later instance may overtake with all callbacks but the last, which keeps the order of
  // releases. Queueing it still delays whatever runs.
  terms.early = terms.head;
  if (counted) {
    terms.early -= std::min(alone(path.last) - workload_.dispatch, terms.head);
  }
  terms.own_first = terms.own - std::min(terms.own, terms.early);
  terms.others.add(terms.early, period, jitter_);
  terms.started =
      sum(level.started() ? level.started()->work : 0, sum(workload_.first_poll, workload_.stall));
  return terms;
}

PathBound PathBounds::bound(const Path& path) {
  Terms terms = terms_of(path);
  if (terms.load.compare_with_one() > 0) {
    PathBound none;
    none.note = why_too_much(path);
    return none;
  }
  Budget budget =
      budget_.part(budget_.empty() ? 0 : std::min<std::int64_t>(budget_.left(), 400'000'000));
  auto result = worst_in_busy_period(path, terms, budget);
  budget_.take(static_cast<std::size_t>(budget.used()));
  if (!result) {  // the worst of the first instances is no bound
    result.emplace();
    result->note = "the busy period is too long to follow";
  }
  return *std::move(result);
}

/// Returns the reason why the counted load of a level is more than the core.
std::string PathBounds::why_too_much(const Path& path) {
  const LevelWork& level = work(path.level);
  Load without_syncs;
  for (const std::size_t k : timers_) {
    const std::size_t timer = workload_.timers[k];
    without_syncs.add(level.head(timer) - level.behind_syncs(timer), workload_.period[k]);
  }
  if (workload_.background > 0) {
    without_syncs.add(workload_.background, kMillisecond);
  }
  std::string load =
      "the load of priority " + std::to_string(path.level) + " and above is more than the core";
  if (without_syncs.compare_with_one() > 0) {
    return load;
  }
  std::optional<std::size_t> largest;  // the synchroniser that brings the most load
  double most = -1;
  Ticks often = 1;
  for (std::size_t i = 0; i < here_.size(); ++i) {
    if (!here_[i] || workload_.graph.publishers[i].size() < 2 || !workload_.source[i]) {
      continue;
    }
    const std::size_t source = *workload_.source[i];
    const Ticks period = model::min_interval(workload_.application.callbacks[source]).count();
    const double own = static_cast<double>(level.head(i)) / static_cast<double>(period);
    if (own > most) {
      largest = i;
      most = own;
      often = period;
    }
  }
  if (!largest) {
    return load;
  }
  return "the synchroniser '" + workload_.application.callbacks[*largest].id +
         "' is counted at the rate of its fastest input, " + rate_text(often) + "; counted so, " +
         load;
}

/// Returns std::nullopt when the busy period is too long to follow.
std::optional<PathBound> PathBounds::worst_in_busy_period(const Path& path, Terms& terms,
                                                          Budget& budget) const {
  const Ticks period = workload_.period[path.timer];
  // At a load of exactly 1 everything repeats after a hyperperiod.
  const auto hyperperiod =
      terms.load.compare_with_one() == 0 ? terms.load.hyperperiod() : std::nullopt;
  const Ticks last_job = hyperperiod ? *hyperperiod / period : kHorizon;
  PathBound result;
  Ticks w = 1;
  Ticks worst = -1;
  for (Ticks q = 0; q < std::max<Ticks>(1, last_job); ++q) {
    const Ticks constant = sum(sum(product(q, terms.head - terms.early), terms.own_first),
                               sum(terms.started, terms.instant));
    const auto end = fixed_point(constant, std::max({w, constant, Ticks{1}}), terms.others, budget);
    const Ticks release = product(q, period);
    if (!end || release > kHorizon / 2) {
      return std::nullopt;
    }
    w = *end - terms.instant;
    if (w - release > worst) {
      worst = w - release;
      result = explain(path, q, w, terms.own, terms.early);
      result.response = sum(worst, jitter_);
    }
    // The busy period ends when all work of this instance is done before the next one arrives.
    // Releases up to that time also delay the callbacks after the last one.
    const Ticks next = release + period - jitter_;
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

PathBound PathBounds::explain(const Path& path, Ticks q, Ticks w, Ticks own, Ticks early) const {
  const LevelWork& level = levels_.at(path.level);
  PathBound result;
  result.waited = product(q, workload_.period[path.timer]) - jitter_;
  const std::size_t timer = workload_.timers[path.timer];
  const Ticks releases = std::max(q + 1, ceil_div(w + jitter_, workload_.period[path.timer]));
  const Ticks overtaking = product(releases - q - 1, early);
  const Ticks paired = level.behind_syncs(timer);
  const Ticks before = product(q, level.head(timer) - paired);
  const Ticks pairs = product(ceil_div(w + jitter_, workload_.period[path.timer]), paired);
  result.why.push_back(
      {Contribution::Kind::kOwn, timer, releases, sum(sum(before, pairs), sum(own, overtaking))});
  for (const std::size_t k : timers_) {
    const Ticks head = level.head(workload_.timers[k]);
    if (k == path.timer || head == 0) {
      continue;
    }
    const Ticks count = ceil_div(w + jitter_, workload_.period[k]);
    result.why.push_back(
        {Contribution::Kind::kInterference, workload_.timers[k], count, product(count, head)});
  }
  if (level.started()) {
    result.why.push_back(
        {Contribution::Kind::kStarted, level.started()->callback, 1, level.started()->work});
  }
  if (workload_.background > 0) {
    const Ticks count = ceil_div(w + kMillisecond, kMillisecond);
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
void PathBounds::add_background(Load& load, Demand& demand) const {
  if (workload_.background == 0) {
    return;
  }
  load.add(workload_.background, kMillisecond);
  demand.add(workload_.background, kMillisecond, kMillisecond);
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
    const PathBound path = bound({k, callback, reached.level});
    if (!path.response) {
      return kHorizon;
    }
    const Ticks within = sum(*path.response, workload_.return_delay(callback));
    most = sum(most, product(reached.count, ceil_div(within, workload_.period[k])));
  }
  return most;
}

}  // namespace rclrt::analysis::detail

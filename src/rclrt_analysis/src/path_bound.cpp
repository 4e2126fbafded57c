// SPDX-License-Identifier: Apache-2.0
#include "path_bound.hpp"

#include <algorithm>
#include <utility>

namespace rclrt::analysis::detail {

PathBounds::PathBounds(const Workload& workload, std::vector<std::size_t> timers, Ticks jitter,
                       Effort effort)
    : workload_(workload),
      timers_(std::move(timers)),
      jitter_(jitter),
      budget_(effort),
      positions_(workload.wcet.size()) {
  for (std::size_t i = 0; i < positions_.size(); ++i) positions_[workload.graph.order[i]] = i;
}

const LevelWork& PathBounds::work(int level) {
  auto at = levels_.find(level);
  if (at == levels_.end()) at = levels_.emplace(level, LevelWork(workload_, level)).first;
  return at->second;
}

PathBound PathBounds::bound(const Path& path) {
  const LevelWork& level = work(path.level);
  Load load;
  Demand others(Count::kBefore);
  for (const std::size_t k : timers_) {
    const Ticks head = level.head(workload_.timers[k]);
    load.add(head, workload_.period[k]);
    if (k != path.timer && head > 0) others.add(head, workload_.period[k], jitter_);
  }
  add_background(load, others);
  PathBound result;
  if (load.compare_with_one() > 0) {
    result.note =
        "the load of priority " + std::to_string(path.level) + " and above is more than the core";
    return result;
  }
  const std::size_t timer = workload_.timers[path.timer];
  const Ticks period = workload_.period[path.timer];
  // What syncs bring comes when a pair is complete, be it before the release under study.
  const Ticks paired = level.behind_syncs(timer);
  const Ticks head = level.head(timer) - paired;
  const auto alone = [&](std::size_t callback) {
    return level.head(callback) - level.behind_syncs(callback);
  };
  others.add(paired, period, jitter_);
  // What follows the last callback and is not more urgent starts after its end.
  Ticks after = 0;
  // The last callback returns after the more urgent ones that it has released: that takes an
  // instant, and what is released at that very time comes first. The same if it does no work.
  Ticks instant = workload_.wcet[path.last] == 0 ? 1 : 0;
  const bool interrupted = workload_.order == Workload::Order::kAny;
  if (interrupted) instant = 1;
  // Nor does it return before a scheduler thread has seen to what it released.
  if (workload_.scheduler > 0 && !workload_.graph.successors[path.last].empty()) instant = 1;
  const bool counted =
      level.counted(path.last) && workload_.source[path.last] == timer && level.follows(path.last);
  for (const std::size_t to : workload_.graph.successors[path.last]) {
    if (workload_.priority[to] > workload_.priority[path.last]) instant = 1;
    if (!counted || interrupted || workload_.priority[to] > workload_.priority[path.last]) continue;
    if (workload_.graph.publishers[to].size() > 1) continue;
    after = sum(after, alone(to) - workload_.dispatch);
  }
  const Ticks own = head - std::min(after, head);
  // A later instance may overtake with all but the last callback, which keeps the order of
  // releases; a scheduler thread still sees to it at once.
  const Ticks early =
      counted ? head - std::min(alone(path.last) - workload_.scheduler, head) : head;
  const Ticks own_first = own - std::min(own, early);  // of a release, in addition to `early`
  others.add(early, period, jitter_);
  const Ticks started =
      sum(level.started() ? level.started()->work : 0, sum(workload_.first_poll, workload_.stall));
  // At a load of exactly 1 everything repeats after a hyperperiod.
  const auto hyperperiod = load.compare_with_one() == 0 ? load.hyperperiod() : std::nullopt;
  const Ticks last_job = hyperperiod ? *hyperperiod / period : kHorizon;
  Budget budget =
      budget_.part(budget_.empty() ? 0 : std::min<std::int64_t>(budget_.left(), 400'000'000));
  // The worst of the first instances is no bound.
  const auto too_long = [&] {
    budget_.take(static_cast<std::size_t>(budget.used()));
    PathBound none;
    none.note = "the busy period is too long to follow";
    return none;
  };
  Ticks w = 1;
  Ticks worst = -1;
  for (Ticks q = 0; q < std::max<Ticks>(1, last_job); ++q) {
    const Ticks constant = sum(sum(product(q, head - early), own_first), sum(started, instant));
    const auto end = fixed_point(constant, std::max({w, constant, Ticks{1}}), others, budget);
    const Ticks release = product(q, period);
    if (!end || release > kHorizon / 2) return too_long();
    w = *end - instant;
    if (w - release > worst) {
      worst = w - release;
      result = explain(path, q, w, own, early);
      result.response = sum(worst, jitter_);
    }
    // The busy period ends when all work of this instance is done before the next one comes; what
    // follows the last callback is delayed by the releases up to then, too.
    const Ticks next = release + period - jitter_;
    if (sum(w, after) > next) continue;
    const auto all = fixed_point(sum(constant, after), *end, others, budget);
    if (!all) return too_long();
    w = *all - instant;
    if (w <= next) break;
  }
  budget_.take(static_cast<std::size_t>(budget.used()));
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
    if (k == path.timer || head == 0) continue;
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

/// What is lost in each millisecond, wherever the milliseconds begin.
void PathBounds::add_background(Load& load, Demand& demand) const {
  if (workload_.background == 0) return;
  load.add(workload_.background, kMillisecond);
  demand.add(workload_.background, kMillisecond, kMillisecond);
}

Ticks PathBounds::most_pending(std::size_t callback) {
  const auto& inputs = workload_.graph.publishers[callback];
  if (inputs.empty()) return pending_by(callback, {callback});
  Ticks most = 0;
  for (const auto& input : inputs) most = std::max(most, pending_by(callback, input));
  return most;
}

/// Those which messages of these publishers release; of a timer, itself.
Ticks PathBounds::pending_by(std::size_t callback, const std::vector<std::size_t>& publishers) {
  struct Reached {
    int level;
    Ticks count;  // ways from here to the callback
  };
  std::map<std::size_t, Reached, std::greater<>> open;  // by position; the last ones first
  const auto reach = [&](std::size_t from, int level, Ticks count) {
    const int lowest = std::min(level, workload_.priority[from]);
    const auto [at, added] = open.try_emplace(positions_[from], Reached{lowest, count});
    if (added) return;
    at->second.level = std::min(at->second.level, lowest);
    at->second.count = sum(at->second.count, count);
  };
  for (const std::size_t from : publishers) reach(from, workload_.priority[callback], 1);
  Ticks most = 0;
  while (!open.empty()) {
    const std::size_t from = workload_.graph.order[open.begin()->first];
    const Reached reached = open.begin()->second;
    open.erase(open.begin());
    for (const auto& input : workload_.graph.publishers[from]) {
      for (const std::size_t before : input) reach(before, reached.level, reached.count);
    }
    if (workload_.source[from] != from) continue;  // not a timer
    const auto k = static_cast<std::size_t>(std::ranges::find(workload_.timers, from) -
                                            workload_.timers.begin());
    const PathBound path = bound({k, callback, reached.level});
    if (!path.response) return kHorizon;
    const Ticks within = sum(*path.response, workload_.wcet[callback] == 0 ? 1 : 0);
    most = sum(most, product(reached.count, ceil_div(within, workload_.period[k])));
  }
  return most;
}

}  // namespace rclrt::analysis::detail

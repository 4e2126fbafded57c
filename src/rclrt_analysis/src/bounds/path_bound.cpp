// SPDX-License-Identifier: Apache-2.0
#include "bounds/path_bound.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
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
  by_release_ = runs_by_release();
  for (std::size_t i = 0; by_release_ && i < here_.size(); ++i) {
    const Ticks work = here_[i] ? sum(workload.wcet[i], workload.dispatch) : 0;
    if (work > longest_.work) {
      longest_ = {work, i};
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

/// Returns the longest time from the release of a callback's timer to the end of the callback, or
/// with `before_successors` to the end of its own work. nullopt if no single timer releases it, or
/// if there is no bound.
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

/// Returns a bound on the age of work that has started but not ended when a busy period of the
/// level begins, and that completes sets of syncs: how long ago its release may be. nullopt without
/// a bound. The result depends only on bounds of lower levels.
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

/// Returns the callbacks that may be running when the busy period begins, with what is known about
/// the first release in it. The bound of the path is the largest over all of them.
///
/// Suppose that a callback which an earlier release of the path's own timer has triggered is
/// running when the busy period begins. That release is at most its age before the begin, and the
/// next one is a period later, or for an event its shortest interval. So the first release in the
/// busy period is no earlier than this time less the age, and finds that much of the callback's
/// work done.
std::vector<BeforePath> PathBounds::befores_of(const Path& path, bool with_sets) {
  const LevelWork& level = work(path.level);
  const WithSets with = with_sets ? WithSets::kYes : WithSets::kNo;
  const auto is_own = [&](std::size_t callback) {
    return workload_.source[callback] == workload_.timers[path.timer] && level.follows(callback);
  };
  Started others;
  for (std::size_t i = 0; i < here_.size(); ++i) {
    if (level.left(i, with) > others.work && !is_own(i)) {
      others = {level.left(i, with), i};
    }
  }
  Started own;  // with more work than `others`
  Ticks age = 0;
  for (std::size_t i = 0; i < here_.size(); ++i) {
    const Ticks left = level.left(i, with);
    if (left <= others.work) {
      continue;
    }
    if (left > own.work) {
      own = {left, i};
    }
    age = std::max(age, age_of(i, true).value_or(kHorizon));
  }
  const auto before = [](const Started& started, Ticks earliest) {
    return BeforePath{started.work > 0 ? std::optional(started) : std::nullopt, earliest, {}};
  };
  const Ticks earliest = workload_.distance[path.timer] - age;
  if (own.work > 0 && earliest <= -jitter_) {
    return {before(own, -jitter_)};
  }
  std::vector<BeforePath> all{before(others, -jitter_)};
  if (own.work > 0) {
    all.push_back(before(own, earliest));
  }
  return all;
}

PathBound PathBounds::bound(const Path& path, std::optional<Ticks> age) {
  PathBound longest;
  longest.response = -1;
  for (const BeforePath& before : befores_of(path, !age)) {
    PathBound one = bound(path, age, before);
    if (!one.response) {
      return one;
    }
    one = bound_by_offsets(path, age, before, std::move(one));
    if (*one.response > *longest.response) {
      longest = std::move(one);
    }
  }
  return longest;
}

namespace {

/// Returns how much of the CPU the machine's background takes, as the end of a sentence; empty if
/// that is little.
std::string background_in(const Workload& workload) {
  if (workload.background < kMillisecond / 20) {
    return {};
  }
  std::array<char, 32> share{};
  std::snprintf(share.data(), share.size(), "%.1f %%",
                100.0 * static_cast<double>(workload.background) / kMillisecond);
  return std::string(", of which the machine's background takes ") + share.data() +
         " (background_us of the overheads; was the machine busy when it was calibrated?)";
}

}  // namespace

PathBound PathBounds::bound(const Path& path, std::optional<Ticks> age, const BeforePath& before) {
  PathTerms terms = terms_of(path, age, before);
  if (terms.load.compare_with_one() > 0) {
    PathBound none;
    none.overloaded = true;
    none.note = "the load of priority " + std::to_string(path.level) +
                " and above is more than the core" + background_in(workload_);
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
  gave_up_ = gave_up_ || (budget.empty() && !in_age_);
  budget_.take(static_cast<std::size_t>(budget.used()));
  if (before.first_releases.empty() && !budget_.empty()) {
    Budget by_sets = budget_.part(std::min(budget_.left() / 64, steps_by_sets()));
    auto other = lowest_by_order(path, terms, result ? *result->response : kHorizon, by_sets);
    if (other) {
      result = std::move(other);
    }
    budget_.take(static_cast<std::size_t>(by_sets.used()));
  }
  if (!result) {  // the worst of the first instances is no bound
    result.emplace();
    result->note = "the busy period is too long to follow";
  }
  return *std::move(result);
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

/// Returns the most instances of the callback that are pending because of messages of these
/// publishers. For a timer or event, `publishers` has only the callback itself.
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
    most = sum(most, product(reached.count, workload_.releases(k, 0).before(within)));
  }
  return most;
}

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
// The search for the worst busy period where the application states the offsets of timers.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "bounds/path_bound.hpp"
#include "bounds/path_terms.hpp"

namespace rclrt::analysis::detail {
namespace {

/// Limits of one search: the number of busy periods that are examined, the number of timers with
/// offsets that are used, and the number of steps, of which about 300 take a microsecond.
constexpr Ticks kMostStarts = 2000;
constexpr std::size_t kMostInPhase = 64;
constexpr std::int64_t kMostSteps = 2'000'000;

}  // namespace

/// Returns the lower of two bounds: `any_offsets`, and the bound that uses stated offsets of
/// timers.
///
/// Let a busy period start at time s, and let n be the first nominal release of a timer with a
/// stated offset that is no earlier than s - J, for the timer jitter J. No such timer has a nominal
/// release from s - J to n. So the busy period that starts at n + J, with nominal releases from n
/// on, has at least the same releases up to any time, and ends no earlier. Timers without a stated
/// offset may be released as early after n + J as they might after s. So the longest response is
/// found in one of the busy periods that start J after a nominal release of a timer with a stated
/// offset. Tindell, "Adding time-offsets to schedulability analysis", University of York, YCS 221,
/// 1994.
///
/// Let n be a release of timer f, and let H be a multiple of f's period. The releases of f in one H
/// are examined, so n is known modulo H. Let k be another timer with period T and a stated offset.
/// The time from n to any release of k is known modulo gcd(T, H): H and T are multiples of it. So
/// the first release of k from n on is no earlier than that remainder. If T divides H, this is its
/// release; otherwise it may be later, which only shortens responses.
PathBound PathBounds::bound_by_offsets(const Path& path, std::optional<Ticks> age,
                                       const BeforePath& before, PathBound any_offsets) {
  const std::vector<std::size_t> in_phase = timers_in_phase(path);
  const auto offset = [&](std::size_t timer) {
    return *stated_offset(workload_.application.callbacks[workload_.timers[timer]]);
  };
  const std::int64_t steps_before = budget_.left();
  Budget by_sets = budget_.part(std::min(budget_.left() / 64, steps_by_sets() / 4));
  auto left = static_cast<Ticks>(in_phase.size());
  Ticks starts = 0;
  PathBound worst;
  worst.response = -1;
  for (const std::size_t first : in_phase) {
    const Ticks hyperperiod = hyperperiod_of(first, in_phase, (kMostStarts - starts) / left--);
    for (Ticks number = 0; number < hyperperiod / workload_.period[first]; ++number, ++starts) {
      BeforePath start = before;
      start.first_releases.resize(workload_.timers.size());
      const Ticks release = offset(first) + (number * workload_.period[first]);
      for (const std::size_t timer : in_phase) {
        const Ticks known = std::gcd(workload_.period[timer], hyperperiod);
        start.first_releases[timer] = from_release_to(release, offset(timer), known) - jitter_;
      }
      start.earliest = start.first_releases[path.timer].value_or(before.earliest);
      if (start.first_releases[path.timer]) {
        start.apart = std::gcd(workload_.period[path.timer], hyperperiod);
      }
      PathBound one = bound(path, age, start);
      if (one.response && *one.response > *worst.response) {
        lower_by_sets(path, age, start, by_sets, one);
      }
      const bool spent = steps_before - budget_.left() > kMostSteps;
      if (!one.response || *one.response >= *any_offsets.response || spent) {
        return any_offsets;
      }
      if (*one.response > *worst.response) {
        worst = std::move(one);
      }
    }
  }
  return in_phase.empty() ? any_offsets : worst;
}

/// Lowers the bound of the busy period that begins with `start` to that of ready sets, if that is
/// lower.
///
/// The proof above moves the begin of a busy period to the next release of a timer with a stated
/// offset, and all timers without one by the same time d. The releases before that of the path
/// (path_ready_sets.cpp) are the same if that is moved, too, or if all are of timers with stated
/// offsets. Otherwise some timers without a stated offset were released up to d earlier, so the
/// sets do not limit them here. All other work is at least what it was at any time from the begin
/// on, and the path is released d earlier after it: its response is at least as long as before.
///
/// Callbacks are counted by their place behind their timer, on any executor. So the executor must
/// be alone: a chain that leaves and comes back would have a place that says nothing about sets.
void PathBounds::lower_by_sets(const Path& path, std::optional<Ticks> age, const BeforePath& start,
                               Budget& budget, PathBound& found) {
  if (workload_.order != Workload::Order::kAnyToTheEnd || !has_own_queues(path) ||
      here_.size() > kMostInOrder || budget.empty()) {
    return;
  }
  PathTerms terms = terms_of(path, age, start);
  const auto end_of_all = end_of_arrivals(path, terms, budget);
  if (!end_of_all) {
    return;
  }
  auto limited = limited_by_sets(path);
  for (std::size_t timer = 0; start.apart > 0 && timer < limited.size(); ++timer) {
    if (timer != path.timer && !start.first_releases[timer]) {
      limited[timer].clear();
    }
  }
  auto other = lowest_by_sets(path, terms, limited, *end_of_all, *found.response, budget);
  if (other) {
    found = std::move(other.value());
  }
}

/// Returns the same as worst_by_sets(), for a path of which the releases are known: they come at
/// BeforePath::earliest and multiples of BeforePath::apart after that. The response is 0 if none
/// comes in the busy period.
///
/// Another timer with a stated offset has a known phase to the path's release, too, modulo the
/// greatest common divisor of both periods. Its first release in the busy period is no earlier than
/// both phases let it be.
std::optional<PathBound> PathBounds::worst_in_phase(const Path& path, const PathTerms& terms,
                                                    const ReadySets& sets, Budget& budget) const {
  PathBound result;
  result.response = 0;
  PathTerms at = terms;
  Ticks least = 1;  // start of the last release, which only grows without the other phases
  for (Ticks nominal = terms.before.earliest; nominal + jitter_ < sets.end_of_arrivals;
       nominal += terms.before.apart) {
    const Ticks arrival = nominal + jitter_;
    const auto latest = start_by_sets(path, terms, sets, arrival, least, budget);
    const auto latest_end = latest ? end_of_last(path, *latest, budget) : std::nullopt;
    if (!latest_end) {
      return std::nullopt;
    }
    least = *latest;
    if (*latest_end - nominal <= *result.response) {
      continue;
    }
    for (std::size_t i = 0; i < terms.timers.size(); ++i) {
      at.timers[i].releases = in_phase_with(path, nominal, terms.timers[i], terms.before);
    }
    const auto found = start_by_sets(path, at, sets, arrival, 1, budget);
    const auto end = found ? end_of_last(path, *found, budget) : std::nullopt;
    if (!end || *end - nominal >= sets.limit) {
      return std::nullopt;
    }
    if (*end - nominal > *result.response) {
      result = explain_sets(path, at, sets, arrival, *found, *end);
      result.response = *end - nominal;
      result.waited = nominal;
    }
  }
  return result;
}

/// Returns the releases of a timer in a busy period in which the path's own timer has a nominal
/// release at `nominal`.
Releases PathBounds::in_phase_with(const Path& path, Ticks nominal, const PathTerms::Timer& timer,
                                   const BeforePath& before) const {
  if (timer.timer == path.timer || !before.first_releases[timer.timer]) {
    return timer.releases;
  }
  const auto offset = [&](std::size_t each) {
    return *stated_offset(workload_.application.callbacks[workload_.timers[each]]);
  };
  const Ticks period = workload_.period[timer.timer];
  const Ticks known = std::gcd(period, workload_.period[path.timer]);
  // No nominal release is counted before -jitter_.
  const Ticks next =
      from_release_to(offset(path.timer) - nominal - jitter_, offset(timer.timer), known) - jitter_;
  const Ticks first = std::max(*before.first_releases[timer.timer], next);
  return {period, -first, period, -first};
}

/// Returns a multiple of the timer's period that has at most `most` (or 1) of its releases, and has
/// many periods of the other timers as divisors.
Ticks PathBounds::hyperperiod_of(std::size_t timer, const std::vector<std::size_t>& others,
                                 Ticks most) const {
  Ticks result = workload_.period[timer];
  for (const std::size_t other : others) {
    const Ticks period = workload_.period[other];
    const Ticks all = product(result, period / std::gcd(result, period));
    if (all / workload_.period[timer] <= most) {
      result = all;
    }
  }
  return result;
}

/// Returns the timers with stated offsets that bound_by_offsets() uses, as indices into
/// Workload::timers; those with the longest periods, which have the fewest releases, are first.
/// Empty if offsets cannot lower the bound.
std::vector<std::size_t> PathBounds::timers_in_phase(const Path& path) {
  const LevelWork& level = work(path.level);
  std::vector<std::size_t> result;
  const auto take = [&](std::size_t timer) {
    const std::size_t callback = workload_.timers[timer];
    if (stated_offset(workload_.application.callbacks[callback]) &&
        (level.head(callback) > 0 || timer == path.timer) && result.size() < kMostInPhase) {
      result.push_back(timer);
    }
  };
  take(path.timer);
  for (const std::size_t timer : timers_) {
    if (timer != path.timer) {
      take(timer);
    }
  }
  if (result.size() < 2) {
    result.clear();
  }
  std::ranges::stable_sort(result, std::greater{},
                           [&](std::size_t timer) { return workload_.period[timer]; });
  return result;
}

}  // namespace rclrt::analysis::detail

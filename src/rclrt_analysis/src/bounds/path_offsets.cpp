// SPDX-License-Identifier: Apache-2.0
// The search for the worst busy period where the application states the offsets of timers.
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "bounds/path_bound.hpp"
#include "bounds/path_terms.hpp"

namespace rclrt::analysis::detail {
namespace {

/// Limits of one search: the number of busy periods that are examined, and the number of steps, of
/// which about 300 take a microsecond.
constexpr Ticks kMostStarts = 2000;
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
/// offset. They repeat after a hyperperiod of these timers. Tindell, "Adding time-offsets to
/// schedulability analysis", University of York, YCS 221, 1994.
PathBound PathBounds::bound_by_offsets(const Path& path, std::optional<Ticks> age,
                                       const BeforePath& before, PathBound any_offsets) {
  Ticks hyperperiod = 1;
  const std::vector<std::size_t> in_phase = timers_in_phase(path, hyperperiod);
  const std::int64_t steps_before = budget_.left();
  PathBound worst;
  worst.response = -1;
  for (const std::size_t first : in_phase) {
    for (Ticks number = 0; number < hyperperiod / workload_.period[first]; ++number) {
      BeforePath start = before;
      start.first_releases.resize(workload_.timers.size());
      const auto offset = [&](std::size_t timer) {
        return *stated_offset(workload_.application.callbacks[workload_.timers[timer]]);
      };
      const Ticks release = offset(first) + (number * workload_.period[first]);
      for (const std::size_t timer : in_phase) {
        start.first_releases[timer] =
            from_release_to(release, offset(timer), workload_.period[timer]) - jitter_;
      }
      start.earliest = start.first_releases[path.timer].value_or(before.earliest);
      PathBound one = bound(path, age, start);
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

/// Returns the timers with stated offsets that bound_by_offsets() uses, as indices into
/// Workload::timers, and sets `hyperperiod` to that of these timers. Empty if offsets cannot lower
/// the bound.
std::vector<std::size_t> PathBounds::timers_in_phase(const Path& path, Ticks& hyperperiod) {
  const LevelWork& level = work(path.level);
  std::vector<std::size_t> result;
  Ticks starts = 0;
  const auto take = [&](std::size_t timer) {
    const std::size_t callback = workload_.timers[timer];
    if (!stated_offset(workload_.application.callbacks[callback]) ||
        (level.head(callback) == 0 && timer != path.timer)) {
      return;
    }
    const Ticks period = workload_.period[timer];
    const Ticks factor = period / std::gcd(hyperperiod, period);
    const Ticks all = product(hyperperiod, factor);
    const Ticks more = sum(product(starts, factor), all / period);
    if (more <= kMostStarts) {
      starts = more;
      hyperperiod = all;
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
  return result;
}

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
// Trials that begin later than the application, where its releases meet.
#include <algorithm>
#include <utility>

#include "release_times.hpp"
#include "search_trials.hpp"

namespace rclrt::analysis::detail {

Part Trials::meeting(std::size_t own, Meeting how, std::int64_t after_ns) {
  Trial trial{.offsets_ns = stated_};
  std::vector<std::int64_t> distances_ns(stated_.size());
  for (const std::size_t source : fixed_) {
    distances_ns[source] = how == Meeting::kJustBefore ? -1
                           : how == Meeting::kTogether ? 0
                                                       : some_distance(source);
  }
  const std::int64_t unit_ns = below(2) == 0 ? longest_ns_ : period_ns(own);
  const std::int64_t lead_ns = unit_ns * (std::int64_t{1} << below(3));
  const std::int64_t time_ns = meeting_time(own, distances_ns, in_some_order({}), lead_ns);
  const std::int64_t release_ns = begin_before(trial, time_ns, lead_ns);
  for (const std::size_t source : free_) {
    const std::int64_t distance_ns = source == own || how == Meeting::kTogether ? 0
                                     : how == Meeting::kJustBefore ? -1
                                                                   : some_distance(source);
    const bool bunch = has_bunches(application_.callbacks[source]);
    trial.offsets_ns[source] = bunch ? std::max<std::int64_t>(release_ns + distance_ns, 0)
                                     : phase_of(release_ns + distance_ns, period_ns(source));
  }
  if (how == Meeting::kSome && below(2) == 0) {
    draw_times(trial);
  }
  return {std::move(trial), release_ns + 2 * longest_ns_ + std::min(after_ns, 8 * longest_ns_) + 1};
}

Part Trials::later_part(Trial trial, std::size_t own, std::int64_t release_ns,
                        std::int64_t end_ns) {
  const std::int64_t begin_ns = some_begin(trial, own, release_ns, end_ns);
  const std::int64_t lead_ns = release_ns - std::max(begin_ns, trial.warm_up_ns);
  std::vector<std::int64_t> distances_ns(stated_.size());
  for (const std::size_t source : fixed_) {
    distances_ns[source] = trial.offsets_ns[source] - release_ns;
  }
  std::vector<std::size_t> moved;  // first those with stated offsets
  for (std::size_t left = below(3); left > 0; --left) {
    const std::size_t source = sources_[below(sources_.size())];
    if (source != own && !is_free(source)) {
      distances_ns[source] = some_distance(source);
      moved.push_back(source);
    }
  }
  std::int64_t time_ns = trial.begin_ns + release_ns;
  if (!moved.empty()) {
    time_ns = meeting_time(own, distances_ns, in_some_order(moved), lead_ns);
  }
  const std::int64_t later_ns = begin_before(trial, time_ns, lead_ns) - release_ns;
  return changed(std::move(trial), later_ns, release_ns, end_ns);
}

/// Returns a distance from a release of another source to one of this one, of at most a period
/// before it.
std::int64_t Trials::some_distance(std::size_t source) {
  const std::int64_t step_ns = random_.uniform(-1, 1);
  switch (random_.uniform(0, 3)) {
    case 0:
      return -random_.uniform(0, period_ns(source) - 1);
    case 1: {
      const model::Callback& some = application_.callbacks[below(application_.callbacks.size())];
      return step_ns + (some.wcet + some.waits).count() * random_.uniform(-1, 1);
    }
    default:
      return step_ns;
  }
}

/// Returns the sources with stated offsets in a random order after these ones.
std::vector<std::size_t> Trials::in_some_order(std::span<const std::size_t> first) {
  std::vector<std::size_t> order(first.begin(), first.end());
  std::vector<std::size_t> rest;
  for (const std::size_t source : fixed_) {
    if (std::ranges::find(order, source) == order.end()) {
      rest.push_back(source);
    }
  }
  while (!rest.empty()) {
    const std::size_t place = below(rest.size());
    order.push_back(rest[place]);
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return order;
}

/// Returns a release of the source `own`, counted from the start of the application, with releases
/// of others at these distances or near them; earlier ones in the order matter most.
std::int64_t Trials::meeting_time(std::size_t own, std::span<const std::int64_t> distances_ns,
                                  std::span<const std::size_t> order, std::int64_t lead_ns) {
  ReleaseTimes times;
  if (!is_free(own)) {
    times.keep(period_ns(own), stated_[own], 0, ReleaseTimes::Nearest::kEither, 0);
  }
  std::int64_t first_ns = 0;
  for (const std::size_t source : order) {
    first_ns = std::max(first_ns, stated_[source]);
    if (source != own) {
      const auto nearest = below(2) == 0   ? ReleaseTimes::Nearest::kEither
                           : below(2) == 0 ? ReleaseTimes::Nearest::kEarlier
                                           : ReleaseTimes::Nearest::kLater;
      times.keep(period_ns(source), stated_[source], distances_ns[source], nearest, random_.next());
    }
  }
  return times.earliest(first_ns + lead_ns + begins_.warm_up_ns + begins_.grid_ns);
}

/// Lets a trial begin at least this long before a release at `release_ns` of the application, and
/// sets the stated offsets. Returns the release relative to the begin.
std::int64_t Trials::begin_before(Trial& trial, std::int64_t release_ns,
                                  std::int64_t lead_ns) const {
  trial.begin_ns = begins_.begin_before(release_ns - lead_ns - begins_.warm_up_ns);
  trial.warm_up_ns = trial.begin_ns > 0 ? begins_.warm_up_ns : 0;
  for (const std::size_t source : fixed_) {
    trial.offsets_ns[source] = offset_from(trial.begin_ns, stated_[source], period_ns(source));
  }
  return release_ns - trial.begin_ns;
}

}  // namespace rclrt::analysis::detail

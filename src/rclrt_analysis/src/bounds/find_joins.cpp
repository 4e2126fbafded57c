// SPDX-License-Identifier: Apache-2.0
#include "bounds/sync_ways.hpp"

#include <algorithm>
#include <utility>

#include "bounds/stamp_sequences.hpp"
#include "bounds/sync_inputs.hpp"
#include "demand.hpp"

namespace rclrt::analysis::detail {
namespace {

class JoinSearch : private SyncInputs {
 public:
  JoinSearch(const Workload& workload, std::span<const std::size_t> callbacks,
             const Arrival& arrival, KnownArrivals& known, Taken taken, NextMessages* next)
      : SyncInputs(workload),
        callbacks_(callbacks),
        arrival_(arrival),
        known_(known),
        taken_(taken),
        next_(next) {}

  Joins find() {
    for (std::size_t at = 1; at < callbacks_.size(); ++at) {
      if (kind(callbacks_[at]) == model::CallbackKind::kSync) {
        join(at);
      }
    }
    return std::move(found_);
  }

 private:
  std::optional<Ticks> arrival(std::size_t n) {
    const auto [at, is_new] = known_.try_emplace(n);
    if (is_new) {
      at->second = arrival_(n);  // may ask for shorter prefixes
    }
    return at->second;
  }

  /// Records that the lag is only valid if no message of this callback is lost, and none of the
  /// callbacks back to its origin, each of which has one publisher. If `releases` is given (a
  /// result of releases()) and the origin is another sync of inputs with this number, those inputs
  /// are recorded, too.
  void rely_on(std::size_t callback, std::optional<std::size_t> releases = {}) {
    found_.relies_on.push_back(callback);
    while (kind(callback) == model::CallbackKind::kSubscription) {
      callback = workload().graph.publishers[callback].front().front();
      found_.relies_on.push_back(callback);
    }
    if (releases && kind(callback) == model::CallbackKind::kSync && callback != *releases) {
      if (*releases == kNoOrigin) {
        found_.with_room.push_back(callback);
      }
      for (const auto& input : workload().graph.publishers[callback]) {
        rely_on(input.front(), releases);
      }
    }
  }

  void join(std::size_t at) {
    const std::size_t before = callbacks_[at - 1];
    const auto& inputs = workload().graph.publishers[callbacks_[at]];
    const auto has_before = [&](const std::vector<std::size_t>& input) {
      return std::ranges::find(input, before) != input.end();
    };
    const auto& own = *std::ranges::find_if(inputs, has_before);
    Ticks stamp = stamp_;
    for (const auto& other : inputs) {
      if (&other == &own || (own.size() == 1 && other == own)) {
        continue;  // the chain's own, or also from the callback before it, and at once
      }
      std::vector<std::size_t> others = other;
      // The chain continues by either input, and may wait for the publishers of either.
      if (has_before(other)) {
        others.insert(others.end(), own.begin(), own.end());
      }
      const Lag found = lag(at, own, other);
      found_.joins.push_back({at, found.release, std::move(others)});
      stamp = std::max(stamp, found.stamp);
    }
    stamp_ = stamp;
  }

  /// How late the other input of a sync is against the chain's timer. `release`: the lag of the
  /// other input's release, for a run that waits for it. `stamp`: the lag of the stamp of a set,
  /// for every run.
  struct Lag {
    Ticks release{};
    Ticks stamp{};
  };

  bool is_last_sync(std::size_t at) const {
    return std::ranges::none_of(callbacks_.subspan(at + 1), [&](std::size_t callback) {
      return kind(callback) == model::CallbackKind::kSync;
    });
  }

  /// Returns a bound on the time from its release until the chain's message has left the sync's
  /// queue, because `depth` later messages of the chain have arrived. Returns kHorizon if there is
  /// no such bound, or if the later messages alone take longer than the window.
  Ticks pushed_out(std::size_t at, const model::Sync& sync) {
    const std::size_t here = callbacks_.front();
    const auto before = callbacks_.subspan(1, at - 1);
    if (!is_steady(here)) {
      return kHorizon;
    }
    const Ticks later = product(static_cast<Ticks>(sync.depth), timer(here).period.count());
    if (later >= sync.window.count() || std::ranges::any_of(before, [&](std::size_t callback) {
          return kind(callback) == model::CallbackKind::kSync;
        })) {
      return kHorizon;
    }
    const auto arrived = arrival(at);
    return arrived ? sum(later, *arrived) : kHorizon;
  }

  using Inputs = std::initializer_list<const std::vector<std::size_t>*>;

  /// Returns the largest difference of two stamps in a set of the sync, if its inputs come from
  /// timers of one period with stated offsets, and it has room for them. nullopt: it is not known.
  std::optional<Ticks> spread_of_sets(std::size_t at) {
    const auto inputs = inputs_of_one_period(workload(), callbacks_[at]);
    if (!inputs || !has_limits_by_next(at)) {
      return std::nullopt;
    }
    const auto next = next_->of_others(callbacks_[at], {}, kHorizon);
    const auto& sync =
        std::get<model::Sync>(workload().application.callbacks[callbacks_[at]].trigger);
    const bool has_room =
        next && 1 + ceil_div(*next, inputs->period) <= static_cast<Ticks>(sync.depth);
    return has_room ? std::optional(inputs->spread) : std::nullopt;
  }

  /// Records that the bound needs the messages of all inputs except these.
  void rely_on_others(std::size_t at, Inputs without) {
    for (const auto& input : workload().graph.publishers[callbacks_[at]]) {
      if (std::ranges::find(without, &input) == without.end()) {
        rely_on_all(input);
      }
    }
  }

  /// Records that no message may be lost on the way to these publishers, and of theirs.
  void rely_on_all(const std::vector<std::size_t>& publishers) {
    for (const std::size_t callback : publishers) {
      if (std::ranges::find(found_.relies_on, callback) == found_.relies_on.end()) {
        found_.relies_on.push_back(callback);
      }
      for (const auto& input : workload().graph.publishers[callback]) {
        rely_on_all(input);
      }
    }
  }

  /// Returns whether the chain's message arrives by one input only, so that NextMessages of the
  /// others limit its wait.
  bool has_limits_by_next(std::size_t at) const {
    const std::size_t before = callbacks_[at - 1];
    const auto& inputs = workload().graph.publishers[callbacks_[at]];
    return next_ != nullptr && taken_ == Taken::kInOrder &&
           std::ranges::count_if(inputs, [&](const auto& input) {
             return std::ranges::find(input, before) != input.end();
           }) == 1;
  }

  /// Returns a bound on the time from the chain's release until a message of the other input is
  /// released that leaves the sync before the chain's message does. nullopt if there is none below
  /// `limit`.
  std::optional<Ticks> latest_before(std::size_t at, const std::vector<std::size_t>& own,
                                     const std::vector<std::size_t>& other, Ticks limit) {
    const auto arrived = arrival(at);
    if (!arrived || workload().graph.publishers[callbacks_[at]].size() == 2) {
      return arrived;
    }
    if (*arrived >= limit || !has_limits_by_next(at)) {
      return std::nullopt;
    }
    const auto third = next_->of_others(callbacks_[at], {&own, &other}, limit - stamp_);
    if (!third) {
      return std::nullopt;
    }
    rely_on_others(at, {&own, &other});
    return std::max(*arrived, sum(stamp_, *third));
  }

  /// Returns the lag in the sync at `at`.
  Lag lag(std::size_t at, const std::vector<std::size_t>& own,
          const std::vector<std::size_t>& other) {
    Lag result = lag_by_order(at, own, other);
    const Ticks limit = is_last_sync(at) ? result.release : std::max(result.release, result.stamp);
    if (limit <= stamp_ || !has_limits_by_next(at)) {
      return result;
    }
    if (const auto next = next_->of_others(callbacks_[at], {&other}, limit - stamp_)) {
      rely_on_others(at, {&other});
      const Ticks most = allowed_lag(sum(stamp_, *next), callbacks_.front(), source(other));
      result = {std::min(result.release, most), std::min(result.stamp, most)};
    }
    return result;
  }

  /// Returns the lag if the other input's messages come from another sync.
  Lag lag_behind_sync(std::size_t at, const std::vector<std::size_t>& own,
                      const std::vector<std::size_t>& other, Ticks within) {
    const auto& inputs = workload().graph.publishers[callbacks_[at]];
    const auto input = std::ranges::find(inputs, other) - inputs.begin();
    const auto sources = has_limits_by_next(at) && stamps_increase(origin(own))
                             ? next_->sources(callbacks_[at], static_cast<std::size_t>(input))
                             : std::nullopt;
    if (!sources) {
      return {within, within};
    }
    Ticks period = 0;
    Ticks first = 0;
    for (const std::size_t source : *sources) {
      period = std::max(period, *max_interval(source));
      first = std::max(first, first_release(callbacks_.front(), source));
    }
    const auto before = latest_before(at, own, other, within - period);
    if (!before || sum(*before, period) >= within) {
      return {within, within};
    }
    rely_on_all(other);
    return {std::min(within, std::max(sum(*before, period), first)), within};
  }

  /// Returns the lag without regard to what the inputs other than these two take next.
  Lag lag_by_order(std::size_t at, const std::vector<std::size_t>& own,
                   const std::vector<std::size_t>& other) {
    const auto& sync =
        std::get<model::Sync>(workload().application.callbacks[callbacks_[at]].trigger);
    const Ticks window = sync.window.count();
    if (taken_ == Taken::kAnyOrder) {
      found_.complete = false;
      return {sum(stamp_, window), sum(stamp_, window)};
    }
    const Ticks within = std::min(sum(stamp_, window), pushed_out(at, sync));
    const bool complete = std::exchange(found_.complete, false);
    const std::size_t here = origin(own);
    const std::size_t there = source(other);
    if (here == kNoOrigin || there == kNoOrigin) {
      return {within, within};
    }
    const auto& inputs = workload().graph.publishers[callbacks_[at]];
    const std::size_t own_releases = releases(own);
    const bool same_releases = std::ranges::all_of(
        inputs, [&](const auto& input) { return releases(input) == own_releases; });
    if (same_releases) {
      found_.complete = complete;
      rely_on(own.front(), own_releases);
      rely_on(other.front(), own_releases);
      return {stamp_, stamp_};
    }
    const std::size_t start = callbacks_.front();
    if (const auto sets = sequence_of_sets(workload(), callbacks_[at])) {
      found_.complete = complete;
      found_.with_room.push_back(callbacks_[at]);
      rely_on(own.front(), kNoOrigin);
      rely_on(other.front(), kNoOrigin);
      const Ticks own_offset = timer(start).offset.count();
      const Ticks of_other = sequence_of(workload(), other)->offset - own_offset;
      return {of_other, std::max<Ticks>(0, sets->offset - own_offset)};
    }
    if (const auto spread = spread_of_sets(at); spread && *spread < within) {
      rely_on_others(at, {});
      const Ticks most = allowed_lag(*spread, callbacks_.front(), there);
      return {most, most};
    }
    const auto longest = max_interval(there);
    if (!longest) {
      return lag_behind_sync(at, own, other, within);
    }
    const bool direct = here == start;  // no sync is between them
    const Ticks period = *longest;
    const Ticks first = first_release(start, there);
    const Ticks next = here == there ? 0 : std::max(period - 1, first);
    Ticks limit = within;
    bool waits = true;  // the other's message waits until the chain's arrives
    if (direct && keeps_apart(start) && window < min_interval(start)) {
      limit = std::min(limit, next);
      if (limit < within && !is_last_sync(at)) {
        const auto arrived = inputs.size() == 2 ? arrival(at) : std::nullopt;
        waits = arrived && *arrived <= product(static_cast<Ticks>(sync.depth), min_interval(there));
      }
    } else if (limit >= period && stamps_increase(here)) {
      if (const auto before = latest_before(at, own, other, limit - period)) {
        limit = std::min(limit, std::max(sum(*before, period), first));
        waits = inputs.size() == 2;
      }
    }
    const bool in_phase = direct && is_steady(start) &&
                          (start == there || (states_offset(start) && states_offset(there) &&
                                              timer(start).offset == timer(there).offset &&
                                              timer(start).period == timer(there).period));
    if (limit < within || in_phase) {
      rely_on(other.front(), there);
    }
    found_.complete = complete && in_phase;
    const Ticks most = allowed_lag(limit, start, there);
    Lag result{most, waits ? most : within};
    if (direct && window >= period && has_limits_by_next(at) && lower_to_rarer(at, there, result)) {
      rely_on(other.front(), there);
    }
    return result;
  }

  /// Lowers the lag if the chain's timer or event is no faster than `there`, that of the only other
  /// input. Returns whether the lag of a release is lower.
  bool lower_to_rarer(std::size_t at, std::size_t there, Lag& lag) {
    const std::size_t start = callbacks_.front();
    const Ticks period = *max_interval(there);
    if (workload().graph.publishers[callbacks_[at]].size() != 2 || !keeps_apart(start) ||
        period > min_interval(start)) {
      return false;
    }
    const auto arrived = arrival(at);
    if (!arrived) {
      return false;
    }
    const Ticks first = states_first(there) ? first_release(start, there) : period;
    const Ticks most = std::max(*arrived - (min_interval(start) - period), first);
    const Ticks before =
        std::exchange(lag.release, std::min(lag.release, allowed_lag(most, start, there)));
    lag.stamp = std::min(lag.stamp, allowed_lag(std::max(most, *arrived), start, there));
    return lag.release < before;
  }

  std::span<const std::size_t> callbacks_;
  const Arrival& arrival_;
  KnownArrivals& known_;
  Taken taken_;
  NextMessages* next_;
  Ticks stamp_ = 0;  // the bound on the stamp of the chain's message, from its release
  Joins found_;
};

}  // namespace

Joins find_joins(const Workload& workload, std::span<const std::size_t> callbacks,
                 const Arrival& arrival, KnownArrivals& known, Taken taken, NextMessages* next) {
  return JoinSearch(workload, callbacks, arrival, known, taken, next).find();
}

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
#include "bounds/sync_ways.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "bounds/stamp_sequences.hpp"
#include "demand.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr std::size_t kNone = kNoOrigin;

class JoinSearch {
 public:
  JoinSearch(const Workload& workload, std::span<const std::size_t> callbacks,
             const Arrival& arrival, KnownArrivals& known, Taken taken)
      : workload_(workload),
        callbacks_(callbacks),
        arrival_(arrival),
        known_(known),
        taken_(taken) {}

  Joins find() {
    for (std::size_t at = 1; at < callbacks_.size(); ++at) {
      if (kind(callbacks_[at]) == model::CallbackKind::kSync) {
        join(at);
      }
    }
    return std::move(found_);
  }

 private:
  model::CallbackKind kind(std::size_t callback) const {
    return workload_.application.callbacks[callback].kind();
  }

  const model::Timer& timer(std::size_t callback) const {
    return std::get<model::Timer>(workload_.application.callbacks[callback].trigger);
  }

  std::optional<Ticks> arrival(std::size_t n) {
    const auto [at, is_new] = known_.try_emplace(n);
    if (is_new) {
      at->second = arrival_(n);  // may ask for shorter prefixes
    }
    return at->second;
  }

  bool is_steady(std::size_t callback) const {
    return keeps_grid(workload_.application.callbacks[callback]);
  }

  /// Returns whether two releases of the callback are always at least an interval apart: it is a
  /// timer that keeps its grid, or an event.
  bool keeps_apart(std::size_t callback) const {
    return is_steady(callback) || kind(callback) == model::CallbackKind::kEvent;
  }

  Ticks min_interval(std::size_t callback) const {
    return model::min_interval(workload_.application.callbacks[callback]).count();
  }

  /// Returns the longest time between two releases of a timer that keeps its grid, or of an event.
  /// nullopt for other callbacks.
  std::optional<Ticks> max_interval(std::size_t callback) const {
    if (!keeps_apart(callback)) {
      return std::nullopt;
    }
    return model::max_interval(workload_.application.callbacks[callback]).count();
  }

  bool states_offset(std::size_t callback) const {
    return stated_offset(workload_.application.callbacks[callback]).has_value();
  }

  std::size_t origin(const std::vector<std::size_t>& input) const {
    return origin_of(workload_, input);
  }

  /// Returns a number that is equal for inputs with the same sequence of messages: one message for
  /// each release of the same timer, with the stamp of that release. Timers of one period and one
  /// stated offset count as the same timer; a sync of such inputs has this sequence again. All
  /// inputs from one other sync have a number of their own. Returns kNone if a callback on the way
  /// has several publishers.
  std::size_t releases(const std::vector<std::size_t>& input) const {
    const std::size_t from = origin(input);
    if (from == kNone) {
      return kNone;
    }
    if (kind(from) == model::CallbackKind::kSync) {
      const auto& inputs = workload_.graph.publishers[from];
      const std::size_t first = releases(inputs.front());
      const bool alike = first != kNone && std::ranges::all_of(inputs, [&](const auto& each) {
                           return releases(each) == first;
                         });
      return alike ? first : from;
    }
    const auto same = [&](std::size_t other) {
      return other == from || (states_offset(from) && states_offset(other) &&
                               timer(other).offset == timer(from).offset &&
                               timer(other).period == timer(from).period);
    };
    return *std::ranges::find_if(workload_.timers, same);
  }

  /// Returns the timer or event with releases that the messages of an input have, one for each,
  /// with their stamps, if there is one (see releases()). Otherwise returns the same as origin().
  std::size_t source(const std::vector<std::size_t>& input) const {
    const std::size_t same = releases(input);
    return same != kNone && kind(same) != model::CallbackKind::kSync ? same : origin(input);
  }

  /// Returns a bound on the time from any release of `here` until `there` has had its first release
  /// (timers or events). Returns 0 if `there` states no offset: its first release is then within a
  /// period or longest interval, which the caller adds.
  Ticks first_release(std::size_t here, std::size_t there) const {
    const auto* const event =
        std::get_if<model::Event>(&workload_.application.callbacks[there].trigger);
    if (event != nullptr ? !event->offset : !timer(there).offset_stated) {
      return 0;
    }
    const Ticks first =
        event != nullptr ? (*event->offset + event->jitter).count() : timer(there).offset.count();
    const Ticks own = states_offset(here) ? timer(here).offset.count() : 0;
    return std::max<Ticks>(0, first - own);
  }

  /// Returns whether the stamps of the messages of this timer, event or sync always increase. For a
  /// sync this holds if it holds for each of its inputs, and each input has one publisher, so that
  /// sets are formed in order.
  bool stamps_increase(std::size_t callback) const {
    return std::ranges::all_of(workload_.graph.publishers[callback], [&](const auto& input) {
      const std::size_t from = origin(input);
      return from != kNone && stamps_increase(from);
    });
  }

  /// Records that the lag is only valid if no message of this callback is lost, and none of the
  /// callbacks back to its origin, each of which has one publisher. If `releases` is given (a
  /// result of releases()) and the origin is another sync of inputs with this number, those inputs
  /// are recorded, too.
  void rely_on(std::size_t callback, std::optional<std::size_t> releases = {}) {
    found_.relies_on.push_back(callback);
    while (kind(callback) == model::CallbackKind::kSubscription) {
      callback = workload_.graph.publishers[callback].front().front();
      found_.relies_on.push_back(callback);
    }
    if (releases && kind(callback) == model::CallbackKind::kSync && callback != *releases) {
      if (*releases == kNone) {
        found_.with_room.push_back(callback);
      }
      for (const auto& input : workload_.graph.publishers[callback]) {
        rely_on(input.front(), releases);
      }
    }
  }

  void join(std::size_t at) {
    const std::size_t before = callbacks_[at - 1];
    const auto& inputs = workload_.graph.publishers[callbacks_[at]];
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

  /// Returns the lag in the sync at `at`.
  Lag lag(std::size_t at, const std::vector<std::size_t>& own,
          const std::vector<std::size_t>& other) {
    const auto& sync =
        std::get<model::Sync>(workload_.application.callbacks[callbacks_[at]].trigger);
    const Ticks window = sync.window.count();
    if (taken_ == Taken::kAnyOrder) {
      found_.complete = false;
      return {sum(stamp_, window), sum(stamp_, window)};
    }
    const Ticks within = std::min(sum(stamp_, window), pushed_out(at, sync));
    const bool complete = std::exchange(found_.complete, false);
    const std::size_t here = origin(own);
    const std::size_t there = source(other);
    if (here == kNone || there == kNone) {
      return {within, within};
    }
    const auto& inputs = workload_.graph.publishers[callbacks_[at]];
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
    if (const auto sets = sequence_of_sets(workload_, callbacks_[at])) {
      found_.complete = complete;
      found_.with_room.push_back(callbacks_[at]);
      rely_on(own.front(), kNone);
      rely_on(other.front(), kNone);
      const auto after_start = [&](const StampSequence& each) {
        return std::max<Ticks>(0, each.offset - timer(start).offset.count());
      };
      return {after_start(*sequence_of(workload_, other)), after_start(*sets)};
    }
    const auto longest = max_interval(there);
    if (!longest) {
      return {within, within};
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
    } else if (limit >= period && inputs.size() == 2 && stamps_increase(here)) {
      if (const auto arrived = arrival(at)) {
        limit = std::min(limit, std::max(sum(*arrived, period), first));
      }
    }
    const bool offsets_stated = states_offset(start) && states_offset(there);
    const bool in_phase =
        direct && is_steady(start) &&
        (start == there || (offsets_stated && timer(start).offset == timer(there).offset &&
                            timer(start).period == timer(there).period));
    if (limit < within || in_phase) {
      rely_on(other.front(), there);
    }
    found_.complete = complete && in_phase;
    const auto allowed = [&](Ticks most) {
      return offsets_stated ? congruent(most, timer(start), timer(there)) : most;
    };
    return {allowed(limit), waits ? allowed(limit) : within};
  }

  /// Returns the largest lag up to the limit that the stated offsets allow.
  static Ticks congruent(Ticks limit, const model::Timer& own, const model::Timer& other) {
    const Ticks grid = std::gcd(own.period.count(), other.period.count());
    const Ticks phase = (other.offset - own.offset).count();
    return limit - (((limit - phase) % grid + grid) % grid);
  }

  const Workload& workload_;
  std::span<const std::size_t> callbacks_;
  const Arrival& arrival_;
  KnownArrivals& known_;
  Taken taken_;
  Ticks stamp_ = 0;  // the bound on the stamp of the chain's message, from its release
  Joins found_;
};

std::size_t timer_index(const Workload& workload, std::size_t callback) {
  return static_cast<std::size_t>(std::ranges::find(workload.timers, callback) -
                                  workload.timers.begin());
}

}  // namespace

Joins find_joins(const Workload& workload, std::span<const std::size_t> callbacks,
                 const Arrival& arrival, KnownArrivals& known, Taken taken) {
  return JoinSearch(workload, callbacks, arrival, known, taken).find();
}

std::vector<Way> ways_to_last(const Workload& workload, std::span<const std::size_t> callbacks,
                              const std::vector<Join>& joins) {
  std::vector<Way> result{
      {timer_index(workload, callbacks.front()), workload.lowest(callbacks), 0, {}}};
  for (const Join& join : joins) {
    // Goes backwards to the timers; if two paths meet, once for each level.
    const int level = workload.lowest(callbacks.subspan(join.at));
    std::set<std::pair<std::size_t, int>> seen;
    std::vector<std::pair<std::size_t, int>> open;
    for (const std::size_t publisher : join.other) {
      open.emplace_back(publisher, level);
    }
    while (!open.empty()) {
      const auto [callback, above] = open.back();
      open.pop_back();
      const int here = std::min(above, workload.priority[callback]);
      if (!seen.emplace(callback, here).second) {
        continue;
      }
      if (workload.source[callback] == callback) {
        result.push_back({timer_index(workload, callback), here, join.lag, callbacks[join.at]});
      }
      for (const auto& input : workload.graph.publishers[callback]) {
        for (const std::size_t publisher : input) {
          open.emplace_back(publisher, here);
        }
      }
    }
  }
  return result;
}

void take_lower(RelyingBound& found, RelyingBound other) {
  const auto& bound = found.bound.bound;
  if (other.bound.bound && (!bound || *other.bound.bound < *bound)) {
    other.bound.level = found.bound.level;
    found = std::move(other);
  }
}

RelyingBound relying_bound(const Workload& workload, const model::Chain& chain, ChainBound bound,
                           Joins joins) {
  if (joins.complete) {
    const model::Callback& first = workload.application.callbacks[chain.callbacks.front()];
    bound.reaction = bound.data_age = sum(*bound.bound, model::max_interval(first).count());
  }
  return {std::move(bound), std::move(joins.relies_on), std::move(joins.with_room)};
}

}  // namespace rclrt::analysis::detail

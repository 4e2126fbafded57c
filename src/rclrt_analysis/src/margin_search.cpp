// SPDX-License-Identifier: Apache-2.0
#include "margin_search.hpp"

#include <algorithm>
#include <set>

namespace rclrt::analysis::detail {
namespace {

constexpr int kSamples = 4;

/// Returns where a straight line through both points reaches 0, between their values.
Ticks interpolated(Ticks good, Ticks bad, double room, double lack) {
  const double share = std::max(room, 0.0) / (std::max(room, 0.0) + lack);
  const auto step = static_cast<Ticks>(static_cast<double>(bad - good) * share);
  const Ticks direction = bad > good ? 1 : -1;
  const Ticks most = (bad - good) * direction - 1;
  return good + std::clamp<Ticks>(step * direction, 1, most) * direction;
}

}  // namespace

Margin MarginSearch::margin(const TimeRange& range, TimeTrials& trials) {
  trials_ = &trials;
  range_ = range;
  direction_ = range.harmful > range.harmless ? 1 : -1;
  Margin result;
  if (!stated_holds_ && !(holds(range.harmless) && trials.proved(range.harmless))) {
    return result;
  }
  const Ticks start = stated_holds_ ? range.stated : range.harmless;
  const Ticks limit = settled(start, searched(start));
  result.limit = limit;
  result.unlimited = limit == range.harmful;
  result.monotone = result.unlimited || is_monotone(limit);
  return result;
}

/// Returns the limit by looks at single deadlines. With `start`, all hold.
Ticks MarginSearch::searched(Ticks start) {
  if (!trials_->has_quick_look()) {
    return last_in_stage(start, Look::kFull);
  }
  Ticks limit = start;
  if (all_hold(limit, Look::kQuick)) {
    limit = last_in_stage(limit, Look::kQuick);
  }
  if (limit != range_.harmful && holds(limit + direction_)) {
    limit = last_in_stage(limit + direction_, Look::kFull);
  }
  return limit;
}

/// Returns the limit by analyses of the whole system, near the one by looks at single deadlines.
/// They differ where the effort ends: close to a full load busy periods are long, and an analysis
/// of the whole system divides its steps among all chains. With `start`, all deadlines are proved.
Ticks MarginSearch::settled(Ticks start, Ticks limit) {
  std::optional<Ticks> bad;
  Ticks good = limit;
  if (limit != start && !trials_->surely_holds(limit) && !trials_->proved(limit)) {
    Ticks step = 1;
    do {
      bad = good;
      good = (good - start) * direction_ <= step ? start : good - direction_ * step;
      step *= 2;
    } while (good != start && !trials_->proved(good));
  }
  if (!bad && good != range_.harmful && trials_->surely_misses(good + direction_)) {
    return good;
  }
  for (Ticks step = 1; !bad && good != range_.harmful; step *= 2) {
    const bool is_last = (range_.harmful - good) * direction_ <= step;
    const Ticks next = is_last ? range_.harmful : good + direction_ * step;
    (trials_->proved(next) ? good : bad.emplace()) = next;
  }
  while (bad && (*bad - good) * direction_ > 1) {
    const Ticks middle = good + (*bad - good) / 2;
    (trials_->proved(middle) ? good : *bad) = middle;
  }
  return good;
}

/// Returns whether all deadlines are proved with the value, by this look.
bool MarginSearch::all_hold(Ticks value, Look look) {
  const auto missed = trials_->first_missed(value, look);
  critical_ = missed ? missed : critical_;
  return !missed;
}

/// Returns whether all deadlines are proved with the value.
bool MarginSearch::holds(Ticks value) {
  return (trials_->has_quick_look() && all_hold(value, Look::kQuick)) ||
         all_hold(value, Look::kFull);
}

MarginSearch::Point MarginSearch::point(Ticks value) {
  if (critical_) {
    return {value, trials_->room(value, *critical_, look_)};
  }
  return {value, all_hold(value, look_) ? 0 : -kHorizon};
}

/// Returns the last value with which all deadlines are proved by this look. With `good`, they are.
///
/// A deadline that holds with one value holds with all values before it, so each is studied once.
/// Where the effort ends, that is not so: if a deadline comes again, all of them decide together.
Ticks MarginSearch::last_in_stage(Ticks good, Look look) {
  look_ = look;
  const auto all = [&](Ticks value) {
    return look == Look::kQuick ? all_hold(value, look) : holds(value);
  };
  std::optional<Ticks> bad;
  std::set<std::size_t> studied;
  while (!critical_ || studied.insert(*critical_).second) {
    const Ticks last = last_of_deadline(good, bad);
    if (last == good || all(last)) {
      return last;
    }
    bad = last;  // another deadline is missed there
  }
  while (bad && (*bad - good) * direction_ > 1) {
    const Ticks middle = good + (*bad - good) / 2;
    (all(middle) ? good : *bad) = middle;
  }
  return good;
}

/// Returns the last value with which the deadline under study is proved. `bad`: a value with which
/// it is not, if that is known.
Ticks MarginSearch::last_of_deadline(Ticks good, std::optional<Ticks>& bad) {
  const Point first = point(good);
  const Point last = bad ? first : grow(first, bad);
  return bad ? narrow(last, point(*bad)) : last.value;
}

/// Steps away from a good value in growing steps: a limit that is far away then costs hardly more
/// trials than a near one. Returns the last good value and sets `bad`, unless even the most harmful
/// value is good.
MarginSearch::Point MarginSearch::grow(Point good, std::optional<Ticks>& bad) {
  Ticks step = std::max<Ticks>(1, range_.stated / 8);
  while (good.value != range_.harmful) {
    const Ticks left = (range_.harmful - good.value) * direction_;
    const Point next = point(left <= step ? range_.harmful : good.value + direction_ * step);
    if (next.room < 0) {
      bad = next.value;
      return good;
    }
    // At this rate the room is used up there.
    const double rate = static_cast<double>(good.room - next.room) / static_cast<double>(step);
    const double rest = rate > 0 ? static_cast<double>(next.room) / rate : 0.0;
    constexpr Ticks kMost = kHorizon / 4;
    const auto most = static_cast<double>(kMost);
    step = std::max<Ticks>(rest > 0 ? 0 : 2 * step, static_cast<Ticks>(std::min(rest, most)) + 1);
    good = next;
  }
  return good;
}

/// Returns the last good value between a good and a bad one.
Ticks MarginSearch::narrow(Point good, Point bad) {
  int halvings = 0;       // to be made before the next interpolation
  int after_failure = 1;  // the number of them
  int interpolations = 0;
  Ticks width_before = 0;
  // The room at an end that stays counts half each time: the "Illinois" method, Dowell and Jarratt,
  // BIT 11, 1971.
  Point* moved = nullptr;
  double weight = 1;
  while ((bad.value - good.value) * direction_ > 1) {
    const Ticks width = (bad.value - good.value) * direction_;
    if (interpolations == 2) {
      interpolations = 0;
      if (width > width_before / 4) {
        halvings = after_failure;
        after_failure *= 2;
      }
    }
    Ticks value = good.value + (bad.value - good.value) / 2;
    if (halvings > 0) {
      --halvings;
    } else if (bad.room > -kHorizon / 2) {
      width_before = interpolations == 0 ? width : width_before;
      ++interpolations;
      const double room = static_cast<double>(good.room) * (moved == &bad ? weight : 1);
      const double lack = -static_cast<double>(bad.room) * (moved == &good ? weight : 1);
      value = interpolated(good.value, bad.value, room, lack);
    }
    const Point next = point(value);
    Point& end = next.room < 0 ? bad : good;
    weight = moved == &end ? weight / 2 : 1;
    moved = &end;
    end = next;
  }
  return good.value;
}

/// Returns whether some more values agree with a single limit.
bool MarginSearch::is_monotone(Ticks limit) {
  for (int i = 1; i <= kSamples; ++i) {
    const Ticks within = range_.harmless + (limit - range_.harmless) / (kSamples + 1) * i;
    const Ticks beyond = limit + (range_.harmful - limit) / (kSamples + 1) * i;
    if (!holds(within) || (beyond != limit && holds(beyond))) {
      return false;
    }
  }
  return true;
}

}  // namespace rclrt::analysis::detail

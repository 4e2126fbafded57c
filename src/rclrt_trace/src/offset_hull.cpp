// SPDX-License-Identifier: Apache-2.0
#include "offset_hull.hpp"

#include <algorithm>
#include <iterator>

namespace rclrt::trace {

namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

}  // namespace

std::optional<std::int64_t> OffsetHull::best_low_ns() const {
  const auto best = std::ranges::max_element(low_, {}, &Bound::offset_ns);
  return best == low_.end() ? std::nullopt : std::optional(best->offset_ns);
}

std::optional<std::int64_t> OffsetHull::best_high_ns() const {
  const auto best = std::ranges::min_element(high_, {}, &Bound::offset_ns);
  return best == high_.end() ? std::nullopt : std::optional(best->offset_ns);
}

std::optional<OffsetHull::Contradiction> OffsetHull::fit() {
  std::ranges::sort(low_, {}, &Bound::at_ns);
  std::ranges::sort(high_, {}, &Bound::at_ns);
  std::vector<std::int64_t> times;
  for (const std::vector<Bound>* const bounds : {&low_, &high_}) {
    for (const Bound& each : *bounds) {
      times.push_back(each.at_ns);
    }
  }
  std::ranges::sort(times);
  times.erase(std::ranges::unique(times).begin(), times.end());
  knots_.clear();
  knots_.reserve(times.size());
  for (const std::int64_t at_ns : times) {
    knots_.push_back({at_ns, {INT64_MIN, INT64_MAX}});
  }
  const auto own = [&](const Bound& bound) -> realtime::OffsetInterval& {
    return std::ranges::lower_bound(knots_, bound.at_ns, {}, &Knot::at_ns)->interval;
  };
  for (const Bound& each : low_) {
    own(each).low_ns = std::max(own(each).low_ns, each.offset_ns);
  }
  for (const Bound& each : high_) {
    own(each).high_ns = std::min(own(each).high_ns, each.offset_ns);
  }
  narrow(knots_.begin(), knots_.end());    // by the bounds before
  narrow(knots_.rbegin(), knots_.rend());  // and after each of them
  const auto empty = std::ranges::find_if(
      knots_, [](const Knot& knot) { return knot.interval.low_ns > knot.interval.high_ns; });
  if (empty == knots_.end()) {
    return std::nullopt;
  }
  const realtime::OffsetInterval& none = empty->interval;
  return contradiction().value_or(
      Contradiction{empty->at_ns, empty->at_ns, none.low_ns - none.high_ns});
}

/// Narrows each interval by the bounds of the knots before it. Bounds of one direction grow alike,
/// so the best one of them remains the best one.
template <typename Iterator>
void OffsetHull::narrow(Iterator begin, Iterator end) const {
  std::optional<Bound> low;
  std::optional<Bound> high;
  for (Iterator knot = begin; knot != end; ++knot) {
    realtime::OffsetInterval& own = knot->interval;
    const auto grown = [&](const Bound& bound) { return growth_ns(bound.at_ns, knot->at_ns); };
    if (low && own.low_ns <= low->offset_ns - grown(*low)) {
      own.low_ns = low->offset_ns - grown(*low);
    } else if (own.low_ns != INT64_MIN) {
      low = Bound{knot->at_ns, own.low_ns};
    }
    if (high && own.high_ns >= high->offset_ns + grown(*high)) {
      own.high_ns = high->offset_ns + grown(*high);
    } else if (own.high_ns != INT64_MAX) {
      high = Bound{knot->at_ns, own.high_ns};
    }
  }
}

/// Returns the pair of bounds that contradict each other most, within a second after the first pair
/// that does. (The first pair alone may show only a small part of a step.)
std::optional<OffsetHull::Contradiction> OffsetHull::contradiction() const {
  std::optional<Contradiction> most;
  std::int64_t until_ns = INT64_MAX;
  std::optional<Bound> low;  // the best ones so far: both grow alike
  std::optional<Bound> high;
  std::size_t next_low = 0;
  std::size_t next_high = 0;
  while (next_low < low_.size() || next_high < high_.size()) {
    const bool is_low = next_high == high_.size() ||
                        (next_low < low_.size() && low_[next_low].at_ns < high_[next_high].at_ns);
    const Bound newest = is_low ? low_[next_low++] : high_[next_high++];
    if (newest.at_ns > until_ns) {
      break;
    }
    std::optional<Bound>& same = is_low ? low : high;
    if (const std::optional<Bound>& other = is_low ? high : low) {
      const std::int64_t beyond =
          is_low ? newest.offset_ns - other->offset_ns : other->offset_ns - newest.offset_ns;
      const std::int64_t growth = growth_ns(other->at_ns, newest.at_ns);
      if (beyond - growth > (most ? most->by_ns : 0)) {
        most = Contradiction{other->at_ns, newest.at_ns, beyond - growth};
        until_ns = std::min(until_ns, newest.at_ns + kSecond_ns);
      }
    }
    const std::int64_t growth = same ? growth_ns(same->at_ns, newest.at_ns) : 0;
    if (!same || (is_low ? newest.offset_ns >= same->offset_ns - growth
                         : newest.offset_ns <= same->offset_ns + growth)) {
      same = newest;
    }
  }
  return most;
}

realtime::OffsetInterval OffsetHull::at(std::int64_t at_ns) const {
  const auto after = std::ranges::lower_bound(knots_, at_ns, {}, &Knot::at_ns);
  realtime::OffsetInterval result{INT64_MIN, INT64_MAX};
  const auto narrow = [&](const Knot& knot) {
    const std::int64_t growth = growth_ns(knot.at_ns, at_ns);
    result.low_ns = std::max(result.low_ns, knot.interval.low_ns - growth);
    result.high_ns = std::min(result.high_ns, knot.interval.high_ns + growth);
  };
  if (after != knots_.end()) {
    narrow(*after);
  }
  if (after != knots_.begin()) {
    narrow(*std::prev(after));
  }
  return result;
}

}  // namespace rclrt::trace

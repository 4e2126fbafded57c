// SPDX-License-Identifier: Apache-2.0
#include "bounds/busy_window.hpp"

#include <algorithm>
#include <vector>

#include "load.hpp"

namespace rclrt::analysis::detail {
namespace {

/// The ends of instances, which have to be asked for in order of arrival: the work of the others
/// counts on from one end to the next.
class WindowEnds {
 public:
  explicit WindowEnds(const BusyWindow& window) : window_(window) {
    for (const Stream& other : window.others) {
      other.add_to(others_);
    }
  }

  /// Returns the end of the own instance that arrives `a` after the start of the busy period,
  /// measured from that start. A negative `a` stands for the instances that arrived before, as late
  /// as their jitter allows: at the start. nullopt if there is no bound or the budget ends.
  std::optional<Ticks> of(Ticks a, Budget& budget) {
    Ticks constant = sum(window_.blocking, window_.instant);
    for (const Stream& own : window_.own) {
      constant = sum(constant, product(own.until(a), own.work));
    }
    const auto end = fixed_point(constant, std::max({constant, least_, Ticks{1}}), others_, budget);
    least_ = end.value_or(0);
    return end;
  }

 private:
  const BusyWindow& window_;
  Demand others_{Count::kBefore};
  Ticks least_{};  // the end of the instance before
};

std::optional<Ticks> busy_period_of(const BusyWindow& window, Budget& budget) {
  std::vector<Stream> all(window.own.begin(), window.own.end());
  all.insert(all.end(), window.others.begin(), window.others.end());
  return longest_busy_period(all, sum(window.blocking, window.instant), budget);
}

/// Returns the arrivals that need be examined, in order. nullopt if there are too many.
std::optional<std::vector<Ticks>> arrivals_in(const BusyWindow& window, Ticks busy,
                                              Budget& budget) {
  std::vector<Ticks> arrivals{0};
  for (const Stream& own : window.own) {
    for (Ticks q = own.at_once(); own.arrival(q) < busy; ++q) {
      if (arrivals.size() > 100'000 || !budget.take(1)) {
        return std::nullopt;
      }
      arrivals.push_back(std::max<Ticks>(0, own.arrival(q)));
    }
  }
  std::ranges::sort(arrivals);
  const auto [first, last] = std::ranges::unique(arrivals);
  arrivals.erase(first, last);
  return arrivals;
}

}  // namespace

std::optional<Ticks> longest_busy_period(std::span<const Stream> streams, Ticks blocking,
                                         Budget& budget) {
  Load load;
  Demand demand(Count::kBefore);
  for (const Stream& stream : streams) {
    if (stream.work == 0) {
      continue;
    }
    if (stream.jitter >= kMaxTicks) {
      return std::nullopt;
    }
    if (stream.period < kHorizon) {
      load.add(stream.work, stream.period);  // otherwise it arrives once
    }
    stream.add_to(demand);
  }
  if (load.compare_with_one() >= 0) {
    return std::nullopt;
  }
  return fixed_point(blocking, std::max<Ticks>(1, blocking), demand, budget);
}

std::optional<Ticks> response_in_busy_window(const BusyWindow& window, Budget& budget) {
  const auto busy = busy_period_of(window, budget);
  if (!busy) {
    return std::nullopt;
  }
  const auto arrivals = arrivals_in(window, *busy, budget);
  if (!arrivals) {
    return std::nullopt;
  }
  WindowEnds ends(window);
  Ticks worst = 0;
  for (const Ticks a : *arrivals) {
    if (*busy - window.instant - a <= worst) {
      break;  // no end is after that of the busy period
    }
    const auto end = ends.of(a, budget);
    if (!end) {
      return std::nullopt;
    }
    worst = std::max(worst, *end - window.instant - a);
  }
  return worst;
}

std::optional<Ticks> delay_in_busy_window(const BusyWindow& window, Budget& budget) {
  const Stream& own = window.own.front();
  const auto busy = busy_period_of(window, budget);
  if (!busy) {
    return std::nullopt;
  }
  WindowEnds ends(window);
  Ticks worst = 0;
  for (Ticks q = 0; own.arrival(q) < *busy; ++q) {
    const auto end = ends.of(own.arrival(q), budget);
    if (!end) {
      return std::nullopt;
    }
    worst = std::max(worst, *end - window.instant - product(q, own.period));
  }
  return worst;
}

}  // namespace rclrt::analysis::detail

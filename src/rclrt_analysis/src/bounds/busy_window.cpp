// SPDX-License-Identifier: Apache-2.0
#include "bounds/busy_window.hpp"

#include <algorithm>

#include "load.hpp"

namespace rclrt::analysis::detail {
namespace {

/// Returns how many instances of the stream arrive from the start of a busy period up to and
/// including `t`, if they arrive as early as possible.
Ticks arrivals_until(const Stream& stream, Ticks t) {
  return t + stream.jitter < 0 ? 0 : (t + stream.jitter) / stream.period + 1;
}

Ticks arrivals_before(const Stream& stream, Ticks t) {
  return ceil_div(t + stream.jitter, stream.period);
}

Ticks blocking_at(const BusyWindow& window, Ticks a) {
  Ticks longest = 0;
  for (const BusyWindow::Blocking& one : window.blocking) {
    if (one.from <= a && a < one.until) {
      longest = std::max(longest, one.work);
    }
  }
  return longest;
}

/// Returns the end of the own instance that arrives `a` after the start of the busy period,
/// measured from that start. A negative `a` stands for the instances that arrived before, as late
/// as their jitter allows: at the start. nullopt if there is no bound or the budget ends. `least`:
/// the end is no earlier.
std::optional<Ticks> end_of(const BusyWindow& window, Ticks a, Ticks least, Budget& budget) {
  Ticks constant = sum(blocking_at(window, std::max<Ticks>(0, a)), window.instant);
  for (const Stream& own : window.own) {
    constant = sum(constant, product(arrivals_until(own, a), own.work));
  }
  const auto work = [&](Ticks w) {
    Ticks total = constant;
    for (const Interferer& other : window.others) {
      Ticks count = arrivals_before(other.stream, w);
      if (other.until) {
        count = std::min(count, arrivals_until(other.stream, sum(a, *other.until)));
      }
      total = sum(total, product(count, other.stream.work));
    }
    return total;
  };
  return fixed_point(std::max({constant, least, Ticks{1}}), 4 * window.others.size(), budget, work);
}

std::optional<Ticks> busy_period_of(const BusyWindow& window, Budget& budget) {
  std::vector<Stream> all(window.own.begin(), window.own.end());
  for (const Interferer& other : window.others) {
    all.push_back(other.stream);
  }
  Ticks blocking = 0;
  for (const auto& one : window.blocking) {
    blocking = std::max(blocking, one.work);
  }
  return longest_busy_period(all, sum(blocking, window.instant), budget);
}

/// Collects the arrivals before `end` at which the count of a stream changes.
bool collect(const Stream& stream, Ticks shift, Ticks end, std::vector<Ticks>& arrivals,
             Budget& budget) {
  const Ticks first = -stream.jitter - shift;
  Ticks a = first >= 0 ? first : first + product(ceil_div(-first, stream.period), stream.period);
  for (; a < end; a += stream.period) {
    if (arrivals.size() > 100'000 || !budget.take(1)) {
      return false;
    }
    arrivals.push_back(a);
  }
  return true;
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
    demand.add(stream.work, stream.period, stream.jitter);
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
  std::vector<Ticks> arrivals{0};
  for (const Stream& own : window.own) {
    if (!collect(own, 0, *busy, arrivals, budget)) {
      return std::nullopt;
    }
  }
  for (const Interferer& other : window.others) {
    if (!other.until) {
      continue;
    }
    if (!collect(other.stream, *other.until, *busy, arrivals, budget)) {
      return std::nullopt;
    }
  }
  for (const auto& one : window.blocking) {
    if (one.from > 0 && one.from < *busy) {
      arrivals.push_back(one.from);
    }
  }
  std::ranges::sort(arrivals);
  const auto [first, last] = std::ranges::unique(arrivals);
  arrivals.erase(first, last);
  // The later the arrival, the later the end, unless less work blocks it. No end is after that of
  // the busy period.
  Ticks worst = 0;
  Ticks least = 0;
  Ticks blocking = 0;
  for (const Ticks a : arrivals) {
    if (*busy - window.instant - a <= worst) {
      break;
    }
    const Ticks own_blocking = blocking_at(window, a);
    const auto end = end_of(window, a, own_blocking >= blocking ? least : 0, budget);
    if (!end) {
      return std::nullopt;
    }
    least = *end;
    blocking = own_blocking;
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
  Ticks worst = 0;
  for (Ticks nominal = 0; nominal - own.jitter < *busy; nominal += own.period) {
    const auto end = end_of(window, nominal - own.jitter, 0, budget);
    if (!end) {
      return std::nullopt;
    }
    worst = std::max(worst, *end - window.instant - nominal);
  }
  return worst;
}

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
// Response times on one core of instances that arrive in bursts, by the busy periods that contain
// them. Under EDF, see edf_busy_periods.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "demand.hpp"

namespace rclrt::analysis::detail {

/// A stream of instances: at most ceil((w + jitter) / period) arrive within any time w. With a
/// distance, at most ceil((w + within) / distance) do, too.
struct Stream {
  Ticks work{};  ///< of each
  Ticks period{};
  Ticks jitter{};
  Ticks distance{};  ///< 0: there is no second limit
  Ticks within{};

  /// Returns the most instances that arrive in [0, t).
  Ticks before(Ticks t) const {
    const Ticks count = ceil_div(sum(t, jitter), period);
    return distance > 0 ? std::min(count, ceil_div(sum(t, within), distance)) : count;
  }

  /// Returns the most instances that arrive in [0, t]. A negative t stands for instances that
  /// arrived before, as late as their jitter allows: at 0.
  Ticks until(Ticks t) const {
    const Ticks count = floor_div(t + jitter, period) + 1;
    return std::max<Ticks>(
        0, distance > 0 ? std::min(count, floor_div(t + within, distance) + 1) : count);
  }

  /// Returns the earliest arrival of instance q, from 0; below 0 if its jitter allows more than
  /// that.
  Ticks arrival(Ticks q) const {
    const Ticks by_period = product(q, period) - jitter;
    return distance > 0 ? std::max(by_period, product(q, distance) - within) : by_period;
  }

  /// Returns an instance that arrives at 0 at the earliest.
  Ticks at_once() const {
    return distance > 0 ? std::min(jitter / period, within / distance) : jitter / period;
  }

  void add_to(Demand& demand) const {
    if (distance > 0) {
      demand.add({.wcet = work,
                  .releases = {{.period = period, .jitter = jitter}},
                  .also = {{.period = distance, .jitter = within}}});
    } else {
      demand.add(work, period, jitter);
    }
  }
};

struct BusyWindow {
  std::span<const Stream> own;     ///< served in order of arrival
  std::span<const Stream> others;  ///< each instance that arrives before the end delays it
  Ticks blocking{};                ///< work that delays each instance once
  /// 1 if instances that arrive exactly at the end of the instance under study still run before it
  /// ends; 0 if it ends first.
  Ticks instant{};
};

/// Returns the longest time from the arrival of an instance of `own` to its end. nullopt if it
/// grows without limit or the budget ends.
///
/// For an instance that arrives `a` after the start of the busy period, the end w is the least
/// solution of
///   w = B + sum over own of (floor((a + J) / T) + 1) C + sum over others of ceil((w + J) / T) C,
/// with B for `blocking`, and C, T and J for the work, period and jitter of a stream. The response
/// is w - a. Only the arrivals of own instances need be examined. Tindell, "An extendible approach
/// for analysing fixed priority hard real-time tasks", 1992.
std::optional<Ticks> response_in_busy_window(const BusyWindow& window, Budget& budget);

/// Returns the longest time from the nominal arrival of an instance plus its whole jitter J to its
/// end. nullopt if it grows without limit or the budget ends. `own` must be one stream.
///
/// The q-th instance in a busy period (from 0) ends after w_q, with q + 1 instances of its own
/// stream counted. Its nominal arrival is no earlier than q T - J. The result is the largest w_q -
/// q T. Plus the jitter, this is less than the jitter plus the longest response from an arrival,
/// because an instance that waits behind earlier ones has used less of its own jitter. Tindell and
/// Clark 1994.
std::optional<Ticks> delay_in_busy_window(const BusyWindow& window, Budget& budget);

/// Returns the longest time during which work is always pending; it may begin with `blocking`.
std::optional<Ticks> longest_busy_period(std::span<const Stream> streams, Ticks blocking,
                                         Budget& budget);

}  // namespace rclrt::analysis::detail

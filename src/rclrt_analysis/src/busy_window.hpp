// SPDX-License-Identifier: Apache-2.0
// Response times on one core of instances that arrive in bursts, by the busy periods that they may
// be in. One loop for fixed priorities and for EDF, which differ in who counts.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "demand.hpp"

namespace rclrt::analysis::detail {

/// Instances of which at most ceil((w + jitter) / period) arrive within any time w.
struct Stream {
  Ticks work{};  ///< of each
  Ticks period{};
  Ticks jitter{};
};

/// A stream that delays another one's instances.
struct Interferer {
  Stream stream;
  /// Only instances that arrive up to this time after the one under study count; absent: all that
  /// arrive before it ends.
  std::optional<Ticks> until;
};

struct BusyWindow {
  std::span<const Stream> own;  ///< served in order of arrival
  std::span<const Interferer> others;
  /// A single delay that counts when it is longer than the least of `from` to the arrival, counted
  /// from the start of the busy period; see holistic_edf.cpp.
  struct Blocking {
    Ticks work{};
    Ticks from{};   ///< counts for arrivals from here
    Ticks until{};  ///< to here, without
  };
  std::span<const Blocking> blocking;
  /// What arrives at the very end comes first: 1, or 0 if the end is an end for all.
  Ticks instant{};
};

/// The longest time from the arrival of an instance of `own` to its end; absent when it grows
/// without limit or the budget ends.
///
/// For an instance that arrives `a` after the start of the busy period: the least w with
///   w = B(a) + sum over own of (floor((a + J) / T) + 1) C
///       + sum over others of min(ceil((w + J) / T), floor((a + until + J) / T) + 1) C,
/// and w - a is its response. Only arrivals at which a count changes need be looked at. Tindell,
/// "An extendible approach for analysing fixed priority hard real-time tasks", 1992; Spuri,
/// INRIA RR-2772, 1996, where deadlines limit who counts.
std::optional<Ticks> response_in_busy_window(const BusyWindow& window, Budget& budget);

/// The longest time from the nominal arrival of an instance and all of its jitter to its end;
/// absent when it grows without limit or the budget ends. `own` is one stream, and no interferer
/// has a limit.
///
/// The q-th instance in a busy period (from 0) ends after w_q, with q + 1 of its own counted, and
/// its nominal arrival is no earlier than q T - J: the largest w_q - q T. An instance that waits
/// behind earlier ones has used the less of its own jitter, so this and the jitter are less than
/// the jitter and the longest response from an arrival. Tindell and Clark 1994.
std::optional<Ticks> delay_in_busy_window(const BusyWindow& window, Budget& budget);

/// The longest time without a moment at which nothing is pending, which `blocking` may begin.
std::optional<Ticks> longest_busy_period(std::span<const Stream> streams, Ticks blocking,
                                         Budget& budget);

}  // namespace rclrt::analysis::detail

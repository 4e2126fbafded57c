// SPDX-License-Identifier: Apache-2.0
// Response times on one core of instances that arrive in bursts, by the busy periods that contain
// them. Fixed priorities and EDF share one loop; they differ in the set of interfering instances.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "demand.hpp"

namespace rclrt::analysis::detail {

/// A stream of instances: at most ceil((w + jitter) / period) arrive within any time w.
struct Stream {
  Ticks work{};  ///< of each
  Ticks period{};
  Ticks jitter{};
};

/// A stream that delays the instances of another stream.
struct Interferer {
  Stream stream;
  /// Only instances that arrive up to this time after the one under study count; absent: all that
  /// arrive before it ends.
  std::optional<Ticks> until;
};

struct BusyWindow {
  std::span<const Stream> own;  ///< served in order of arrival
  std::span<const Interferer> others;
  /// A single delay. It counts for arrivals from `from` to before `until`, from the start of the
  /// busy period; of the delays that count, only the longest is taken. See holistic_edf.cpp.
  struct Blocking {
    Ticks work{};
    Ticks from{};   ///< counts for arrivals from here
    Ticks until{};  ///< to here, without
  };
  std::span<const Blocking> blocking;
  /// 1 if instances that arrive exactly at the end of a busy window run before it ends; 0 if the
  /// end precedes them.
  Ticks instant{};
};

/// Returns the longest time from the arrival of an instance of `own` to its end; absent when it
/// grows without limit or the budget ends.
///
/// For an instance that arrives `a` after the start of the busy period, w is the least solution of
///   w = B(a) + sum over own of (floor((a + J) / T) + 1) C
///       + sum over others of min(ceil((w + J) / T), floor((a + until + J) / T) + 1) C.
/// Its response is w - a. Only arrivals at which a count changes need be examined. Tindell, "An
/// extendible approach for analysing fixed priority hard real-time tasks", 1992; Spuri, INRIA
/// RR-2772, 1996, in which deadlines limit the interfering instances.
std::optional<Ticks> response_in_busy_window(const BusyWindow& window, Budget& budget);

/// Returns the longest time from the nominal arrival of an instance, plus all of its jitter, to its
/// end; absent when it grows without limit or the budget ends. `own` must be one stream, and no
/// interferer may have a limit.
///
/// The q-th instance in a busy period (from 0) ends after w_q, with q + 1 of its own counted. Its
/// nominal arrival is no earlier than q T - J. The result is the largest w_q - q T. An instance
/// that waits behind earlier ones has used less of its own jitter. So this result plus the jitter
/// is less than the jitter plus the longest response from an arrival. Tindell and Clark 1994.
std::optional<Ticks> delay_in_busy_window(const BusyWindow& window, Budget& budget);

/// Returns the longest time during which work is always pending; it may begin with `blocking`.
std::optional<Ticks> longest_busy_period(std::span<const Stream> streams, Ticks blocking,
                                         Budget& budget);

}  // namespace rclrt::analysis::detail

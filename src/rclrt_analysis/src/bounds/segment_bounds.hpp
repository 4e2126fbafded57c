// SPDX-License-Identifier: Apache-2.0
// Bounds of callbacks of one CPU that run one after the other.
//
// If each callback releases the next at once, the CPU has work of their priorities from the arrival
// at the first one to the end of the last. So one busy period of the lowest priority covers them
// all. One busy period for each callback would count the same interference, and the work of the
// callbacks themselves, several times. Within that busy period, a callback behind another one of
// the segment runs no more often than messages arrive at the first callback, without the jitter
// that the path there adds, because no instance of these priorities is pending when the busy period
// begins. Harbour, Klein and Lehoczky, RTSS 1991, with arrivals after Tindell and Clark 1994.
#pragma once

#include <vector>

#include "bounds/holistic.hpp"

namespace rclrt::analysis::detail {

/// Computes the bound of each callback of the CPU that has a predecessor: from the first callback
/// of its segment, which is as far back as `predecessors` lead, to its own end. `bounds` is by
/// callback.
void segment_bounds(const CoreProblem& problem, const Predecessors& predecessors,
                    std::vector<SegmentBound>& bounds, Budget& budget);

}  // namespace rclrt::analysis::detail

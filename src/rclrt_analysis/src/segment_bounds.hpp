// SPDX-License-Identifier: Apache-2.0
// Bounds of what callbacks of one CPU do one after the other.
//
// Where each callback releases the next at once, the CPU has work of their priorities from the
// arrival at the first one to the end of the last: one busy period of the lowest of them covers
// all, where one for each callback would count the same interference, and the work of the callbacks
// themselves, once for each. Within that busy period, a callback behind another one of it runs no
// more often than messages arrive at the first of them, without the jitter that the way there adds,
// since nothing of these priorities is pending when it begins. Harbour, Klein and Lehoczky, RTSS
// 1991, with arrivals after Tindell and Clark 1994.
#pragma once

#include <vector>

#include "holistic.hpp"

namespace rclrt::analysis::detail {

/// Bounds each callback of the core that has a predecessor, from the first callback of its segment
/// on, as far as `predecessors` lead back.
void segment_bounds(const CoreProblem& problem, const Predecessors& predecessors,
                    std::vector<SegmentBound>& bounds, Budget& budget);

}  // namespace rclrt::analysis::detail

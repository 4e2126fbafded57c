// SPDX-License-Identifier: Apache-2.0
// Earliest deadline first on one core; jobs with equal deadlines run in any order. Offsets are
// unknown; Task::priority is not used.
//
// All functions are pure and may be called from several threads. They throw std::invalid_argument
// for a task outside the limits of task_set.hpp.
#pragma once

#include <span>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis {

/// Decides whether every deadline holds under preemptive EDF, by the processor demand: Baruah,
/// Rosier and Howell, "Algorithms and complexity concerning the preemptive scheduling of periodic,
/// real-time tasks on one processor", Real-Time Systems 2, 1990. It uses the quick test (QPA),
/// theorem 5 of Zhang and Burns, "Schedulability analysis for real-time systems with EDF
/// scheduling", IEEE TC 58(9), 2009. Jitter J makes each deadline shorter by J. Suspension counts
/// as computation. Blocking at a time t is that of the tasks with a deadline up to t: Baker,
/// "Stack-based scheduling of realtime processes", Real-Time Systems 3, 1991.
RCLRT_ANALYSIS_EXPORT Answer edf_demand_test(std::span<const Task> tasks, Effort effort = {});

/// Bounds response times under preemptive EDF, after Spuri, "Analysis of deadline scheduled
/// real-time systems", INRIA RR-2772, 1996, equations 7 to 10 and theorem 3.2, with the release
/// jitter of its section 4. If this takes more than `effort` and edf_demand_test() answers yes, the
/// deadline is the bound.
RCLRT_ANALYSIS_EXPORT TaskSetResult edf_preemptive(std::span<const Task> tasks, Effort effort = {});

/// Bounds response times under EDF without preemption, in continuous time: a job with a later
/// deadline may have started just before the release. George, Rivierre and Spuri, "Preemptive and
/// non-preemptive real-time uniprocessor scheduling", INRIA RR-2966, 1996, theorem 15. Throws
/// std::invalid_argument for tasks that suspend themselves.
RCLRT_ANALYSIS_EXPORT TaskSetResult edf_nonpreemptive(std::span<const Task> tasks,
                                                      Effort effort = {});

}  // namespace rclrt::analysis

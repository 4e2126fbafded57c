// SPDX-License-Identifier: Apache-2.0
// Response times under fixed priorities on one core. Tasks of one level delay each other, as in
// executors that serve a level in order of release. Offsets are unknown.
//
// All functions are pure and may be called from several threads. They throw std::invalid_argument
// for a task outside the limits of task_set.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis {

/// Bounds response times under preemptive fixed priorities. To support deadlines longer than the
/// period, it examines all jobs q of the busy period: Lehoczky, "Fixed priority scheduling of
/// periodic task sets with arbitrary deadlines", RTSS 1990, theorem 2. Jitter and blocking:
/// Tindell, Burns and Wellings, "An extendible approach for analysing fixed priority hard real-time
/// tasks", Real-Time Systems 6, 1994, equations 7 to 9:
///   w_q = (q + 1) C_i + B_i + sum over k of ceil((w_q + J_k) / T_k) C_k,
///   R_i = J_i + max over q of (w_q - q T_i).
///
/// Suspension is treated in two ways, and the smaller bound is returned: all suspension counts as
/// computation; or only the task's own does, and that of another task k counts as jitter R_k - C_k
/// (Chen et al., "Many suspensions, many problems: a review of self-suspending tasks in real-time
/// systems", Real-Time Systems 55, 2019, sections 4.1 and 4.2).
///
/// If this takes more than `effort`, the result is the bound of Bini, Nguyen, Richard and Baruah,
/// "A response-time bound in fixed-priority scheduling with arbitrary deadlines", IEEE TC 58(2),
/// 2009, extended by jitter and blocking.
RCLRT_ANALYSIS_EXPORT TaskSetResult fixed_priority_preemptive(std::span<const Task> tasks,
                                                              Effort effort = {});

/// Bounds response times as fixed_priority_preemptive() does, for jobs that may switch preemption
/// off for Task::region at any point. A task is then also blocked by the longest region of a less
/// urgent task: Yao, Buttazzo and Bertogna, "Bounding the maximum length of non-preemptive regions
/// under fixed priority scheduling", RTCSA 2009, equation 4.
RCLRT_ANALYSIS_EXPORT TaskSetResult fixed_priority_limited_preemptive(std::span<const Task> tasks,
                                                                      Effort effort = {});

/// Bounds response times under fixed priorities without preemption, in continuous time: a less
/// urgent job may have started just before the release. Davis, Burns, Bril and Lukkien, "Controller
/// area network (CAN) schedulability analysis: refuted, revisited and revised", Real-Time Systems
/// 35, 2007, equations 6 to 9, with a bit time of zero:
///   w_q = B_i + q C_i + sum over k of (floor((w_q + J_k) / T_k) + 1) C_k,
///   R_i = J_i + max over q of (w_q - q T_i) + C_i.
/// Throws std::invalid_argument for tasks that suspend themselves, because each part of such a job
/// would be blocked again.
RCLRT_ANALYSIS_EXPORT TaskSetResult fixed_priority_nonpreemptive(std::span<const Task> tasks,
                                                                 Effort effort = {});

}  // namespace rclrt::analysis

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

/// Bounds response times with preemption. Later jobs of the busy period cover arbitrary deadlines:
/// Lehoczky, "Fixed priority scheduling of periodic task sets with arbitrary deadlines", RTSS 1990,
/// theorem 2. Jitter and blocking: Tindell, Burns and Wellings, "An extendible approach for
/// analysing fixed priority hard real-time tasks", Real-Time Systems 6, 1994, equations 7 to 9:
///   w_q = (q + 1) C_i + B_i + sum over k of ceil((w_q + J_k) / T_k) C_k,
///   R_i = J_i + max over q of (w_q - q T_i).
/// Suspension counts as computation; or the task's own counts as computation and that of others as
/// jitter R_k - C_k. The smaller bound is taken: Chen et al., "Many suspensions, many problems: a
/// review of self-suspending tasks in real-time systems", Real-Time Systems 55, 2019, sections 4.1
/// and 4.2. If that takes too long, the response is the bound of Bini, Nguyen, Richard and Baruah,
/// "A response-time bound in fixed-priority scheduling with arbitrary deadlines", IEEE TC 58(2),
/// 2009, extended by jitter and blocking.
RCLRT_ANALYSIS_EXPORT TaskSetResult fixed_priority_preemptive(std::span<const Task> tasks,
                                                              Effort effort = {});

/// Bounds as fixed_priority_preemptive() does. Each job may switch preemption off for Task::region
/// at any point, so a task is blocked by the longest region of a less urgent one: Yao, Buttazzo and
/// Bertogna, "Bounding the maximum length of non-preemptive regions under fixed priority
/// scheduling", RTCSA 2009, equation 4.
RCLRT_ANALYSIS_EXPORT TaskSetResult fixed_priority_limited_preemptive(std::span<const Task> tasks,
                                                                      Effort effort = {});

/// Bounds response times without preemption, in continuous time: a less urgent job may have started
/// an instant before. Davis, Burns, Bril and Lukkien, "Controller area network (CAN) schedulability
/// analysis: refuted, revisited and revised", Real-Time Systems 35, 2007, equations 6 to 9, with a
/// bit time of zero:
///   w_q = B_i + q C_i + sum over k of (floor((w_q + J_k) / T_k) + 1) C_k,
///   R_i = J_i + max over q of (w_q - q T_i) + C_i.
/// Refuses tasks that suspend themselves: each part of a job would be blocked anew.
RCLRT_ANALYSIS_EXPORT TaskSetResult fixed_priority_nonpreemptive(std::span<const Task> tasks,
                                                                 Effort effort = {});

}  // namespace rclrt::analysis

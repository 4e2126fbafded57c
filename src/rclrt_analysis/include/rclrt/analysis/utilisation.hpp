// SPDX-License-Identifier: Apache-2.0
// Tests that use the utilisation only. All functions are pure and may be called from several
// threads.
#pragma once

#include <compare>
#include <span>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis {

/// Returns the sum of C / T.
RCLRT_ANALYSIS_EXPORT double utilisation(std::span<const Task> tasks);

/// Compares the utilisation (the sum of C / T) with 1, without rounding if the least common
/// multiple of the periods fits 63 bits. Otherwise the result is `unordered` if the sum is within
/// 1e-9 of 1.
RCLRT_ANALYSIS_EXPORT std::partial_ordering compare_utilisation_with_one(
    std::span<const Task> tasks);

/// Returns n (2^(1/n) - 1) for n = `tasks`: every set of n tasks with a utilisation up to this
/// value is schedulable under rate monotonic priorities. Liu and Layland, "Scheduling algorithms
/// for multiprogramming in a hard-real-time environment", JACM 20(1), 1973, theorem 5.
RCLRT_ANALYSIS_EXPORT double liu_layland_bound(std::size_t tasks);

/// Returns whether the utilisation is at most liu_layland_bound(). This is a sufficient test of
/// schedulability for rate monotonic priorities with D = T and without jitter, blocking or
/// suspension.
RCLRT_ANALYSIS_EXPORT bool passes_liu_layland(std::span<const Task> tasks);

/// Returns whether the product of (C / T + 1) over all tasks is at most 2. This is a sufficient
/// test for the same tasks as passes_liu_layland(), and accepts more of them. Bini, Buttazzo and
/// Buttazzo, "Rate monotonic analysis: the hyperbolic bound", IEEE TC 52(7), 2003, theorem 1.
RCLRT_ANALYSIS_EXPORT bool passes_hyperbolic_bound(std::span<const Task> tasks);

/// Returns whether passes_liu_layland() and passes_hyperbolic_bound() are valid for these tasks:
/// priorities are rate monotonic, every deadline is the period or longer, and there is no jitter,
/// blocking or suspension.
RCLRT_ANALYSIS_EXPORT bool is_plain_rate_monotonic(std::span<const Task> tasks);

}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
// How much each time can change by itself before a deadline, or a limit of a chain that samples, is
// no longer proved or conditional.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/machine.hpp"
#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis {

/// The last value, from the stated one on, with which every deadline and limit is proved: with the
/// next tick one of them is not. A deadline that is conditional counts as proved, also if it was
/// proved without a condition at the stated value. If the stated value is not enough, the search
/// begins at the most harmless value. "Proved" is the answer of one analysis with limited effort,
/// so two limits need explaining. Close to a full load, busy periods are long, and more effort may
/// prove the next tick, too. And a bound may become lower with a shorter period: then a value
/// beyond the limit may be proved again.
struct Margin {
  std::optional<Ticks> limit;  ///< none: not even the most harmless value is enough
  bool unlimited{};            ///< even the largest (of a period: the smallest) value holds
  /// With the limit, a deadline or a limit of a chain that samples is not proved but conditional.
  bool conditional{};
  /// Whether the trials agree with a single limit: all values tried on the harmless side of the
  /// limit keep the deadlines proved, and none tried beyond it does.
  bool monotone{true};
};

/// How far single values can change. For each margin, all other values stay as they are, including
/// deadlines that were derived from a period.
struct Sensitivity {
  /// The largest common factor of all execution times, in millionths; up to kMaxFactor.
  Margin factor;
  std::vector<Margin> wcets;    ///< one per callback or task: the largest
  std::vector<Margin> periods;  ///< one per callback or task: the smallest; timers and events only
};
/// The largest factor that is tried, in millionths: a factor of a thousand.
inline constexpr Ticks kMaxFactor = 1'000'000'000;

/// Returns the sensitivity of an application. Every chain with a deadline must be proved or
/// conditional by chain_bounds(), and every cause-effect chain by cause_effect_bounds(). WCETs and
/// periods are tried up to an hour, in ns. At each limit, chain_bounds() and cause_effect_bounds()
/// with eight times the steps of `effort` prove everything, and at the next tick they do not. If
/// the application itself needs more steps to be proved, so do the trials. Tries about 20 values
/// per callback and per timer, most of them with one chain only. The conditions of the machine do
/// not change a limit but make it conditional, see judge(). Pure; any thread. Throws as
/// chain_bounds() does.
RCLRT_ANALYSIS_EXPORT Sensitivity sensitivity(const model::Application& application,
                                              const model::ExecutorChoice& executor,
                                              const Machine& machine,
                                              Effort effort = {.steps = 5'000'000});

/// Returns the sensitivity of a task set. Every task must be schedulable by analyse_tasks(). Throws
/// as analyse_tasks() does.
RCLRT_ANALYSIS_EXPORT Sensitivity sensitivity(std::span<const Task> tasks, Policy policy,
                                              Effort effort = {.steps = 5'000'000});

}  // namespace rclrt::analysis

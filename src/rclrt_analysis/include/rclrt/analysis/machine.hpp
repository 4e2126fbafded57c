// SPDX-License-Identifier: Apache-2.0
// The overheads of the machine that runs an application, and the conditions that it adds to bounds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rclrt/analysis/assumption.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// The overheads of one machine, and how well they are known.
struct RCLRT_ANALYSIS_EXPORT Machine {
  Overheads overheads;
  /// The share of each CPU (0 to 1) that the kernel leaves to real-time threads in each second, by
  /// kernel.sched_rt_runtime_us or, from Linux 6.12 on, the fair server. 1: there is no limit.
  double realtime_share = 1;
  /// Every bound rests on these. They need not be checked for each application.
  std::vector<Assumption> assumptions;
  /// Every bound is conditional on these: a property that is not known, or does not fit.
  std::vector<std::string> conditions;

  /// Returns a machine of which nothing was measured. Its overheads are zero, and every bound has
  /// the condition that dispatching takes no time.
  static Machine unmeasured();
  /// Returns whether the kernel enforces realtime_share. A measured share of almost 1 is no limit.
  bool is_limited() const noexcept { return realtime_share < 0.995; }
};

/// CPU demand of one callback.
struct Demand {
  double rate{};         ///< releases per second
  double execution{};    ///< s, of one instance
  int late_instances{};  ///< how many may come together with the next ones: through another CPU, or
                         ///< from several sources
  double jitter{};       ///< s: how late a release may be
};

/// Returns the largest share of any second (0 to 1) that threads with these demands may take of one
/// CPU. `background` is the share that more urgent work takes. A result of at most `limit` may be
/// smaller than the true share, but then the true share is not above `limit` either.
///
/// Let h(x) be the work released within x, minus x, counted from a time at which the CPU was idle.
/// Work that runs in the second from d on was released before some x in it, or runs after x: it is
/// at most h(x) + 1 s for each x from d to d + 1 s, so at most the least of these. The result is
/// the largest over all d. The demand is that of Baruah, Rosier and Howell, "Algorithms and
/// complexity concerning the preemptive scheduling of periodic, real-time tasks on one processor",
/// Real-Time Systems 2(4), 1990. Returns 1 if more than 100 000 releases would have to be examined.
/// Pure.
RCLRT_ANALYSIS_EXPORT double busiest_second(std::span<const Demand> demands, double background,
                                            double limit);

/// Returns the mean load (1: one CPU fully used) of the CPU with the highest load, overheads
/// included. A callback that may run on several CPUs counts on each of them. Pure.
RCLRT_ANALYSIS_EXPORT double mean_load(const model::Application& application,
                                       const Machine& machine);

/// Returns the condition that the bounds get because the kernel's limit for real-time threads may
/// stop threads of the application; std::nullopt if the limit cannot stop them. Pure.
RCLRT_ANALYSIS_EXPORT std::optional<std::string> throttling_condition(
    const model::Application& application, const Machine& machine);

}  // namespace rclrt::analysis

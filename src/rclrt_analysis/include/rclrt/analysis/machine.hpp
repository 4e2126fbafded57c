// SPDX-License-Identifier: Apache-2.0
// What is known of the machine that runs an application, and what its bounds are conditional on.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// What one machine adds, and how well that is known.
struct RCLRT_ANALYSIS_EXPORT Machine {
  Overheads overheads;
  /// The share of each CPU that the kernel leaves to real-time threads in each second
  /// (kernel.sched_rt_runtime_us; the fair server from Linux 6.12 on); 1: there is no limit.
  double realtime_share = 1;
  /// Every bound rests on these. They need not be checked for each application.
  std::vector<std::string> assumptions;
  /// Every bound is conditional on these: something is not known, or does not fit.
  std::vector<std::string> conditions;

  /// Returns a machine of which nothing was measured: every bound is conditional.
  static Machine unmeasured();
  /// Returns whether the kernel enforces realtime_share. A share that was measured to be almost 1
  /// is none.
  bool is_limited() const noexcept { return realtime_share < 0.995; }
};

/// What one callback may demand of a CPU.
struct Demand {
  double rate{};         ///< releases per second
  double execution{};    ///< s, of one instance
  int late_instances{};  ///< how many may come together with the next ones: through another CPU, or
                         ///< from several sources
  double jitter{};       ///< s: how late a release may be
};

/// Returns the largest share of a second that threads with these demands may take of one CPU, when
/// `background` is the share that something more urgent takes. A result of `limit` or less may be
/// too small, but then the true share is not above `limit` either.
///
/// Let h(x) be the work released within x from a time at which the CPU had nothing to do, less x.
/// Work that runs in the second from d on was released before some x in it, or runs after x: it is
/// at most h(x) + 1 s for each x from d to d + 1 s, so at most the least of these. The result is
/// the largest over all d. The demand is that of Baruah, Rosier and Howell, "Algorithms and
/// complexity concerning the preemptive scheduling of periodic, real-time tasks on one processor",
/// Real-Time Systems 2(4), 1990. Returns 1 where more than 100 000 releases would have to be looked
/// at. Pure.
RCLRT_ANALYSIS_EXPORT double busiest_second(std::span<const Demand> demands, double background,
                                            double limit);

/// Returns the mean load of the CPU that has most to do, overheads included. Callbacks that may run
/// on several CPUs count as if these were one. Pure.
RCLRT_ANALYSIS_EXPORT double mean_load(const model::Application& application,
                                       const Machine& machine);

/// Returns what bounds are conditional on where the kernel's limit may stop real-time threads of
/// the application; std::nullopt where it cannot. Pure.
RCLRT_ANALYSIS_EXPORT std::optional<std::string> throttling_condition(
    const model::Application& application, const Machine& machine);

}  // namespace rclrt::analysis

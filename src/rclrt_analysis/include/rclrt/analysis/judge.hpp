// SPDX-License-Identifier: Apache-2.0
// The verdicts on an application: its bounds on a machine, and how far they are proved there.
#pragma once

#include <vector>

#include "rclrt/analysis/assumption.hpp"
#include "rclrt/analysis/cause_effect.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/link_bounds.hpp"
#include "rclrt/analysis/machine.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis {

/// Bounds and verdicts of all chains under one executor on one machine.
struct Judgement {
  /// The bounds and verdicts, in the order of the application's chains. The verdicts take the
  /// machine into account: the `assumptions` of a chain include the conditions that the machine
  /// adds.
  std::vector<ChainBound> chains;
  /// The bounds and verdicts of the application's cause-effect chains, with the same conditions.
  std::vector<CauseEffectBound> cause_effect_chains{};
  std::vector<LinkBound> links{};    ///< between hosts, see link_bounds()
  std::vector<QueueBound> queues{};  ///< of judge_with_queues() only
  /// The assumptions of every bound of this executor on this machine. Those that concern features
  /// of this application come first.
  std::vector<Assumption> assumptions;
  /// Each chain and cause-effect chain is proved or conditional, and each link has bounds.
  bool feasible{};
};

/// Returns the results of chain_bounds() with the verdicts that hold on the machine: a bound is
/// proved only if no condition of the application or of the machine is left to check. `rclrt
/// analyze`, `rclrt compare`, reports and recordings all print this verdict.
///
/// With Machine::unmeasured(), the overheads are unknown and every bound is conditional. With
/// Machine{}, the model is a machine without overheads: the assumptions state that, and bounds are
/// proved in this model. If an option of the executor leaves no bounds (model::why_no_bounds), each
/// chain is unknown for that reason. Pure; any thread. Throws as chain_bounds() does.
RCLRT_ANALYSIS_EXPORT Judgement judge(const model::Application& application,
                                      const model::ExecutorChoice& executor, const Machine& machine,
                                      Effort effort = {});

/// Returns the same with the bounds of queue_bounds(); none if the executor has no bounds. On
/// several CPUs, both take one analysis.
RCLRT_ANALYSIS_EXPORT Judgement judge_with_queues(const model::Application& application,
                                                  const model::ExecutorChoice& executor,
                                                  const Machine& machine, Effort effort = {});

}  // namespace rclrt::analysis

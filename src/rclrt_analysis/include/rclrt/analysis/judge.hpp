// SPDX-License-Identifier: Apache-2.0
// The verdicts on an application: its bounds on a machine, and how far they are proved there.
#pragma once

#include <vector>

#include "rclrt/analysis/assumption.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/machine.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis {

/// Bounds and verdicts of all chains under one executor on one machine.
struct Judgement {
  /// In the order of the application's chains. The verdicts take the machine into account: a
  /// chain's `assumptions` include the machine's conditions.
  std::vector<ChainBound> chains;
  /// The assumptions of every bound of this executor on this machine. Those that are relevant for
  /// the application come first.
  std::vector<Assumption> assumptions;
  bool feasible{};  ///< each chain is proved or conditional
};

/// Returns chain_bounds() with the verdicts that hold on the machine. A bound is proved only if
/// nothing is left to check, neither of the application nor of the machine. `rclrt analyze`,
/// `rclrt compare`, reports and recordings print this verdict. Machine::unmeasured() is a machine
/// with unknown overheads: every bound is conditional. Machine{} is the model of a machine without
/// overheads: the assumptions state it, and what is proved is proved in that model. Pure; any
/// thread. If an option of the executor leaves no bounds (model::why_no_bounds), each chain is
/// unknown for that reason. Throws as chain_bounds() does.
RCLRT_ANALYSIS_EXPORT Judgement judge(const model::Application& application,
                                      const model::ExecutorChoice& executor, const Machine& machine,
                                      Effort effort = {});

}  // namespace rclrt::analysis

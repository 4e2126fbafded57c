// SPDX-License-Identifier: Apache-2.0
// The bounds that PiCAS's authors publish for it, to stand beside those of chain_bounds().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// What PiCAS's analysis says of one chain.
struct PicasBound {
  std::optional<Ticks> bound;  ///< ns; absent where it says nothing, or the time has no limit
  std::string note;            ///< why there is none
  /// Why a response may exceed the bound, each by a rule of the analysis that this application does
  /// not keep. None: no response does, under what chain_assumptions() and the ChainBound of the
  /// same chain say for ExecutorKind::kPicas.
  std::vector<std::string> unsafe;
};

/// Returns one bound per chain, as Choi, Xiang and Kim, "PiCAS: New design of priority-driven
/// chain-aware scheduling for ROS2", RTAS 2021, section VI, and the authors' program for it have
/// them: the sum over the CPUs that the chain comes to of the least R with
///   R = B + C + sum over j of n_j C_j,
/// and the period once more where that is above the period. C is the chain's work on the CPU; pi
/// the least priority of its callbacks there, and e the executor of that one. j are the callbacks
/// of more urgent executors on that CPU, and those of e above pi; of other chains, or of any where
/// the chain comes to several CPUs. n_j is one for a callback whose timer is on this CPU below pi;
/// else ceil(R / P), P being the period of its timer, or the work of its chain where that is on one
/// CPU and longer. B is the longest callback of e below pi. Of timers read events, too.
///
/// The analysis knows callbacks that are on chains and take messages of one callback each: a chain
/// on a CPU with others has no bound. Pure; any thread. Throws std::invalid_argument for a graph
/// with a cycle, for a chain without a timer or event, and as model::top_priorities().
RCLRT_ANALYSIS_EXPORT std::vector<PicasBound> picas_bounds(const model::Application& application,
                                                           Effort effort = {});

}  // namespace rclrt::analysis

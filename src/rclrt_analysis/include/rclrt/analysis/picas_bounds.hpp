// SPDX-License-Identifier: Apache-2.0
// The bounds that PiCAS's authors publish for it, for comparison with those of chain_bounds().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/analysis/verdict.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// The result of PiCAS's analysis for one chain.
struct PicasBound {
  std::optional<Ticks> bound;  ///< ns; absent where it says nothing, or the time has no limit
  std::string note;            ///< why there is none
  /// The reasons why a response may exceed the bound: the rules of the analysis that this
  /// application violates. If empty, no response exceeds it, under the assumptions of
  /// chain_assumptions() and of the same chain's ChainBound for ExecutorKind::kPicas.
  std::vector<std::string> unsafe;
  /// kConditional if the bound is within the deadline and nothing makes it unsafe, else kUnknown.
  Verdict verdict = Verdict::kUnknown;
};

/// Returns one bound per chain, as Choi, Xiang and Kim, "PiCAS: New design of priority-driven
/// chain-aware scheduling for ROS2", RTAS 2021, section VI, and the authors' program compute them:
/// the sum, over the CPUs that the chain visits, of the least R with
///   R = B + C + sum over j of n_j C_j,
/// plus the period once more if that sum is above the period. C is the chain's work on the CPU, pi
/// the lowest priority of its callbacks there, and e the executor of the callback with that
/// priority. j ranges over the callbacks of more urgent executors on that CPU, and those of e above
/// pi; over other chains only, or over any chain if the chain visits several CPUs. n_j is one
/// if the callback's timer is on this CPU below pi. Otherwise n_j is ceil(R / P); P is the period
/// of its timer, or the work of its chain if that chain is on one CPU and its work is longer. B is
/// the longest callback of e below pi. Events count like timers.
///
/// The analysis only supports callbacks that are on chains and take messages of one callback each:
/// a chain on a CPU with others has no bound. Pure; any thread. Throws std::invalid_argument for a
/// graph with a cycle, for a chain without a timer or event, and as model::top_priorities() does.
RCLRT_ANALYSIS_EXPORT std::vector<PicasBound> picas_bounds(const model::Application& application,
                                                           Effort effort = {});

}  // namespace rclrt::analysis

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
  /// The rules of PiCAS's analysis that this application violates, as sentences: a response may
  /// then exceed the bound. Empty: no response exceeds the bound, under the assumptions of
  /// chain_assumptions() and of the same chain's ChainBound for ExecutorKind::kPicas.
  std::vector<std::string> unsafe;
  /// kConditional if the bound is within the deadline and nothing makes it unsafe, else kUnknown.
  Verdict verdict = Verdict::kUnknown;
};

/// Returns one bound per chain, as published for PiCAS by Choi, Xiang and Kim ("PiCAS: New design
/// of priority-driven chain-aware scheduling for ROS2", RTAS 2021, section VI) and computed by the
/// authors' program. The bound is the sum, over the CPUs that the chain visits, of the least R with
///   R = B + C + sum over j of n_j C_j,
/// plus the period once more if that sum is above the period. In it, C is the chain's work on the
/// CPU, pi the lowest priority of its callbacks there, and e the executor of the callback with that
/// priority. j ranges over the callbacks of more urgent executors on that CPU, and those of e above
/// pi; over other chains only, or over any chain if the chain visits several CPUs. C_j is the WCET
/// of j. n_j is one if j's timer is on this CPU below pi. Otherwise n_j is ceil(R / P), where P is
/// the period of j's timer, or the work of j's chain if that chain is on one CPU and its work is
/// longer. B is the WCET of the longest callback of e below pi. Events count like timers.
///
/// The analysis only supports callbacks that are on chains and take messages of one callback each:
/// a chain that shares a CPU with other callbacks has no bound. Pure; any thread. Throws
/// std::invalid_argument for a graph with a cycle, for a chain without a timer or event, and as
/// model::top_priorities() does.
RCLRT_ANALYSIS_EXPORT std::vector<PicasBound> picas_bounds(const model::Application& application,
                                                           Effort effort = {});

}  // namespace rclrt::analysis

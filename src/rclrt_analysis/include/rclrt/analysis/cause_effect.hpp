// SPDX-License-Identifier: Apache-2.0
// Upper bounds on the reaction time and the data age of cause-effect chains.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/link_bounds.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/analysis/verdict.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis {

/// One term of the bounds of a cause-effect chain, in the order of its segments.
struct CauseEffectTerm {
  /// The part of the way that takes the time.
  enum class Kind {
    kSource,    ///< until the timer of the first segment is released: what happened waits for it
    kResponse,  ///< from a segment's release until its value is stored, or the chain ends
    kSampling,  ///< a stored value waits for the release of this segment, which reads it
    kLogical,   ///< from a segment's release until its deadline: Chain::logical_execution
  };
  Kind kind{};
  std::size_t segment{};  ///< index into CauseEffectChain::segments
  Ticks reaction{};       ///< ns, in the reaction time
  Ticks age{};            ///< ns, in the data age
};

/// Bounds of a cause-effect chain with a verdict on its limits.
struct CauseEffectBound {
  std::optional<Ticks> reaction;  ///< ns; absent when none was found
  std::optional<Ticks> age;       ///< ns; absent when none was found
  /// Whether both limits hold, as far as the chain states them.
  Verdict verdict{Verdict::kUnknown};
  std::vector<std::string> assumptions;  ///< the conditions of the segments' bounds
  std::vector<CauseEffectTerm> why;      ///< adds up to the bounds
  std::string note;                      ///< why there is no bound, or no verdict
};

/// Returns the bounds of each cause-effect chain from those of its segments. `chains` are the
/// bounds of all chains with their conditions, as judge() has them.
///
/// Let T_i be the longest interval between two releases of segment i, and R_i the bound on its
/// response. A value that is stored at the latest R_i after a release is read by the first release
/// of the next segment after that, at most T_(i+1) later. So an event right after a release of the
/// first timer has had its reaction after sum(T_i + R_i): Davare et al., "Period optimization for
/// hard real-time distributed automotive systems", DAC 2007. For data, count backward: a release of
/// segment i+1 reads a value that is at most T_i + R_i old, because the next one had not been
/// stored. The age is at most sum(T_i + R_i) - T_n.
///
/// Two observations lower a step; docs/explanation/sampling-chains.md has the proofs. If the
/// executor runs nothing below the writer's callbacks while these are ready, the reader, which is
/// less urgent, starts only when no released instance of the writer is unfinished: R_i is replaced
/// by the timer's lateness (Duerr et al., ACM TECS 18(5s), 2019). If both timers state their
/// offsets, the wait for the next release is the longest one on the grid of the greatest common
/// divisor of the two periods.
///
/// A newest message that goes from host to host takes the longest delay of its link. `links` has
/// those of link_bounds(); without it, such a chain has no bound. Offsets of timers on different
/// hosts count as unknown, because they are on different clocks.
///
/// With Chain::logical_execution, R_i is the deadline of the segment, which has to hold.
///
/// Pure; any thread. Throws std::invalid_argument if there is not one bound for each chain.
RCLRT_ANALYSIS_EXPORT std::vector<CauseEffectBound> cause_effect_bounds(
    const model::Application& application, const model::ExecutorChoice& executor,
    const Overheads& overheads, std::span<const ChainBound> chains,
    std::span<const LinkBound> links = {});

}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
// Priorities chosen by the bounds: Audsley's algorithm over the chains, then a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/assign.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/synthesis.hpp"

namespace rclrt::analysis {

/// Why a chain has its priority.
enum class PlacedBy {
  kAlone,       ///< its deadline holds although all chains without a priority are more urgent
  kTogether,    ///< no single chain's deadline does, but those of all chains of this priority do
  kNoDeadline,  ///< it has no deadline, so it is less urgent than all others
  kMethod,      ///< the method that BoundPriorities::method names has placed it
};

/// The place of a chain among the others.
struct ChainPlace {
  int priority{};
  PlacedBy by{};
  std::optional<Ticks> bound;  ///< ns; with the priorities of the result
  Verdict verdict{Verdict::kUnknown};
};

/// The machine of the bounds, and the effort of bound_priorities().
struct BoundPrioritiesOptions {
  ExecutorKind executor{ExecutorKind::kPreemptive};
  Overheads overheads{};
  std::size_t evaluations = 2000;  ///< computations of bounds, at most
  /// Whether a result is of use that does not prove all deadlines. False: there is no search if it
  /// is certain that no priorities do, and large applications get few evaluations.
  bool best_effort = true;
  std::uint64_t seed = 1;
  InterruptCheck check_interrupt = nullptr;
};

/// Priorities of all callbacks, and how they were found.
struct BoundPriorities {
  std::vector<SynthesizedPriority> callbacks;  ///< in the order of the application
  std::vector<ChainPlace> chains;              ///< the same
  std::string method;  ///< "Audsley's algorithm", "a search", "rate monotonic priorities" ...
  bool feasible{};     ///< all deadlines, and the limits of chains that sample, hold
  /// Why the order of more urgent callbacks may change the bound of a less urgent chain, as
  /// sentences about the application. Empty: it cannot, and `feasible` is final.
  std::vector<std::string> order_matters;
  /// A bound took too many steps, or an executor has too few priorities below its `top_priority`
  /// for an order, so `feasible` is not final.
  bool gave_up{};
  std::size_t evaluations{};
  /// Returns whether no priorities of callbacks prove all deadlines, if these do not.
  bool optimal() const { return order_matters.empty() && !gave_up; }
};

/// Chooses the priorities of the chains by their bounds, and those of callbacks by
/// synthesize_priorities(). Priorities that the file states are replaced.
///
/// From the lowest priority up, each goes to a chain that keeps its deadline at it, preferably to
/// the one with the longest deadline (Audsley, "On priority assignment in fixed priority
/// scheduling", Information Processing Letters 79(1), 2001). If there is none, it goes to the
/// largest set of chains that keep their deadlines if all of them have it: callbacks of equal
/// priority run in the order of their releases. This finds priorities if there are any, where the
/// bound of a chain depends only on the sets of callbacks that are more urgent, equally urgent and
/// less urgent. BoundPriorities::order_matters states where that is not so. There, the sources of
/// chain priorities come first. If neither they nor the algorithm prove all deadlines, a search
/// moves chains to other places, from the best of these results.
///
/// Deterministic; any thread. Throws std::invalid_argument as chain_bounds() does.
RCLRT_ANALYSIS_EXPORT BoundPriorities bound_priorities(const model::Application& application,
                                                       const BoundPrioritiesOptions& options = {});

/// Returns why the bound of a chain may depend on the relative order of more urgent callbacks, as
/// sentences about the application. Empty: it does not, and no priorities of callbacks prove all
/// deadlines if those of bound_priorities() do not. Pure; any thread.
RCLRT_ANALYSIS_EXPORT std::vector<std::string> why_order_matters(
    const model::Application& application, ExecutorKind executor, const Overheads& overheads = {});

}  // namespace rclrt::analysis

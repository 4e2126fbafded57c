// SPDX-License-Identifier: Apache-2.0
// Callback priorities from chain priorities: algorithm 1 of the thesis, as a fixpoint over the
// whole graph. So it also raises an input of a sync that is on no chain.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// The source of the priorities of chains.
enum class ChainPriorities {
  kGiven,              ///< the file; a priority that a callback states is kept as a minimum
  kRateMonotonic,      ///< the shorter the period of the chain's timer, the higher
  kDeadlineMonotonic,  ///< the shorter the deadline, the higher
  kPicas,              ///< PiCAS: each callback of a more urgent chain above all of a less urgent
                       ///< one (equal priorities: the shorter deadline first), and within a chain
                       ///< each callback above those before it
};

/// A callback's synthesized priority, and the reason for it: either `sync` or `chain` is set and
/// explains the value. Neither is set if the callback stated the priority itself or is on no chain.
struct SynthesizedPriority {
  int priority{};
  std::optional<std::size_t> chain;  ///< the most urgent chain that it is on
  std::optional<std::size_t> sync;   ///< the sync that waits for it, directly or through others
  bool stated{};                     ///< the callback stated it itself
};

/// Returns one priority per callback, in the order of the application.
///
/// Steps 1 and 2 of the thesis's section 5.2.2 give each callback the highest priority of its
/// chains (0 if it is on none). Step 3 raises every callback that leads to a sync to at least the
/// sync's priority. kPicas uses other rules: Choi, Xiang and Kim, "PiCAS: new design of
/// priority-driven chain-aware scheduling for ROS2", RTAS 2021, section V. There, a callback that
/// leads to a sync of a chain and is on no more urgent chain counts as a part of that chain. With
/// kGiven no priority is below Application::effective_priority().
///
/// Pure; may be called from several threads; idempotent. Takes time in proportion to callbacks,
/// edges and chains. Throws std::invalid_argument for a graph with a cycle.
RCLRT_ANALYSIS_EXPORT std::vector<SynthesizedPriority> synthesize_priorities(
    const model::Application& application, ChainPriorities source = ChainPriorities::kGiven);

/// Returns one priority per chain: the ones from which synthesize_priorities() computes those of
/// callbacks. For kPicas they are the given ones.
RCLRT_ANALYSIS_EXPORT std::vector<int> chain_priorities(const model::Application& application,
                                                        ChainPriorities source);

/// Returns the reason as text: "chain obstacle", "sync fuse waits for it", "stated", "on no chain".
RCLRT_ANALYSIS_EXPORT std::string reason(const model::Application& application,
                                         const SynthesizedPriority& value);

}  // namespace rclrt::analysis

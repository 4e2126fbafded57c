// SPDX-License-Identifier: Apache-2.0
// Bounds of the links between the hosts of an application.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/assumption.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/model/link_messages.hpp"

namespace rclrt::analysis {

/// One direction of a link with messages of the application.
struct LinkBound {
  model::LinkDirection way;
  /// The share of the rate (of the shaper, if there is one) that all traffic needs in the long run,
  /// as far as it is known.
  double load{};
  /// The longest time from the publication of a message until it is at the other host; ns. nullopt:
  /// no bound for some message, see `note`.
  std::optional<Ticks> delay;
  std::optional<std::int64_t> backlog_bytes;  ///< the most that waits: the buffer that it needs
  std::string note;                           ///< why there is no bound; else empty
};

/// Returns the bounds of all directions of links that messages take, in the order of
/// model::link_directions(). Empty for an application without hosts. Network calculus (Le Boudec
/// and Thiran, "Network Calculus", Springer 2001) for LinkOrder::kFifo, non-preemptive response
/// times (Davis et al., Real-Time Systems 35, 2007) for LinkOrder::kPriority; the proofs are in
/// docs/explanation/links.md. Pure; any thread. Throws as chain_bounds() does.
RCLRT_ANALYSIS_EXPORT std::vector<LinkBound> link_bounds(
    const model::Application& application,
    const model::ExecutorChoice& executor = ExecutorKind::kPreemptive,
    const Overheads& overheads = {}, Effort effort = {});

/// Returns the assumptions of bounds over hosts. Empty for an application without hosts.
RCLRT_ANALYSIS_EXPORT std::vector<Assumption> link_assumptions(
    const model::Application& application);

}  // namespace rclrt::analysis

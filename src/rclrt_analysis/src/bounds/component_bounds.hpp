// SPDX-License-Identifier: Apache-2.0
// Bounds by one busy period of all executors that exchange messages or share a CPU.
#pragma once

#include <cstddef>
#include <vector>

#include "bounds/cores.hpp"
#include "bounds/executor_bounds.hpp"
#include "bounds/level_work.hpp"

namespace rclrt::analysis::detail {

/// Bounds the chains of one component (Cores::component). No jitter of messages is part of these
/// bounds, so they exist (up to 150 callbacks, see chain_bounds.cpp) whenever the work of all CPUs
/// together, and the time that messages are on their way, is less than one CPU could do.
///
/// A time is busy if a CPU of the component runs a callback or an overhead, or if a message is on
/// its way. While an instance of a chain is under way, all times are busy: its callback runs, or
/// waits for a CPU that runs something else, or its message is on the way. Only messages that wait
/// in a synchroniser for their partners are left when a busy period begins. So at any time the
/// length of the busy period so far is at most the work of the releases in it, plus the times for
/// which their messages were on the way. If both overlap, the time counts twice, which makes the
/// bound larger.
///
/// The messages that a callback publishes are on the way at the same time. They add the longest
/// latency of them once. So the component is analysed as one CPU that runs callbacks in any order,
/// with that latency as a part of the callback's execution time. A message that arrives earlier
/// changes nothing, because the bound depends only on the amount of work and on the order of the
/// instances of one callback, which messages keep. Treating waiting as execution is called
/// suspension-oblivious analysis: Chen et al., "Many suspensions, many problems", Real-Time Systems
/// 55, 2019.
///
/// Each CPU may lose Overheads::background and Overheads::stall, and each executor may begin with a
/// polling point.
class ComponentBounds {
 public:
  /// `in_turn`: see ExecutorBounds.
  ComponentBounds(const model::Application& application, const Cores& cores, std::size_t component,
                  const Overheads& overheads, Effort effort, bool in_turn,
                  Workload::EventLimits limits);

  RelyingBound bound(const model::Chain& chain, LagLimits limits) {
    return bounds_.bound(chain, limits);
  }

  /// Returns the same as PathBounds::most_pending().
  Ticks most_pending(std::size_t callback) { return bounds_.most_pending(callback); }

 private:
  Workload workload_;
  ExecutorBounds bounds_;
};

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
// Times of chains by the turns of ready sets alone, which hold at any load.
//
// A thread that runs ready sets never runs a callback twice in a set. So what is ready starts at
// the latest in the set after the current one, however many releases the other callbacks lose. At a
// load above 1, timers skip releases and queues drop their oldest messages. No response to each
// release is bounded then. But the time until a release or a newer one is served is bounded, and
// that is what a value that is read later depends on. docs/explanation/sampling-chains.md has the
// proof. Source of the idea, with other terms: Teper et al., "End-to-end timing analysis in ROS2",
// RTSS 2022, and "Timing-aware ROS 2 architecture and system optimization", RTAS 2024.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "callback_graph.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis::detail {

/// The times of a chain of which not every release is served.
struct ServedTimes {
  Ticks interval{};  ///< the longest time between two served releases
  Ticks response{};  ///< from a release until it, or a newer one, has reached the chain's end
};

class SetTurns {
 public:
  /// Keeps references to the application and the overheads.
  SetTurns(const model::Application& application, const model::ExecutorChoice& executor,
           const Overheads& overheads);

  /// Returns the times of a chain. `from_start`: the start of a timer counts as its release, which
  /// is what a reader of variables needs. nullopt: turns do not bound it, because another kind of
  /// executor, a synchroniser, a service, a shared CPU or a second publisher is on its way.
  std::optional<ServedTimes> of(const model::Chain& chain, bool from_start) const;

 private:
  bool has_turns(std::size_t executor) const;
  bool is_known(std::size_t callback) const;
  bool is_only_publisher(std::size_t publisher, std::size_t to) const;
  /// How late a timer may start: while the set of its last start runs, or behind others.
  struct Lateness {
    Ticks in_own_set{};  ///< 0: it cannot happen
    Ticks behind{};
  };

  /// The messages to a callback: `k` of them take at least (k - 1) periods less the jitter.
  struct Arrivals {
    Ticks period{};
    Ticks jitter{};
  };

  Lateness lateness(std::size_t callback) const;
  ServedTimes begin(std::size_t callback, bool from_start, Arrivals& arrivals) const;
  Ticks serve(std::size_t callback, Arrivals& arrivals) const;
  Ticks set_work(std::size_t executor) const;
  Ticks own_time(std::size_t callback) const;
  Ticks with_background(Ticks work) const;

  const model::Application& application_;
  const Overheads& overheads_;
  bool in_turns_;
  CallbackGraph graph_;
  std::vector<std::size_t> executor_of_;
};

}  // namespace rclrt::analysis::detail

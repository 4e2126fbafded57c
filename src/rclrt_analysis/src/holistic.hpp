// SPDX-License-Identifier: Apache-2.0
// Bounds where one busy period does not reach: across executors and CPUs, under EDF and in a wait
// set. Each callback is bounded by itself, from being ready to its end, and what the callbacks
// before it add to the time at which it becomes ready is its jitter.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "busy_window.hpp"
#include "cores.hpp"
#include "level_work.hpp"
#include "sync_ways.hpp"

namespace rclrt::analysis::detail {

/// Instances of a callback that stem from the releases of one timer.
struct Flow {
  std::size_t timer{};  ///< index into Workload::timers
  Ticks period{};
  Ticks jitter{};  ///< between the earliest and the latest time after the release to be ready
  Ticks count{};   ///< per release
  bool runs{};     ///< user code runs; else a sync's message that waits for a partner
};

/// What one core makes of the flows: for each of `callbacks` the longest time from ready to end,
/// kHorizon where there is no bound.
struct CoreProblem {
  const Workload& workload;
  const Core& core;
  const std::vector<std::vector<Flow>>& flows;  ///< of every callback
  const Overheads& overheads;
  Ticks per_instance{};  ///< CPU time that each instance costs besides its own
  bool skips{};          ///< what a timer misses while it waits is skipped
};
using Responses = std::vector<Ticks>;  ///< of every callback

/// Of each callback the one before it that alone releases it, and at once, on the same CPU: absent
/// for timers, syncs, and what has several publishers or one that is elsewhere.
using Predecessors = std::vector<std::optional<std::size_t>>;

/// Of a callback and those before it, as far as Predecessors lead back: see segment_bounds.hpp.
struct SegmentBound {
  std::size_t first{};                ///< callback of the segment
  Ticks from_arrival{};               ///< at the first one to the end of the last
  std::optional<Ticks> from_nominal;  ///< from its nominal arrival and all of its jitter on; absent
                                      ///< where other than one instance arrives at a time at the
                                      ///< first one, or of several timers
};

void holistic_fixed_priority(const CoreProblem& problem, Responses& responses, Budget& budget);
void holistic_edf(const CoreProblem& problem, Responses& responses, Budget& budget);
void holistic_wait_set(const CoreProblem& problem, Responses& responses, Budget& budget);

/// The streams of a callback's flows, each with the work of its instances; without user code, what
/// they cost besides.
std::vector<Stream> streams_of(const CoreProblem& problem, std::size_t callback,
                               bool user_code = true);

/// The same with the user code only. What an instance costs besides, being queued and dispatched,
/// is at the cost of whatever runs when it comes, also where its own turn comes later: see
/// streams_of(..., false).
std::vector<Stream> user_streams_of(const CoreProblem& problem, std::size_t callback);

/// Adds what queueing the callback's instances costs, whenever they come.
void add_queueing(const CoreProblem& problem, std::size_t callback,
                  std::vector<Interferer>& others);

/// The longest time for the rest of a ready set and `waiting` more of the wait set.
Ticks ready_sets(const CoreProblem& problem, Ticks waiting, Budget& budget);

/// What is lost in each millisecond, and once, to what runs above all.
std::vector<Stream> background_streams(const CoreProblem& problem);

/// The same, as what delays every callback of the core.
void add_background(const CoreProblem& problem, std::vector<Interferer>& others);

/// Jitter propagation: Tindell and Clark, "Holistic schedulability analysis for distributed hard
/// real-time systems", Microprocessing and Microprogramming 40, 1994. Responses grow from
/// zero until nothing changes any more; the least fixed point bounds all.
class Holistic {
 public:
  Holistic(const Workload& workload, const Cores& cores, ExecutorKind executor,
           const Overheads& overheads, Effort effort);

  /// From the release of the chain's timer to the end of its last callback, with the terms.
  RelyingBound bound(const model::Chain& chain) const;

  /// The most instances of a callback that are released and have not ended; kHorizon: no bound. Of
  /// a sync: of one input, and as many messages may wait for a partner that comes later.
  Ticks most_pending(std::size_t callback) const;

 private:
  struct Latency {
    Ticks total{};
    std::vector<Contribution> why;
  };

  void bound_core(const CoreProblem& problem, Responses& responses, Budget& budget) const;
  void find_predecessors();
  void find_flows();
  void add_flows(std::size_t callback);
  Ticks jitter_after(std::size_t callback, const Flow& flow) const;
  bool raise(const Responses& responses, const std::vector<SegmentBound>& segments, Ticks limit);
  void find_ends();
  void add_ends(std::size_t callback);
  bool follows_timer(std::size_t callback) const;
  const Hop& hop(std::size_t from, std::size_t to) const;
  void add_steps(std::span<const std::size_t> callbacks, Latency& latency) const;
  void add_segment(std::span<const std::size_t> callbacks, Latency& latency) const;
  void add_callbacks(std::span<const std::size_t> callbacks, Latency& latency) const;
  bool skips() const { return executor_ == ExecutorKind::kWaitSet; }
  bool shares_edf_cpu(std::size_t callback) const;
  bool at_once(std::size_t from, std::size_t to) const;
  std::string why_none(std::size_t callback) const;
  void explain_end(std::span<const std::size_t> callbacks, Latency& latency) const;
  std::optional<Latency> latency(std::span<const std::size_t> callbacks, const Joins& joins) const;
  Joins joins_of(std::span<const std::size_t> callbacks, KnownArrivals& arrivals) const;
  Ticks most_in_queue(std::size_t callback) const;
  Ticks most_of_input(std::size_t callback, const std::vector<std::size_t>& publishers) const;

  const Workload& workload_;
  const Cores& cores_;
  ExecutorKind executor_;
  Overheads overheads_;
  InterruptCheck check_interrupt_;
  bool out_of_steps_ = false;   // some search for a fixed point was given up
  bool out_of_rounds_ = false;  // responses still grew after kRounds
  Predecessors predecessors_;
  Responses responses_;
  std::vector<SegmentBound> segments_;  // of each callback
  std::vector<std::vector<Flow>> flows_;
  /// Of each callback: from the release of a timer that set it going until it is ready, and to its
  /// end.
  std::vector<std::map<std::size_t, Ticks>> ready_;
  std::vector<std::map<std::size_t, Ticks>> ends_;
};

}  // namespace rclrt::analysis::detail

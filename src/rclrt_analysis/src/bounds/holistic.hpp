// SPDX-License-Identifier: Apache-2.0
// Bounds for cases that one busy period does not cover: across executors and CPUs, under EDF and in
// a wait set. Each callback is bounded by itself, from being ready to its end. The time that the
// callbacks before it add until it becomes ready is its jitter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bounds/busy_window.hpp"
#include "bounds/cores.hpp"
#include "bounds/edf_workers.hpp"
#include "bounds/level_work.hpp"
#include "bounds/sync_ways.hpp"

namespace rclrt::analysis::detail {

struct KindBounds;

/// The instances of a callback that stem from the releases of one timer.
struct Flow {
  std::size_t timer{};  ///< index into Workload::timers
  Ticks period{};
  /// Between the earliest and the latest time after the release to be ready; for an event with
  /// jitter, after its nominal release.
  Ticks jitter{};
  Ticks count{};    ///< per release
  bool runs{};      ///< user code runs; false: a message to a sync that costs its dispatch only
  Ticks earlier{};  ///< how long the releases may have waited in syncs before, see RunsOf
  /// The shortest time between two releases of an event with jitter; 0: no other limit than that of
  /// the period.
  Ticks distance{};
  /// As `jitter`, after the release itself. With a distance, it is no less than the lateness of
  /// timers, because edf.cpp needs such a jitter of every stream.
  Ticks within{};

  bool operator==(const Flow&) const = default;
};

/// The input of the analysis of one CPU. The result of such an analysis is, for each callback in
/// `core`, the longest time from being ready to its end; kHorizon if there is no bound.
struct CoreProblem {
  const Workload& workload;
  const Core& core;
  const std::vector<std::vector<Flow>>& flows;  ///< of every callback
  const Overheads& overheads;
  Ticks per_instance{};  ///< CPU time that each instance costs besides its own
  bool skips{};          ///< releases of a timer that come while it waits are skipped
  /// Only these callbacks of the core need be bounded. Empty: all.
  std::span<const std::size_t> only{};
  /// Responses that need only be compared with these, of each callback: see EdfWork::Limit. Empty:
  /// all have to be exact.
  std::span<const Ticks> limits{};

  bool needs(std::size_t callback) const {
    return only.empty() || std::ranges::find(only, callback) != only.end();
  }
};
using Responses = std::vector<Ticks>;  ///< of every callback

/// For each callback, the one callback that releases it, if that happens at once and on the same
/// CPU. nullopt for timers, syncs, and callbacks that have several publishers or a publisher on
/// another CPU.
using Predecessors = std::vector<std::optional<std::size_t>>;

/// The bound of a segment: callbacks that release each other on one CPU (see Predecessors), up to
/// and including the callback that has this bound. See segment_bounds.hpp.
struct SegmentBound {
  std::size_t first{};                ///< callback of the segment
  Ticks from_arrival{};               ///< at the first one to the end of the last
  std::optional<Ticks> from_nominal;  ///< from its nominal arrival and all of its jitter on; absent
                                      ///< unless one instance of one timer arrives at a time
};

void holistic_fixed_priority(const CoreProblem& problem, Responses& responses, Budget& budget);
void holistic_ready_sets(const CoreProblem& problem, Responses& responses, Budget& budget);

/// Returns the streams of a callback's flows, each with the work of its instances: user code and
/// other costs. If `user_code` is false, only the other costs (queueing and dispatching) count.
std::vector<Stream> streams_of(const CoreProblem& problem, std::size_t callback,
                               bool user_code = true);

/// Returns the streams of a callback's flows with the work of user code only, and of what `more`
/// each run brings. The other costs, queueing and dispatching, are in streams_of(..., false): they
/// delay whatever runs when an instance arrives, even if the instance itself runs later.
std::vector<Stream> user_streams_of(const CoreProblem& problem, std::size_t callback,
                                    Ticks more = 0);

/// Returns model::relative_deadline() of a callback in ticks.
std::optional<Ticks> edf_deadline(const model::Callback& callback);

/// Returns the longest time for the rest of a ready set and `waiting` more sets of the wait set, up
/// to the end of the callback `last` in the last one.
Ticks ready_sets(const CoreProblem& problem, std::size_t last, Ticks waiting, Budget& budget);

/// Returns the time lost in each millisecond, and the time lost once, to work above all priorities.
std::vector<Stream> background_streams(const CoreProblem& problem);

/// The input of a sync by which its sets are counted. Both numbers are upper bounds.
enum class SetCount { kRarestInput, kBusiestInput };

/// The question whether a chain has a bound of at most `limit`. The analysis then ends as soon as
/// the answer is no: responses only grow on the way to the fixed point.
struct ChainTrial {
  const model::Chain* chain{};
  Ticks limit{};
  bool with_paths{};  ///< false: without the bounds of whole paths, which takes less time
  /// For each callback, the response with which each chain of this callback alone meets its
  /// deadline; kHorizon if there is none.
  std::span<const Ticks> single{};
};

struct Overlapping;

/// Bounds the chains by holistic analysis, with jitter propagation: Tindell and Clark, "Holistic
/// schedulability analysis for distributed hard real-time systems", Microprocessing and
/// Microprogramming 40, 1994. The responses of all callbacks grow from zero until nothing changes;
/// this least fixed point bounds them all.
class Holistic {
 public:
  Holistic(const Workload& workload, const Cores& cores, ExecutorKind executor, SetCount sets,
           const Overheads& overheads, Effort effort, std::optional<ChainTrial> trial = {});

  /// Returns whether the analysis has ended because the chain of its trial has no bound of at most
  /// the limit.
  bool has_missed() const { return has_missed_; }

  /// Returns the bound of the chain; kHorizon: there is none. If has_missed() is true, `chain` must
  /// be that of the trial, and the result is above the limit and not above the bound.
  Ticks response(const model::Chain& chain) const;

  /// Returns the bound on the time from the release of the chain's timer to the end of its last
  /// callback, with its terms.
  RelyingBound bound(const model::Chain& chain, LagLimits limits) const;

  /// Returns the most instances of a callback that are released and have not ended; kHorizon: no
  /// bound. For a sync, they are the messages of one input, including those that wait for a
  /// partner.
  Ticks most_pending(std::size_t callback) const;

 private:
  struct Latency {
    Ticks total{};
    std::vector<Contribution> why;
  };

  /// Callbacks of a path on one CPU, each of which releases the next one at once.
  struct Segment {
    std::size_t core{};
    std::size_t executor{};  ///< of the first one
    int lowest{};            ///< of their thread priorities
  };

  /// The only path from a timer to a callback, without a sync.
  struct PathFromTimer {
    std::vector<std::size_t> callbacks;  ///< empty: there is no such path
    std::vector<Segment> segments;
    std::map<std::size_t, int> lowest;  ///< thread priority of the path's callbacks, of each core
    Ticks hops{};                       ///< the most that all hops take
  };

  /// Whether instances of a callback may run while a path has a ready callback on their CPU.
  struct Urgency {
    bool runs{};
    std::optional<Ticks> latest{};  ///< only those that are due by then, from the path's release on
  };

  /// An executor of callbacks of a path on one CPU.
  struct Visitor {
    std::size_t executor{};
    std::optional<Ticks> latest;  ///< see latest_deadline()
  };

  bool is_exact() const;
  std::span<const Ticks> limits() const;
  void search(Effort effort);
  void bound_cores(std::span<const std::size_t> only, Responses& responses,
                   std::vector<SegmentBound>& segments, Budget& budget);
  bool is_unchanged(const Core& core) const;
  bool misses();
  void look_at_chain(Ticks limit, Budget& budget);
  void find_predecessors();
  void find_flows();
  std::vector<Flow> messages(std::size_t from, std::size_t to) const;
  void add_flows(std::size_t callback);
  void add_rarest_flows(std::size_t callback);
  Ticks jitter_after(std::size_t callback, const Flow& flow) const;
  Ticks within_after(std::size_t callback, const Flow& flow) const;
  void find_paths();
  std::vector<Ticks> path_bounds(std::span<const std::size_t> only, Budget& budget) const;
  Latency path_bound(std::size_t last, Budget& budget) const;
  std::vector<bool> after_path(std::size_t last) const;
  std::optional<Ticks> latest_deadline(const PathFromTimer& path, std::size_t executor) const;
  std::vector<Visitor> visitors_of(const PathFromTimer& path, std::size_t core) const;
  Urgency urgency_of(const PathFromTimer& path, std::size_t core,
                     const std::vector<Visitor>& visitors, std::size_t other) const;
  std::vector<Overlapping> overlapping(std::size_t last) const;
  Started started_before(const PathFromTimer& path, const Segment& segment) const;
  Latency constant_terms(const PathFromTimer& path) const;
  std::vector<std::optional<Ticks>> next_releases(const std::vector<Overlapping>& others,
                                                  const std::vector<bool>& in_phase,
                                                  std::size_t own, Ticks number) const;
  Ticks find_in_phase(const std::vector<Overlapping>& others, std::size_t own,
                      std::vector<bool>& in_phase) const;
  bool raise(const Responses& responses, const std::vector<SegmentBound>& segments,
             const std::vector<Ticks>& from_release, Ticks limit);
  void find_ends();
  void add_ends(std::size_t callback);
  bool follows_timer(std::size_t callback) const;
  /// Returns whether this timer or event (a callback) has releases with jitter of their own. Then
  /// the nominal time is not that of the release.
  bool has_jitter(std::size_t timer) const {
    return workload_.jitter[workload_.runs[timer].front().timer] > 0;
  }
  const Hop& hop(std::size_t from, std::size_t to) const;
  void add_steps(std::span<const std::size_t> callbacks, Latency& latency) const;
  void add_segment(std::span<const std::size_t> callbacks, Latency& latency) const;
  void add_callbacks(std::span<const std::size_t> callbacks, Latency& latency) const;
  bool at_once(std::size_t from, std::size_t to) const;
  std::string why_none(std::size_t callback) const;
  void explain_end(std::span<const std::size_t> callbacks, Latency& latency) const;
  std::optional<Latency> latency(std::span<const std::size_t> callbacks, const Joins& joins,
                                 bool with_terms) const;
  Joins joins_of(std::span<const std::size_t> callbacks, KnownArrivals& arrivals,
                 LagLimits limits) const;
  Ticks most_in_queue(std::size_t callback) const;
  Ticks most_of_input(std::size_t callback, const std::vector<std::size_t>& publishers) const;

  const Workload& workload_;
  const Cores& cores_;
  const KindBounds& kind_;
  bool runs_sets_;                     // as in the registry
  bool by_deadline_;                   // the same
  std::optional<EdfWorkers> workers_;  // if EDF executors share a CPU
  SetCount sets_;
  Overheads overheads_;
  InterruptCheck check_interrupt_;
  std::optional<ChainTrial> trial_;
  bool has_missed_ = false;
  bool out_of_steps_ = false;   // a search for a fixed point was given up
  bool out_of_rounds_ = false;  // responses still grew after kRounds
  Predecessors predecessors_;
  std::vector<Ticks> least_;  // of each callback: the least latency on the longest way to it
  Responses responses_;
  std::vector<SegmentBound> segments_;  // of each callback
  std::vector<std::vector<Flow>> flows_;
  std::vector<std::vector<Flow>> bounded_flows_;  // for which the cores were bounded last
  std::vector<int> priority_;         // of each callback: of its thread, see thread_priorities()
  std::vector<int> ceiling_;          // of each callback: see thread_ceilings()
  std::vector<PathFromTimer> paths_;  // to each callback
  /// For each callback with a PathFromTimer: the bound on the time from the timer's nominal release
  /// to the callback's end. kHorizon: no bound, or no such path.
  std::vector<Ticks> from_release_;
  /// For each callback and each timer (as a callback) that triggers it: the longest time from the
  /// timer's release until the callback is ready (`ready_`), and until its end (`ends_`).
  std::vector<std::map<std::size_t, Ticks>> ready_;
  std::vector<std::map<std::size_t, Ticks>> ends_;
};

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
// Executors on several CPUs: their flows, and what they have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "bounds/cores.hpp"
#include "bounds/kind.hpp"
#include "bounds/level_work.hpp"
#include "demand.hpp"

namespace rclrt::analysis::detail {

/// Releases that bring the instances of a source.
struct GlobalArrivals {
  Releases releases;
  Ticks count{};  ///< instances for each release
};

/// Returns the shortest time from the first to the last one of `count` releases (1 or more).
inline Ticks shortest_time(const Releases& releases, Ticks count) {
  return std::max({Ticks{0}, product(count - 1, releases.period) - releases.jitter,
                   product(count - 1, releases.distance) - releases.within});
}

/// A callback on the paths that lead from a timer, an event or a sync (the source) up to the next
/// sync. A message to a sync is a node of its own (is_message), because it costs its dispatch; the
/// set that it may complete is an instance of another source.
struct GlobalNode {
  std::size_t callback{};
  bool is_message{};
  Ticks work{};                       ///< of one run
  Ticks count{};                      ///< runs for each instance of the source
  Ticks longest{};                    ///< work of the longest path to its end
  Ticks jobs{};                       ///< callbacks on the path with the most of them
  int lowest{};                       ///< priority on its paths
  std::vector<std::size_t> before{};  ///< nodes on the paths to it, itself included
  bool has_hops{};                    ///< messages on its paths may take time
  bool is_here{};                     ///< all of its paths are in its executor
  std::vector<std::size_t> from{};    ///< the last ones before it
  Ticks response{};  ///< the longest time from the instance's stamp to its end; kHorizon: none
  Ticks queued{};    ///< the most runs that its queue, and those before it, can hold
  Ticks on_way{};    ///< the longest time for which its messages, and those before, take no queue
};

/// A callback that publishes messages of an input of a sync.
struct GlobalPublisher {
  std::size_t source{};
  std::size_t node{};
  std::size_t message{};  ///< the node of the same source that takes its messages
};

struct GlobalSource {
  std::size_t callback{};
  std::vector<GlobalArrivals> arrivals{};
  Ticks earlier{};  ///< the longest time from the counted release to the instance's stamp
  std::vector<GlobalNode> nodes{};  ///< publishers before those that take their messages
  bool sequential{};                ///< each callback releases at most one
  bool is_sync{};
  std::vector<std::vector<GlobalPublisher>> inputs{};  ///< of the sync
  Ticks depth{};  ///< the most messages of an input that wait in the sync

  /// Returns whether each release brings one instance, all by one timer or one event.
  bool has_one_release() const { return arrivals.size() == 1 && arrivals.front().count == 1; }
  /// Requires has_one_release().
  bool has_jitter() const {
    const Releases& releases = arrivals.front().releases;
    return !releases.has_one_limit() || releases.jitter > 0;
  }
  /// Returns the shortest period of the releases that bring its instances.
  Ticks shortest_period() const {
    Ticks result = kHorizon;
    for (const GlobalArrivals& each : arrivals) {
      result = std::min(result, each.releases.period);
    }
    return result;
  }
  /// Returns the most instances of this source of which some callback may run within a time x, if
  /// each instance has ended `response` after its stamp: by the releases of which it may have
  /// messages. See GlobalSystem::instances(), too.
  Ticks instances(Ticks x, Ticks response) const;

  /// Returns the most runs of a node within a time x. Without a bound of its response, these are
  /// the runs that were in the queues before, and those of the releases within x.
  Ticks runs(const GlobalNode& node, Ticks x) const;

  /// Returns the most runs of a node within a time x by its queues alone.
  Ticks runs_by_queues(const GlobalNode& node, Ticks x) const;
};

/// Callbacks that release each other from a source on, those that count all in one executor.
struct GlobalPath {
  std::size_t executor{};
  std::size_t source{};
  std::vector<std::size_t> nodes{};  ///< the last one is the end
  std::size_t begin{};               ///< those before this one have ended when the path begins
  bool single{};                     ///< these nodes run once each, one after the other
  Ticks work{};
  Ticks jobs{};
  int priority{};  ///< the lowest one
  Ticks ready{};   ///< the longest time from the stamp until its first callback is ready
};

/// Nodes of a source.
struct GlobalNodes {
  std::size_t source{};
  std::vector<std::size_t> nodes{};
  int ceiling{};  ///< the highest one of their callbacks
};

/// The CPUs of an executor, and the other executors that may use them. Lists of executors have an
/// element for each executor of the application.
struct GlobalExecutor {
  Ticks cpus{};                       ///< on which it runs callbacks at once
  Ticks all_cpus{};                   ///< also those on which only its scheduler thread runs
  std::vector<bool> callbacks_of{};   ///< executors with callbacks on `cpus`
  std::vector<bool> schedulers_of{};  ///< executors with a scheduler thread on `all_cpus`
  std::vector<bool> has_cpus_of{};    ///< executors with callbacks on the same CPUs
  /// CPUs of this executor on which others may run callbacks: each set once, as its size.
  std::vector<Ticks> places{};
  std::vector<std::size_t> place_of{};  ///< of each executor, an index of `places`
  std::vector<GlobalNodes> nodes{};     ///< that run on `cpus`
  /// The highest priority of subscriptions, syncs, services and clients that run on `cpus`.
  std::optional<int> most_urgent_message{};
};

/// The threads of each executor of a system.
struct GlobalPool {
  Pool kind{};
  std::optional<Ticks> most_threads;  ///< that run callbacks at once; absent: one on each CPU
  bool runs_sets{};                   ///< the threads take callbacks from ready sets
};

/// Returns the threads of an executor. Throws std::invalid_argument as bounds_of() does.
GlobalPool pool_of(const model::ExecutorChoice& executor);

struct GlobalSystem {
  /// `component`: executors, and their callbacks.
  /// `scheduled`: executors have scheduler threads.
  GlobalSystem(const Workload& all, const Core& component, GlobalPool threads, bool scheduled,
               const Overheads& costs);

  /// Returns the path to the end of a node, from the source or from the first callback after the
  /// last hop between executors. nullopt if several paths lead to the node, and one of them comes
  /// from another executor.
  std::optional<GlobalPath> path_to(std::size_t source, std::size_t node) const;

  /// Returns the path through these callbacks, which begin with a timer, an event or a sync.
  /// nullopt if one of them does not release the next one.
  std::optional<GlobalPath> path_along(std::span<const std::size_t> callbacks) const;

  /// Returns the path of the last node alone, after all before it have ended.
  GlobalPath path_of(std::size_t source, std::size_t node, Ticks ready) const;

  /// Returns the part of a path along single callbacks from one position to another. nullopt if it
  /// leaves the executor.
  std::optional<GlobalPath> part_of(const GlobalPath& path, std::size_t begin, std::size_t end,
                                    Ticks ready) const;

  /// Returns 1 (ns) if the last callback may be interrupted after its work, before it returns: by
  /// the scheduler thread, or by a more urgent callback that is released at that very time on
  /// another CPU. Otherwise returns 0.
  Ticks tail(const GlobalPath& path) const;

  /// Returns the longest time from the stamp of an instance until its first callback is ready;
  /// nullopt without a bound.
  std::optional<Ticks> ready_after_stamp(const GlobalSource& source) const;

  /// Returns the most instances of a source of which some callback may run within a time x, if each
  /// instance has ended `response` after its stamp.
  Ticks instances(std::size_t source, Ticks x, Ticks response) const;

  /// Returns the most sets of a sync that are formed within a time x.
  Ticks formed(std::size_t source, Ticks x) const;

  /// Sets the elements of the sources with responses that instances() depends on.
  void mark_sources(std::size_t source, std::vector<bool>& sources) const;

  /// Returns the longest time from the stamp of a run of the callback to its end.
  Ticks response_of(std::size_t callback) const;

  /// Returns the shortest time from the first stamp to the last one of `count` instances of a
  /// source with one timer or event.
  Ticks shortest_time(std::size_t source, Ticks count) const;

  /// Returns the longest time for which a message between the two callbacks is on its way.
  Ticks hop(std::size_t from, std::size_t to) const;

  /// Returns the longest time from the stamp until all messages to a node have arrived. For the
  /// first node of a source, 0.
  Ticks arrival(const GlobalSource& source, std::size_t node) const;

  const Workload& workload;
  std::vector<bool> here;                 ///< for each callback: it is one of the component
  std::vector<std::size_t> executor_of;   ///< of each callback
  std::vector<GlobalExecutor> executors;  ///< of the application; those of the component are set
  std::vector<int> priority;              ///< of each callback: of its thread
  std::vector<int> ceiling;               ///< of each callback: of its group's threads
  GlobalPool pool;
  /// For each callback: those with the same turn run one after the other, because they are the same
  /// callback, members of a group, or have a thread for them.
  std::vector<std::size_t> turn_of;
  /// Callbacks run in turns and wait in queues. Where each instance has a thread of its own, it
  /// leaves its queue, and takes its dispatch, before it waits for its turn.
  bool has_turns;
  bool has_queues;
  /// For each callback: one of those that it may wait for while a CPU is idle, directly or through
  /// others that wait. It is the same one for all of these, such as the members of a group.
  std::vector<std::size_t> waits_with;
  /// Where a callback is ready and neither runs nor waits for a CPU, one of those with the same
  /// `waits_with` is being run, if there is no overhead. A callback that waits without a CPU
  /// (model::Callback::waits) would break this: Waits::why_no_bounds() refuses it there.
  bool runs_what_waits;
  Overheads overheads;
  Ticks dispatch;  ///< at the priority of the callback, without the scheduler thread's part
  std::vector<GlobalSource> sources{};  ///< in topological order
  /// For each callback: others of its group. Pool::kSingle: of its executor.
  std::vector<std::vector<std::size_t>> members;

 private:
  GlobalExecutor on_cpus(const Core& component, std::size_t executor, bool scheduled) const;
  Ticks waits_in_syncs(std::size_t callback) const;
  void find_inputs(GlobalSource& source) const;
  void find_turns(const Core& component);
  void add_source(std::size_t callback);
  void fill_queues(const GlobalSource& source, GlobalNode& node) const;
  void find_nodes(std::size_t executor);
  void find_waits();
};

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
// The work at and above one level that releases and completions of callbacks cause.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "callback_graph.hpp"
#include "demand.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis::detail {

inline constexpr Ticks kMillisecond = 1'000'000;

/// Releases of one timer that a callback's runs stem from.
struct RunsOf {
  std::size_t timer{};  ///< index into Workload::timers
  Ticks count{};        ///< runs for each release
  Ticks earlier{};      ///< how long messages of these releases may wait in synchronisers
};

/// The parts of the work that do not depend on the level.
struct Workload {
  /// The order in which callbacks run.
  enum class Order {
    kPriority,
    kAny,         ///< whatever the executor likes, as long as it does not idle
    kAnyToTheEnd  ///< the same, and what has started is not interrupted by callbacks
  };
  /// The limits of an event's releases that count, if it states a period with jitter. Each of them
  /// holds: kDistance has the lower count in a short time, if the jitter is long.
  enum class EventLimits {
    kDistance,  ///< its shortest interval: as if it were a timer with this period
    kPeriod     ///< its period and its jitter, and the shortest interval
  };
  Workload(const model::Application& app, const Overheads& overheads,
           Order order_of_callbacks = Order::kPriority, bool in_order_of_release = false,
           EventLimits limits = EventLimits::kDistance);

  /// States that within a ready set, callbacks of a higher priority run first.
  void order_sets() { turn = application.effective_priorities(); }

  /// Returns whether all callbacks have the same priority.
  bool has_one_priority() const {
    return std::ranges::adjacent_find(priority, std::ranges::not_equal_to{}) == priority.end();
  }

  /// Reads the execution times, periods and intervals of the application again.
  void read_times();

  /// Lets other callbacks of the CPU run while one of these waits: see docs/explanation/bounds.md,
  /// "Callbacks that wait". Joins the levels that such a wait mixes, each joined level under its
  /// lowest priority.
  /// `here`: for each callback, whether it is in the component of these. `all`: joins all levels.
  void mix_levels(const std::vector<std::size_t>& waiting, const std::vector<bool>& here, bool all);

  const model::Application& application;
  CallbackGraph graph;
  Order order;
  bool by_release;  ///< callbacks of one priority run in order of release, one after the other
  /// For each callback, whether others of its priority may preempt it: see mix_levels().
  std::vector<bool> is_mixed;
  /// For each callback, whether less urgent ones are in its level only because a dispatch after a
  /// wait takes time: see mix_levels().
  std::vector<bool> is_joined_by_dispatch;
  std::vector<int> priority;  ///< effective, of each callback
  std::vector<int> ceiling;   ///< the highest in its group; its own without one
  /// Of each callback: within a ready set, those with a higher one run first, and those with equal
  /// ones in any order. All equal without order_sets().
  std::vector<int> turn;
  /// ns, without overheads; 0 for callbacks that never run. The time for which a callback waits
  /// counts as work, and so does the dispatching after that.
  std::vector<Ticks> wcet;
  Ticks dispatch;                   ///< ns per instance, on the scheduler thread too
  Ticks scheduler;                  ///< the part of `dispatch` that runs above all levels
  Ticks first_poll;                 ///< ns before the first callback of a busy period
  Ticks background;                 ///< ns in each millisecond
  Ticks stall;                      ///< ns, once
  std::vector<std::size_t> timers;  ///< the callbacks with a timer
  std::vector<Ticks> period;        ///< of each of `timers`
  std::vector<Ticks> jitter;        ///< the same: of an event's releases (EventLimits::kPeriod)
  std::vector<Ticks> distance;      ///< the same: the shortest time between two releases
  /// For each callback, the publisher by which its runs are counted: for a subscription its only
  /// publisher, for a sync the publisher of its busiest input. nullopt if an input has several
  /// publishers.
  std::vector<std::optional<std::size_t>> counted_by;
  /// The timer at the end of counted_by, as a callback; absent if counted_by ends before a timer,
  /// and for a sync of which no input always has the most releases because an event has jitter.
  std::vector<std::optional<std::size_t>> source;
  /// For each callback, the releases that bring all of its runs: in any time, it runs no more often
  /// than there are such releases in that time and the time RunsOf::earlier before it. For a sync,
  /// they are the releases of the input with the fewest, `rarest_input`. Empty for a sync without a
  /// publisher.
  std::vector<std::vector<RunsOf>> runs;
  /// For a sync, the releases that bring all of its messages.
  std::vector<std::vector<RunsOf>> messages;
  /// For a sync, the input that `runs` counts, as an index into CallbackGraph::publishers.
  std::vector<std::size_t> rarest_input;

  /// Returns 1 (ns) if the callback returns later than its work ends, so that a release at that
  /// very time still finds it running: it has no work, or a callback that it releases may preempt
  /// it before it returns, such as one of another executor. Otherwise returns 0.
  Ticks return_delay(std::size_t callback) const;

  /// Returns the releases of timers[k] from the start of a busy period on, if each comes up to
  /// `late` later than the timer or event states. The first counts at the start.
  Releases releases(std::size_t k, Ticks late) const;

  /// Returns the shortest time from the first to the last one of `count` + 1 releases of timers[k].
  Ticks shortest_time(std::size_t k, Ticks count) const {
    return std::max(product(count, distance[k]), product(count, period[k]) - jitter[k]);
  }

  /// Returns the lowest priority of these callbacks, of which there is at least one.
  int lowest(std::span<const std::size_t> callbacks) const;

  /// Returns the lowest priority on the path from the timer that releases the callback to the
  /// callback. nullopt if a sync or a callback with several publishers is on the path.
  std::optional<int> lowest_from_timer(std::size_t callback) const;

  /// Returns whether, in the long run, a sync runs less often by the count of `runs` than once for
  /// each release of `source`.
  bool is_rarer_than_source(std::size_t sync) const;

  /// Returns whether a sync has an input that is rarer than its busiest one.
  bool has_rarer_inputs() const;

 private:
  void read_values();
  void find_sources();
  void find_runs();
  std::vector<RunsOf> runs_of_all(const std::vector<std::size_t>& callbacks) const;
  std::vector<RunsOf> messages_of(const std::vector<std::vector<std::size_t>>& inputs) const;
  void let_wait(const model::Sync& sync, std::vector<RunsOf>& rarest) const;
  double rate_of(const std::vector<RunsOf>& runs_of) const;
  bool is_rarer(const std::vector<RunsOf>& one, const std::vector<std::size_t>& publishers,
                const std::vector<RunsOf>& other,
                const std::vector<std::size_t>& other_publishers) const;

  EventLimits limits_;
};

/// Returns whether the callback is a timer with releases that keep their grid.
bool keeps_grid(const model::Callback& callback);

/// Returns the time from `release` to the next release of a timer with this offset and period; 0 if
/// it is at the same time.
inline Ticks from_release_to(Ticks release, Ticks offset, Ticks period) {
  return (((offset - release) % period) + period) % period;
}

/// Returns the offset of a timer if the application states it, and the releases keep their grid.
std::optional<Ticks> stated_offset(const model::Callback& callback);

/// Returns whether the callback is a sync: it has several inputs.
inline bool is_sync(const Workload& workload, std::size_t callback) {
  return workload.graph.publishers[callback].size() > 1;
}

/// A callback below the level that is running when the busy period begins.
struct Started {
  Ticks work{};  ///< the rest of it and what follows it
  std::size_t callback{};
};

/// Whether a message to a sync counts with the set that it may complete.
enum class WithSets { kNo, kYes };

/// The work that a set of a sync brings when it is complete.
struct SetWork {
  std::size_t sync{};
  Ticks work{};
  /// A timer, as an index into Workload::timers: in a busy period, the sync completes at most one
  /// set for each release of it (see Workload::find_sources). nullopt: no such timer is known.
  std::optional<std::size_t> at_most;
};

/// Head and Started of chain_bounds.hpp for one level.
class LevelWork {
 public:
  /// `here`: for each callback, whether it runs on the core. Only these may have started.
  LevelWork(const Workload& workload, int level, const std::vector<bool>& here);

  int level() const { return level_; }

  /// Returns the work that one instance of the callback brings, together with all that it releases,
  /// up to callbacks below the level. A message to a sync counts only with its dispatch; the rest
  /// is in sets(). A callback that several paths through the graph reach runs once for each.
  Ticks head(std::size_t callback) const { return head_[callback]; }

  /// Returns, for each sync on the core that is at or above level(), the work that one set of its
  /// messages causes, with all that the set releases. head() of a callback does not contain that
  /// work: its message may complete a set with a message that has waited since an earlier release.
  const std::vector<SetWork>& sets() const { return sets_; }

  /// Returns whether each release of Workload::source runs the callback once: no sync is before it.
  bool follows(std::size_t callback) const;

  /// Returns whether the callback's instances are all part of the head of Workload::source.
  bool counted(std::size_t callback) const { return counted_[callback]; }

  /// Returns the remaining work of the callback, and of what it releases at or above the level, if
  /// it was running when the busy period began. 0 if it cannot delay the level then.
  Ticks left(std::size_t callback, WithSets with) const {
    return (with == WithSets::kYes ? left_ : left_without_sets_)[callback];
  }

  /// Returns the callbacks below the level of which a message may complete a set.
  const std::vector<std::size_t>& before_sets() const { return before_sets_; }

 private:
  const Workload& workload_;
  int level_;
  std::vector<Ticks> head_;
  std::vector<SetWork> sets_;
  std::vector<bool> counted_;
  std::vector<Ticks> left_;
  std::vector<Ticks> left_without_sets_;
  std::vector<std::size_t> before_sets_;
};

}  // namespace rclrt::analysis::detail

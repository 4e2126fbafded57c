// SPDX-License-Identifier: Apache-2.0
// All analyses of one application, and the lowest of their bounds for each chain.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bounds/component_bounds.hpp"
#include "bounds/cores.hpp"
#include "bounds/executor_bounds.hpp"
#include "bounds/global_bounds.hpp"
#include "bounds/holistic.hpp"
#include "bounds/hyperperiod_bounds.hpp"
#include "bounds/kind.hpp"
#include "bounds/waits.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis::detail {

/// Applications with more callbacks than this get one kind of bounds where smaller ones get the
/// lowest of several. Executors that run alone get those by busy periods, executors that exchange
/// messages or share a CPU those of single callbacks. The time for all of them grows with the
/// square of the number of callbacks.
inline constexpr std::size_t kOneByOne = 150;

/// How much a trial of a deadline computes.
enum class Look {
  kQuick,  ///< a bound may be higher than the lowest one
  kFull,
};

/// The analyses of one application; each is made on its first use.
class ApplicationBounds {
 public:
  /// Prepares the analyses of an application under the executor `chosen`. `executor` is the kind of
  /// which the formulas are used: kPreemptive, if the application is analysed as its
  /// PreemptiveForm, otherwise that of `chosen`. How many callbacks run at a time, and in what
  /// order, is always a property of `chosen`. Keeps a reference to the application.
  ApplicationBounds(const model::Application& application, ExecutorKind executor,
                    const model::ExecutorChoice& chosen, const Overheads& stated, Effort effort);

  ChainBound bound(const model::Chain& chain);
  QueueBound queue(std::size_t callback);
  bool gave_up() const;

  /// Discards all results. Call it after execution times, periods or intervals of the application
  /// have changed, and nothing else has.
  void times_changed();

  /// Discards results that depend on the calls before: bound() and queue() then return the same as
  /// at first.
  void forget_order();

  /// Returns a bound of the chain that is no more than `limit`, if the analyses have one. Otherwise
  /// returns a time above `limit` that none of their bounds is below; kHorizon if they have none.
  Ticks response_within(const model::Chain& chain, Ticks limit, Look look);

  /// Returns whether Look::kQuick takes less time than Look::kFull, for some chain.
  bool has_quick_look();

 private:
  using EventLimits = Workload::EventLimits;

  RelyingBound lowest(const model::Chain& chain, std::size_t executor,
                      LagLimits lags = LagLimits::kAll);
  // application_waits.cpp
  std::optional<std::string> why_no_bounds_with_waits(std::size_t executor);
  RelyingBound lowest_with_waits(const model::Chain& chain, std::size_t executor, LagLimits lags);
  std::optional<std::string> without_bounds(const model::Chain& chain, std::size_t executor);

  ChainBound decided(const model::Chain& chain, std::size_t executor, RelyingBound found);
  bool is_tried_one_by_one(std::size_t executor);
  Ticks response_one_by_one(const model::Chain& chain, Ticks limit, Look look);
  Ticks most_pending(std::size_t callback);
  void check_drops(const std::vector<std::size_t>& callbacks, ChainBound& result);
  const Workload& workload_of(EventLimits limits) const {
    return limits == EventLimits::kPeriod ? *by_period_ : workload_;
  }
  bool has_pool() const { return pool_.kind != Pool::kNone; }
  GlobalBounds* on_several_cpus(std::size_t executor, EventLimits limits);
  GlobalBounds& global_bounds(std::size_t executor, EventLimits limits);
  bool takes_any_order(const model::Chain& chain) const;
  ExecutorBounds* by_busy_periods(std::size_t executor, EventLimits limits);
  ComponentBounds* by_busy_periods_of_component(std::size_t executor, EventLimits limits);
  HyperperiodBounds& by_instances(std::size_t executor);
  bool needs_one_by_one(std::size_t executor);
  std::span<const Holistic> one_by_one(std::size_t executor);

  const model::Application& application_;
  ExecutorKind executor_;
  const KindBounds& kind_;
  bool one_at_a_time_;    // regardless of the executor's CPUs
  bool skips_;            // of the chosen executor, as KindBounds::skips
  bool may_starve_;       // a busy group is left out of the ready set
  bool takes_any_order_;  // syncs take messages in another order than they arrive in
  bool knows_handover_;   // its time is stated
  GlobalPool pool_;
  Overheads overheads_;
  Effort effort_;
  Workload workload_;
  Cores cores_;
  Waits waits_;
  std::vector<Ticks> single_;                               // see ChainTrial::single
  std::map<std::size_t, std::vector<std::size_t>> timers_;  // for each executor
  std::optional<Workload> by_period_;  // if an event has jitter: the same with its period
  std::vector<EventLimits> limits_{EventLimits::kDistance};  // each bounds the releases of events
  std::map<std::pair<std::size_t, EventLimits>, ExecutorBounds> executors_;
  std::map<std::pair<std::size_t, EventLimits>, GlobalBounds> several_;  // by component
  std::map<std::pair<std::size_t, EventLimits>, ComponentBounds> components_;
  std::vector<Holistic> holistic_;
  std::map<std::size_t, HyperperiodBounds> hyperperiods_;  // by component
  std::map<Look, Holistic> tried_;                         // see response_within()
  std::set<const model::Chain*> proved_one_by_one_;        // the last time; not in one busy period
};

}  // namespace rclrt::analysis::detail

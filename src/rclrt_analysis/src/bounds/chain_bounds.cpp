// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_bounds.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "bounds/component_bounds.hpp"
#include "bounds/cores.hpp"
#include "bounds/drops.hpp"
#include "bounds/executor_bounds.hpp"
#include "bounds/form_bounds.hpp"
#include "bounds/global_bounds.hpp"
#include "bounds/holistic.hpp"
#include "bounds/hyperperiod_bounds.hpp"
#include "bounds/kind.hpp"
#include "bounds/overheads_of.hpp"
#include "input_callbacks.hpp"
#include "throttling.hpp"

namespace rclrt::analysis {
namespace {

using detail::ComponentBounds;
using detail::ExecutorBounds;
using detail::GlobalBounds;
using detail::Holistic;
using detail::HyperperiodBounds;
using detail::RelyingBound;
using detail::SetCount;
using detail::Workload;
using model::Application;
using EventLimits = Workload::EventLimits;

bool has_jitter(const model::Callback& callback) {
  const auto* const event = std::get_if<model::Event>(&callback.trigger);
  return event != nullptr && event->jitter.count() > 0;
}

void decide(const model::Chain& chain, ChainBound& result) {
  if (!result.bound) {
    return;
  }
  if (*result.bound > chain.deadline.count()) {
    result.note = "the bound is above the deadline, which proves nothing";
  } else {
    result.verdict = result.assumptions.empty() ? Verdict::kProved : Verdict::kConditional;
  }
}

/// Applications with more callbacks than this get one kind of bounds where smaller ones get the
/// lowest of several. Executors that run alone get those by busy periods, executors that exchange
/// messages or share a CPU those of single callbacks. The time for all of them grows with the
/// square of the number of callbacks.
constexpr std::size_t kOneByOne = 150;

/// The analyses of one application; each is made on its first use.
class Bounds {
 public:
  /// Prepares the analyses of an application under the executor `chosen`. `executor` is the kind of
  /// which the formulas are used: kPreemptive, if the application is analysed as its
  /// PreemptiveForm, otherwise that of `chosen`. How many callbacks run at a time, and in what
  /// order, is always a property of `chosen`.
  Bounds(const Application& application, ExecutorKind executor, const model::ExecutorChoice& chosen,
         const Overheads& stated, Effort effort)
      : application_(application),
        executor_(executor),
        kind_(detail::bounds_of(executor)),
        one_at_a_time_(traits(chosen).one_at_a_time && chosen.max_threads() == 1),
        skips_(detail::bounds_of(chosen).skips),
        may_starve_(detail::bounds_of(chosen).polls_by_thread),
        takes_any_order_(traits(chosen).runs_sets && chosen.threads > 1),
        knows_handover_(stated.handover > 0),
        pool_(detail::pool_of(chosen)),
        overheads_(detail::overheads_of(stated, executor, chosen)),
        effort_(effort),
        workload_(application, overheads_, kind_.order, detail::bounds_of(chosen).by_release),
        cores_(application, workload_.graph, traits(executor).has_scheduler_thread) {
    if (std::ranges::any_of(application.callbacks, has_jitter)) {
      limits_.push_back(EventLimits::kPeriod);
      by_period_.emplace(application, overheads_, kind_.order, detail::bounds_of(chosen).by_release,
                         EventLimits::kPeriod);
    }
    for (std::size_t k = 0; k < workload_.timers.size(); ++k) {
      timers_[cores_.executor_of[workload_.timers[k]]].push_back(k);
    }
  }

  ChainBound bound(const model::Chain& chain) {
    const std::size_t own = cores_.executor_of.at(chain.callbacks.at(0));
    if (auto contradiction = cores_.contradiction(application_, own, one_at_a_time_, has_pool())) {
      ChainBound none;
      none.level = workload_.lowest(chain.callbacks);
      none.note = std::move(*contradiction);
      return none;
    }
    const bool any_order = takes_any_order_ && passes_a_sync(chain);
    if (any_order && !cores_.all_state_cpus(application_, own)) {
      ChainBound none;
      none.level = workload_.lowest(chain.callbacks);
      none.note = detail::kTakesAnyOrder;
      return none;
    }
    if (any_order || on_several_cpus(own, EventLimits::kDistance) != nullptr) {
      RelyingBound found = global_bounds(own, limits_.back()).bound(chain);
      if (by_period_) {
        detail::take_lower(found, global_bounds(own, EventLimits::kDistance).bound(chain));
      }
      return decided(chain, own, std::move(found));
    }
    ExecutorBounds* const whole = by_busy_periods(own, EventLimits::kDistance);
    std::span<const Holistic> each = one_by_one(own);
    RelyingBound found = whole != nullptr ? whole->bound(chain) : each.front().bound(chain);
    if (whole == nullptr) {
      each = each.subspan(1);
    }
    for (const Holistic& one : each) {
      detail::take_lower(found, one.bound(chain));
    }
    if (by_period_ && whole != nullptr) {
      RelyingBound other = by_busy_periods(own, EventLimits::kPeriod)->bound(chain);
      if (!found.bound.bound) {
        found.bound.note = other.bound.note;
      }
      detail::take_lower(found, std::move(other));
    }
    for (const EventLimits limits : limits_) {
      ComponentBounds* const component = by_busy_periods_of_component(own, limits);
      if (component == nullptr) {
        break;
      }
      detail::take_lower(found, component->bound(chain));
    }
    if (by_busy_periods_of_component(own, EventLimits::kDistance) != nullptr) {
      if (!found.bound.bound) {
        RelyingBound other = by_instances(own).bound(chain);
        found.bound.note +=
            "; nor was an end found of the busy period of all CPUs together, which counts the time "
            "of messages on their way as work; " +
            other.bound.note;
        detail::take_lower(found, std::move(other));
      }
    }
    return decided(chain, own, std::move(found));
  }

  bool gave_up() const {
    return std::ranges::any_of(executors_, [](const auto& each) { return each.second.gave_up(); });
  }

  QueueBound queue(std::size_t callback) {
    const bool none = cores_
                          .contradiction(application_, cores_.executor_of.at(callback),
                                         one_at_a_time_, has_pool())
                          .has_value();
    const Ticks pending = none ? detail::kHorizon : most_pending(callback);
    QueueBound result{{}, detail::queue_depth(application_.callbacks[callback], skips_)};
    if (pending < kMaxTicks) {
      result.pending = pending;
    }
    return result;
  }

 private:
  /// Adds the assumptions and the verdict to a bound of a chain on this executor.
  ChainBound decided(const model::Chain& chain, std::size_t executor, RelyingBound found) {
    ChainBound result = std::move(found.bound);
    result.assumptions = cores_.assumptions(
        application_, executor, one_at_a_time_ || traits(executor_).by_deadline, has_pool());
    if (on_several_cpus(executor, EventLimits::kDistance) != nullptr && overheads_.dispatch > 0 &&
        !knows_handover_) {
      result.assumptions.emplace_back(detail::kNoHandoverTime);
    }
    detail::assume_observed_times(application_, result.assumptions);
    if (result.bound) {
      check_drops(chain.callbacks, result);
      check_drops(found.relies_on, result);
      result.assumptions.insert(result.assumptions.end(), result.without_loss.begin(),
                                result.without_loss.end());
    } else if (may_starve_ && result.note.starts_with("no bound is found") &&
               detail::shares_a_group(application_, chain)) {
      result.note +=
          "; under this executor, callbacks of a group may keep another member of it from running "
          "for ever";
    }
    decide(chain, result);
    return result;
  }

  Ticks most_pending(std::size_t callback) {
    const std::size_t own = cores_.executor_of.at(callback);
    Ticks pending = detail::kHorizon;
    for (const EventLimits limits : limits_) {
      if (GlobalBounds* const several = on_several_cpus(own, limits)) {
        pending = std::min(pending, several->most_pending(callback));
        continue;
      }
      if (ExecutorBounds* const whole = by_busy_periods(own, limits)) {
        pending = std::min(pending, whole->most_pending(callback));
      }
      if (ComponentBounds* const component = by_busy_periods_of_component(own, limits)) {
        pending = std::min(pending, component->most_pending(callback));
      }
    }
    if (on_several_cpus(own, EventLimits::kDistance) != nullptr) {
      return pending;
    }
    for (const Holistic& each : one_by_one(own)) {
      pending = std::min(pending, each.most_pending(callback));
    }
    const bool known = pending < kMaxTicks && !hyperperiods_.contains(cores_.component[own]);
    if (!known && by_busy_periods_of_component(own, EventLimits::kDistance) != nullptr) {
      pending = std::min(pending, by_instances(own).most_pending(callback));
    }
    return pending;
  }

  /// Policies that drop instances, and queues that may be too short, make the bound conditional.
  void check_drops(const std::vector<std::size_t>& callbacks, ChainBound& result) {
    for (const std::size_t callback : callbacks) {
      detail::assume_no_drops(application_.callbacks[callback], most_pending(callback), skips_,
                              result.without_loss);
    }
  }

  const Workload& workload_of(EventLimits limits) const {
    return limits == EventLimits::kPeriod ? *by_period_ : workload_;
  }

  bool has_pool() const { return pool_.kind != detail::Pool::kNone; }

  /// Returns the bounds of the executor's component if it uses several CPUs at once; otherwise
  /// nullptr.
  GlobalBounds* on_several_cpus(std::size_t executor, EventLimits limits) {
    const bool is_global = has_pool() && cores_.global(application_, executor, one_at_a_time_);
    return is_global ? &global_bounds(executor, limits) : nullptr;
  }

  /// Returns the bounds of several CPUs, which hold for one, too. All executors of the component
  /// state their CPUs.
  GlobalBounds& global_bounds(std::size_t executor, EventLimits limits) {
    const std::pair key(cores_.component[executor], limits);
    auto at = several_.find(key);
    if (at == several_.end()) {
      at = several_
               .try_emplace(key, workload_of(limits), cores_.whole_component(executor), pool_,
                            traits(executor_).has_scheduler_thread, overheads_, effort_)
               .first;
    }
    return at->second;
  }

  bool passes_a_sync(const model::Chain& chain) const {
    return std::ranges::any_of(chain.callbacks,
                               [this](std::size_t each) { return is_sync(workload_, each); });
  }

  /// Returns the bounds by busy periods, for an executor that has its CPU for itself and takes no
  /// time for messages within it. Otherwise returns nullptr.
  ExecutorBounds* by_busy_periods(std::size_t executor, EventLimits limits) {
    if (!cores_.alone(executor) || overheads_.near.max > 0) {
      return nullptr;
    }
    const std::pair key(executor, limits);
    auto at = executors_.find(key);
    if (at == executors_.end()) {
      at = executors_
               .try_emplace(key, workload_of(limits), timers_[executor], overheads_.timer_jitter,
                            effort_, traits(executor_).runs_sets)
               .first;
    }
    return &at->second;
  }

  /// Returns the bounds by busy periods of all executors that share CPUs or exchange messages with
  /// this one. Returns nullptr if by_busy_periods() has some of the executor alone, and for more
  /// than kOneByOne callbacks.
  ComponentBounds* by_busy_periods_of_component(std::size_t executor, EventLimits limits) {
    if (by_busy_periods(executor, limits) != nullptr || workload_.wcet.size() > kOneByOne) {
      return nullptr;
    }
    const std::size_t component = cores_.component[executor];
    const std::pair key(component, limits);
    auto at = components_.find(key);
    if (at == components_.end()) {
      at = components_
               .try_emplace(key, application_, cores_, component, overheads_, effort_,
                            traits(executor_).runs_sets, limits)
               .first;
    }
    return &at->second;
  }

  /// Returns the bounds of all instances in the hyperperiod of this executor's component.
  HyperperiodBounds& by_instances(std::size_t executor) {
    const std::size_t component = cores_.component[executor];
    return hyperperiods_
        .try_emplace(component, workload_, cores_, component, kind_, overheads_, effort_)
        .first->second;
  }

  /// Returns analyses that bound each callback by itself: one counts the sets of a sync by its
  /// rarest input, the other by its busiest input. The first finds bounds at higher loads; the
  /// second counts fewer sets in a short time. Empty if they are not needed.
  std::span<const Holistic> one_by_one(std::size_t executor) {
    if (by_busy_periods(executor, EventLimits::kDistance) != nullptr &&
        (workload_.order == Workload::Order::kPriority || workload_.wcet.size() > kOneByOne)) {
      return {};
    }
    if (holistic_.empty()) {
      const auto add = [&](const Workload& workload) {
        holistic_.emplace_back(workload, cores_, executor_, SetCount::kRarestInput, overheads_,
                               effort_);
        if (workload.has_rarer_inputs()) {
          holistic_.emplace_back(workload, cores_, executor_, SetCount::kBusiestInput, overheads_,
                                 effort_);
        }
      };
      if (by_period_) {
        add(*by_period_);
      }
      add(workload_);
    }
    return holistic_;
  }

  const Application& application_;
  ExecutorKind executor_;
  const detail::KindBounds& kind_;
  bool one_at_a_time_;    // regardless of the executor's CPUs
  bool skips_;            // of the chosen executor, as KindBounds::skips
  bool may_starve_;       // a busy group is left out of the ready set
  bool takes_any_order_;  // syncs take messages in another order than they arrive in
  bool knows_handover_;   // its time is stated
  detail::GlobalPool pool_;
  Overheads overheads_;
  Effort effort_;
  Workload workload_;
  detail::Cores cores_;
  std::map<std::size_t, std::vector<std::size_t>> timers_;  // for each executor
  std::optional<Workload> by_period_;  // if an event has jitter: the same with its period
  std::vector<EventLimits> limits_{EventLimits::kDistance};  // each bounds the releases of events
  std::map<std::pair<std::size_t, EventLimits>, ExecutorBounds> executors_;
  std::map<std::pair<std::size_t, EventLimits>, GlobalBounds> several_;  // by component
  std::map<std::pair<std::size_t, EventLimits>, ComponentBounds> components_;
  std::vector<Holistic> holistic_;
  std::map<std::size_t, HyperperiodBounds> hyperperiods_;  // by component
};

}  // namespace

std::vector<ChainBound> detail::bounds_of_form(const Application& form, ExecutorKind kind,
                                               const model::ExecutorChoice& chosen,
                                               const Overheads& overheads, Effort effort,
                                               std::span<const std::size_t> chains, bool& gave_up) {
  const detail::InputCallbacks parts(form);
  Bounds bounds(parts.application(), kind, chosen, overheads, effort);
  std::vector<ChainBound> result;
  for (const std::size_t index : chains) {
    const model::Chain& chain = parts.application().chains[index];
    if (parts.application().period(chain).count() <= 0) {
      throw std::invalid_argument("chain '" + chain.id + "' does not start at a timer or an event");
    }
    ChainBound& bound = result.emplace_back(bounds.bound(chain));
    for (Contribution& each : bound.why) {
      each.callback = parts.whole(each.callback);
    }
  }
  gave_up = gave_up || bounds.gave_up();
  return result;
}

std::vector<QueueBound> detail::queues_of_form(const Application& form, ExecutorKind kind,
                                               const model::ExecutorChoice& chosen,
                                               const Overheads& overheads, Effort effort) {
  const detail::InputCallbacks parts(form);
  Bounds bounds(parts.application(), kind, chosen, overheads, effort);
  std::vector<QueueBound> result;
  for (std::size_t i = 0; i < parts.application().callbacks.size(); ++i) {
    const QueueBound part = bounds.queue(i);
    if (parts.whole(i) == result.size()) {
      result.push_back(part);
    } else if (!part.pending || !result.back().pending) {
      result.back().pending.reset();
    } else {
      result.back().pending = std::max(*result.back().pending, *part.pending);
    }
  }
  return result;
}

}  // namespace rclrt::analysis

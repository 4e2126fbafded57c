// SPDX-License-Identifier: Apache-2.0
#include "bounds/application_bounds.hpp"

#include <algorithm>
#include <utility>

#include "bounds/drops.hpp"
#include "bounds/overheads_of.hpp"
#include "throttling.hpp"

namespace rclrt::analysis::detail {
namespace {

bool has_jitter(const model::Callback& callback) {
  const auto* const event = std::get_if<model::Event>(&callback.trigger);
  return event != nullptr && event->jitter.count() > 0;
}

void decide(const model::Chain& chain, ChainBound& result) {
  if (result.bound && *result.bound > chain.deadline.count()) {
    result.note = "the bound is above the deadline, which proves nothing";
  } else if (result.bound) {
    result.verdict = result.assumptions.empty() ? Verdict::kProved : Verdict::kConditional;
  }
}

}  // namespace

ApplicationBounds::ApplicationBounds(const model::Application& application, ExecutorKind executor,
                                     const model::ExecutorChoice& chosen, const Overheads& stated,
                                     Effort effort)
    : application_(application),
      executor_(executor),
      kind_(bounds_of(executor)),
      one_at_a_time_(traits(chosen).one_at_a_time && chosen.max_threads() == 1),
      skips_(bounds_of(chosen).skips),
      may_starve_(bounds_of(chosen).polls_by_thread),
      takes_any_order_(traits(chosen).runs_sets && chosen.threads > 1),
      knows_handover_(stated.handover > 0),
      pool_(pool_of(chosen)),
      overheads_(overheads_of(stated, executor, chosen)),
      effort_(effort),
      workload_(application, overheads_, kind_.order, bounds_of(chosen).by_release),
      cores_(application, workload_.graph, traits(executor).has_scheduler_thread),
      waits_(application, cores_, one_at_a_time_),
      single_(application.callbacks.size(), kHorizon) {
  if (std::ranges::any_of(application.callbacks, has_jitter)) {
    limits_.push_back(EventLimits::kPeriod);
    by_period_.emplace(application, overheads_, kind_.order, bounds_of(chosen).by_release,
                       EventLimits::kPeriod);
    waits_.mix_levels(application, *by_period_);
  }
  waits_.mix_levels(application, workload_);
  if (kind_.sets_by_priority) {
    workload_.order_sets();
    if (by_period_) {
      by_period_->order_sets();
    }
  }
  for (std::size_t k = 0; k < workload_.timers.size(); ++k) {
    timers_[cores_.executor_of[workload_.timers[k]]].push_back(k);
  }
  for (const model::Chain& chain : application.chains) {
    if (chain.callbacks.size() == 1) {
      Ticks& limit = single_[chain.callbacks.front()];
      limit = std::min(limit, chain.deadline.count() - overheads_.timer_jitter);
    }
  }
}

ChainBound ApplicationBounds::bound(const model::Chain& chain) {
  const std::size_t own = cores_.executor_of.at(chain.callbacks.at(0));
  if (auto reason = without_bounds(chain, own)) {
    ChainBound none;
    none.level = workload_.lowest(chain.callbacks);
    none.note = std::move(*reason);
    return none;
  }
  ChainBound result = decided(chain, own, lowest(chain, own));
  const bool has_sync = std::ranges::any_of(
      chain.callbacks, [this](std::size_t each) { return is_sync(workload_, each); });
  if (!result.without_loss.empty() && has_sync) {
    ChainBound other = decided(chain, own, lowest(chain, own, LagLimits::kFewConditions));
    return other.bound && other.without_loss.size() < result.without_loss.size() ? other : result;
  }
  return result;
}

/// Returns the lowest of all bounds of a chain on this executor.
RelyingBound ApplicationBounds::lowest(const model::Chain& chain, std::size_t own, LagLimits lags) {
  if (takes_any_order(chain) || on_several_cpus(own, EventLimits::kDistance) != nullptr) {
    RelyingBound found = global_bounds(own, limits_.back()).bound(chain);
    if (by_period_) {
      take_lower(found, global_bounds(own, EventLimits::kDistance).bound(chain));
    }
    return found;
  }
  if (waits_.first_with(own)) {
    return lowest_with_waits(chain, own, lags);
  }
  ExecutorBounds* const whole = by_busy_periods(own, EventLimits::kDistance);
  std::span<const Holistic> each = one_by_one(own);
  RelyingBound found =
      whole != nullptr ? whole->bound(chain, lags) : each.front().bound(chain, lags);
  if (whole == nullptr) {
    each = each.subspan(1);
  }
  for (const Holistic& one : each) {
    take_lower(found, one.bound(chain, lags));
  }
  if (by_period_ && whole != nullptr) {
    RelyingBound other = by_busy_periods(own, EventLimits::kPeriod)->bound(chain, lags);
    if (!found.bound.bound) {
      found.bound.note = other.bound.note;
    }
    take_lower(found, std::move(other));
  }
  for (const EventLimits limits : limits_) {
    ComponentBounds* const component = by_busy_periods_of_component(own, limits);
    if (component == nullptr) {
      break;
    }
    take_lower(found, component->bound(chain, lags));
  }
  if (by_busy_periods_of_component(own, EventLimits::kDistance) != nullptr) {
    if (!found.bound.bound) {
      RelyingBound other = by_instances(own).bound(chain);
      found.bound.note +=
          "; nor was an end found of the busy period of all CPUs together, which counts the time "
          "of messages on their way as work; " +
          other.bound.note;
      take_lower(found, std::move(other));
    }
  }
  return found;
}

bool ApplicationBounds::gave_up() const {
  return std::ranges::any_of(executors_, [](const auto& each) { return each.second.gave_up(); });
}

QueueBound ApplicationBounds::queue(std::size_t callback) {
  const std::size_t own = cores_.executor_of.at(callback);
  const bool none = why_no_bounds_with_waits(own).has_value() ||
                    cores_.contradiction(application_, own, one_at_a_time_, has_pool()).has_value();
  const Ticks pending = none ? kHorizon : most_pending(callback);
  QueueBound result{{}, queue_depth(application_.callbacks[callback], skips_)};
  if (pending < kMaxTicks) {
    result.pending = pending;
  }
  return result;
}

void ApplicationBounds::times_changed() {
  workload_.read_times();
  if (by_period_) {
    by_period_->read_times();
  }
  several_.clear();
  holistic_.clear();
  forget_order();
}

void ApplicationBounds::forget_order() {
  executors_.clear();
  components_.clear();
  hyperperiods_.clear();
  tried_.clear();
}

Ticks ApplicationBounds::response_within(const model::Chain& chain, Ticks limit, Look look) {
  const std::size_t own = cores_.executor_of.at(chain.callbacks.at(0));
  if (without_bounds(chain, own)) {
    return kHorizon;
  }
  if (!is_tried_one_by_one(own)) {
    return lowest(chain, own).bound.bound.value_or(kHorizon);
  }
  // One busy period in any order proves the deadlines of some chains, and single callbacks those of
  // others. The one that has proved a deadline last is tried first, and alone by a quick look.
  const auto whole = [&] {
    return by_busy_periods(own, EventLimits::kDistance)
        ->bound(chain, LagLimits::kAll)
        .bound.bound.value_or(kHorizon);
  };
  const auto by_callbacks = [&] { return response_one_by_one(chain, limit, look); };
  const bool starts_whole = !proved_one_by_one_.contains(&chain);
  const Ticks first = starts_whole ? whole() : by_callbacks();
  if (first <= limit || (starts_whole && look == Look::kQuick)) {
    return first;
  }
  const Ticks second = starts_whole ? by_callbacks() : whole();
  if (second <= limit && starts_whole) {
    proved_one_by_one_.insert(&chain);
  } else if (second <= limit) {
    proved_one_by_one_.erase(&chain);
  }
  return std::min(first, second);
}

bool ApplicationBounds::has_quick_look() {
  for (std::size_t executor = 0; executor < application_.executors.size(); ++executor) {
    if (is_tried_one_by_one(executor)) {
      return true;
    }
  }
  return false;
}

/// Returns whether there is one busy period and one analysis of single callbacks.
bool ApplicationBounds::is_tried_one_by_one(std::size_t executor) {
  return on_several_cpus(executor, EventLimits::kDistance) == nullptr &&
         !waits_.first_with(executor) &&
         by_busy_periods(executor, EventLimits::kDistance) != nullptr && !by_period_ &&
         needs_one_by_one(executor) && !workload_.has_rarer_inputs();
}

Ticks ApplicationBounds::response_one_by_one(const model::Chain& chain, Ticks limit, Look look) {
  auto at = tried_.find(look);
  if (at != tried_.end() && at->second.has_missed()) {
    tried_.erase(at);  // it may have been for another chain
    at = tried_.end();
  }
  if (at == tried_.end()) {
    at = tried_
             .try_emplace(look, workload_, cores_, executor_, SetCount::kRarestInput, overheads_,
                          effort_, ChainTrial{&chain, limit, look == Look::kFull, single_})
             .first;
  }
  return at->second.response(chain);
}

/// Adds the assumptions and the verdict to a bound of a chain on this executor.
ChainBound ApplicationBounds::decided(const model::Chain& chain, std::size_t executor,
                                      RelyingBound found) {
  ChainBound result = std::move(found.bound);
  result.assumptions = cores_.assumptions(
      application_, executor, one_at_a_time_ || traits(executor_).by_deadline, has_pool());
  if (on_several_cpus(executor, EventLimits::kDistance) != nullptr && overheads_.dispatch > 0 &&
      !knows_handover_) {
    result.assumptions.emplace_back(kNoHandoverTime);
  }
  assume_observed_times(application_, result.assumptions);
  waits_.name_terms(application_, chain, result.why);
  if (result.bound) {
    check_drops(chain.callbacks, result);
    check_drops(found.relies_on, result);
    for (const std::size_t sync : found.with_room) {
      assume_no_drops(application_.callbacks[sync], sum(most_pending(sync), 1), skips_,
                      result.without_loss);
    }
    result.assumptions.insert(result.assumptions.end(), result.without_loss.begin(),
                              result.without_loss.end());
  } else if (may_starve_ && result.note.starts_with("no bound is found") &&
             shares_a_group(application_, chain)) {
    result.note +=
        "; under this executor, callbacks of a group may keep another member of it from running "
        "for ever";
  }
  decide(chain, result);
  waits_.explain_levels(application_, workload_, chain, result.note);
  return result;
}

Ticks ApplicationBounds::most_pending(std::size_t callback) {
  const std::size_t own = cores_.executor_of.at(callback);
  Ticks pending = kHorizon;
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
  if (on_several_cpus(own, EventLimits::kDistance) != nullptr || waits_.first_with(own)) {
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
void ApplicationBounds::check_drops(const std::vector<std::size_t>& callbacks, ChainBound& result) {
  for (const std::size_t callback : callbacks) {
    assume_no_drops(application_.callbacks[callback], most_pending(callback), skips_,
                    result.without_loss);
  }
}

/// Returns the bounds of the executor's component if it uses several CPUs at once; otherwise
/// nullptr.
GlobalBounds* ApplicationBounds::on_several_cpus(std::size_t executor, EventLimits limits) {
  const bool is_global = has_pool() && cores_.global(application_, executor, one_at_a_time_);
  return is_global ? &global_bounds(executor, limits) : nullptr;
}

/// Returns the bounds of several CPUs, which hold for one, too. All executors of the component
/// state their CPUs.
GlobalBounds& ApplicationBounds::global_bounds(std::size_t executor, EventLimits limits) {
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

/// Returns the bounds by busy periods, for an executor that has its CPU for itself and takes no
/// time for messages within it. Otherwise returns nullptr.
ExecutorBounds* ApplicationBounds::by_busy_periods(std::size_t executor, EventLimits limits) {
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
ComponentBounds* ApplicationBounds::by_busy_periods_of_component(std::size_t executor,
                                                                 EventLimits limits) {
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
HyperperiodBounds& ApplicationBounds::by_instances(std::size_t executor) {
  const std::size_t component = cores_.component[executor];
  return hyperperiods_
      .try_emplace(component, workload_, cores_, component, kind_, overheads_, effort_)
      .first->second;
}

/// Returns whether callbacks are bounded one by one, too, or only so.
bool ApplicationBounds::needs_one_by_one(std::size_t executor) {
  const bool may_be_lower = workload_.order != Workload::Order::kPriority ||
                            (workload_.by_release && workload_.has_one_priority());
  return by_busy_periods(executor, EventLimits::kDistance) == nullptr ||
         (may_be_lower && workload_.wcet.size() <= kOneByOne);
}

/// Returns analyses that bound each callback by itself: one counts the sets of a sync by its
/// rarest input, the other by its busiest input. The first finds bounds at higher loads; the
/// second counts fewer sets in a short time. Empty if they are not needed.
std::span<const Holistic> ApplicationBounds::one_by_one(std::size_t executor) {
  if (!needs_one_by_one(executor)) {
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

}  // namespace rclrt::analysis::detail

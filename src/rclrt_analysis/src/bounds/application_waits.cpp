// SPDX-License-Identifier: Apache-2.0
// The bounds of applications with callbacks that wait: docs/explanation/bounds.md, "Callbacks that
// wait".
#include <string>
#include <utility>

#include "bounds/application_bounds.hpp"

namespace rclrt::analysis::detail {

/// Returns the reason why the analyses do not cover a chain of this executor, as a sentence;
/// std::nullopt if they do.
std::optional<std::string> ApplicationBounds::without_bounds(const model::Chain& chain,
                                                             std::size_t own) {
  if (auto contradiction = cores_.contradiction(application_, own, one_at_a_time_, has_pool())) {
    return contradiction;
  }
  const bool in_any_order = takes_any_order(chain);
  if (in_any_order && !cores_.all_state_cpus(application_, own)) {
    return kTakesAnyOrder;
  }
  return why_no_bounds_with_waits(own);
}

/// Returns whether the chain passes a sync that takes messages in any order.
bool ApplicationBounds::takes_any_order(const model::Chain& chain) const {
  return takes_any_order_ && std::ranges::any_of(chain.callbacks, [this](std::size_t each) {
           return is_sync(workload_, each);
         });
}

/// Returns the reason why an executor with callbacks that wait has no bounds; std::nullopt if it
/// may have some, or none waits.
std::optional<std::string> ApplicationBounds::why_no_bounds_with_waits(std::size_t own) {
  if (auto reason = waits_.why_no_bounds(application_, own, overheads_, may_starve_)) {
    return reason;
  }
  const auto waiting = waits_.first_with(own);
  if (waiting && pool_.kind == Pool::kOfInstances && overheads_.dispatch > 0) {
    return "callback '" + application_.callbacks[*waiting].id +
           "' waits (waits_ms), and no bound is proved for callbacks that wait if each instance "
           "has "
           "a thread and dispatching takes time";
  }
  if (waiting && by_busy_periods(own, EventLimits::kDistance) == nullptr &&
      by_busy_periods_of_component(own, EventLimits::kDistance) == nullptr) {
    return "callback '" + application_.callbacks[*waiting].id +
           "' waits (waits_ms), and no bound is computed for callbacks that wait if messages take "
           "time and the application has more than " +
           std::to_string(kOneByOne) + " callbacks";
  }
  return std::nullopt;
}

/// Returns the lowest bound by one busy period, of the executor or of its component. The other
/// analyses do not cover callbacks that run while one waits.
RelyingBound ApplicationBounds::lowest_with_waits(const model::Chain& chain, std::size_t own,
                                                  LagLimits lags) {
  std::optional<RelyingBound> found;
  for (const EventLimits limits : limits_) {
    ExecutorBounds* const whole = by_busy_periods(own, limits);
    RelyingBound one = whole != nullptr
                           ? whole->bound(chain, lags)
                           : by_busy_periods_of_component(own, limits)->bound(chain, lags);
    if (!found) {
      found = std::move(one);
    } else {
      take_lower(*found, std::move(one));
    }
  }
  if (!found->bound.bound) {
    found->bound.note += "; the time for which '" +
                         application_.callbacks[*waits_.first_with(own)].id +
                         "' waits (waits_ms) counts as work";
  }
  return *std::move(found);
}

}  // namespace rclrt::analysis::detail

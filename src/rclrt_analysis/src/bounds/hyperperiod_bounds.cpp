// SPDX-License-Identifier: Apache-2.0
#include "bounds/hyperperiod_bounds.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr int kInstanceRounds = 200;
/// The most instances of callbacks in a hyperperiod, and in all cells together.
constexpr Ticks kMostInHyperperiod = 3000;
constexpr Ticks kMostInAllCells = 8000;
/// Cells shorter than this share of the shortest period are not divided any more.
constexpr Ticks kFinest = 64;

}  // namespace

HyperperiodBounds::HyperperiodBounds(const Workload& workload, const Cores& cores,
                                     std::size_t component, const KindBounds& kind,
                                     const Overheads& overheads, Effort effort)
    : workload_(workload),
      cores_(cores),
      kind_(kind),
      overheads_(overheads),
      longest_(workload.wcet.size()) {
  for (const std::size_t callback : workload_.graph.order) {
    if (cores_.component[cores_.executor_of[callback]] == component) {
      callbacks_.push_back(callback);
      if (workload_.graph.publishers[callback].empty()) {
        timers_.push_back(callback);
      }
    }
  }
  for (const std::size_t callback : callbacks_) {
    if (!covers(callback)) {
      note_ = "'" + workload_.application.callbacks[callback].id +
              "' is no timer that keeps its period and has not one publisher, so single instances "
              "cannot be bounded";
      return;
    }
  }
  if (!find_cells()) {
    note_ = "the hyperperiod has more than " + std::to_string(kMostInHyperperiod) +
            " instances, too many to bound each";
    return;
  }
  InstanceWindows windows(workload_, cores_, kind_, overheads_, callbacks_);
  Budget budget({effort.steps / 8, effort.check_interrupt});
  if (!examine(windows, budget)) {
    longest_.assign(longest_.size(), {});
    note_ = budget.empty()
                ? "the steps to bound each instance in the hyperperiod were used up"
                : "nor has each instance in the hyperperiod a bound; where callbacks of one chain "
                  "have different priorities, responses may grow at any load "
                  "(docs/explanation/back-and-forth.md)";
  }
}

/// Returns whether the callback is a timer that keeps its period, or has one publisher.
bool HyperperiodBounds::covers(std::size_t callback) const {
  const auto& inputs = workload_.graph.publishers[callback];
  return inputs.empty() ? keeps_grid(workload_.application.callbacks[callback])
                        : inputs.size() == 1 && inputs.front().size() == 1;
}

/// Finds the hyperperiod, and divides the phases of the timers into cells. Returns false if there
/// are too many instances.
///
/// The phase of a timer of period T counts only modulo the greatest common divisor of T and the
/// hyperperiod of the timers before it: if it moves by that, it has the same place relative to
/// other releases of theirs.
bool HyperperiodBounds::find_cells() {
  const auto period = [&](std::size_t timer) {
    return model::period(workload_.application.callbacks[timer]).count();
  };
  const auto offset = [&](std::size_t timer) {
    return stated_offset(workload_.application.callbacks[timer]);
  };
  std::ranges::stable_partition(timers_,
                                [&](std::size_t each) { return offset(each).has_value(); });
  Ticks shortest = kHorizon;
  for (const std::size_t timer : timers_) {
    const Ticks common = phases_.empty() ? 0 : std::gcd(hyperperiod_, period(timer));
    phases_.push_back({offset(timer).value_or(0), offset(timer) ? 0 : common, 1});
    hyperperiod_ = product(hyperperiod_, period(timer) / std::gcd(hyperperiod_, period(timer)));
    shortest = std::min(shortest, period(timer));
  }
  const auto of_timer = [&](std::size_t callback) {
    while (!workload_.graph.publishers[callback].empty()) {
      callback = workload_.graph.publishers[callback].front().front();
    }
    return callback;
  };
  Ticks instances = 0;
  for (const std::size_t callback : callbacks_) {
    instances = sum(instances, hyperperiod_ / period(of_timer(callback)));
  }
  if (hyperperiod_ >= kHorizon || instances > kMostInHyperperiod) {
    return false;
  }
  while (instances <= kMostInAllCells / 2) {
    const auto coarsest =
        std::ranges::max_element(phases_, {}, [](const Phases& each) { return each.length; });
    if (coarsest->length <= shortest / kFinest) {
      break;
    }
    coarsest->cells *= 2;
    coarsest->length = ceil_div(coarsest->length, 2);
    instances *= 2;
  }
  return true;
}

/// Examines all cells. Returns false if one of them has no bound.
bool HyperperiodBounds::examine(InstanceWindows& windows, Budget& budget) {
  Ticks longest = 0;
  for (const std::size_t timer : timers_) {
    longest = std::max(longest, model::period(workload_.application.callbacks[timer]).count());
  }
  const Ticks limit = product(longest, 20);
  std::vector<Ticks> cell(timers_.size());
  while (true) {
    std::vector<KnownReleases> releases;
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      const Ticks period = model::period(workload_.application.callbacks[timers_[i]]).count();
      const Phases& phases = phases_[i];
      releases.push_back({timers_[i], phases.first + (cell[i] * phases.length), phases.length,
                          period, hyperperiod_ / period});
    }
    windows.start(releases);
    auto result = InstanceWindows::Result::kRaised;
    for (int round = 0; round < kInstanceRounds && result == InstanceWindows::Result::kRaised;
         ++round) {
      result = windows.raise(limit, budget);
    }
    if (result != InstanceWindows::Result::kUnchanged) {
      return false;
    }
    keep_longest(windows);
    std::size_t next = 0;
    while (next < cell.size() && ++cell[next] == phases_[next].cells) {
      cell[next++] = 0;
    }
    if (next == cell.size()) {
      return true;
    }
  }
}

/// Keeps the instances with the longest time from a release to the end.
void HyperperiodBounds::keep_longest(const InstanceWindows& windows) {
  for (const std::size_t callback : callbacks_) {
    std::vector<Ticks>& longest = longest_[callback];
    for (Ticks n = 0; n < windows.number(callback); ++n) {
      if (!longest.empty() && windows.end_after_release(callback, n) <= longest.back()) {
        continue;
      }
      longest.clear();
      for (const std::size_t each : windows.path(callback)) {
        longest.push_back(windows.end_after_release(each, n));
      }
    }
  }
}

RelyingBound HyperperiodBounds::bound(const model::Chain& chain) const {
  ChainBound result;
  result.level = workload_.lowest(chain.callbacks);
  const std::vector<Ticks>& ends = longest_[chain.callbacks.back()];
  if (ends.empty()) {
    result.note = note_;
    return {std::move(result), {}};
  }
  result.bound = ends.back();
  const auto add = [&](Contribution::Kind kind, std::size_t callback, Ticks total) {
    if (total > 0) {
      result.why.push_back({kind, callback, 1, total});
    }
  };
  Ticks before = overheads_.timer_jitter;
  add(Contribution::Kind::kLate, chain.callbacks.front(), before);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::size_t callback = chain.callbacks[i];
    if (i > 0) {
      const auto executor = [&](std::size_t each) { return cores_.executor_of[each]; };
      const bool near = executor(chain.callbacks[i - 1]) == executor(callback);
      const Ticks hop = near ? overheads_.near.max : overheads_.far.max;
      add(Contribution::Kind::kHop, callback, hop);
      before += hop;
    }
    add(Contribution::Kind::kCallback, callback, ends[i] - before);
    before = ends[i];
  }
  std::ranges::stable_sort(result.why, std::greater{}, &Contribution::total);
  return relying_bound(workload_, chain, std::move(result), {});
}

Ticks HyperperiodBounds::most_pending(std::size_t callback) const {
  if (longest_[callback].empty()) {
    return kHorizon;
  }
  const std::vector<Ticks>& ends = longest_[callback];
  std::size_t timer = callback;
  while (!workload_.graph.publishers[timer].empty()) {
    timer = workload_.graph.publishers[timer].front().front();
  }
  const Ticks within = sum(ends.back(), workload_.return_delay(callback));
  return ceil_div(within, model::period(workload_.application.callbacks[timer]).count());
}

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
// The work of instances of before a time of a path, and what is known of when others are released.
#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "bounds/global_window.hpp"

namespace rclrt::analysis::detail {
namespace {

/// Returns the most work within a time `length` of releases that are `period` apart, the first one
/// at its begin. Each brings `work`, which is done within the time after the release if it is done
/// in sequence, and else counts whole.
Ticks released_work(Ticks length, Ticks work, Ticks period, bool in_sequence) {
  if (length <= 0) {
    return 0;
  }
  if (!in_sequence || work > period) {
    return product(ceil_div(length, period), work);
  }
  const Ticks whole = length < work ? 0 : (length - work) / period + 1;
  return sum(product(whole, work), std::clamp<Ticks>(length - product(whole, period), 0, work));
}

}  // namespace

/// Returns whether of an instance of a source that has interfering work left, a callback is ready
/// that runs on a CPU of the path, or waits for one that does, unless all of these have interfering
/// work or an overhead. That is so if whatever comes before an interfering callback is at least as
/// urgent as the path, has the same CPUs, and messages take no time there.
bool GlobalWindow::runs_while_pending(std::size_t index) const {
  const GlobalSource& source = all_.sources[index];
  const auto has_cpus = [&](std::size_t i) {
    return own_executor_.has_cpus_of[all_.executor_of[source.nodes[i].callback]];
  };
  return all_.runs_what_waits && index != path_.source &&
         std::ranges::all_of(source.nodes, [&](const GlobalNode& each) {
           if (each.work == 0 || !interferes(each.callback)) {
             return true;
           }
           return each.lowest >= path_.priority && !each.has_hops &&
                  own_executor_.has_cpus_of[all_.executor_of[each.callback]] &&
                  (each.is_here || std::ranges::all_of(each.before, has_cpus));
         });
}

bool GlobalWindow::limits_carry_in() {
  if (starts_) {
    return std::cmp_greater_equal(*starts_, own_executor_.cpus);
  }
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> parts(all_.sources.size(),
                                 kNone);  // one that is joined; itself, if none
  std::vector<std::size_t> part_of_wait(all_.waits_with.size(), kNone);
  const auto first_of = [&](std::size_t part) {
    while (parts[part] != part) {
      part = parts[part];
    }
    return part;
  };
  for (const Unit& unit : units_) {
    const std::size_t own = unit.source;
    if (parts[own] != kNone || !runs_while_pending(own)) {
      continue;
    }
    parts[own] = own;
    for (const GlobalNode& each : all_.sources[own].nodes) {
      if (interferes(each.callback)) {
        std::size_t& part = part_of_wait[all_.waits_with[each.callback]];
        part = part == kNone ? own : part;
        parts[first_of(part)] = first_of(own);
      }
    }
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    count += parts[i] == i ? 1 : 0;
  }
  for (Unit& unit : units_) {
    if (parts[unit.source] != kNone) {
      unit.at_start = first_of(unit.source);
    }
  }
  carried_in_.resize(parts.size());
  starts_ = count;
  return limits_carry_in();
}

/// Returns the most work from before the window's start that flows may do in a time y in which all
/// CPUs run them, beside the work without it. Only flows with a callback that runs on a CPU at the
/// start, or waits for one that does, have such work, and one CPU runs none. On more CPUs, more of
/// them may have it, but if it is at most y, so have the CPUs: only what is more than that counts
/// of the others, so that the result holds for more CPUs, too.
Ticks GlobalWindow::most_carried_in(Ticks y) {
  std::ranges::fill(carried_in_, 0);
  for (Unit& unit : units_) {
    if (unit.at_start) {
      unit.carried_in = std::min(unit.rest, product(y, unit.parallel)) - unit.in_turn;
      if (unit.turn) {  // all units of a turn with such work have the same index
        unit.carried_in = std::min(unit.carried_in, turns_[*unit.turn]);
        turns_[*unit.turn] -= unit.carried_in;
      }
      Ticks& total = carried_in_[*unit.at_start];
      total = sum(total, unit.carried_in);
    }
  }
  most_carried_in_.clear();
  for (std::size_t i = 0; i < carried_in_.size(); ++i) {
    if (carried_in_[i] > 0) {
      most_carried_in_.emplace_back(carried_in_[i], i);
    }
  }
  const auto most = std::min<std::ptrdiff_t>(std::ssize(most_carried_in_), own_executor_.cpus - 1);
  std::ranges::partial_sort(most_carried_in_, most_carried_in_.begin() + most, std::greater{});
  Ticks result = 0;
  for (auto each = most_carried_in_.begin(); each != most_carried_in_.end(); ++each) {
    const bool counts = each < most_carried_in_.begin() + most;
    carried_in_[each->second] = counts ? each->first : 0;
    result = sum(result, counts ? each->first : std::max<Ticks>(0, each->first - y));
  }
  for (Unit& unit : units_) {
    if (unit.at_start && carried_in_[*unit.at_start] > 0) {
      unit.shared = sum(unit.shared, unit.carried_in);  // for explain()
    }
  }
  return result;
}

/// Returns the work of a unit that is released within x, or of sets that are formed then.
Ticks GlobalWindow::begun_work(const Unit& unit, Ticks x) const {
  const GlobalSource& source = all_.sources[unit.source];
  const Ticks late = sum(x, all_.overheads.timer_jitter);
  if (source.is_sync) {
    return product(all_.formed(unit.source, x), unit.work);
  }
  const Ticks instances = source.instances(late, 0);
  if (!unit.in_sequence || instances == 0) {
    return product(instances, unit.work);
  }
  const Ticks last = late - all_.shortest_time(unit.source, instances);
  return sum(product(instances - 1, unit.work), std::min(unit.work, last));
}

/// Returns what is known of when another source releases. nullptr: nothing.
const GlobalPhase* GlobalWindow::phase_of(std::size_t source) const {
  const bool counts = phases_ != nullptr && start_ == WindowStart::kReady;
  return counts && (*phases_)[source] ? &*(*phases_)[source] : nullptr;
}

/// Returns the most work that instances of another source do within x by what is known of when it
/// releases; kHorizon: nothing is. Those of before end `response` after their stamps, and so do the
/// others; the path is ready at most GlobalPath::ready after its own stamp.
Ticks GlobalWindow::work_in_phase(std::size_t source, Ticks x, Ticks response, Ticks work,
                                  bool in_sequence) const {
  const GlobalPhase* const phase = phase_of(source);
  if (phase == nullptr || response >= kHorizon) {
    return kHorizon;
  }
  const Ticks period = all_.sources[source].arrivals.front().releases.period;
  Ticks result = 0;
  for (Ticks i = 0; i < phase->count; ++i) {
    const Ticks next = phase->next + i * phase->step;
    const Ticks before = released_work(response + next - period, work, period, in_sequence);
    const Ticks later = released_work(sum(x, path_.ready) - next, work, period, in_sequence);
    result = std::max(result, sum(before, later));
  }
  return result;
}

/// Returns the most work of a callback of a flow within x.
Ticks GlobalWindow::work_of_part(std::size_t index, const GlobalNode& node, Ticks x) {
  const GlobalSource& source = all_.sources[index];
  const Ticks result = work_of(index, x, node.response, node.work, true);
  return is_long(source, node.response)
             ? std::min(result, product(queued_runs(source, node, x), node.work))
             : result;
}

/// Returns the work of a unit by the queues of its callbacks: a bound of a response that is many
/// periods long says more than the queues can hold. For a flow, this is the lowest sum of the work
/// of those that end early, as a sequence, and the work of each other one.
Ticks GlobalWindow::work_by_queues(const Unit& unit, Ticks x) {
  if (unit.node != nullptr) {
    return product(queued_runs(all_.sources[unit.source], *unit.node, x), unit.node->work);
  }
  Ticks result = kHorizon;
  Ticks early = unit.work;
  Ticks others = 0;
  for (auto each = unit.parts.rbegin(); each != unit.parts.rend(); ++each) {
    others = sum(others, work_of_part(unit.source, **each, x));
    early -= (*each)->work;
    const auto next = std::next(each);
    const Ticks in_sequence =
        next == unit.parts.rend() ? 0 : work_of(unit.source, x, (*next)->response, early, true);
    result = std::min(result, sum(in_sequence, others));
  }
  return result;
}

}  // namespace rclrt::analysis::detail

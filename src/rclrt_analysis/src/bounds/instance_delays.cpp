// SPDX-License-Identifier: Apache-2.0
// The delays of one instance of a path, or of a part of it. docs/explanation/back-and-forth.md has
// the proof.
#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "bounds/instance_windows.hpp"
#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {
namespace {

Ticks add_up_to(Ticks total, Ticks work, Ticks most) { return std::min(sum(total, work), most); }

}  // namespace

/// Returns whether the work of another instance may delay this part of a path.
bool InstanceWindows::delays(const Part& part, const Instance& other) const {
  const std::size_t own = part.instance.callback;
  const Step& step = steps_[own];
  const Step& theirs = steps_[other.callback];
  if (theirs.timer != step.timer || other.n < part.instance.n) {
    return true;
  }
  if (other.n > part.instance.n) {  // instances of a callback run in order
    return other.callback != own && !step.follows[other.callback];
  }
  const auto on_part = step.path.begin() + static_cast<std::ptrdiff_t>(part.first);
  if (std::find(on_part, step.path.end(), other.callback) != step.path.end()) {
    return false;
  }
  // Callbacks that the last one releases run after it, unless they preempt it before it returns.
  const bool preempts = theirs.core == step.core && (workload_.order == Workload::Order::kAny ||
                                                     theirs.priority > step.priority);
  return !step.follows[other.callback] || preempts;
}

/// Adds the instances of a callback that may delay the part at this visit, if they arrive before
/// `until`.
void InstanceWindows::add_instances(const Part& part, std::size_t visit, std::size_t callback,
                                    Ticks until, std::vector<Delaying>& result) const {
  const Visit& there = part.visits[visit];
  const Step& step = steps_[callback];
  const KnownReleases& known = releases_[step.timer];
  const Ticks from = visit == 0 ? part.earliest - busy_[there.core] : there.from;
  const Ticks last = std::min(until, there.left);
  const bool urgent = step.priority >= there.lowest;
  const bool ordered = urgent && there.in_order && step.priority == there.lowest &&
                       step.executor == there.executor && !step.in_group;
  const Ticks arrived = arrival({there.last, part.instance.n});
  Ticks n = floor_div(from - step.latest - known.first, known.period);
  for (;; ++n) {
    const Instance instance{callback, n};
    const Ticks earliest_arrival = earliest(instance);
    if (earliest_arrival >= last) {
      return;
    }
    const Ticks latest_end = end(instance);
    if (latest_end <= from) {
      continue;
    }
    const bool later = ordered && earliest_arrival > arrived;
    const bool works = urgent && !later && delays(part, instance);
    if (works || workload_.dispatch > 0) {
      result.push_back({.instance = instance,
                        .visit = visit,
                        .earliest = earliest_arrival,
                        .latest = arrival(instance),
                        .end = latest_end,
                        .work = works ? step.work : 0,
                        .ordered = ordered});
    }
  }
}

/// Returns all instances that may delay the part, if they arrive before `until`; those with the
/// earliest latest end come first.
std::vector<InstanceWindows::Delaying> InstanceWindows::collect(const Part& part,
                                                                Ticks until) const {
  std::vector<Delaying> result;
  for (std::size_t visit = 0; visit < part.visits.size(); ++visit) {
    for (const std::size_t callback : cores_.cores[part.visits[visit].core].callbacks) {
      add_instances(part, visit, callback, until, result);
    }
  }
  std::ranges::sort(result, {}, &Delaying::end);
  return result;
}

/// Returns the time lost to other threads of the machine, in a part of this length.
Ticks InstanceWindows::lost(const Part& part, Ticks time) const {
  const auto cpus = static_cast<Ticks>(part.visits.size());
  const Ticks milliseconds = ceil_div(sum(time, kMillisecond), kMillisecond) + 1;
  return product(product(cpus, overheads_.background), milliseconds);
}

/// Sets what may delay the part at this visit, in the busy period.
void InstanceWindows::find_delays(const Part& part, std::size_t visit,
                                  const std::vector<Delaying>& others, const Begin& begin,
                                  Delays& result) const {
  const Visit& there = part.visits[visit];
  const Ticks from = visit == 0 ? begin.latest : std::max(there.from, begin.after);
  result.works.clear();
  result.queued.clear();
  result.in_order.reset();
  if (part.single && there.in_order) {
    result.in_order = part.arrival - begin.latest;
    const std::size_t timer = steps_[part.instance.callback].path.front();
    result.releases.assign(1, {timer, part.instance.n});
  }
  for (const Delaying& other : others) {
    if (other.visit != visit || other.end <= from) {
      continue;
    }
    const bool arrives = other.latest >= from;  // not before
    if (other.work == 0 && arrives) {
      result.queued.push_back(other.earliest);
    }
    if (other.work == 0 || (visit == 0 && !arrives)) {
      continue;
    }
    Delays::Work& own = result.works.emplace_back(other.earliest, other.work, other.end - from,
                                                  other.end - begin.after);
    if (result.in_order && other.ordered) {
      own.release = place_of_release(other.instance, result);
    }
  }
  result.waiting.resize(result.releases.size());
}

/// Returns the place of an instance's release in Delays::releases. One callback of each release
/// waits when the own instance arrives; others have ended.
std::size_t InstanceWindows::place_of_release(const Instance& instance, Delays& delays) const {
  const Step& step = steps_[instance.callback];
  const Instance release{forks_[step.timer] ? instance.callback : step.path.front(), instance.n};
  const auto same = std::ranges::find(delays.releases, release);
  const auto result = static_cast<std::size_t>(same - delays.releases.begin());
  if (same == delays.releases.end()) {
    delays.releases.push_back(release);
  }
  return result;
}

/// Returns the most time for which the part waits at a visit, if it ends before `until`.
Ticks InstanceWindows::delay(Delays& delays, Ticks until) const {
  Ticks total = 0;
  Ticks unordered = 0;
  std::ranges::fill(delays.waiting, 0);
  for (const Delays::Work& each : delays.works) {
    if (each.earliest >= until) {
      continue;
    }
    total = add_up_to(total, each.work, each.most);
    if (each.release) {
      Ticks& waiting = delays.waiting[*each.release];
      waiting = std::max(waiting, each.work);
    } else {
      unordered = add_up_to(unordered, each.work, each.most_unordered);
    }
  }
  if (delays.in_order) {
    Ticks backlog = sum(unordered, *delays.in_order);
    for (std::size_t i = 1; i < delays.waiting.size(); ++i) {
      backlog = sum(backlog, delays.waiting[i]);
    }
    total = std::min(total, backlog);
  }
  const auto queued =
      std::ranges::count_if(delays.queued, [&](Ticks earliest) { return earliest < until; });
  return sum(total, product(queued, workload_.dispatch));
}

/// Returns whether a busy period that begins at `begin.latest` may last until the part's first
/// callback arrives. `first`: the instances that may delay it there, in order of arrival.
bool InstanceWindows::reaches(const Part& part, const std::vector<Delaying>& first,
                              const Begin& begin) const {
  Ticks end = begin.latest + 1;
  Ticks work = 0;  // that arrives before `end`
  auto next_arrival = first.begin();
  while (end < part.earliest) {
    for (; next_arrival != first.end() && next_arrival->earliest < end; ++next_arrival) {
      const Delaying& other = *next_arrival;
      if (other.latest >= begin.latest && other.end > begin.latest) {
        const Ticks own = other.work > 0 ? other.work : workload_.dispatch;
        work = sum(work, std::min(own, other.end - begin.latest));
      }
    }
    const Ticks total = sum(sum(part.once, lost(part, end - begin.latest)), work);
    const Ticks next = begin.latest + total;
    if (next <= end) {
      return false;
    }
    end = next;
  }
  return true;
}

/// Returns the latest end of the part, if its busy period begins in `begin`. nullopt if the budget
/// ends, or if it is beyond kHorizon. `delays`: of each visit, are replaced.
std::optional<Ticks> InstanceWindows::end_from(const Part& part,
                                               const std::vector<Delaying>& others,
                                               const Begin& begin, std::vector<Delays>& delays,
                                               Budget& budget) const {
  // A release at the very end counts: a callback returns after the more urgent ones that it has
  // released.
  const Ticks constant = sum(sum(part.own, part.once), 1);
  for (std::size_t visit = 0; visit < part.visits.size(); ++visit) {
    find_delays(part, visit, others, begin, delays[visit]);
  }
  const auto length = fixed_point(constant, 4 * others.size(), budget, [&](Ticks w) {
    Ticks total = sum(constant, lost(part, w));
    for (Delays& each : delays) {
      total = sum(total, delay(each, begin.latest + w));
    }
    return total;
  });
  if (!length) {
    return std::nullopt;
  }
  return begin.latest + *length - 1;
}

/// Returns the latest end of a part of a path.
std::optional<Ticks> InstanceWindows::end_of_part(const Part& part, Budget& budget) const {
  const Ticks earliest_begin = part.earliest - busy_[part.visits.front().core] - 1;
  Ticks until = std::max(end(part.instance), part.arrival + part.own) + part.own + 1;
  std::vector<Delays> delays(part.visits.size());
  while (true) {
    const std::vector<Delaying> others = collect(part, until);
    std::vector<Ticks> begins{part.arrival};
    std::vector<Delaying> first;
    std::ranges::copy_if(others, std::back_inserter(first),
                         [](const Delaying& other) { return other.visit == 0; });
    std::ranges::sort(first, {}, &Delaying::earliest);
    for (const Delaying& other : others) {
      if (other.visit == 0 && other.latest < part.arrival && other.latest > earliest_begin) {
        begins.push_back(other.latest);
      }
    }
    std::ranges::sort(begins, std::greater{});
    Ticks worst = 0;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      if (i > 0 && begins[i] == begins[i - 1]) {
        continue;
      }
      const auto next = std::ranges::upper_bound(begins, begins[i], std::greater{});
      const Begin begin{next == begins.end() ? earliest_begin : *next, begins[i]};
      if (begin.latest < part.earliest && !reaches(part, first, begin)) {
        continue;
      }
      const auto found = end_from(part, others, begin, delays, budget);
      if (!found) {
        return std::nullopt;
      }
      worst = std::max(worst, *found);
    }
    if (worst < until) {
      return worst;
    }
    if (worst - part.earliest > limit_) {
      return std::nullopt;
    }
    until = worst + part.own + 1;
  }
}

}  // namespace rclrt::analysis::detail

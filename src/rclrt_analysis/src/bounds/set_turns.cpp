// SPDX-License-Identifier: Apache-2.0
#include "bounds/set_turns.hpp"

#include <algorithm>

#include "bounds/cores.hpp"
#include "bounds/drops.hpp"
#include "bounds/level_work.hpp"
#include "demand.hpp"
#include "rclrt/model/services.hpp"

namespace rclrt::analysis::detail {
SetTurns::SetTurns(const model::Application& application, const model::ExecutorChoice& executor,
                   const Overheads& overheads)
    : application_(application),
      overheads_(overheads),
      in_turns_(executor.kind == ExecutorKind::kWaitSet && executor.threads <= 1),
      graph_(application) {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    executor_of_.push_back(application.executor_of(i));
  }
}

/// Returns whether the executor has a CPU for itself, and only callbacks that run once in a set.
bool SetTurns::has_turns(std::size_t executor) const {
  const auto& all = application_.executors;
  const bool has_cpu = all.size() == 1 ||
                       (all[executor].cpus.size() == 1 &&
                        std::ranges::all_of(all, [&](const model::Executor& other) {
                          return &other == &all[executor] ||
                                 (!other.cpus.empty() && !overlap(other.cpus, all[executor].cpus));
                        }));
  for (std::size_t i = 0; has_cpu && i < executor_of_.size(); ++i) {
    if (executor_of_[i] == executor && !is_known(i)) {
      return false;
    }
  }
  return has_cpu;
}

/// Returns whether a set runs the callback once, and a full queue of it loses its oldest message. A
/// subscription of several topics runs once for each.
bool SetTurns::is_known(std::size_t callback) const {
  const model::Callback& each = application_.callbacks[callback];
  return graph_.publishers[callback].size() <= 1 && each.kind() != model::CallbackKind::kSync &&
         model::role_of(each) == model::Role::kTopic && each.overload == model::Overload::kQueue;
}

/// Returns whether no other callback's message may push out that of the publisher.
bool SetTurns::is_only_publisher(std::size_t publisher, std::size_t to) const {
  const auto& inputs = graph_.publishers[to];
  return inputs.size() == 1 && inputs.front() == std::vector{publisher};
}

Ticks SetTurns::own_time(std::size_t callback) const {
  const model::Callback& own = application_.callbacks[callback];
  const Ticks once = sum(overheads_.dispatch, overheads_.polling);
  return sum(sum(own.wcet.count(), once), own.waits.count() > 0 ? sum(own.waits.count(), once) : 0);
}

/// Returns the work of a set in which each callback runs.
Ticks SetTurns::set_work(std::size_t executor) const {
  Ticks total = sum(overheads_.polling, overheads_.stall);
  for (std::size_t i = 0; i < executor_of_.size(); ++i) {
    if (executor_of_[i] == executor) {
      total = sum(total, own_time(i));
    }
  }
  return total;
}

/// Returns a time in which the work is done although the background takes its share: not less than
/// the work and ceil(time / 1 ms) + 1 times the share. kHorizon if that leaves nothing.
Ticks SetTurns::with_background(Ticks work) const {
  const Ticks share = overheads_.background;
  if (share == 0) {
    return work;
  }
  if (share >= kMillisecond) {
    return kHorizon;
  }
  __extension__ using Wide = __int128;
  const Wide time = (static_cast<Wide>(work) + 2 * share) * kMillisecond / (kMillisecond - share);
  return static_cast<Ticks>(std::min<Wide>(time + 1, kHorizon));
}

/// Returns how late a timer may start after a release that is served.
///
/// If the set of its last start still runs at the release, the rest of that set and the next set up
/// to the timer come before the start. Otherwise a set without the timer does, and the next one up
/// to it. By induction over the releases, only the latter happens if a period is long enough for
/// that and for a set.
SetTurns::Lateness SetTurns::lateness(std::size_t callback) const {
  const Ticks own = own_time(callback);
  const Ticks set = set_work(executor_of_[callback]);
  const Ticks behind = sum(overheads_.timer_jitter, with_background(product(2, set - own)));
  if (sum(behind, with_background(set)) <=
      model::min_interval(application_.callbacks[callback]).count()) {
    return {.in_own_set = 0, .behind = behind};
  }
  return {.in_own_set = with_background(sum(set, set - own)), .behind = behind};
}

/// Returns the times of the first callback, and sets how what it publishes arrives elsewhere.
ServedTimes SetTurns::begin(std::size_t callback, bool from_start, Arrivals& arrivals) const {
  const model::Callback& root = application_.callbacks[callback];
  const Ticks period = model::max_interval(root).count();
  if (root.kind() != model::CallbackKind::kTimer) {
    arrivals.jitter = overheads_.timer_jitter;  // events are as late as timers
    return {.interval = period,
            .response = sum(overheads_.timer_jitter, serve(callback, arrivals))};
  }
  const Lateness late = lateness(callback);
  const Ticks latest = std::max(late.in_own_set, late.behind);
  const Ticks run = with_background(sum(own_time(callback), overheads_.stall));
  const bool skips = late.in_own_set > 0;
  // The release after one that was skipped may start right after the one before.
  arrivals.jitter = sum(skips ? period : latest, run);
  if (from_start) {
    return {.interval = std::max(late.in_own_set, sum(period, late.behind)), .response = run};
  }
  const bool keeps = !skips && keeps_grid(root);
  return {.interval = keeps ? period : sum(period, latest), .response = sum(latest, run)};
}

/// Returns the longest time from an arrival until it, or a newer message, has been served. Adds it
/// to the jitter of what the callback publishes.
///
/// A queue that is never empty loses a message in each set. So the k-th arrival since it was empty
/// is served after the rest of a set and k sets. No more than the depth of the queue wait.
Ticks SetTurns::serve(std::size_t callback, Arrivals& arrivals) const {
  const auto depth = static_cast<Ticks>(queue_depth(application_.callbacks[callback], true));
  const Ticks set = with_background(set_work(executor_of_[callback]));
  Ticks time = product(depth + 1, set);
  if (set < arrivals.period) {
    const Ticks at_once = arrivals.jitter / arrivals.period + 1;
    const Ticks apart = product(at_once, arrivals.period) - arrivals.jitter;
    const Ticks later = product(at_once + 2, set) - apart;
    time = std::min(time, std::max(product(at_once + 1, set), later));
  }
  arrivals.jitter = sum(arrivals.jitter, time);
  return time;
}

std::optional<ServedTimes> SetTurns::of(const model::Chain& chain, bool from_start) const {
  const auto& path = chain.callbacks;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!in_turns_ || !has_turns(executor_of_[path[i]]) ||
        (i > 0 && !is_only_publisher(path[i - 1], path[i]))) {
      return std::nullopt;
    }
  }
  const model::Callback& root = application_.callbacks[path.front()];
  Arrivals arrivals{.period = std::max<Ticks>(1, model::min_interval(root).count())};
  ServedTimes result = begin(path.front(), from_start, arrivals);
  for (std::size_t i = 1; i < path.size(); ++i) {
    const bool near = executor_of_[path[i]] == executor_of_[path[i - 1]];
    const Ticks hop = (near ? overheads_.near : overheads_.far).max;
    arrivals.jitter = sum(arrivals.jitter, hop);
    result.response = sum(result.response, sum(hop, serve(path[i], arrivals)));
  }
  if (result.response >= kHorizon || result.interval >= kHorizon) {
    return std::nullopt;
  }
  return result;
}

}  // namespace rclrt::analysis::detail

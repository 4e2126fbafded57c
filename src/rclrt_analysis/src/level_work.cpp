// SPDX-License-Identifier: Apache-2.0
#include "level_work.hpp"

#include <algorithm>
#include <rclrt/model/executor_kind.hpp>
#include <utility>

#include "demand.hpp"

namespace rclrt::analysis::detail {

Workload::Workload(const model::Application& app, const Overheads& overheads,
                   Order order_of_callbacks)
    : application(app),
      graph(app),
      order(order_of_callbacks),
      dispatch(sum(sum(overheads.dispatch, overheads.scheduler), overheads.polling)),
      scheduler(overheads.scheduler),
      first_poll(overheads.polling),
      background(overheads.background),
      stall(overheads.stall) {
  const std::size_t n = app.callbacks.size();
  priority = ceiling = std::vector<int>(n);
  if (order == Order::kPriority) {
    priority = app.effective_priorities();
    ceiling = thread_levels(app, model::ExecutorKind::kPerGroup);  // of each group's highest
  }
  for (std::size_t i = 0; i < n; ++i) {
    const model::Callback& callback = app.callbacks[i];
    wcet.push_back(std::min<Ticks>(callback.wcet.count(), kMaxTicks));
    if (!callback.takes_messages()) {
      timers.push_back(i);
      period.push_back(std::max<Ticks>(1, model::min_interval(callback).count()));
    }
  }
  find_sources();
}

Ticks Workload::return_delay(std::size_t callback) const {
  const auto preempts = [&](std::size_t successor) {
    return order == Order::kAny ||
           (order == Order::kPriority &&
            (priority[successor] > priority[callback] ||
             application.executor_of(successor) != application.executor_of(callback)));
  };
  return wcet[callback] == 0 || std::ranges::any_of(graph.successors[callback], preempts) ? 1 : 0;
}

/// Finds the timers that the runs of syncs and subscriptions are counted by.
///
/// A sync runs once for each set. When a busy period begins, one of its inputs has no message that
/// can be in a set (a set is formed at once, see below). So within the period the sync runs no more
/// often than messages arrive at the busiest input: one with a timer of the shortest period.
///
/// Proof: suppose each input had such a message, and take the oldest of each. Let c be the time of
/// the latest of these. All sets to come have a stamp of at least c, so a message that is older
/// than c by more than the window is in none of them. The others then lie within the window before
/// c. They are a set, which would have been formed when the last of its messages arrived.
void Workload::find_sources() {
  const std::size_t n = wcet.size();
  counted_by.resize(n);
  source.resize(n);
  for (const std::size_t i : graph.order) {
    const auto& inputs = graph.publishers[i];
    if (inputs.empty()) {
      source[i] = i;
      continue;
    }
    std::optional<std::size_t> best;
    bool single = true;
    for (const auto& input : inputs) {
      single = single && input.size() == 1 && source[input.front()];
      if (!single) {
        break;
      }
      const auto period_of = [&](std::size_t callback) {
        return model::min_interval(application.callbacks[*source[callback]]);
      };
      if (!best || period_of(input.front()) < period_of(*best)) {
        best = input.front();
      }
    }
    if (!single) {
      continue;
    }
    counted_by[i] = best;
    source[i] = source[*best];
  }
}

LevelWork::LevelWork(const Workload& workload, int level, const std::vector<bool>& here)
    : workload_(workload),
      level_(level),
      head_(workload.wcet.size()),
      behind_syncs_(workload.wcet.size()),
      counted_(workload.wcet.size()) {
  const auto& order = workload.graph.order;
  for (const std::size_t i : order) {
    const auto& by = workload.counted_by[i];
    counted_[i] = workload.priority[i] >= level &&
                  (workload.source[i] == i || (by && workload.source[i] && counted_[*by]));
  }
  std::vector<Ticks> whole(head_.size());  // as head_, with each run of a sync for each message
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const std::size_t i = *at;
    Ticks after = 0;
    Ticks counted_after = 0;
    for (const std::size_t to : workload.graph.successors[i]) {
      after = sum(after, whole[to]);
      counted_after = sum(counted_after, skips(i, to) ? workload.dispatch : head_[to]);
    }
    // Each release adds one dispatch overhead to the running callback.
    head_[i] = whole[i] = workload.dispatch;
    if (workload.priority[i] >= level) {
      head_[i] = sum(head_[i], sum(workload.wcet[i], counted_after));
      for (const std::size_t to : workload.graph.successors[i]) {
        // A message costs its dispatch when it arrives; a set costs its run when its last message
        // arrives.
        const Ticks there = workload.graph.publishers[to].size() < 2 ? behind_syncs_[to]
                            : skips(i, to) ? 0
                                           : head_[to] - workload.dispatch;
        behind_syncs_[i] = sum(behind_syncs_[i], there);
      }
      whole[i] = sum(whole[i], sum(workload.wcet[i], after));
      continue;
    }
    const Ticks rest = workload.ceiling[i] >= level ? workload.wcet[i] : 0;
    const Ticks work = sum(sum(rest, after), workload.dispatch);
    if (here[i] && work > 0 && (!started_ || work > started_->work)) {
      started_ = Started{work, i};
    }
  }
}

bool LevelWork::follows(std::size_t callback) const {
  while (workload_.graph.publishers[callback].size() == 1 && workload_.counted_by[callback]) {
    callback = *workload_.counted_by[callback];
  }
  return workload_.graph.publishers[callback].empty();
}

/// Returns whether the runs of the sync `to` are counted by another publisher's messages.
bool LevelWork::skips(std::size_t from, std::size_t to) const {
  const auto& by = workload_.counted_by[to];
  return workload_.graph.publishers[to].size() > 1 && by && *by != from && counted_[*by];
}

}  // namespace rclrt::analysis::detail

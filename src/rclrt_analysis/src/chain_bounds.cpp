// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_bounds.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "path_bound.hpp"

namespace rclrt::analysis {
namespace {

using detail::PathBound;
using detail::PathBounds;
using detail::sum;
using detail::Workload;
using model::Application;

/// Where the second message of a sync comes from, seen from a chain that brings the first.
struct OtherInput {
  enum class Kind { kSameTimer, kOtherTimer, kUnclear };
  Kind kind{};
  std::size_t timer{};           // the callback
  std::vector<std::size_t> way;  // from the timer to the sync, both without
};

/// The bounds of the chains of one executor.
class ExecutorBounds {
 public:
  ExecutorBounds(const Workload& workload, std::vector<std::size_t> timers,
                 const Overheads& overheads, Effort effort)
      : workload_(workload), paths_(workload, std::move(timers), overheads.timer_jitter, effort) {}

  ChainBound bound(const model::Chain& chain) {
    ChainBound result;
    result.level = lowest(chain.callbacks, 0, chain.callbacks.size());
    const auto found = response(chain, chain.callbacks.size(), result);
    if (!found) return result;
    result.bound = found;
    check_drops(chain, result);
    return result;
  }

 private:
  int lowest(const std::vector<std::size_t>& callbacks, std::size_t from, std::size_t to) const {
    int level = workload_.priority[callbacks[from]];
    for (std::size_t i = from; i < to; ++i) {
      level = std::min(level, workload_.priority[callbacks[i]]);
    }
    return level;
  }

  std::size_t timer_index(std::size_t callback) const {
    return static_cast<std::size_t>(std::ranges::find(workload_.timers, callback) -
                                    workload_.timers.begin());
  }

  /// From the release of the chain's timer to the end of its callback before `end`.
  std::optional<Ticks> response(const model::Chain& chain, std::size_t end, ChainBound& result) {
    int level = lowest(chain.callbacks, 0, end);
    std::optional<Ticks> worst = Ticks{0};
    for (std::size_t at = 1; at < end; ++at) {
      const std::size_t sync = chain.callbacks[at];
      if (workload_.application.callbacks[sync].kind() != model::CallbackKind::kSync) continue;
      const OtherInput other = other_input(chain, at);
      if (other.kind == OtherInput::Kind::kUnclear) {
        result.note = "the other input of the sync '" + id(sync) +
                      "' does not come from one timer by one way";
        return std::nullopt;
      }
      for (const std::size_t callback : other.way) {
        if (other.kind == OtherInput::Kind::kSameTimer) {
          level = std::min(level, workload_.priority[callback]);
        }
      }
      if (other.kind == OtherInput::Kind::kSameTimer) continue;
      const auto waited = wait_for(chain, at, end, other, result);
      if (!waited) return std::nullopt;
      worst = std::max(*worst, *waited);
    }
    const std::size_t last = chain.callbacks[end - 1];
    const PathBound own = paths_.bound({timer_index(chain.callbacks.front()), last, level});
    if (!own.response) {
      result.note = own.note;
      return std::nullopt;
    }
    if (*own.response >= *worst) {
      result.why = own.why;
      result.waited = own.waited;
      result.level = level;
    }
    busy_ = {level, std::max(own.busy, *worst)};
    return std::max(*own.response, *worst);
  }

  /// The chain's message waits in the sync at `at` for the next one of the other timer, which
  /// starts up to a period later and takes its own way through the sync to the end.
  std::optional<Ticks> wait_for(const model::Chain& chain, std::size_t at, std::size_t end,
                                const OtherInput& other, ChainBound& result) {
    const std::size_t sync = chain.callbacks[at];
    const auto arrival = response(chain, at, result);
    if (!arrival) return std::nullopt;
    int level = lowest(chain.callbacks, at, end);
    for (const std::size_t callback : other.way) {
      level = std::min(level, workload_.priority[callback]);
    }
    level = std::min(level, workload_.priority[other.timer]);
    const std::size_t timer = timer_index(other.timer);
    const PathBound rest = paths_.bound({timer, chain.callbacks[end - 1], level});
    if (!rest.response) {
      result.note = rest.note;
      return std::nullopt;
    }
    const Ticks period = workload_.period[timer];
    const std::string assumption = "the sync '" + id(sync) +
                                   "' pairs each message of the chain with the next one that '" +
                                   id(other.timer) + "' leads to";
    if (std::ranges::find(result.assumptions, assumption) == result.assumptions.end()) {
      result.assumptions.push_back(assumption);
    }
    const Ticks total = sum(sum(*arrival, period), *rest.response);
    result.why = rest.why;
    result.waited = rest.waited;
    result.why.push_back({Contribution::Kind::kOtherInput, sync, 1, sum(*arrival, period)});
    std::ranges::stable_sort(result.why, std::greater{}, &Contribution::total);
    return total;
  }

  OtherInput other_input(const model::Chain& chain, std::size_t at) const {
    const std::size_t before = chain.callbacks[at - 1];
    const auto& inputs = workload_.graph.publishers[chain.callbacks[at]];
    std::vector<std::size_t> publishers;
    for (const auto& input : inputs) {
      const bool own = std::ranges::find(input, before) != input.end();
      if (own && input.size() > 1) return {OtherInput::Kind::kUnclear, 0, {}};
      if (!own) publishers = input;
    }
    OtherInput result;
    // Both topics from the callback before: nothing to wait for.
    if (publishers.empty()) return result;
    while (true) {
      if (publishers.size() != 1) return {OtherInput::Kind::kUnclear, 0, {}};
      const std::size_t callback = publishers.front();
      const model::Callback& value = workload_.application.callbacks[callback];
      if (value.kind() == model::CallbackKind::kTimer) {
        result.timer = callback;
        result.kind = callback == chain.callbacks.front() ? OtherInput::Kind::kSameTimer
                                                          : OtherInput::Kind::kOtherTimer;
        return result;
      }
      if (value.kind() == model::CallbackKind::kSync) return {OtherInput::Kind::kUnclear, 0, {}};
      result.way.push_back(callback);
      publishers = workload_.graph.publishers[callback].front();
    }
  }

  /// Policies that drop instances, and queues that may be too short, make the bound conditional.
  void check_drops(const model::Chain& chain, ChainBound& result) {
    const auto waiting = paths_.most_waiting(busy_.first, busy_.second);
    for (const std::size_t callback : chain.callbacks) {
      const model::Callback& value = workload_.application.callbacks[callback];
      const bool alone = waiting[callback] <= 1;
      if (value.overload != model::Overload::kQueue && !alone) {
        result.assumptions.push_back("no instance of '" + value.id +
                                     "' is dropped by its overload policy");
      }
      const auto* subscription = std::get_if<model::Subscription>(&value.trigger);
      if (subscription != nullptr && waiting[callback] > static_cast<Ticks>(subscription->depth)) {
        result.assumptions.push_back("the queue of '" + value.id + "' (depth " +
                                     std::to_string(subscription->depth) + ") does not overflow");
      }
      const auto* timer = std::get_if<model::Timer>(&value.trigger);
      if (timer != nullptr && !alone && timer->overrun != model::OverrunPolicy::kCatchUp &&
          busy_.second > timer->period.count()) {
        result.assumptions.push_back("no release of the timer '" + value.id + "' is skipped");
      }
    }
  }

  const std::string& id(std::size_t callback) const {
    return workload_.application.callbacks[callback].id;
  }

  const Workload& workload_;
  PathBounds paths_;
  std::pair<int, Ticks> busy_{};  // level and length of the busy period of the last bound
};

std::size_t executor_of(const Application& application, std::size_t callback) {
  return application.nodes.at(application.callbacks.at(callback).node).executor;
}

/// Executors that a topic connects with another one.
std::set<std::size_t> connected_executors(const Workload& workload) {
  std::set<std::size_t> result;
  for (std::size_t i = 0; i < workload.wcet.size(); ++i) {
    for (const std::size_t to : workload.graph.successors[i]) {
      const std::size_t a = executor_of(workload.application, i);
      const std::size_t b = executor_of(workload.application, to);
      if (a == b) continue;
      result.insert(a);
      result.insert(b);
    }
  }
  return result;
}

/// What must be true of the machine for the executor to have one core for itself.
std::vector<std::string> core_assumptions(const Application& application, std::size_t executor) {
  const model::Executor& own = application.executors.at(executor);
  std::vector<std::string> result;
  if (own.cpus.size() != 1) {
    result.push_back("executor '" + own.name + "' runs on one CPU (cpus: [n])");
  }
  for (std::size_t i = 0; i < application.executors.size(); ++i) {
    const model::Executor& other = application.executors[i];
    if (i == executor) continue;
    const bool apart = own.cpus.size() == 1 && !other.cpus.empty() &&
                       std::ranges::find(other.cpus, own.cpus.front()) == other.cpus.end();
    if (!apart) result.push_back("executor '" + other.name + "' does not use that CPU");
  }
  return result;
}

void decide(const model::Chain& chain, ChainBound& result) {
  if (!result.bound) return;
  if (*result.bound > chain.deadline.count()) {
    result.note = "the bound is above the deadline, which proves nothing";
  } else {
    result.verdict = result.assumptions.empty() ? Verdict::kProved : Verdict::kConditional;
  }
}

}  // namespace

std::vector<ChainBound> chain_bounds(const Application& application, ChainExecutor executor,
                                     const Overheads& overheads, Effort effort) {
  const Workload workload(application, overheads);
  const auto connected = connected_executors(workload);
  std::map<std::size_t, std::vector<std::size_t>> timers;  // of each executor
  for (std::size_t k = 0; k < workload.timers.size(); ++k) {
    timers[executor_of(application, workload.timers[k])].push_back(k);
  }
  std::map<std::size_t, ExecutorBounds> executors;
  std::vector<ChainBound> result;
  for (const model::Chain& chain : application.chains) {
    if (application.period(chain).count() <= 0) {
      throw std::invalid_argument("chain '" + chain.id + "' does not start at a timer");
    }
    ChainBound one;
    const std::size_t own = executor_of(application, chain.callbacks.at(0));
    if (executor == ChainExecutor::kWaitSet) {
      one.note = "no bound is offered for wait_set";
    } else if (connected.contains(own)) {
      one.note = "topics connect executor '" + application.executors.at(own).name +
                 "' with another: the time from one to the other is not bounded";
    } else {
      auto at = executors.find(own);
      if (at == executors.end()) {
        at = executors.try_emplace(own, workload, timers[own], overheads, effort).first;
      }
      one = at->second.bound(chain);
      const auto core = core_assumptions(application, own);
      one.assumptions.insert(one.assumptions.begin(), core.begin(), core.end());
      decide(chain, one);
    }
    result.push_back(std::move(one));
  }
  return result;
}

std::vector<std::string> chain_assumptions(ChainExecutor executor, const Overheads& overheads) {
  std::vector<std::string> result{
      "the executor's threads run under SCHED_FIFO, and nothing more urgent uses their CPU",
      "no callback takes longer than its wcet_ms, and none sleeps or waits",
      "a publish reaches the callbacks of the executor at once; offsets are unknown",
      "callbacks of one priority delay each other; a group has an immediate ceiling",
  };
  if (overheads.dispatch == 0 && overheads.timer_jitter == 0) {
    result.emplace_back("dispatching takes no time (give the machine's overheads to include it)");
  }
  if (executor == ChainExecutor::kProducerConsumer || executor == ChainExecutor::kThreadDispatch) {
    result.emplace_back("the scheduler thread's work is part of the dispatch overhead");
  }
  return result;
}

}  // namespace rclrt::analysis

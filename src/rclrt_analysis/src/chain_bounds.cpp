// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_bounds.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "path_bound.hpp"
#include "sync_ways.hpp"

namespace rclrt::analysis {
namespace {

using detail::PathBound;
using detail::PathBounds;
using detail::sum;
using detail::Workload;
using model::Application;

/// The bounds of the chains of one executor.
class ExecutorBounds {
 public:
  ExecutorBounds(const Workload& workload, std::vector<std::size_t> timers,
                 const Overheads& overheads, Effort effort)
      : workload_(workload), paths_(workload, std::move(timers), overheads.timer_jitter, effort) {}

  ChainBound bound(const model::Chain& chain) {
    ChainBound result;
    result.level = workload_.priority[chain.callbacks.front()];
    for (const std::size_t callback : chain.callbacks) {
      result.level = std::min(result.level, workload_.priority[callback]);
    }
    const detail::Joins joins = joins_of(chain.callbacks);
    const auto ways = detail::ways_to_last(workload_, chain.callbacks, joins.joins);
    result.bound = response(ways, chain.callbacks.back(), result);
    if (!result.bound) return result;
    check_drops(chain.callbacks, result.level, result);
    int lowest = result.level;
    for (const detail::Way& way : ways) lowest = std::min(lowest, way.level);
    check_drops(joins.relies_on, lowest, result);
    return result;
  }

 private:
  detail::Joins joins_of(std::span<const std::size_t> callbacks) {
    return detail::find_joins(workload_, callbacks, [&](std::size_t n) {
      ChainBound before;
      const auto first = callbacks.first(n);
      const auto joins = joins_of(first);
      return response(detail::ways_to_last(workload_, first, joins.joins), first.back(), before);
    });
  }

  /// From the release of the chain's timer to the end of the last of its callbacks.
  std::optional<Ticks> response(const std::vector<detail::Way>& ways, std::size_t last,
                                ChainBound& result) {
    std::optional<Ticks> worst;
    for (const detail::Way& way : ways) {
      const PathBound path = paths_.bound({way.timer, last, way.level});
      if (!path.response) {
        result.note = path.note;
        return std::nullopt;
      }
      const Ticks end = sum(*path.response, way.lag);
      if (worst && *worst >= end) continue;
      worst = end;
      result.why = path.why;
      result.waited = path.waited;
      if (way.lag > 0) {
        result.why.push_back({Contribution::Kind::kOtherInput, *way.sync, 1, way.lag});
        std::ranges::stable_sort(result.why, std::greater{}, &Contribution::total);
      } else {
        result.waited -= way.lag;
      }
    }
    return worst;
  }

  /// Policies that drop instances, and queues that may be too short, make the bound conditional.
  void check_drops(std::span<const std::size_t> callbacks, int level, ChainBound& result) {
    if (callbacks.empty()) return;
    const auto assume = [&](const std::string& what) {
      if (std::ranges::find(result.assumptions, what) == result.assumptions.end()) {
        result.assumptions.push_back(what);
      }
    };
    const auto busy = paths_.longest_busy(level);
    const auto waiting = paths_.most_waiting(level, busy.value_or(detail::kHorizon));
    for (const std::size_t callback : callbacks) {
      const model::Callback& value = workload_.application.callbacks[callback];
      const bool alone = waiting[callback] <= 1;
      if (value.overload != model::Overload::kQueue && !alone) {
        assume("no instance of '" + value.id + "' is dropped by its overload policy");
      }
      if (const auto depth = depth_of(value)) {
        for (const auto& publishers : workload_.graph.publishers[callback]) {
          Ticks messages = 0;
          for (const std::size_t from : publishers) messages = sum(messages, waiting[from]);
          if (messages <= *depth) continue;
          assume("the queue of '" + value.id + "' (depth " + std::to_string(*depth) +
                 ") does not overflow");
        }
      }
      const auto* timer = std::get_if<model::Timer>(&value.trigger);
      if (timer != nullptr && !alone && timer->overrun != model::OverrunPolicy::kCatchUp &&
          busy.value_or(detail::kHorizon) > timer->period.count()) {
        assume("no release of the timer '" + value.id + "' is skipped");
      }
    }
  }

  static std::optional<Ticks> depth_of(const model::Callback& callback) {
    if (const auto* subscription = std::get_if<model::Subscription>(&callback.trigger)) {
      return static_cast<Ticks>(subscription->depth);
    }
    const auto* sync = std::get_if<model::Sync>(&callback.trigger);
    return sync != nullptr ? std::optional(static_cast<Ticks>(sync->depth)) : std::nullopt;
  }

  const Workload& workload_;
  PathBounds paths_;
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
      "a publish reaches the callbacks of the executor at once",
      "timers keep their offsets where the file states offset_ms; other phases are unknown",
      "messages are stamped with their timer's release, a sync's with the later one of its two; "
      "what finds no partner in a sync's window has no response",
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

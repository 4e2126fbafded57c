// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_bounds.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>

#include "cores.hpp"
#include "drops.hpp"
#include "holistic.hpp"
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

  void check_drops(std::span<const std::size_t> callbacks, int level, ChainBound& result) {
    if (callbacks.empty()) return;
    const auto& waiting = most_waiting(level);
    for (const std::size_t callback : callbacks) {
      Ticks pending = waiting[callback];
      for (const auto& publishers : workload_.graph.publishers[callback]) {
        Ticks messages = 0;
        for (const std::size_t from : publishers) messages = sum(messages, waiting[from]);
        pending = std::max(pending, messages);
      }
      detail::assume_no_drops(workload_.application.callbacks[callback], pending, false,
                              result.assumptions);
    }
  }

  const std::vector<Ticks>& most_waiting(int level) {
    auto at = waiting_.find(level);
    if (at == waiting_.end()) {
      const Ticks busy = paths_.longest_busy(level).value_or(detail::kHorizon);
      at = waiting_.emplace(level, paths_.most_waiting(level, busy)).first;
    }
    return at->second;
  }

  const Workload& workload_;
  PathBounds paths_;
  std::map<int, std::vector<Ticks>> waiting_;  // by level
};

bool has_scheduler(ChainExecutor executor) {
  return executor == ChainExecutor::kProducerConsumer || executor == ChainExecutor::kThreadDispatch;
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
                                     const Overheads& stated, Effort effort) {
  Overheads overheads = stated;
  if (!has_scheduler(executor)) overheads.scheduler = 0;
  if (executor != ChainExecutor::kWaitSet) overheads.polling = 0;
  const Workload workload(application, overheads);
  const detail::Cores cores(application, workload.graph);
  std::map<std::size_t, std::vector<std::size_t>> timers;  // of each executor
  for (std::size_t k = 0; k < workload.timers.size(); ++k) {
    timers[cores.executor_of[workload.timers[k]]].push_back(k);
  }
  const bool one_by_one = executor == ChainExecutor::kWaitSet || executor == ChainExecutor::kEdf ||
                          overheads.near.max > 0;
  std::map<std::size_t, ExecutorBounds> executors;
  std::optional<detail::Holistic> holistic;
  std::vector<ChainBound> result;
  for (const model::Chain& chain : application.chains) {
    if (application.period(chain).count() <= 0) {
      throw std::invalid_argument("chain '" + chain.id + "' does not start at a timer");
    }
    ChainBound one;
    const std::size_t own = cores.executor_of.at(chain.callbacks.at(0));
    if (one_by_one || !cores.alone(own)) {
      if (!holistic) holistic.emplace(workload, cores, executor, overheads, effort);
      one = holistic->bound(chain);
    } else {
      auto at = executors.find(own);
      if (at == executors.end()) {
        at = executors.try_emplace(own, workload, timers[own], overheads, effort).first;
      }
      one = at->second.bound(chain);
    }
    const auto machine = cores.assumptions(application, own);
    one.assumptions.insert(one.assumptions.begin(), machine.begin(), machine.end());
    decide(chain, one);
    result.push_back(std::move(one));
  }
  return result;
}

std::vector<std::string> chain_assumptions(ChainExecutor executor, const Overheads& overheads) {
  std::vector<std::string> result{
      "the executor's threads run under SCHED_FIFO, and nothing more urgent uses their CPU",
      "no callback takes longer than its wcet_ms, and none sleeps or waits",
      overheads.near.max == 0
          ? "a publish reaches the callbacks of the executor at once"
          : "a message takes no longer than the hop latency stated, and none is lost",
      "timers keep their offsets where the file states offset_ms; other phases are unknown",
      "messages are stamped with their timer's release, a sync's with the later one of its two; "
      "what finds no partner in a sync's window has no response",
  };
  if (executor == ChainExecutor::kWaitSet) {
    result.emplace_back("the wait set has one thread (with several, no bound is offered)");
  } else if (executor == ChainExecutor::kEdf) {
    result.emplace_back(
        "deadlines are those of the callbacks, a timer's by default its period; a callback without "
        "one runs in the background; groups follow the stack resource policy");
  } else {
    result.emplace_back(
        "callbacks of one priority delay each other; a group has an immediate ceiling");
  }
  if (overheads.far.max == 0) {
    result.emplace_back("a message between executors arrives at once (give its hop latency)");
  }
  if (overheads.dispatch == 0 && overheads.timer_jitter == 0) {
    result.emplace_back("dispatching takes no time (give the machine's overheads to include it)");
  } else if (has_scheduler(executor) && overheads.scheduler == 0) {
    result.emplace_back("the scheduler thread's work is part of the dispatch overhead");
  }
  return result;
}

}  // namespace rclrt::analysis

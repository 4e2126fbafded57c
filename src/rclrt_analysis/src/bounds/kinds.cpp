// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bounds/kind.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "throttling.hpp"

namespace rclrt::analysis {
namespace detail {

const KindBounds& bounds_of(const model::ExecutorChoice& executor) {
  if (executor.kind == ExecutorKind::kWaitSet && executor.threads > 1) {
    return kinds::kWaitSetThreads;
  }
  if (executor.timers_thread) {
    return kinds::kEventsTimersThread;
  }
  static constexpr std::array kKinds = {
      std::pair{ExecutorKind::kWaitSet, &kinds::kWaitSet},
      std::pair{ExecutorKind::kProducerConsumer, &kinds::kProducerConsumer},
      std::pair{ExecutorKind::kThreadDispatch, &kinds::kThreadDispatch},
      std::pair{ExecutorKind::kPreemptive, &kinds::kPreemptive},
      std::pair{ExecutorKind::kEdf, &kinds::kEdf},
      std::pair{ExecutorKind::kEvents, &kinds::kEvents},
      std::pair{ExecutorKind::kPicas, &kinds::kPicas},
      std::pair{ExecutorKind::kPerGroup, &kinds::kPerGroup},
      std::pair{ExecutorKind::kStaticOrder, &kinds::kStaticOrder},
      std::pair{ExecutorKind::kWorkshop, &kinds::kWorkshop},
  };
  const auto* const found =
      std::ranges::find(kKinds, executor.kind, &std::pair<ExecutorKind, const KindBounds*>::first);
  if (found == kKinds.end()) {
    throw std::invalid_argument("no bounds are offered for chains under the executor " +
                                std::string(traits(executor).name));
  }
  return *found->second;
}

}  // namespace detail

std::vector<Assumption> chain_assumptions(const model::ExecutorChoice& executor,
                                          const Overheads& overheads) {
  const detail::KindBounds& kind = detail::bounds_of(executor);
  std::vector<Assumption> result{
      {"sched-fifo",
       "the executor's threads run under SCHED_FIFO, and nothing more urgent uses their CPU"},
      {"wcet",
       "no callback takes longer than its wcet_ms, or sleeps or waits longer than its waits_ms"},
      {"executor",
       std::string(kind.assumption.empty() ? traits(executor).assumption : kind.assumption)},
      {"messages", overheads.near.max == 0
                       ? "a publish reaches the callbacks of the executor at once"
                       : "a message takes no longer than the hop latency stated, and none is lost"},
      {"offsets",
       "timers keep their offsets where the file states offset_ms; other phases are unknown"},
      {"events",
       "events keep their shortest interval or their period and jitter, for reactions and "
       "synchronisers also their longest interval"},
      {"stamps",
       "messages are stamped with their timer's release, a sync's with the latest of its set"},
      {"unmatched",
       "a message that is not matched within the synchroniser's window produces no response"},
  };
  if (overheads.far.max == 0) {
    result.push_back({"hop", "a message between executors takes no time"});
  }
  if (overheads.dispatch == 0) {
    result.push_back({"dispatch", detail::kNoDispatchTime});
  } else if (traits(executor).has_scheduler_thread && overheads.scheduler == 0) {
    result.push_back({"scheduler", "the scheduler thread's work is part of the dispatch overhead"});
  }
  if (overheads.cpus > 0) {
    result.push_back({"cpus", "executors that state no CPUs may use all " +
                                  std::to_string(overheads.cpus) + " of the machine"});
  }
  if (kind.pool != detail::Pool::kNone) {
    result.push_back({"global",
                      "on several CPUs a ready thread waits only while all CPUs of its executor "
                      "run threads at least as urgent"});
    if (overheads.handover == 0) {
      result.push_back({"handover", detail::kNoHandoverTime});
    }
  }
  return result;
}

}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/judge.hpp"

#include <algorithm>
#include <rclrt/model/no_deadline.hpp>
#include <utility>

#include "bounds/cores.hpp"
#include "bounds/form_bounds.hpp"
#include "network/network_bounds.hpp"
#include "rclrt/model/link_messages.hpp"
#include "throttling.hpp"

namespace rclrt::analysis {

namespace {

/// Returns whether several executors, or several callbacks of one, may run at once.
bool may_run_at_once(const model::Application& application, const model::ExecutorChoice& executor) {
  return application.executors.size() > 1 ||
         !(traits(executor).one_at_a_time && executor.max_threads() == 1);
}

/// Marks the assumptions about what the application does not have, and moves them to the end.
void order_by_relevance(const model::Application& application,
                        const model::ExecutorChoice& executor,
                        std::vector<Assumption>& assumptions) {
  const auto has = [&](model::CallbackKind kind) {
    return std::ranges::any_of(application.callbacks, [&](const model::Callback& callback) {
      return callback.kind() == kind;
    });
  };
  const bool has_offsets =
      std::ranges::any_of(application.callbacks, [](const model::Callback& callback) {
        const auto* timer = std::get_if<model::Timer>(&callback.trigger);
        return timer != nullptr && timer->offset_stated;
      });
  const bool has_samples = std::ranges::any_of(
      application.callbacks,
      [](const model::Callback& callback) { return !callback.samples.empty(); });
  const bool has_syncs = has(model::CallbackKind::kSync);
  const bool at_once = may_run_at_once(application, executor);
  for (Assumption& each : assumptions) {
    if (each.id == "messages") {
      each.relevant = has_syncs || has(model::CallbackKind::kSubscription) || has_samples;
    } else if (each.id == "offsets") {
      each.relevant = has_offsets;
    } else if (each.id == "events") {
      each.relevant = has(model::CallbackKind::kEvent);
    } else if (each.id == "stamps" || each.id == "unmatched") {
      each.relevant = has_syncs;
    } else if (each.id == "hop" || each.id == "least-hop") {
      each.relevant = application.executors.size() > 1;
    } else if (each.id == "global" || each.id == "handover") {
      each.relevant = at_once && std::ranges::any_of(application.executors, [](const auto& one) {
                        return one.cpus.size() != 1 || !one.scheduler_cpus.empty();
                      });
    } else if (each.id == "cpus") {
      each.relevant = at_once && std::ranges::any_of(application.executors, [](const auto& one) {
                        return one.cpus.empty();
                      });
    }
  }
  std::ranges::stable_partition(assumptions, &Assumption::relevant);
}

/// Returns the chains without a bound, for this reason. Executors that state no CPU are simulated
/// on one, unless the number of CPUs of the machine is known. That is a condition of what the
/// simulation shows.
std::vector<ChainBound> without_bounds(const model::Application& application,
                                       const std::string& reason, const Overheads& overheads) {
  std::vector<std::string> conditions;
  for (const model::Executor& executor : application.executors) {
    if (executor.cpus.empty() && overheads.cpus == 0) {
      conditions.push_back(detail::on_one_cpu(executor));
    }
  }
  std::vector<ChainBound> chains(application.chains.size());
  for (ChainBound& chain : chains) {
    chain.note = reason;
    chain.assumptions = conditions;
  }
  return chains;
}

/// Returns whether all deadlines and limits hold, and no link has an unbounded backlog. A segment
/// of a cause-effect chain that states no deadline has only the limits of the whole to keep.
bool is_feasible(const model::Application& application, const Judgement& judgement) {
  for (std::size_t i = 0; i < judgement.chains.size(); ++i) {
    if (!holds(judgement.chains[i].verdict) && model::has_deadline(application, i)) {
      return false;
    }
  }
  return std::ranges::all_of(
             judgement.links,
             [](const LinkBound& each) { return each.delay && each.backlog_bytes; }) &&
         std::ranges::all_of(judgement.cause_effect_chains, holds, &CauseEffectBound::verdict);
}

enum class Queues { kLeftOut, kBounded };

Judgement judge(const model::Application& application, const model::ExecutorChoice& executor,
                const Machine& machine, Effort effort, Queues queues) {
  const auto with_cause_effect_chains = [&](Judgement result) {
    result.cause_effect_chains =
        cause_effect_bounds(application, executor, machine.overheads, result.chains, result.links);
    return result;
  };
  if (const auto reason = why_no_bounds(executor)) {
    return with_cause_effect_chains(
        {.chains = without_bounds(application, *reason, machine.overheads), .assumptions = {}});
  }
  Judgement result{.chains = {}, .assumptions = chain_assumptions(executor, machine.overheads)};
  if (application.hosts.empty()) {
    detail::PlacedBounds bounds(application, executor, machine.overheads, effort);
    result.chains = bounds.chains();
    result.queues = queues == Queues::kBounded ? bounds.queues() : std::vector<QueueBound>{};
  } else {
    detail::NetworkBounds network(application, executor, machine.overheads, effort);
    result.chains = network.chains();
    result.links = network.links();
    result.queues = queues == Queues::kBounded ? network.queues() : std::vector<QueueBound>{};
    const std::vector<Assumption> more = link_assumptions(application);
    result.assumptions.insert(result.assumptions.end(), more.begin(), more.end());
  }
  result.assumptions.insert(result.assumptions.end(), machine.assumptions.begin(),
                            machine.assumptions.end());
  if (machine.is_limited()) {
    result.assumptions.push_back(detail::realtime_assumption(machine));
  }
  std::vector<std::string> conditions = machine.conditions;
  if (auto throttling = throttling_condition(model::with_distinct_cpus(application), machine)) {
    conditions.push_back(*std::move(throttling));
  }
  std::erase_if(result.assumptions, [&](const Assumption& each) {  // each is stated once
    return std::ranges::find(conditions, each.text) != conditions.end();
  });
  order_by_relevance(application, executor, result.assumptions);
  for (ChainBound& chain : result.chains) {
    chain.assumptions.insert(chain.assumptions.end(), conditions.begin(), conditions.end());
    if (chain.verdict == Verdict::kProved && !conditions.empty()) {
      chain.verdict = Verdict::kConditional;
    }
  }
  result = with_cause_effect_chains(std::move(result));
  result.feasible = is_feasible(application, result);
  return result;
}

}  // namespace

Machine Machine::unmeasured() { return {.conditions = {detail::kNoDispatchTime}}; }

Judgement judge(const model::Application& application, const model::ExecutorChoice& executor,
                const Machine& machine, Effort effort) {
  return judge(application, executor, machine, effort, Queues::kLeftOut);
}

Judgement judge_with_queues(const model::Application& application,
                            const model::ExecutorChoice& executor, const Machine& machine,
                            Effort effort) {
  return judge(application, executor, machine, effort, Queues::kBounded);
}

}  // namespace rclrt::analysis

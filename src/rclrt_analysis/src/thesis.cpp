// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/thesis.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "callback_graph.hpp"
#include "demand.hpp"
#include "input_callbacks.hpp"
#include "rclrt/analysis/fixed_priority.hpp"
#include "rclrt/analysis/synthesis.hpp"

namespace rclrt::analysis {
namespace {

using detail::CallbackGraph;
using detail::InputCallbacks;
using detail::sum;
using model::Application;
using model::CallbackKind;

/// Finds the callbacks that must run before a chain can end: those on the chain's own path, and
/// those that lead to the other inputs of its syncs.
class Walk {
 public:
  Walk(const Application& application, const CallbackGraph& graph)
      : application_(application), graph_(graph), seen_(application.callbacks.size()) {
    // The least execution time of a path to each callback. Among several publishers of one topic,
    // the walk takes the one with the least.
    least_.resize(application.callbacks.size());
    for (const std::size_t callback : graph.order) {
      Ticks work = application.callbacks[callback].wcet.count();
      for (const auto& input : graph.publishers[callback]) {
        if (!input.empty()) {
          work = sum(work, least_[cheapest(input)]);
        }
      }
      least_[callback] = work;
    }
  }

  /// Returns all callbacks that the chain needs, each once.
  std::vector<std::size_t> needed_by(const model::Chain& chain) {
    std::vector<std::size_t> needed;
    seen_.assign(seen_.size(), false);
    for (const std::size_t callback : chain.callbacks) {
      add(callback, needed);
    }
    for (const std::size_t callback : chain.callbacks) {
      if (application_.callbacks[callback].kind() == CallbackKind::kSync) {
        add_inputs(callback, needed);
      }
    }
    return needed;
  }

 private:
  bool add(std::size_t callback, std::vector<std::size_t>& needed) {
    if (seen_[callback]) {
      return false;
    }
    seen_[callback] = true;
    needed.push_back(callback);
    return true;
  }

  void add_inputs(std::size_t start, std::vector<std::size_t>& needed) {
    std::vector<std::size_t> open{start};
    while (!open.empty()) {
      const std::size_t callback = open.back();
      open.pop_back();
      for (const auto& input : graph_.publishers[callback]) {
        // If one publisher of an input is counted already, its message is there.
        if (input.empty() || std::ranges::any_of(input, [&](auto from) { return seen_[from]; })) {
          continue;
        }
        const std::size_t from = cheapest(input);
        if (add(from, needed)) {
          open.push_back(from);
        }
      }
    }
  }

  std::size_t cheapest(const std::vector<std::size_t>& callbacks) const {
    return *std::ranges::min_element(callbacks, {}, [&](std::size_t i) { return least_[i]; });
  }

  const Application& application_;
  const CallbackGraph& graph_;
  std::vector<bool> seen_;
  std::vector<Ticks> least_;
};

/// Returns the reason why the harmonic test does not apply; empty when it does.
std::string why_not_harmonic(const Application& application, const CallbackGraph& graph) {
  const auto& chains = application.chains;
  for (const model::Callback& callback : application.callbacks) {
    if (callback.waits.count() > 0) {
      return "callback '" + callback.id + "' waits (waits_ms)";
    }
  }
  for (const model::Chain& chain : chains) {
    if (chain.deadline != application.period(chain)) {
      return "the deadline of chain '" + chain.id + "' is not its period";
    }
  }
  for (std::size_t i = 0; i < chains.size(); ++i) {
    for (std::size_t k = i + 1; k < chains.size(); ++k) {
      if (chains[i].priority == chains[k].priority) {
        return "chains '" + chains[i].id + "' and '" + chains[k].id + "' have one priority";
      }
    }
  }
  Walk walk(application, graph);
  for (const model::Chain& chain : chains) {
    for (const std::size_t callback : walk.needed_by(chain)) {
      const auto* timer = std::get_if<model::Timer>(&application.callbacks[callback].trigger);
      if (application.callbacks[callback].kind() == model::CallbackKind::kEvent) {
        return "chain '" + chain.id + "' needs the event '" + application.callbacks[callback].id +
               "', which is no timer";
      }
      if (timer != nullptr && timer->period != application.period(chain)) {
        return "chain '" + chain.id + "' waits for the timer '" +
               application.callbacks[callback].id + "' of another period";
      }
    }
  }
  return {};
}

}  // namespace

ThesisResult thesis_feasibility(const Application& whole) {
  const InputCallbacks parts(whole);
  const Application& application = parts.application();
  const CallbackGraph graph(application);
  Walk walk(application, graph);
  ThesisResult result;
  result.holds = true;
  for (const model::Chain& chain : application.chains) {
    ThesisChain one;
    for (const std::size_t callback : walk.needed_by(chain)) {
      one.workload = sum(one.workload, application.callbacks[callback].wcet.count());
    }
    one.deadline = chain.deadline.count();
    one.holds = one.workload <= one.deadline;
    result.holds = result.holds && one.holds;
    result.chains.push_back(one);
  }
  result.assumptions = {
      {"together", "one core, and synchronised chains are released together"},
      {"necessary", "necessary only: other chains and blocking do not count"},
  };
  return result;
}

ThesisResult thesis_harmonic(const Application& whole) {
  const InputCallbacks parts(whole);
  const Application& application = parts.application();
  const CallbackGraph graph(application);
  ThesisResult result;
  result.assumptions = {
      {"one-core",
       "one core, fixed-priority preemptive, no overheads, callback priorities as synthesised"},
      {"in-phase",
       "all chains that a sync joins are released together: with offsets the bound is exceeded"},
      {"once-per-period",
       "each callback runs once per period of its level: callbacks that chains share without a "
       "sync run more often, and the bound is exceeded"},
      {"no-gap", "the next callback of a chain is ready at the moment of the publish"},
  };
  result.why_not = why_not_harmonic(application, graph);
  result.applies = result.why_not.empty();
  const auto priorities = synthesize_priorities(application);
  std::vector<Task> tasks;
  for (const model::Chain& chain : application.chains) {
    Task task;
    task.id = chain.id;
    task.period = std::max<Ticks>(1, application.period(chain).count());
    task.deadline = chain.deadline.count();
    task.priority = chain.priority;
    for (std::size_t i = 0; i < priorities.size(); ++i) {
      if (priorities[i].priority != chain.priority) {
        continue;
      }
      task.wcet = std::min(kMaxTicks, task.wcet + application.callbacks[i].wcet.count());
    }
    tasks.push_back(std::move(task));
  }
  const TaskSetResult responses = fixed_priority_preemptive(tasks);
  result.holds = result.applies;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ThesisChain one;
    one.workload = tasks[i].wcet;
    one.deadline = tasks[i].deadline;
    one.response = responses.tasks[i].response;
    one.holds = responses.tasks[i].schedulable == Answer::kYes;
    result.holds = result.holds && one.holds;
    result.chains.push_back(one);
  }
  return result;
}

ThesisJudgement judge_by_thesis(const Application& application) {
  if (!application.hosts.empty()) {
    throw std::invalid_argument("the thesis's tests are for applications on one host");
  }
  ThesisJudgement result{.feasibility = thesis_feasibility(application),
                         .harmonic = thesis_harmonic(application),
                         .verdicts = {}};
  for (std::size_t i = 0; i < application.chains.size(); ++i) {
    const bool holds = result.feasibility.chains[i].holds && result.harmonic.applies &&
                       result.harmonic.chains[i].holds;
    result.verdicts.push_back(holds ? Verdict::kConditional : Verdict::kUnknown);
  }
  result.feasible = result.feasibility.holds && result.harmonic.holds;
  return result;
}

}  // namespace rclrt::analysis

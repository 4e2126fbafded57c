// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/synthesis.hpp"

#include <algorithm>
#include <chrono>

#include "callback_graph.hpp"
#include "input_callbacks.hpp"
#include "picas.hpp"

namespace rclrt::analysis {
namespace {

using model::Application;
using model::CallbackKind;
using std::chrono::nanoseconds;

/// Returns a priority for each time, from 1 up: the longest time gets the lowest priority, and
/// equal times get equal priorities.
std::vector<int> rank(const std::vector<nanoseconds>& times) {
  std::vector<nanoseconds> sorted = times;
  std::ranges::sort(sorted, std::greater{});
  const auto [first, last] = std::ranges::unique(sorted);
  sorted.erase(first, last);
  std::vector<int> result;
  result.reserve(times.size());
  for (const nanoseconds time : times) {
    const auto at = std::ranges::lower_bound(sorted, time, std::greater{});
    result.push_back(static_cast<int>(at - sorted.begin()) + 1);
  }
  return result;
}

}  // namespace

std::vector<int> chain_priorities(const Application& application, ChainPriorities source) {
  std::vector<int> given;
  std::vector<nanoseconds> times;
  for (const model::Chain& chain : application.chains) {
    given.push_back(chain.priority);
    times.push_back(source == ChainPriorities::kRateMonotonic ? application.period(chain)
                                                              : chain.deadline);
  }
  const bool stated = source == ChainPriorities::kGiven || source == ChainPriorities::kPicas;
  return stated ? given : rank(times);
}

namespace {

/// Synthesizes the priorities of an application in which each callback has one topic or is a sync.
std::vector<SynthesizedPriority> synthesize(const Application& application,
                                            ChainPriorities source) {
  const detail::CallbackGraph graph(application);
  std::vector<SynthesizedPriority> result(application.callbacks.size());
  const auto priorities = chain_priorities(application, source);
  for (std::size_t i = 0; i < application.chains.size(); ++i) {
    for (const std::size_t callback : application.chains[i].callbacks) {
      SynthesizedPriority& value = result.at(callback);
      if (value.chain && priorities[i] <= value.priority) {
        continue;
      }
      value.priority = priorities[i];
      value.chain = i;
    }
  }
  if (source == ChainPriorities::kGiven) {
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto& own = application.callbacks[i].priority;
      // A stated priority replaces that of the chains; it may be lower.
      if (own) {
        result[i] = {.priority = *own, .chain = {}, .sync = {}, .stated = true};
      }
    }
  }
  // Against the edges: when a callback is reached, all syncs behind it have their priority.
  std::vector<std::optional<std::size_t>> waiting(result.size());  // the most urgent sync behind
  for (auto at = graph.order.rbegin(); at != graph.order.rend(); ++at) {
    const std::size_t callback = *at;
    for (const std::size_t to : graph.successors[callback]) {
      const bool is_sync = application.callbacks[to].kind() == CallbackKind::kSync;
      const auto sync = is_sync ? std::optional(to) : waiting[to];
      if (!sync) {
        continue;
      }
      auto& most = waiting[callback];
      if (!most || result[*sync].priority > result[*most].priority) {
        most = sync;
      }
    }
    const auto& sync = waiting[callback];
    if (sync && result[*sync].priority > result[callback].priority) {
      result[callback] = {
          .priority = result[*sync].priority, .chain = {}, .sync = sync, .stated = false};
    }
  }
  return result;
}

}  // namespace

std::vector<SynthesizedPriority> synthesize_priorities(const Application& application,
                                                       ChainPriorities source) {
  if (source == ChainPriorities::kPicas) {
    return detail::picas_priorities(application, detail::CallbackGraph(application));
  }
  using detail::InputCallbacks;
  const InputCallbacks parts(application, InputCallbacks::Priority::kStated);
  std::vector<SynthesizedPriority> result;
  std::size_t seen = 0;
  for (SynthesizedPriority& part : synthesize(parts.application(), source)) {
    if (part.sync) {
      part.sync = parts.whole(*part.sync);
    }
    const std::size_t whole = parts.whole(seen++);
    if (whole == result.size()) {
      result.push_back(part);
    } else if (part.priority > result.back().priority ||
               (part.chain && !result.back().chain && part.priority == result.back().priority)) {
      result.back() = part;
    }
  }
  return result;
}

std::string reason(const Application& application, const SynthesizedPriority& value) {
  if (value.sync) {
    return "sync " + application.callbacks.at(*value.sync).id + " waits for it";
  }
  if (value.chain) {
    return "chain " + application.chains.at(*value.chain).id;
  }
  return value.stated ? "stated" : "on no chain";
}

}  // namespace rclrt::analysis

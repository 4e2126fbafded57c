// SPDX-License-Identifier: Apache-2.0
#include "bounds/placements.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "bounds/cores.hpp"

namespace rclrt::analysis::detail {

namespace {

/// Returns the CPUs that executors and their scheduler threads state.
std::set<int> stated_cpus(const model::Application& application) {
  std::set<int> result;
  for (const model::Executor& executor : application.executors) {
    result.insert(executor.cpus.begin(), executor.cpus.end());
    result.insert(executor.scheduler_cpus.begin(), executor.scheduler_cpus.end());
  }
  return result;
}

int lowest_other(const std::set<int>& cpus) {
  int result = 0;
  while (cpus.contains(result)) {
    ++result;
  }
  return result;
}

/// Adds CPUs up to this number of them.
std::set<int> extended(std::set<int> cpus, std::size_t count) {
  while (cpus.size() < count) {
    cpus.insert(lowest_other(cpus));
  }
  return cpus;
}

Placement placed(const model::Application& application, const std::set<int>& cpus, bool has_more) {
  Placement result{application, has_more};
  for (model::Executor& executor : result.application.executors) {
    if (executor.cpus.empty()) {
      executor.cpus.assign(cpus.begin(), cpus.end());
    }
  }
  return result;
}

void add_missing(std::vector<std::string>& conditions, const std::vector<std::string>& more) {
  for (const std::string& each : more) {
    if (std::ranges::find(conditions, each) == conditions.end()) {
      conditions.push_back(each);
    }
  }
}

}  // namespace

std::optional<Ticks> larger(const std::optional<Ticks>& one, const std::optional<Ticks>& other) {
  return one && other ? std::optional(std::max(*one, *other)) : std::nullopt;
}

std::vector<Placement> placements(const model::Application& application,
                                  const model::ExecutorChoice& executor,
                                  const Overheads& overheads) {
  const model::ExecutorTraits& kind = traits(executor);
  const bool one_at_a_time = kind.one_at_a_time && executor.max_threads() == 1;
  const bool all_state = std::ranges::none_of(application.executors,
                                              [](const auto& each) { return each.cpus.empty(); });
  if (all_state || (application.executors.size() == 1 && (one_at_a_time || kind.by_deadline))) {
    return {};
  }
  const std::set<int> stated = stated_cpus(application);
  const auto count = static_cast<std::size_t>(std::max(overheads.cpus, 0));
  std::vector<Placement> result;
  if (kind.by_deadline) {
    for (const int cpu : stated) {
      result.push_back(placed(application, {cpu}, false));
    }
    if (count == 0 || stated.size() < count) {
      result.push_back(placed(application, {lowest_other(stated)}, false));
    }
    return result;
  }
  if (count > 0) {
    return {placed(application, extended(stated, count), false)};
  }
  const std::size_t fewest = std::max<std::size_t>(stated.size(), 1);
  result.push_back(placed(application, extended(stated, fewest), false));
  result.push_back(placed(application, extended(stated, fewest + 1), true));
  return result;
}

void assume_more_cpus(const Placement& placement, const Overheads& overheads, ChainBound& bound) {
  if (placement.has_more && (overheads.background > 0 || overheads.stall > 0)) {
    add_missing(bound.assumptions, {kLostOnFewCpus});
    if (bound.verdict == Verdict::kProved) {
      bound.verdict = Verdict::kConditional;
    }
  }
}

ChainBound largest_of(const model::Chain& chain, std::vector<ChainBound> by_placement) {
  const auto without = std::ranges::find_if(
      by_placement, [](const ChainBound& each) { return !each.bound.has_value(); });
  if (without != by_placement.end()) {
    return std::move(*without);
  }
  const auto largest = std::ranges::max_element(by_placement, {},
                                                [](const ChainBound& each) { return *each.bound; });
  ChainBound result = *largest;
  for (const ChainBound& each : by_placement) {
    add_missing(result.assumptions, each.assumptions);
    add_missing(result.without_loss, each.without_loss);
    result.reaction = larger(result.reaction, each.reaction);
    result.data_age = larger(result.data_age, each.data_age);
  }
  if (*result.bound <= chain.deadline.count()) {
    result.verdict = result.assumptions.empty() ? Verdict::kProved : Verdict::kConditional;
  }
  return result;
}

}  // namespace rclrt::analysis::detail

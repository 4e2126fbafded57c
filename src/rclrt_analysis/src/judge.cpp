// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/judge.hpp"

#include <algorithm>

#include "throttling.hpp"

namespace rclrt::analysis {

Machine Machine::unmeasured() { return {.conditions = {detail::kNoDispatchTime}}; }

Judgement judge(const model::Application& application, ExecutorKind executor,
                const Machine& machine, Effort effort) {
  Judgement result{.chains = chain_bounds(application, executor, machine.overheads, effort),
                   .assumptions = chain_assumptions(executor, machine.overheads)};
  result.assumptions.insert(result.assumptions.end(), machine.assumptions.begin(),
                            machine.assumptions.end());
  if (machine.is_limited()) {
    result.assumptions.push_back(detail::realtime_assumption(machine));
  }
  std::vector<std::string> conditions = machine.conditions;
  if (auto throttling = throttling_condition(application, machine)) {
    conditions.push_back(*std::move(throttling));
  }
  std::erase_if(result.assumptions, [&](const std::string& each) {  // each is stated once
    return std::ranges::find(conditions, each) != conditions.end();
  });
  for (ChainBound& chain : result.chains) {
    chain.assumptions.insert(chain.assumptions.end(), conditions.begin(), conditions.end());
    if (chain.verdict == Verdict::kProved && !conditions.empty()) {
      chain.verdict = Verdict::kConditional;
    }
  }
  result.feasible = std::ranges::all_of(result.chains, [](const ChainBound& chain) {
    return chain.verdict == Verdict::kProved || chain.verdict == Verdict::kConditional;
  });
  return result;
}

}  // namespace rclrt::analysis

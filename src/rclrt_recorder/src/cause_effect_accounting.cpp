// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/cause_effect_accounting.hpp"

#include <chrono>
#include <utility>

#include "cause_effect_runs.hpp"

namespace rclrt::recorder {

namespace {

using std::chrono::nanoseconds;

CauseEffectResult result_of(const model::CauseEffectChain& chain, model::CauseEffectDetails details,
                            nanoseconds end) {
  CauseEffectResult result{.found = std::move(details.found)};
  const model::CauseEffectOutputs& found = result.found;
  result.outputs = found.outputs.size();
  result.longest = std::move(details.longest);
  result.reads = std::move(details.reads);
  std::vector<std::int64_t> ages;
  std::vector<std::int64_t> reactions;
  for (const model::CauseEffectOutput& output : found.outputs) {
    ages.push_back(output.age().count());
    result.missed_age += chain.max_age && output.age() > *chain.max_age ? 1U : 0U;
    if (output.reaction) {
      reactions.push_back(output.reaction->count());
      result.missed_reaction +=
          chain.max_reaction && *output.reaction > *chain.max_reaction ? 1U : 0U;
    }
  }
  const bool waits_too_long =
      chain.max_reaction && found.open_since && end - *found.open_since > *chain.max_reaction;
  result.missed_reaction += waits_too_long ? 1U : 0U;
  result.age = summarise(std::move(ages));
  result.reaction = summarise(std::move(reactions));
  return result;
}

}  // namespace

std::vector<CauseEffectResult> account_cause_effect_chains(
    const model::Application& application, const RunWindow& window,
    std::span<const std::vector<ChainRelease>> releases, std::span<const InstanceRecord> records) {
  if (application.cause_effect_chains.empty()) {
    return {};
  }
  model::CauseEffectTimes times(application);
  for (std::size_t chain = 0; chain < releases.size(); ++chain) {
    for (const ChainRelease& release : releases[chain]) {
      times.release(chain, release.instance, nanoseconds(release.release_ns));
    }
  }
  for (const InstanceRecord& record : records) {
    add_runs(times, record);
  }
  std::vector<CauseEffectResult> results;
  for (std::size_t i = 0; i < application.cause_effect_chains.size(); ++i) {
    results.push_back(result_of(application.cause_effect_chains[i], times.details(i),
                                nanoseconds(window.end_ns)));
  }
  return results;
}

}  // namespace rclrt::recorder

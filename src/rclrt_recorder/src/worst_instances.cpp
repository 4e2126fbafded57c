// SPDX-License-Identifier: Apache-2.0
#include "worst_instances.hpp"

#include <algorithm>
#include <functional>

namespace rclrt::recorder {

namespace {

constexpr std::int64_t kNotBad = -1;

std::int64_t badness(const ChainInstance& one) {
  return one.response_ns().value_or(one.missed ? INT64_MAX : kNotBad);
}

std::int64_t badness_of(const WorstInstance& one) { return badness(one.instance); }

}  // namespace

/// Returns those of the settled instances that belong to the worst, ascending by instance.
std::vector<ChainInstance> WorstInstances::candidates(
    std::size_t chain, std::span<const ChainInstance> settled) const {
  const std::vector<WorstInstance>& kept = worst_[chain];
  const std::int64_t above =
      kept.size() < StreamLimits::kWorst ? kNotBad : badness_of(kept.back());
  std::vector<ChainInstance> result;
  std::ranges::copy_if(settled, std::back_inserter(result),
                       [&](const ChainInstance& one) { return badness(one) > above; });
  std::ranges::stable_sort(result, std::greater{}, badness);
  result.resize(std::min(result.size(), StreamLimits::kWorst));
  std::ranges::sort(result, {}, &ChainInstance::instance);
  return result;
}

void WorstInstances::take(const std::vector<std::vector<ChainInstance>>& settled,
                          std::span<const LoggedInstance> records,
                          const MissExplainer& explainer) {
  std::vector<ChainResult> chosen(worst_.size());
  bool any_missed = false;
  for (std::size_t chain = 0; chain < worst_.size(); ++chain) {
    chosen[chain].instances = candidates(chain, settled[chain]);
    any_missed = any_missed ||
                 std::ranges::any_of(chosen[chain].instances, &ChainInstance::missed);
  }
  std::vector<ChainMiss> misses;
  if (any_missed) {
    std::vector<InstanceRecord> plain;
    plain.reserve(records.size());
    for (const LoggedInstance& each : records) {
      plain.push_back(each.record);
    }
    misses = explainer.explain(chosen, plain);
  }
  for (std::size_t chain = 0; chain < worst_.size(); ++chain) {
    for (const ChainInstance& instance : chosen[chain].instances) {
      const auto miss = std::ranges::find_if(misses, [&](const ChainMiss& one) {
        return one.chain == chain && one.instance.instance == instance.instance;
      });
      worst_[chain].push_back(
          with_records(instance, records, miss != misses.end() ? &*miss : nullptr));
    }
    std::ranges::stable_sort(worst_[chain], std::greater{}, badness_of);
    if (worst_[chain].size() > StreamLimits::kWorst) {
      worst_[chain].erase(worst_[chain].begin() + StreamLimits::kWorst, worst_[chain].end());
    }
  }
}

/// Returns the instance with the records of the time from its release to its end. If there are too
/// many, those that ended last are kept, and those that its explanation names.
WorstInstance WorstInstances::with_records(const ChainInstance& instance,
                                           std::span<const LoggedInstance> records,
                                           const ChainMiss* miss) const {
  std::vector<std::size_t> chosen;
  const std::int64_t until_ns = instance.completion_ns.value_or(INT64_MAX);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const InstanceRecord& record = records[i].record;
    if (record.end_ns > instance.release_ns && record.start_ns <= until_ns) {
      chosen.push_back(i);
    }
  }
  if (chosen.size() > around_) {
    const auto excess = static_cast<std::ptrdiff_t>(chosen.size() - around_);
    // An instance that never ended has no end to be near to.
    const bool ended = instance.completion_ns.has_value();
    chosen.erase(ended ? chosen.begin() : chosen.end() - excess,
                 ended ? chosen.begin() + excess : chosen.end());
  }
  WorstInstance result{.instance = instance, .around = {}, .miss = std::nullopt};
  if (miss != nullptr) {
    for (const ChainCulprit& culprit : miss->culprits) {
      if (std::ranges::find(chosen, culprit.record) == chosen.end()) {
        chosen.push_back(culprit.record);
      }
    }
    result.miss = *miss;
    for (ChainCulprit& culprit : result.miss->culprits) {
      culprit.record = static_cast<std::uint64_t>(std::ranges::find(chosen, culprit.record) -
                                                  chosen.begin());
    }
  }
  for (const std::size_t each : chosen) {
    result.around.push_back(records[each]);
  }
  return result;
}

std::size_t WorstInstances::records() const {
  std::size_t result = 0;
  for (const auto& chain : worst_) {
    for (const WorstInstance& one : chain) {
      result += one.around.size();
    }
  }
  return result;
}

}  // namespace rclrt::recorder

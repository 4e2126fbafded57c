// SPDX-License-Identifier: Apache-2.0
#include "worst_instances.hpp"

#include <algorithm>
#include <functional>

namespace rclrt::recorder {

namespace {

/// Returns the response time, or for an instance that never ended although it should have the
/// largest number. Instances with a negative result are not among the worst.
std::int64_t badness(const ChainInstance& one) {
  return one.response_ns().value_or(one.missed ? INT64_MAX : -1);
}

/// Sorts the worst to the front and removes what is not among the worst of its kind.
template <typename Instances, typename InstanceOf>
void keep_worst(Instances& instances, InstanceOf instance_of) {
  std::ranges::stable_sort(instances, std::greater{},
                           [&](const auto& one) { return badness(instance_of(one)); });
  std::size_t ended = 0;
  std::size_t never_ended = 0;
  std::erase_if(instances, [&](const auto& one) {
    const bool has_ended = instance_of(one).completion_ns.has_value();
    return badness(instance_of(one)) < 0 ||
           ++(has_ended ? ended : never_ended) > StreamLimits::kWorst;
  });
}

constexpr auto kOfWorst = [](const WorstInstance& one) -> const ChainInstance& {
  return one.instance;
};

}  // namespace

/// Returns those of the settled instances that may belong to the worst, ascending by instance.
std::vector<ChainInstance> WorstInstances::candidates(
    std::size_t chain, std::span<const ChainInstance> settled) const {
  std::int64_t ended_above = -1;
  std::size_t never_ended = 0;
  std::size_t ended = 0;
  for (const WorstInstance& one : worst_[chain]) {
    const auto response_ns = one.instance.response_ns();
    ++(response_ns ? ended : never_ended);
    ended_above = ended == StreamLimits::kWorst ? *response_ns : -1;  // the last one
  }
  std::vector<ChainInstance> result;
  std::ranges::copy_if(settled, std::back_inserter(result), [&](const ChainInstance& one) {
    return one.completion_ns ? badness(one) > ended_above
                             : one.missed && never_ended < StreamLimits::kWorst;
  });
  keep_worst(result, std::identity{});
  std::ranges::sort(result, {}, &ChainInstance::instance);
  return result;
}

void WorstInstances::take(const std::vector<std::vector<ChainInstance>>& settled,
                          std::span<const LoggedInstance> records, const MissExplainer& explainer) {
  std::vector<ChainResult> chosen(worst_.size());
  bool any_missed = false;
  for (std::size_t chain = 0; chain < worst_.size(); ++chain) {
    chosen[chain].instances = candidates(chain, settled[chain]);
    any_missed = any_missed || std::ranges::any_of(chosen[chain].instances, &ChainInstance::missed);
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
    keep_worst(worst_[chain], kOfWorst);
  }
}

/// Returns the instance with the records of the time from its release to its end. If there are too
/// many, the first and the last ones are kept, and those that its explanation names.
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
    // An instance that never ended has no end to be near to.
    const std::size_t before = instance.completion_ns ? around_ / 2 : around_;
    const auto first = chosen.begin() + static_cast<std::ptrdiff_t>(before);
    chosen.erase(first, first + static_cast<std::ptrdiff_t>(chosen.size() - around_));
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
      culprit.record =
          static_cast<std::uint64_t>(std::ranges::find(chosen, culprit.record) - chosen.begin());
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

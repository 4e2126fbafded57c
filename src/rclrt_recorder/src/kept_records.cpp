// SPDX-License-Identifier: Apache-2.0
#include "kept_records.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "display_tracks.hpp"

namespace rclrt::recorder {

namespace {

/// The order of the records. Two that are equal in it are the same instance.
auto key_of(const LoggedInstance& one) {
  return std::tuple(one.record.end_ns, one.record.start_ns, one.executor, one.record.callback,
                    one.record.id);
}

/// Records of several sources, each once.
class Joined {
 public:
  explicit Joined(std::size_t size) { all_.reserve(size); }

  /// Returns the number of the first of them, for place().
  std::size_t add(std::span<const LoggedInstance> records) {
    all_.insert(all_.end(), records.begin(), records.end());
    return all_.size() - records.size();
  }

  /// Sorts the records and returns them.
  std::vector<LoggedInstance> sorted() {
    std::vector<std::size_t> order(all_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return key_of(all_[i]); });
    std::vector<LoggedInstance> result;
    result.reserve(all_.size());
    places_.resize(all_.size());
    for (const std::size_t each : order) {
      if (result.empty() || key_of(result.back()) != key_of(all_[each])) {
        result.push_back(all_[each]);
      }
      places_[each] = result.size() - 1;
    }
    return result;
  }

  /// Returns where the record with this number is after sorted().
  std::size_t place(std::size_t number) const { return places_[number]; }

 private:
  std::vector<LoggedInstance> all_;
  std::vector<std::size_t> places_;
};

void add_instances(std::vector<ChainInstance>& instances, std::span<const WorstInstance> worst) {
  for (const WorstInstance& each : worst) {
    instances.push_back(each.instance);
  }
  std::ranges::stable_sort(instances, {}, &ChainInstance::instance);
  const auto same = std::ranges::unique(instances, {}, &ChainInstance::instance);
  instances.erase(same.begin(), same.end());
}

}  // namespace

void set_kept(RunResults& results, const WorstInstances& worst,
              std::span<const LoggedInstance> latest) {
  Joined joined(latest.size() + worst.records());
  joined.add(latest);
  std::vector<std::pair<ChainMiss, std::size_t>> misses;  // with the number of its first record
  for (std::size_t chain = 0; chain < results.chains.size(); ++chain) {
    add_instances(results.chains[chain].instances, worst.kept()[chain]);
    std::size_t explained = 0;
    for (const WorstInstance& each : worst.kept()[chain]) {
      const std::size_t first = joined.add(each.around);
      if (each.miss && explained++ < MissExplainer::kMissesPerChain) {
        misses.emplace_back(*each.miss, first);
      }
    }
  }
  std::vector<LoggedInstance> kept = joined.sorted();
  results.thread_tracks = name_tracks(results, kept);
  results.records.clear();
  results.records.reserve(kept.size());
  for (const LoggedInstance& each : kept) {
    results.records.push_back(each.record);
  }
  std::ranges::stable_sort(misses, {}, [](const auto& one) {
    return std::pair(one.first.chain, one.first.instance.instance);
  });
  results.misses.clear();
  for (auto& [miss, first] : misses) {
    for (ChainCulprit& culprit : miss.culprits) {
      culprit.record = joined.place(first + culprit.record);
    }
    results.misses.push_back(std::move(miss));
  }
}

}  // namespace rclrt::recorder

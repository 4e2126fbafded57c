// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/chain_accounting.hpp"

#include <algorithm>
#include <rclrt/model/sync_fates.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace rclrt::recorder {

namespace {

/// By instance: the first end of the chain's last callback for it.
using Completions = std::unordered_map<std::uint64_t, std::int64_t>;

std::vector<Completions> find_completions(const model::Application& application,
                                          std::span<const InstanceRecord> records) {
  std::vector<Completions> completions(application.chains.size());
  for (const InstanceRecord& record : records) {
    if (record.outcome != Outcome::kRan) {
      continue;
    }
    for (const ChainToken& token : record.tokens.all()) {
      if (token.chain < application.chains.size() &&
          application.chains[token.chain].callbacks.back() == record.callback) {
        const auto [known, added] =
            completions[token.chain].try_emplace(token.instance, record.end_ns);
        known->second = std::min(known->second, record.end_ns);
      }
    }
  }
  return completions;
}

model::SyncFates find_fates(const model::Application& application, const RunWindow& window,
                            std::span<const InstanceRecord> records) {
  model::SyncFates fates(application);
  for (const InstanceRecord& record : records) {
    if (record.outcome == Outcome::kEmpty || !fates.is_sync(record.callback)) {
      continue;
    }
    const model::SyncFates::Arrival message{.callback = record.callback,
                                            .input = record.input,
                                            .stamp_ns = record.stamp_ns,
                                            .time_ns = record.start_ns};
    fates.add(message);
    for (const ChainToken& token : record.tokens.all()) {
      if (record.outcome == Outcome::kRan) {
        fates.in_set(message, token.chain, token.instance);
      } else {
        fates.kept(message, token.chain, token.instance);
      }
    }
  }
  fates.finish(window.end_ns);
  return fates;
}

/// Returns the CPUs; std::nullopt: any CPU.
std::optional<std::set<int>> cpus_of(const model::Application& application,
                                     const model::Chain& chain) {
  std::set<int> cpus;
  for (const std::size_t callback : chain.callbacks) {
    const std::vector<int>& own = application.executors[application.executor_of(callback)].cpus;
    if (own.empty()) {
      return std::nullopt;
    }
    cpus.insert(own.begin(), own.end());
  }
  for (const model::ThreadRule& rule : application.threads) {
    cpus.insert(rule.scheduling.cpus.begin(), rule.scheduling.cpus.end());
  }
  return cpus;
}

class ChainAccount {
 public:
  ChainAccount(const RunWindow& window, std::size_t chain, std::int64_t deadline_ns,
               const Completions& completions, const model::SyncFates& fates,
               const StallTimeline& stalls)
      : window_(window),
        chain_(chain),
        deadline_ns_(deadline_ns),
        completions_(completions),
        fates_(fates),
        stalls_(stalls) {}

  ChainResult of(const std::vector<ChainRelease>& releases) const {
    ChainResult result;
    for (const ChainRelease& release : releases) {
      if (release.release_ns >= window_.start_ns && release.release_ns < window_.end_ns) {
        result.instances.push_back(
            {.instance = release.instance, .release_ns = release.release_ns, .completion_ns = {}});
      }
    }
    std::sort(result.instances.begin(), result.instances.end(),
              [](const auto& a, const auto& b) { return a.instance < b.instance; });
    bool newer_completed = false;
    for (auto instance = result.instances.rbegin(); instance != result.instances.rend();
         ++instance) {
      judge(*instance, newer_completed);
      newer_completed = newer_completed || instance->completion_ns.has_value();
    }
    count(result);
    return result;
  }

 private:
  void judge(ChainInstance& instance, bool newer_completed) const {
    const std::int64_t deadline_ns = instance.release_ns + deadline_ns_;
    const auto completion = completions_.find(instance.instance);
    std::int64_t until_ns = window_.end_ns;
    std::optional<std::int64_t> in_time_until_ns;  // none: no stall can excuse the miss
    if (completion != completions_.end()) {
      until_ns = completion->second;
      in_time_until_ns = deadline_ns;
      instance.completion_ns = until_ns;
      instance.missed = until_ns > deadline_ns;
      instance.status = instance.missed ? ChainStatus::kLate : ChainStatus::kCompleted;
    } else if (const model::SyncFate fate = fates_.of(chain_, instance.instance);
               fate == model::SyncFate::kUnmatched) {
      until_ns = std::min(deadline_ns, window_.end_ns);
      instance.status = ChainStatus::kUnmatched;
    } else if (newer_completed || fate == model::SyncFate::kLostByDepth) {
      until_ns = std::min(deadline_ns, window_.end_ns);
      instance.missed = true;
      instance.status = ChainStatus::kDropped;
    } else {
      in_time_until_ns = deadline_ns - 1;  // it needs more time than it has had
      instance.missed = window_.end_ns >= deadline_ns && fate != model::SyncFate::kWaiting;
      instance.status = ChainStatus::kPending;
    }
    instance.host_stall_ns = stalls_.stalled_ns(instance.release_ns, until_ns);
    instance.missed_host = instance.missed && in_time_until_ns &&
                           until_ns - instance.host_stall_ns <= *in_time_until_ns;
  }

  static void count(ChainResult& result) {
    std::vector<std::int64_t> responses_ns;
    result.released = result.instances.size();
    for (const ChainInstance& instance : result.instances) {
      if (const auto response_ns = instance.response_ns()) {
        responses_ns.push_back(*response_ns);
      }
      result.dropped += instance.status == ChainStatus::kDropped ? 1 : 0;
      result.pending += instance.status == ChainStatus::kPending ? 1 : 0;
      result.unmatched += instance.status == ChainStatus::kUnmatched ? 1 : 0;
      result.missed += instance.missed ? 1 : 0;
      result.missed_host += instance.missed_host ? 1 : 0;
    }
    result.completed = responses_ns.size();
    result.response = summarise(std::move(responses_ns));
  }

  const RunWindow& window_;
  std::size_t chain_;
  std::int64_t deadline_ns_;
  const Completions& completions_;
  const model::SyncFates& fates_;
  const StallTimeline& stalls_;
};

}  // namespace

std::vector<ChainResult> account_chains(const model::Application& application,
                                        const RunWindow& window,
                                        std::span<const std::vector<ChainRelease>> releases,
                                        std::span<const InstanceRecord> records,
                                        std::span<const HostStall> stalls) {
  if (releases.size() != application.chains.size()) {
    throw std::invalid_argument("releases of " + std::to_string(releases.size()) +
                                " chains were given for an application with " +
                                std::to_string(application.chains.size()) + " chains");
  }
  const std::vector<Completions> completions = find_completions(application, records);
  const model::SyncFates fates = find_fates(application, window, records);
  std::vector<ChainResult> results;
  for (std::size_t index = 0; index < application.chains.size(); ++index) {
    const model::Chain& chain = application.chains[index];
    const StallTimeline timeline(stalls, cpus_of(application, chain));
    results.push_back(
        ChainAccount(window, index, chain.deadline.count(), completions[index], fates, timeline)
            .of(releases[index]));
  }
  return results;
}

}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/chain_accounting.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "chain_judge.hpp"

namespace rclrt::recorder {

namespace {

/// The first end of the chain's last callback for an instance, and the release of the instance as
/// its messages had it. Timers of another host run by its own clock, so its releases differ from
/// those that are expected, by the drift since the begin of the run.
struct Completion {
  std::int64_t end_ns = 0;
  std::int64_t release_ns = 0;
};
using Completions = std::unordered_map<std::uint64_t, Completion>;  // by instance

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
            completions[token.chain].try_emplace(token.instance, record.end_ns, token.release_ns);
        known->second.end_ns = std::min(known->second.end_ns, record.end_ns);
      }
    }
  }
  return completions;
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
      if (const auto known = completions_.find(instance->instance); known != completions_.end()) {
        instance->release_ns = known->second.release_ns;
      }
      judge(*instance, facts_of(instance->instance, newer_completed), deadline_ns_, window_.end_ns,
            stalls_);
      newer_completed = newer_completed || instance->completion_ns.has_value();
    }
    count(result);
    return result;
  }

 private:
  ChainFacts facts_of(std::uint64_t instance, bool newer_completed) const {
    const auto completion = completions_.find(instance);
    if (completion != completions_.end()) {
      return {.completion_ns = completion->second.end_ns, .newer_completed = newer_completed};
    }
    return {.fate = fates_.of(chain_, instance), .newer_completed = newer_completed};
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

void judge(ChainInstance& instance, const ChainFacts& facts, std::int64_t deadline_ns,
           std::int64_t end_ns, const StallTimeline& stalls) {
  const std::int64_t due_ns = instance.release_ns + deadline_ns;
  std::int64_t until_ns = end_ns;
  std::optional<std::int64_t> in_time_until_ns;  // none: no stall can excuse the miss
  instance.completion_ns = facts.completion_ns;
  if (facts.completion_ns) {
    until_ns = *facts.completion_ns;
    in_time_until_ns = due_ns;
    instance.missed = until_ns > due_ns;
    instance.status = instance.missed ? ChainStatus::kLate : ChainStatus::kCompleted;
  } else if (facts.fate == model::SyncFate::kUnmatched) {
    until_ns = std::min(due_ns, end_ns);
    instance.missed = false;
    instance.status = ChainStatus::kUnmatched;
  } else if (facts.newer_completed || facts.fate == model::SyncFate::kLostByDepth) {
    until_ns = std::min(due_ns, end_ns);
    instance.missed = true;
    instance.status = ChainStatus::kDropped;
  } else {
    in_time_until_ns = due_ns - 1;  // it needs more time than it has had
    instance.missed = end_ns >= due_ns && facts.fate != model::SyncFate::kWaiting;
    instance.status = ChainStatus::kPending;
  }
  instance.host_stall_ns = stalls.stalled_ns(instance.release_ns, until_ns);
  instance.missed_host =
      instance.missed && in_time_until_ns && until_ns - instance.host_stall_ns <= *in_time_until_ns;
}

model::SyncFates find_fates(const model::Application& application, std::int64_t end_ns,
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
  fates.finish(end_ns);
  return fates;
}

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

std::vector<ChainResult> account_chains(const model::Application& application,
                                        const RunWindow& window,
                                        std::span<const std::vector<ChainRelease>> releases,
                                        std::span<const InstanceRecord> records,
                                        std::span<const HostStall> stalls,
                                        std::span<const RunWindow> windows) {
  if (releases.size() != application.chains.size()) {
    throw std::invalid_argument("releases of " + std::to_string(releases.size()) +
                                " chains were given for an application with " +
                                std::to_string(application.chains.size()) + " chains");
  }
  const std::vector<Completions> completions = find_completions(application, records);
  const model::SyncFates fates = find_fates(application, window.end_ns, records);
  std::vector<ChainResult> results;
  for (std::size_t index = 0; index < application.chains.size(); ++index) {
    const model::Chain& chain = application.chains[index];
    const StallTimeline timeline(stalls, cpus_of(application, chain));
    results.push_back(ChainAccount(windows.empty() ? window : windows[index], index,
                                   chain.deadline.count(), completions[index], fates, timeline)
                          .of(releases[index]));
  }
  return results;
}

}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/chain_misses.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <rclrt/model/no_deadline.hpp>
#include <rclrt/text/duration.hpp>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace rclrt::recorder {

namespace {

using executor::Blame;
using executor::BlameScratch;
using executor::ExecutionInterval;

class Explanation {
 public:
  explicit Explanation(const MissInputs& inputs) : inputs_(inputs) {
    const auto& callbacks = inputs.application.callbacks;
    if (inputs.chains.size() != inputs.application.chains.size() ||
        inputs.priorities.size() != callbacks.size() ||
        (!inputs.deadlines.empty() && inputs.deadlines.size() != callbacks.size())) {
      throw std::invalid_argument(
          "explain_misses: expected a result for each chain, and a priority and (under edf) a "
          "deadline for each callback");
    }
    host_of_executor_.resize(inputs.application.executors.size());
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      host_of_executor_[executor_of(i)] = host_of(i);
      groups_.push_back(
          callbacks[i].group
              ? &*named_.insert({host_of(i), callbacks[i].node, *callbacks[i].group}).first
              : nullptr);
      if (groups_[i] != nullptr) {
        int& ceiling = ceilings_.try_emplace(groups_[i], inputs.priorities[i]).first->second;
        ceiling = std::max(ceiling, inputs.priorities[i]);
      }
    }
  }

  ChainMiss of(std::size_t chain, const ChainInstance& instance) const {
    const std::int64_t deadline_ns =
        instance.release_ns + inputs_.application.chains[chain].deadline.count();
    const std::int64_t until_ns = instance.completion_ns.value_or(deadline_ns);
    std::vector<ExecutionInterval> own;
    std::vector<std::size_t> others;  // records
    for (std::size_t i = 0; i < inputs_.records.size(); ++i) {
      const InstanceRecord& record = inputs_.records[i];
      if (record.start_ns >= until_ns || record.end_ns <= instance.release_ns) {
        continue;
      }
      if (works_for(record, chain, instance.instance)) {
        own.push_back(interval(i));
      } else {
        others.push_back(i);
      }
    }
    std::sort(own.begin(), own.end(), [](const ExecutionInterval& a, const ExecutionInterval& b) {
      return a.start_ns < b.start_ns;
    });
    const std::size_t waiting = add_missing_stage(chain, instance, until_ns, own);

    ChainMiss miss{.chain = chain,
                   .instance = instance,
                   .late_ns = instance.completion_ns ? until_ns - deadline_ns : 0,
                   .culprits = {}};
    // Stage by stage, each with the executors that share its CPUs: chains cross executors.
    std::int64_t from_ns = instance.release_ns;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::int64_t end_ns = i + 1 < own.size() ? std::min(own[i].end_ns, until_ns) : until_ns;
      if (end_ns > from_ns) {
        const std::size_t callback =
            own[i].start_ns < until_ns ? inputs_.records[own[i].id].callback : waiting;
        add_stage(miss, from_ns, end_ns, own[i], executor_of(callback), others);
        from_ns = end_ns;
      }
    }
    miss.unexplained_ns =
        until_ns - instance.release_ns - miss.execution_ns - miss.delayed_ns - miss.transit_ns;
    finish_culprits(miss);
    return miss;
  }

 private:
  std::size_t executor_of(std::size_t callback) const {
    return inputs_.application.executor_of(callback);
  }

  /// Explains the part of `miss` from `from_ns` to `until_ns`, in which it was at `stage`.
  void add_stage(ChainMiss& miss, std::int64_t from_ns, std::int64_t until_ns,
                 const ExecutionInterval& stage, std::size_t executor,
                 const std::vector<std::size_t>& records) const {
    const auto executors = sharing_with(executor);
    std::vector<ExecutionInterval> own{stage};
    std::vector<ExecutionInterval> others;
    for (const std::size_t each : records) {
      if (executors.contains(executor_of(inputs_.records[each].callback))) {
        others.push_back(interval(each));
      }
    }
    if (!inputs_.deadlines.empty()) {
      rank_by_start(own, others);
    }
    std::vector<BlameScratch::Event> events(3 * (own.size() + others.size()));
    std::vector<std::uint32_t> active(own.size() + others.size());
    std::vector<BlameScratch::Tally> tallies(own.size() + others.size());
    const Blame blame =
        executor::explain(from_ns, until_ns, own, others, cpus_of(executor, executors.size()),
                          {.events = events, .active = active, .tallies = tallies});
    miss.execution_ns += blame.execution_ns;
    miss.delayed_ns += blame.delayed_ns;
    miss.transit_ns += blame.transit_ns;
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (tallies[i].time_ns > 0) {
        miss.culprits.push_back({.record = others[i].id,
                                 .time_ns = tallies[i].time_ns,
                                 .cpu_ns = 0,
                                 .reason = tallies[i].reason});
      }
    }
  }

  /// Makes one culprit of each instance that was in the way of several stages, sorts them by their
  /// times, and keeps the longest ones.
  void finish_culprits(ChainMiss& miss) const {
    std::vector<ChainCulprit>& culprits = miss.culprits;
    std::ranges::stable_sort(culprits, {}, &ChainCulprit::record);
    std::size_t count = 0;
    for (const ChainCulprit& each : culprits) {
      if (count > 0 && culprits[count - 1].record == each.record) {
        culprits[count - 1].time_ns += each.time_ns;
      } else {
        culprits[count++] = each;
      }
    }
    culprits.resize(count);
    for (ChainCulprit& each : culprits) {
      each.cpu_ns = std::min(inputs_.records[each.record].cpu_ns, each.time_ns);
    }
    std::ranges::stable_sort(culprits, std::greater{}, &ChainCulprit::time_ns);
    for (std::size_t i = Blame::kCulprits; i < count; ++i) {
      ++miss.more_culprits;
      miss.more_culprits_ns += culprits[i].time_ns;
    }
    culprits.resize(std::min(count, Blame::kCulprits));
  }

  /// Returns the host of a callback; 0: there is one host.
  std::size_t host_of(std::size_t callback) const {
    return inputs_.hosts == nullptr || inputs_.hosts->hosts.empty()
               ? 0
               : inputs_.hosts->of_callback[callback];
  }

  /// Returns the CPUs of a host.
  std::size_t cpus_of_host(std::size_t host) const {
    const bool is_known = inputs_.deadlines.empty() && inputs_.hosts != nullptr &&
                          host < inputs_.hosts->hosts.size() &&
                          inputs_.hosts->hosts[host].cpus != 0;
    return is_known ? inputs_.hosts->hosts[host].cpus : inputs_.cpus;
  }

  /// Returns the executor itself and all executors that share a CPU with it.
  std::set<std::size_t> sharing_with(std::size_t executor) const {
    const auto& all = inputs_.application.executors;
    const std::vector<int>& cpus = all[executor].cpus;
    std::set<std::size_t> found;
    for (std::size_t other = 0; other < all.size(); ++other) {
      const std::vector<int>& theirs = all[other].cpus;
      if (host_of_executor_[other] != host_of_executor_[executor]) {
        continue;
      }
      if (cpus.empty() || theirs.empty() ||
          std::find_first_of(cpus.begin(), cpus.end(), theirs.begin(), theirs.end()) !=
              cpus.end()) {
        found.insert(other);
      }
    }
    return found;
  }

  std::size_t cpus_of(std::size_t executor, std::size_t sharing) const {
    const std::vector<int>& own = inputs_.application.executors[executor].cpus;
    const std::size_t count = own.empty() ? cpus_of_host(host_of_executor_[executor]) : own.size();
    return inputs_.threads != 0 ? std::min(count, sharing * inputs_.threads) : count;
  }

  bool works_for(const InstanceRecord& record, std::size_t chain, std::uint64_t instance) const {
    const auto& callbacks = inputs_.application.chains[chain].callbacks;
    const auto tokens = record.tokens.all();
    return std::find(callbacks.begin(), callbacks.end(), record.callback) != callbacks.end() &&
           std::any_of(tokens.begin(), tokens.end(), [&](const ChainToken& token) {
             return token.chain == chain && token.instance == instance;
           });
  }

  ExecutionInterval of_callback(std::size_t callback, std::int64_t release_ns) const {
    const void* const group = groups_[callback];
    return {.callback = inputs_.application.callbacks[callback].id,
            .level = inputs_.application.effective_priority(callback),
            .deadline_ns =
                inputs_.deadlines.empty() ? INT64_MAX : release_ns + inputs_.deadlines[callback],
            .priority = group != nullptr ? ceilings_.at(group) : inputs_.priorities[callback],
            .executor = executor_of(callback),
            .kernel_priority = inputs_.priorities[callback],
            .group = group};
  }

  ExecutionInterval interval(std::size_t index) const {
    const InstanceRecord& record = inputs_.records[index];
    ExecutionInterval result = of_callback(record.callback, record.release_ns);
    result.id = index;
    result.ready_ns = record.ready_ns;
    result.start_ns = record.start_ns;
    result.end_ns = record.end_ns;
    result.cpu_ns = record.cpu_ns;
    return result;
  }

  static void rank_by_start(std::vector<ExecutionInterval>& own,
                            std::vector<ExecutionInterval>& others) {
    std::vector<ExecutionInterval*> all;
    for (auto* const list : {&own, &others}) {
      for (ExecutionInterval& each : *list) {
        all.push_back(&each);
      }
    }
    std::sort(all.begin(), all.end(), [](const ExecutionInterval* a, const ExecutionInterval* b) {
      return a->start_ns < b->start_ns;
    });
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      all[rank]->priority = static_cast<int>(rank);
    }
  }

  /// `own` has the runs of the chain's callbacks for this instance. If the instance never ended,
  /// adds the callback that would have been next to `own`, as waiting until `until_ns`, and returns
  /// the place of that callback in the chain. If the instance ended, adds nothing and returns 0.
  std::size_t add_missing_stage(std::size_t chain, const ChainInstance& instance,
                                std::int64_t until_ns, std::vector<ExecutionInterval>& own) const {
    if (instance.completion_ns) {
      return 0;
    }
    const auto& callbacks = inputs_.application.chains[chain].callbacks;
    std::size_t next = 0;
    std::int64_t ready_ns = instance.release_ns;
    for (const ExecutionInterval& each : own) {
      const auto place =
          std::find(callbacks.begin(), callbacks.end(), inputs_.records[each.id].callback);
      const bool done = inputs_.records[each.id].outcome == Outcome::kRan;
      next = std::max(next, static_cast<std::size_t>(place - callbacks.begin()) + (done ? 1 : 0));
      ready_ns = std::max(ready_ns, each.end_ns);
    }
    if (next < callbacks.size() && ready_ns < until_ns) {
      ExecutionInterval missing = of_callback(callbacks[next], ready_ns);
      missing.ready_ns = ready_ns;
      missing.start_ns = until_ns;
      missing.end_ns = until_ns;
      own.push_back(missing);
      return callbacks[next];
    }
    return 0;
  }

  const MissInputs& inputs_;
  std::set<std::tuple<std::size_t, std::size_t, std::string>> named_;  // host, node, name
  std::vector<const void*> groups_;  // by callback: an element of named_
  std::map<const void*, int> ceilings_;
  std::vector<std::size_t> host_of_executor_;
};

std::string rounded(std::int64_t time_ns) { return text::duration_text(time_ns, 3); }

}  // namespace

std::vector<ChainMiss> explain_misses(const MissInputs& inputs, std::size_t limit) {
  const Explanation explanation(inputs);
  std::vector<ChainMiss> result;
  for (std::size_t chain = 0; chain < inputs.chains.size(); ++chain) {
    if (inputs.application.chains[chain].deadline >= model::kNoDeadline) {
      continue;  // its lost instances were late for nothing
    }
    std::vector<const ChainInstance*> missed;
    for (const ChainInstance& instance : inputs.chains[chain].instances) {
      if (instance.missed) {
        missed.push_back(&instance);
      }
    }
    const auto badness = [](const ChainInstance& one) {
      return one.response_ns().value_or(INT64_MAX);
    };
    std::stable_sort(missed.begin(), missed.end(),
                     [&](const auto* a, const auto* b) { return badness(*a) > badness(*b); });
    missed.resize(std::min(missed.size(), limit));
    std::sort(missed.begin(), missed.end(),
              [](const auto* a, const auto* b) { return a->instance < b->instance; });
    for (const ChainInstance* instance : missed) {
      result.push_back(explanation.of(chain, *instance));
    }
  }
  return result;
}

std::string miss_text(const model::Application& application,
                      std::span<const InstanceRecord> records, const ChainMiss& miss) {
  std::string text = "chain " + application.chains[miss.chain].id + " instance " +
                     std::to_string(miss.instance.instance);
  text += miss.late_ns > 0 ? " missed by " + rounded(miss.late_ns) + ":" : " never ended:";
  for (const ChainCulprit& one : miss.culprits) {
    const InstanceRecord& record = records[one.record];
    text += " " + rounded(one.time_ns) + " " + application.callbacks[record.callback].id + "#" +
            std::to_string(record.id) + " (priority " + std::to_string(record.level) + ", " +
            to_string(one.reason) + "),";
  }
  if (miss.more_culprits > 0) {
    text += " " + rounded(miss.more_culprits_ns) + " in " + std::to_string(miss.more_culprits) +
            (miss.more_culprits == 1 ? " other instance," : " other instances,");
  }
  text += " " + rounded(miss.execution_ns) + " its own";
  if (miss.transit_ns > 0) {
    text += ", " + rounded(miss.transit_ns) + " between callbacks";
  }
  text += ", " + rounded(miss.unexplained_ns) + " unexplained";
  if (miss.instance.host_stall_ns > 0) {
    text += " (host stalls: " + rounded(miss.instance.host_stall_ns) + ")";
  }
  return text;
}

}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
#include "sampled_flows.hpp"

#include <set>
#include <utility>

namespace rclrt::recorder {

SampledFlows::SampledFlows(const RunResults& results, std::uint64_t next) {
  const model::Application& application = results.application;
  std::set<std::pair<Run, Run>> known;
  for (std::size_t i = 0; i < results.cause_effect_chains.size(); ++i) {
    const auto& segments = application.cause_effect_chains[i].segments;
    for (const model::SampledRead& read : results.cause_effect_chains[i].reads) {
      const model::Segment& from = segments[read.segment - 1];
      const model::Segment& to = segments[read.segment];
      const model::Chain& writer = application.chains[from.chain];
      const Run stored{from.chain, read.stored_by, writer.callbacks.back()};
      const Run reads{to.chain, read.instance, application.chains[to.chain].callbacks[to.entry]};
      if (!known.emplace(stored, reads).second) {
        continue;
      }
      OfRun& reader = runs_[reads];
      reader.read.push_back(next);
      reader.values +=
          (reader.values.empty() ? "" : " ") + writer.id + ":" + std::to_string(read.stored_by);
      runs_[stored].stored.push_back(next);
      ++next;
    }
  }
}

SampledFlows::OfRun SampledFlows::take(const InstanceRecord& record) {
  OfRun result;
  if (runs_.empty() || record.outcome != Outcome::kRan) {
    return result;
  }
  for (const ChainToken& token : record.tokens.all()) {
    const auto found = runs_.find({token.chain, token.instance, record.callback});
    if (found == runs_.end()) {
      continue;
    }
    OfRun& own = found->second;
    result.stored.insert(result.stored.end(), own.stored.begin(), own.stored.end());
    result.read.insert(result.read.end(), own.read.begin(), own.read.end());
    result.values += (result.values.empty() || own.values.empty() ? "" : " ") + own.values;
    runs_.erase(found);
  }
  return result;
}

}  // namespace rclrt::recorder

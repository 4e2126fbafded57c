// SPDX-License-Identifier: Apache-2.0
#include "output_times.hpp"

#include "rclrt/analysis/simulated_outputs.hpp"

namespace rclrt::analysis::detail {

namespace {

using model::Nanoseconds;

void keep_longest(std::optional<OutputTime>& worst, const OutputTime& time) {
  if (!worst || time.length_ns() > worst->length_ns()) {
    worst = time;
  }
}

bool exceeds(const OutputTime& time, const std::optional<Nanoseconds>& limit) {
  return limit && time.length_ns() > limit->count();
}

}  // namespace

Outputs::Outputs(const model::Application& application)
    : application_(application), times_(application) {}

void Outputs::ended(const SimulatedInstance& instance) { recorded_ += add_runs(instance, times_); }

std::vector<OutputTimes> Outputs::times(std::int64_t end_ns) const {
  std::vector<OutputTimes> result;
  const auto found = times_.outputs();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const model::CauseEffectChain& chain = application_.cause_effect_chains[i];
    OutputTimes& times = result.emplace_back();
    const auto add = [&](const OutputTime& time) {
      const bool is_age = time.limit == Limit::kAge;
      keep_longest(is_age ? times.worst_age : times.worst_reaction, time);
      if (!times.first_miss && exceeds(time, is_age ? chain.max_age : chain.max_reaction)) {
        times.first_miss = time;
      }
    };
    for (const model::CauseEffectOutput& output : found[i].outputs) {
      const std::int64_t at_ns = output.end.count();
      if (output.reaction) {
        add({Limit::kReaction, output.instance, at_ns - output.reaction->count(), at_ns});
      }
      add({Limit::kAge, output.instance, output.release.count(), at_ns});
    }
    if (const auto since = found[i].open_since) {
      add({Limit::kReaction, 0, since->count(), end_ns, true});
    }
  }
  return result;
}

}  // namespace rclrt::analysis::detail

std::size_t rclrt::analysis::add_runs(const SimulatedInstance& instance,
                                      model::CauseEffectTimes& times) {
  if (instance.outcome != SimulatedOutcome::kRan) {
    return 0;
  }
  std::size_t segments = 0;
  for (const SimulatedToken& token : instance.tokens) {
    segments += times.add({.callback = instance.callback,
                           .chain = token.chain,
                           .instance = token.instance,
                           .release = model::Nanoseconds(token.release_ns),
                           .start = model::Nanoseconds(instance.start_ns),
                           .end = model::Nanoseconds(instance.end_ns)});
  }
  return segments;
}

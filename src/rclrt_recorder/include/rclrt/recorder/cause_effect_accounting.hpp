// SPDX-License-Identifier: Apache-2.0
// The results of cause-effect chains: reaction times and data ages.
#pragma once

#include <cstdint>
#include <optional>
#include <rclrt/model/application.hpp>
#include <rclrt/model/cause_effect_times.hpp>
#include <span>
#include <vector>

#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/statistics.hpp"

namespace rclrt::recorder {

/// The results of one cause-effect chain.
struct CauseEffectResult {
  /// CLOCK_MONOTONIC, as the records. A run that streams keeps only the latest outputs.
  model::CauseEffectOutputs found;
  std::uint64_t outputs = 0;  ///< the number of all outputs
  /// Reactions above CauseEffectChain::max_reaction, with one that is still awaited at the end.
  std::uint64_t missed_reaction = 0;
  std::uint64_t missed_age = 0;  ///< outputs above CauseEffectChain::max_age
  /// Of chains over hosts with different clocks: reactions and ages with a limit within the error
  /// of their time. They are not missed.
  std::uint64_t unknown_reaction = 0;
  std::uint64_t unknown_age = 0;
  std::int64_t error_ns = 0;  ///< the largest error of an age or a reaction, in either direction
  std::optional<Summary> reaction;
  std::optional<Summary> age;
  model::LongestWays longest;  ///< where the longest reaction time and the largest age went
  std::vector<model::SampledRead> reads;  ///< which values the instances of its segments read
};

/// Returns one result for each cause-effect chain of `application`, in the same order. A run reads
/// the value that was stored last before it started or, if that is known, before it read it, by the
/// times of the records. `releases[c]` are the releases of chain c, as for account_chains().
RCLRT_RECORDER_EXPORT std::vector<CauseEffectResult> account_cause_effect_chains(
    const model::Application& application, const RunWindow& window,
    std::span<const std::vector<ChainRelease>> releases, std::span<const InstanceRecord> records);

}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
// The results of cause-effect chains while the run goes on, in bounded memory.
#pragma once

#include <cstdint>
#include <rclrt/model/application.hpp>
#include <rclrt/model/cause_effect_times.hpp>
#include <span>
#include <vector>

#include "rclrt/recorder/cause_effect_accounting.hpp"
#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Counts the outputs of cause-effect chains. Each look at the latest records counts the outputs
/// that are new since the look before. Copyable.
class CauseEffectStream {
 public:
  /// `application` must outlive this object and its copies.
  explicit CauseEffectStream(const model::Application& application);

  bool empty() const { return states_.empty(); }

  /// The latest records and releases of a run.
  struct Latest {
    std::span<const LoggedInstance> records;
    const std::vector<std::vector<ChainRelease>>& releases;  ///< by chain
    bool from_start = false;  ///< whether the records are all of the run so far
  };

  /// Counts the outputs that ended before `horizon_ns`.
  void advance(const Latest& latest, std::int64_t horizon_ns);

  /// Counts the rest and adds the results of a run that ended at the end of `results.window`, with
  /// the latest outputs. `results` has those of the chains. Call it once.
  void finish(const Latest& latest, RunResults& results);

 private:
  struct State {
    CauseEffectResult counts{};
    SampledTimes times{};
    std::int64_t until_ns = INT64_MIN;  // the outputs that ended before are counted
  };

  model::CauseEffectDetails count(std::size_t chain, const model::CauseEffectTimes& times,
                                  bool from_start, std::int64_t horizon_ns);
  model::CauseEffectTimes times_of(const Latest& latest) const;

  const model::Application& application_;
  std::vector<State> states_;  // by cause-effect chain
};

}  // namespace rclrt::recorder

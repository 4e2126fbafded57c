// SPDX-License-Identifier: Apache-2.0
// The results of cause-effect chains while the run goes on, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <rclrt/model/application.hpp>
#include <rclrt/model/cause_effect_times.hpp>
#include <span>
#include <vector>

#include "rclrt/recorder/cause_effect_accounting.hpp"
#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Counts the outputs of cause-effect chains. Keeps the latest kLatest instances of each callback
/// that begins or ends a segment, so a value that is read long after it was stored is known even if
/// other callbacks have run often meanwhile. Each advance counts the outputs that are new since the
/// one before. An output is left out if its reader ran more than kLatest times since then.
/// Copyable.
class CauseEffectStream {
 public:
  /// `application` must outlive this object and its copies.
  explicit CauseEffectStream(const model::Application& application);

  static constexpr std::size_t kLatest = 24'576;

  bool empty() const { return states_.empty(); }

  /// Takes an instance of any callback.
  void take(const InstanceRecord& record);

  using Releases = std::vector<std::vector<ChainRelease>>;  // by chain
  /// Counts the outputs that ended before `horizon_ns`. `releases`: the latest ones.
  void advance(const Releases& releases, std::int64_t horizon_ns);

  /// Counts the rest and adds the results of a run that ended at the end of `results.window`, with
  /// the latest outputs. `results` has those of the chains. Call it once.
  void finish(const Releases& releases, RunResults& results);

 private:
  struct State {
    CauseEffectResult counts{};
    SampledTimes times{};
    std::int64_t until_ns = INT64_MIN;  // the outputs that ended before are counted
  };

  model::CauseEffectDetails count(std::size_t chain, const model::CauseEffectTimes& times,
                                  std::int64_t horizon_ns);
  model::CauseEffectTimes times_of(const Releases& releases) const;

  const model::Application& application_;
  std::vector<State> states_;                                 // by cause-effect chain
  std::map<std::size_t, std::deque<InstanceRecord>> latest_;  // by callback
  bool let_go_ = false;  // whether some are no longer among the latest
};

}  // namespace rclrt::recorder

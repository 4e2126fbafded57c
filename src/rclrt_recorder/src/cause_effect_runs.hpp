// SPDX-License-Identifier: Apache-2.0
// Records as the runs of cause-effect chains.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <rclrt/model/cause_effect_times.hpp>

#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

inline std::optional<std::chrono::nanoseconds> if_known(std::int64_t time_ns) {
  return time_ns != 0 ? std::optional(std::chrono::nanoseconds(time_ns)) : std::nullopt;
}

/// Adds an instance of a callback that ran, once for each instance of a chain.
inline void add_runs(model::CauseEffectTimes& times, const InstanceRecord& record) {
  using std::chrono::nanoseconds;
  if (record.outcome != Outcome::kRan) {
    return;
  }
  for (const ChainToken& token : record.tokens.all()) {
    times.add({.callback = record.callback,
               .chain = token.chain,
               .instance = token.instance,
               .release = nanoseconds(token.release_ns),
               .start = nanoseconds(record.start_ns),
               .end = nanoseconds(record.end_ns),
               .read = if_known(record.read_ns),
               .stored = if_known(record.stored_ns)});
  }
}

}  // namespace rclrt::recorder

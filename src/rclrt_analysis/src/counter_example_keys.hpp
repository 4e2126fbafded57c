// SPDX-License-Identifier: Apache-2.0
// The keys of a counter-example file, for its reader and its writer.
#pragma once

#include <array>

#include "rclrt/analysis/counter_example.hpp"

namespace rclrt::analysis::detail {

/// The decimal places of a time in the file: it is exact to the nanosecond.
inline constexpr int kMsDecimals = 6;

/// One of the times of Overheads that a simulation uses.
struct OverheadTime {
  const char* name;
  Ticks* time;
};

/// How a file names the time that exceeds a limit, and the limit.
struct LimitKeys {
  const char* time;
  const char* limit;
};

inline LimitKeys keys_of(Limit limit) {
  switch (limit) {
    case Limit::kReaction:
      return {"reaction_ms", "max_reaction_ms"};
    case Limit::kAge:
      return {"age_ms", "max_age_ms"};
    case Limit::kDeadline:
      break;
  }
  return {"response_ms", "deadline_ms"};
}

inline std::array<OverheadTime, 8> times_of(Overheads& overheads) {
  return {{{"dispatch", &overheads.dispatch},
           {"scheduler", &overheads.scheduler},
           {"polling", &overheads.polling},
           {"timer_lateness", &overheads.timer_jitter},
           {"hop_least", &overheads.near.min},
           {"hop", &overheads.near.max},
           {"far_hop_least", &overheads.far.min},
           {"far_hop", &overheads.far.max}}};
}

}  // namespace rclrt::analysis::detail

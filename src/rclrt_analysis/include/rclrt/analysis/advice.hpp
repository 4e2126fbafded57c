// SPDX-License-Identifier: Apache-2.0
// Changes of an application that shorten the reaction time and the data age of cause-effect chains.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/machine.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/executor_choice.hpp"

namespace rclrt::analysis {

/// One change, and the bounds of the cause-effect chain with it.
struct Advice {
  /// The kind of change.
  enum class Kind {
    kPeriod,   ///< the timer `callback` runs twice as often; deadlines equal to its period follow
    kOffset,   ///< the timer `callback` is released when the value that it reads has been stored
    kMessage,  ///< `callback` runs for each value that it reads: its timer becomes a subscription
    kUrgent,   ///< the callbacks of the segment are more urgent than all others
    kPatient,  ///< `callback` is less urgent than the callbacks that make the value that it reads
  };
  Kind kind{};
  std::size_t segment{};   ///< index into CauseEffectChain::segments
  std::size_t callback{};  ///< index into Application::callbacks; of the segment
  /// For kPeriod the new period, for kOffset the new offset, in ns. With kOffset, the timer of the
  /// segment before states its offset, too: the one that the application has.
  std::optional<Ticks> time{};
  std::optional<Ticks> reaction{};  ///< ns
  std::optional<Ticks> age{};       ///< ns
  /// Whether each chain and cause-effect chain of which the deadline or the limits held still
  /// keeps them.
  bool keeps_the_rest{};
};

/// The bounds of a cause-effect chain as it is, and the changes that lower one of them.
struct CauseEffectAdvice {
  std::optional<Ticks> reaction;  ///< ns
  std::optional<Ticks> age;       ///< ns
  std::vector<Advice> changes;    ///< those that keep the rest first, then the lowest age first
};

/// Returns advice for each cause-effect chain. Each change is made alone, and its bounds are those
/// of judge() for the changed application. A reader becomes a subscription only if no chain with a
/// deadline starts at it, and if the value does not move at a deadline. Takes up to six analyses
/// per segment. Pure; any thread. Throws as judge() does.
RCLRT_ANALYSIS_EXPORT std::vector<CauseEffectAdvice> advise(const model::Application& application,
                                                            const model::ExecutorChoice& executor,
                                                            const Machine& machine,
                                                            Effort effort = {.steps = 5'000'000});

}  // namespace rclrt::analysis

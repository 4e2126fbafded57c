// SPDX-License-Identifier: Apache-2.0
// Runs a contender while a thread beside it causes the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "contender.hpp"
#include "observer.hpp"
#include "setting.hpp"

namespace rclrt::bench {

/// What the thread does beside a contender.
struct Stimulus {
  std::int64_t period_ns = kPeriod_ns;
  std::size_t warm_up = 0;  ///< periods before the observers open, at least
  std::size_t samples = 0;  ///< periods after that
  /// Once a period, with its number. Empty: timers do the work, and the thread only lets the time
  /// pass, in one sleep.
  std::function<void(std::size_t)> act = {};
};

/// What the setting asks for.
inline Stimulus at_1_khz(const Setting& setting, std::function<void(std::size_t)> act = {}) {
  return {.warm_up = setting.warm_up, .samples = setting.samples, .act = std::move(act)};
}

/// Spins `contender` with the stimulus on a thread that is less urgent than every callback. The
/// observers open after the warm-up, which lasts until the first of them was told something: what
/// the contender's start delayed is no sample. Ends when all have enough, or a while after the last
/// period: what has not run by then is lost. Ends early with the context.
void conduct(Contender& contender, const Setting& setting, const Stimulus& stimulus,
             const std::vector<Observer*>& observers);

}  // namespace rclrt::bench

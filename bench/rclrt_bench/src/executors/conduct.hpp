// SPDX-License-Identifier: Apache-2.0
// Runs a contender while another thread causes the work.
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

/// The actions of the thread that causes the work.
struct Stimulus {
  std::int64_t period_ns = kPeriod_ns;
  std::size_t warm_up = 0;  ///< minimal number of periods before the observers open
  std::size_t samples = 0;  ///< periods after that
  /// Called once a period, with its number. Empty: timers cause the work, and the thread only
  /// sleeps once for the whole time.
  std::function<void(std::size_t)> act = {};
};

/// Returns the stimulus of the setting at 1 kHz.
inline Stimulus at_1_khz(const Setting& setting, std::function<void(std::size_t)> act = {}) {
  return {.warm_up = setting.warm_up, .samples = setting.samples, .act = std::move(act)};
}

/// Spins `contender` with the stimulus on a thread that is less urgent than every callback. The
/// observers open after the warm-up, which lasts until the first of them has seen a dispatch. So
/// work that the contender's start delayed is not a sample. Ends when all observers have enough
/// samples, or a while after the last period: work that has not run by then is lost. Ends early if
/// the context is shut down.
void conduct(Contender& contender, const Setting& setting, const Stimulus& stimulus,
             const std::vector<Observer*>& observers);

}  // namespace rclrt::bench

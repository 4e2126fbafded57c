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

/// The actions of the thread that releases the work that is measured, such as a publisher.
struct Stimulus {
  std::int64_t period_ns = kPeriod_ns;
  std::size_t warm_up = 0;  ///< minimal number of periods before the observers open
  std::size_t samples = 0;  ///< periods after that
  /// Called once per period, with the number of the period. Empty: timers of the executor cause the
  /// work, and the stimulus thread only sleeps for the whole time.
  std::function<void(std::size_t)> act = {};
};

/// Returns the stimulus of the setting at 1 kHz.
inline Stimulus at_1_khz(const Setting& setting, std::function<void(std::size_t)> act = {}) {
  return {.warm_up = setting.warm_up, .samples = setting.samples, .act = std::move(act)};
}

/// Runs one measurement: spins `contender`, while a thread that is less urgent than every callback
/// performs `stimulus`.
///
/// The observers begin to record after the warm-up, which lasts at least until the first of them
/// has seen a dispatch; so work that the start-up delayed is not a sample. The measurement ends
/// when all observers have enough samples, or a while after the last period: work that has not run
/// by then is lost. It ends early if the context is shut down.
void conduct(Contender& contender, const Setting& setting, const Stimulus& stimulus,
             const std::vector<Observer*>& observers);

}  // namespace rclrt::bench

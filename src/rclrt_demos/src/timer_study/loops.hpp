// SPDX-License-Identifier: Apache-2.0
// The three measured loops.
#pragma once

#include <cstdint>
#include <memory>

#include "latency_record.hpp"
#include "rclrt/rclrt.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "study_options.hpp"

namespace rclrt::timer_study {

/// The data that a loop uses.
struct Loop {
  const RttestOptions& options;
  const std::shared_ptr<Context>& context;
  const realtime::StopFlag& stop;
  LatencyRecord& record;
  std::uint64_t missed_passes = 0;

  bool goes_on() const {
    return !stop.stop_requested() &&
           (options.iterations == 0 || record.count() < options.iterations);
  }
};

/// Sleeps until each release: the latency is that of the wake-up.
void run_nanosleep(Loop& loop);

/// In each pass, sleeps until the next release and then runs a timer that is ready. The latency is
/// the time from that release to the timer's callback. The timer has half the loop's period, so
/// that each pass finds it ready.
void run_spin_some(Loop& loop);

/// Waits for a timer: the latency is that of its callback, from the timer's nominal release.
void run_spin(Loop& loop);

}  // namespace rclrt::timer_study

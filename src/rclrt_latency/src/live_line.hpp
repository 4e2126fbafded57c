// SPDX-License-Identifier: Apache-2.0
// The line on a terminal that shows the progress of a measurement.
#pragma once

#include <memory>
#include <vector>

#include "measurement.hpp"
#include "wake_up_thread.hpp"

namespace rclrt::latency {

/// Rewrites one line on standard error, and clears it at its end.
class LiveLine {
 public:
  /// Makes a line that is written only where `on`.
  explicit LiveLine(bool on) : on_(on) {}
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  void show(const Series& series, const std::vector<std::unique_ptr<WakeUpThread>>& threads);

 private:
  bool on_;
  bool shown_ = false;
};

}  // namespace rclrt::latency

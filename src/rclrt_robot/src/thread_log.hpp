// SPDX-License-Identifier: Apache-2.0
// Reports the threads of a process on the log.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "rclrt/realtime/thread_plan.hpp"

namespace rclrt_robot {

/// Used by one thread.
class ThreadLog {
 public:
  /// Reports each thread of `news`. Threads with the same rule and problem have one warning for all
  /// of them; those that appear after this warning are debug messages.
  void report(const rclrt::realtime::ThreadPlanReport& news);

 private:
  std::set<std::pair<std::size_t, std::string>> warned_;  // rule and problem
};

}  // namespace rclrt_robot

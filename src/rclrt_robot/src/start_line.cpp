// SPDX-License-Identifier: Apache-2.0
#include "start_line.hpp"

#include <vector>

#include "rclrt/model/executor_kind.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt_robot {

namespace {

std::string scheduling_of(const RobotOptions& options, const engine::Executor& engine) {
  const engine::ExecutorOptions& own = engine.options();
  if (!engine.realtime()) {
    return own.realtime == engine::Realtime::kOff
               ? "normal scheduling (realtime: off)"
               : "normal scheduling, because real time is not permitted";
  }
  const auto kind = rclrt::model::executor_kind_of(options.executor);
  const bool is_single =
      kind && rclrt::model::traits(*kind).threads == rclrt::model::ExecutorThreads::kFixed;
  std::string text = "SCHED_FIFO " + std::to_string(own.top_priority - 1);
  text += is_single ? "" : " and below";
  if (own.best_effort_below) {
    text += ", normal scheduling for callbacks of a priority below " +
            std::to_string(*own.best_effort_below);
  }
  return text;
}

}  // namespace

std::string start_line(const RobotOptions& options, const engine::Executor& engine,
                       const std::optional<std::string>& unlocked) {
  std::vector<int> cpus = engine.options().cpus;
  if (cpus.empty()) {
    cpus = rclrt::realtime::allowed_cpus();
  }
  std::string text = "executor " + options.executor + " on cpus";
  for (const int cpu : cpus) {
    text += (cpu == cpus.front() ? " " : ", ") + std::to_string(cpu);
  }
  text += ": " + scheduling_of(options, engine);
  const bool locks = options.memory && options.memory->lock;
  return text + (locks && !unlocked ? ", memory locked" : ", memory not locked");
}

}  // namespace rclrt_robot

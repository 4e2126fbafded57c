// SPDX-License-Identifier: Apache-2.0
// Makes options of a process from a file.
#include <rmw/rmw.h>

#include <climits>
#include <stdexcept>
#include <utility>

#include "rclcpp_names.hpp"
#include "rclrt/model/host.hpp"
#include "rclrt/model/middleware.hpp"
#include "rclrt/model/robot.hpp"
#include "rclrt/model/warnings.hpp"
#include "rclrt/recorder/model_conversion.hpp"
#include "rclrt_robot/robot.hpp"

namespace rclrt_robot {

namespace {

engine::Realtime to_engine(rclrt::model::RealtimeUse use) {
  switch (use) {
    case rclrt::model::RealtimeUse::kRequire:
      return engine::Realtime::kRequire;
    case rclrt::model::RealtimeUse::kOff:
      return engine::Realtime::kOff;
    case rclrt::model::RealtimeUse::kTry:
      break;
  }
  return engine::Realtime::kTry;
}

engine::Preemption to_engine(rclrt::model::PreemptionUse use) {
  switch (use) {
    case rclrt::model::PreemptionUse::kNever:
      return engine::Preemption::kNever;
    case rclrt::model::PreemptionUse::kAlways:
      return engine::Preemption::kAlways;
    case rclrt::model::PreemptionUse::kByRealtime:
      break;
  }
  return engine::Preemption::kByRealtime;
}

void set_executor(const rclrt::model::RobotExecutor& from, RobotOptions& robot) {
  robot.executor = rclrt::model::traits(from.kind).name;
  engine::ExecutorOptions& options = robot.options.engine;
  if (from.realtime) {
    options.realtime = to_engine(*from.realtime);
  }
  if (from.preemption) {
    options.preemption = to_engine(*from.preemption);
  }
  options.scheduler_cpus = from.scheduler_cpus;
  for (const auto& [priority, reservation] : from.reservations) {
    options.reservations[priority] = {reservation.runtime, reservation.deadline,
                                      reservation.period};
  }
  options.top_priority = from.top_priority.value_or(options.top_priority);
  options.cpus = from.cpus;
  options.workers_per_level = from.workers_per_level.value_or(options.workers_per_level);
  options.best_effort_below = from.best_effort_below;
}

/// Returns the part of the file for one process. `levels` gets those of the host.
rclrt::model::Robot load_model(const std::filesystem::path& file, const std::string& process,
                               std::vector<int>& levels) {
  if (process.empty()) {
    return rclrt::model::load_robot(file);
  }
  const rclrt::model::Host host = rclrt::model::load_host(file);
  const rclrt::model::HostProcess* const found = host.find(process);
  if (found == nullptr) {
    std::string names;
    for (const rclrt::model::HostProcess& each : host.processes) {
      names += (names.empty() ? "" : ", ") + each.name;
    }
    throw std::runtime_error(file.string() + ": there is no process '" + process +
                             "'; expected one of " + names);
  }
  if (has_kernel_levels(found->robot.executor)) {
    const int least = found->robot.executor.best_effort_below.value_or(INT_MIN);
    for (const int level : host.levels()) {
      if (level >= least) {
        levels.push_back(level);
      }
    }
  }
  return found->robot;
}

}  // namespace

RobotOptions load_robot(const std::filesystem::path& file, const std::string& process) {
  RobotOptions result;
  const rclrt::model::Robot robot = load_model(file, process, result.options.levels);
  result.warnings = rclrt::model::warnings(robot);
  set_executor(robot.executor, result);
  if (!robot.callbacks.empty()) {
    result.options.priorities = file;  // the executor reads that section of it
    result.options.process = process;
  }
  if (robot.memory) {
    constexpr std::size_t kMb = 1'000'000;
    result.memory = MemoryOptions{.lock = robot.memory->lock,
                                  .prefault_heap = robot.memory->prefault_heap_mb * kMb};
  }
  result.write_priorities = robot.write_priorities;
  result.threads = rclrt::recorder::to_realtime(
      rclrt::model::for_middleware(robot.threads, rmw_get_implementation_identifier()));
  if (robot.recording) {
    result.recording = RecordingOptions{.directory = robot.recording->directory,
                                        .application = robot.recording->application};
  }
  if (robot.monitor) {
    result.monitor = MonitorOptions();
    result.monitor->period = robot.monitor->period.value_or(result.monitor->period);
    if (!robot.monitor->topic.empty()) {
      result.monitor->topic = robot.monitor->topic;
    }
    result.monitor->statistics = robot.monitor->statistics;
    result.monitor->misses = robot.monitor->misses;
    result.monitor->traces = robot.monitor->traces;
  }
  return result;
}

}  // namespace rclrt_robot

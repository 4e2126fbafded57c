// SPDX-License-Identifier: Apache-2.0
#include "rclrt_robot/robot.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "default_scheduling.hpp"
#include "monitor.hpp"
#include "own_threads.hpp"
#include "rclcpp_names.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/replacing_file.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/realtime/thread_watch.hpp"
#include "rclrt_robot/origins.hpp"
#include "start_line.hpp"
#include "thread_log.hpp"

namespace rclrt_robot {

namespace {

using rclrt::realtime::PlannedThread;
using rclrt::realtime::ThreadPlanReport;
using rclrt::realtime::ThreadRule;

std::shared_ptr<Recording> make_recording(const std::optional<RecordingOptions>& options) {
  return options ? std::make_shared<Recording>(*options) : nullptr;
}

/// Returns how many more traces of misses may be written to the directory. The number is limited so
/// that a robot that is restarted again and again does not fill its disk.
std::uint32_t traces_left(const std::filesystem::path& directory) {
  constexpr std::uint32_t kMostTraces = 16;
  std::uint32_t there = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    const std::string name = file.path().filename();
    there += name.starts_with("miss-") && name.ends_with(".pftrace") ? 1 : 0;
  }
  return kMostTraces - std::min(there, kMostTraces);
}

std::unique_ptr<engine::FlightTrace> make_trace(const RobotOptions& options) {
  if (!options.monitor || options.monitor->traces.empty()) {
    return nullptr;
  }
  if (!std::filesystem::is_directory(options.monitor->traces)) {
    throw std::invalid_argument("the monitor's traces: there is no directory " +
                                options.monitor->traces.string() + "; create it");
  }
  const std::uint32_t left = traces_left(options.monitor->traces);
  if (left == 0) {
    RCLCPP_WARN(logger(),
                "the directory %s has 16 traces of deadline misses, so no more are written; move "
                "the old ones away",
                options.monitor->traces.c_str());
    return nullptr;
  }
  return std::make_unique<engine::FlightTrace>(engine::FlightTraceOptions{
      .recorder = {.directory = options.monitor->traces, .name = "miss", .max_dumps = left},
      .sink = options.options.engine.sink,
      .handler = options.options.engine.on_miss});
}

/// Throws std::invalid_argument for an option that is out of its range.
RobotOptions checked(RobotOptions options) {
  const auto check = [](const char* name, std::chrono::milliseconds period) {
    if (period < std::chrono::milliseconds(1)) {
      throw std::invalid_argument(std::string(name) + " is " + std::to_string(period.count()) +
                                  " ms; expected at least 1 ms");
    }
  };
  check("RobotOptions::thread_period", options.thread_period);
  if (options.monitor) {
    check("MonitorOptions::period", options.monitor->period);
  }
  return options;
}

/// Applies the heap options, before the executor's threads are made.
RobotOptions with_memory(RobotOptions options) {
  if (options.memory && options.memory->prefault_heap > 0) {
    if (const auto problem = rclrt::realtime::prefault_heap(options.memory->prefault_heap)) {
      RCLCPP_WARN(logger(), "the heap is not prefaulted: %s", problem->c_str());
    }
  } else if (options.memory) {
    rclrt::realtime::keep_heap();
  }
  return options;
}

std::unique_ptr<Monitor> make_monitor(const RobotOptions& options, engine::FlightTrace* trace) {
  if (!options.monitor) {
    return nullptr;
  }
  return std::make_unique<Monitor>(*options.monitor,
                                   trace != nullptr ? trace : options.options.engine.on_miss);
}

/// Registers the robot's listeners first; they pass events on to those that the user has set.
Options with_listeners(Options options, const std::shared_ptr<Recording>& recording,
                       engine::FlightTrace* trace, Monitor* monitor) {
  if (trace != nullptr) {
    options.engine.sink = trace;
  }
  if (monitor != nullptr) {
    options.engine.on_miss = monitor;
    options.measure_responses = true;
    options.origins = share_origins;
  }
  if (options.recording != nullptr && recording != nullptr) {
    throw std::invalid_argument(
        "RobotOptions has two recordings, its own and that in Options::recording; leave the latter "
        "empty");
  }
  options.recording = recording != nullptr ? recording : options.recording;
  return options;
}

}  // namespace

/// Objects that live as long as a spin.
class Robot::Spin {
 public:
  /// Throws std::runtime_error while another one lives.
  explicit Spin(Robot& robot) : robot_(robot) {
    {
      const std::scoped_lock lock(robot_.mutex_);
      if (robot_.spin_ != nullptr) {
        throw std::runtime_error("Robot::spin() called while already spinning");
      }
      robot_.spin_ = this;
    }
    try {
      start();
    } catch (...) {
      end();
      throw;
    }
  }
  ~Spin() { end(); }
  Spin(const Spin&) = delete;
  Spin& operator=(const Spin&) = delete;

  /// Returns the threads. Called with the robot's lock.
  ThreadPlanReport threads() {
    if (watch_ == nullptr) {
      return {};
    }
    watch_->check();
    return without_own_threads(watch_->report());
  }

 private:
  void start() {
    const RobotOptions& options = robot_.options_;
    const engine::Executor& engine = robot_.executor_->engine();
    RCLCPP_INFO(logger(), "%s", start_line(options, engine, robot_.update_memory()).c_str());
    for (const std::string& each :
         engine.realtime() ? options.warnings : std::vector<std::string>()) {
      RCLCPP_WARN(logger(), "%s", each.c_str());
    }
    if (!options.options.priorities.empty() || !options.write_priorities.empty()) {
      reporter_ = rclrt::realtime::Thread(
          {.name = "rclrt reporter"}, [this](const rclrt::realtime::StopFlag& stop) {
            const std::int64_t wait_ns =
                std::chrono::nanoseconds(robot_.options_.report_after).count();
            if (!stop.wait_until(rclrt::realtime::monotonic_now_ns() + wait_ns)) {
              report_names();
            }
          });
    }
    if (!options.threads.rules.empty()) {
      auto watch =
          std::make_unique<rclrt::realtime::ThreadWatch>(rclrt::realtime::ThreadWatchOptions{
              with_own_threads(options.threads), options.thread_period,
              [this](const ThreadPlanReport& news) {
                note_used(news);
                thread_log_.report(news);
              }});
      const std::scoped_lock lock(robot_.mutex_);
      watch_ = std::move(watch);
    }
    if (robot_.monitor_ != nullptr) {
      robot_.monitor_->start(*robot_.executor_, options.options.ros.context);
    }
  }

  void report_names() noexcept {
    try {
      for (const std::string& each : robot_.executor_->unmatched(true)) {
        RCLCPP_WARN(logger(), "%s (so far)", each.c_str());
      }
      robot_.write_priorities();
    } catch (const std::exception& error) {  // such as a callback that cannot be added: reported
      RCLCPP_WARN(logger(), "the entries of the priorities file could not be checked: %s",
                  error.what());
    }
  }

  void end() noexcept {
    reporter_.stop();
    if (robot_.monitor_ != nullptr) {
      robot_.monitor_->stop();
    }
    const std::scoped_lock lock(robot_.mutex_);
    if (watch_ != nullptr) {
      watch_.reset();  // joins the thread that notes
      const std::vector<ThreadRule>& rules = robot_.options_.threads.rules;
      for (std::size_t i = 0; i < rules.size(); ++i) {
        if (!used_.contains(i + own_thread_rules())) {
          RCLCPP_WARN(logger(),
                      "no thread has got its scheduling from the thread rule \"%s\"; check its "
                      "patterns and the rules before it",
                      to_string(rules[i]).c_str());
        }
      }
    }
    robot_.spin_ = nullptr;
  }

  void note_used(const ThreadPlanReport& news) {
    for (const PlannedThread& each : news.threads) {
      used_.insert(each.rule);
    }
  }

  Robot& robot_;
  std::set<std::size_t> used_;  // of the watch's thread, while there is one
  ThreadLog thread_log_;        // the same
  std::unique_ptr<rclrt::realtime::ThreadWatch> watch_;  // guarded by the robot's lock
  rclrt::realtime::Thread reporter_;
};

Robot::Robot(RobotOptions options)
    : options_(with_default_scheduling(with_memory(checked(std::move(options))))),
      recording_(make_recording(options_.recording)),
      trace_(make_trace(options_)),
      monitor_(make_monitor(options_, trace_.get())),
      executor_(rclrt_rclcpp::make_executor(
          options_.executor,
          with_listeners(options_.options, recording_, trace_.get(), monitor_.get()))) {}

Robot::~Robot() = default;

void Robot::spin() {
  std::optional<Spin> spin(std::in_place,
                           *this);  // if the spin cannot begin, nothing is written
  try {
    executor_->spin();
  } catch (...) {
    spin.reset();
    try {
      write_recording();
    } catch (const std::exception& error) {  // the first error is reported
      RCLCPP_ERROR(logger(), "the recording is not written: %s", error.what());
    }
    throw;
  }
  spin.reset();
  try {
    write_priorities();
  } catch (...) {
    write_recording();
    throw;
  }
  write_recording();
}

/// Writes the file as a whole or not at all.
void Robot::write_priorities() {
  if (options_.write_priorities.empty()) {
    return;
  }
  std::ostringstream text;
  executor_->write_priorities(text);
  try {
    rclrt::realtime::ReplacingFile file(options_.write_priorities);
    file.write(text.view());
    file.commit(false);
  } catch (const std::system_error& error) {
    RCLCPP_WARN(logger(), "the priorities are not written: %s", error.what());
  }
}

std::optional<std::string> Robot::update_memory() {
  if (!options_.memory) {
    return std::nullopt;
  }
  const std::scoped_lock lock(memory_mutex_);
  rclrt::realtime::prefault_libraries();
  const std::optional<std::string> problem =
      options_.memory->lock ? rclrt::realtime::lock_memory() : std::nullopt;
  if (problem && reported_.insert(*problem).second) {
    RCLCPP_WARN(logger(), "memory is not locked: %s", problem->c_str());
  }
  return problem;
}

void Robot::write_recording() {
  if (recording_ == nullptr) {
    return;
  }
  for (const std::string& line : recording_->write()) {
    RCLCPP_WARN(logger(), "%s", line.c_str());
  }
}

ThreadPlanReport Robot::threads() {
  const std::scoped_lock lock(mutex_);
  return spin_ == nullptr ? ThreadPlanReport() : spin_->threads();
}

}  // namespace rclrt_robot

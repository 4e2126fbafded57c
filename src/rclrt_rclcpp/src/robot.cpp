// SPDX-License-Identifier: Apache-2.0
#include "rclrt_rclcpp/robot.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "monitor.hpp"
#include "own_threads.hpp"
#include "rclrt/model/robot.hpp"
#include "rclrt/realtime/thread_watch.hpp"
#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt_rclcpp {

namespace {

using rclrt::model::ExecutorKind;
using rclrt::realtime::PlannedThread;
using rclrt::realtime::Policy;
using rclrt::realtime::ThreadPlanReport;
using rclrt::realtime::ThreadRule;
using rclrt::realtime::UnplannedThread;

rclcpp::Logger logger() { return rclcpp::get_logger("rclrt"); }

std::string describe(const rclrt::realtime::ThreadOrigin& origin) {
  if (origin.library.empty()) {
    return "of unknown origin";
  }
  return "of " + origin.library + (origin.function.empty() ? "" : " (" + origin.function + ")");
}

bool is_realtime(const UnplannedThread& thread) { return thread.found.policy != Policy::kOther; }

void log_news(const ThreadPlanReport& news) {
  for (const PlannedThread& thread : news.threads) {
    if (thread.problem.empty()) {
      RCLCPP_DEBUG(logger(), "thread \"%s\" (%d) %s: %s", thread.name.c_str(), thread.tid,
                   describe(thread.origin).c_str(), to_string(thread.found).c_str());
    } else {
      RCLCPP_WARN(logger(), "thread \"%s\" (%d) %s: %s", thread.name.c_str(), thread.tid,
                  describe(thread.origin).c_str(), thread.problem.c_str());
    }
  }
  for (const UnplannedThread& thread : news.unplanned) {
    const char* const format = "thread \"%s\" (%d) %s has %s and no rule in the plan";
    if (is_realtime(thread)) {
      RCLCPP_WARN(logger(), format, thread.name.c_str(), thread.tid,
                  describe(thread.origin).c_str(), to_string(thread.found).c_str());
    } else {
      RCLCPP_INFO(logger(), format, thread.name.c_str(), thread.tid,
                  describe(thread.origin).c_str(), to_string(thread.found).c_str());
    }
  }
}

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

std::shared_ptr<Recording> make_recording(const std::optional<RecordingOptions>& options) {
  return options ? std::make_shared<Recording>(*options) : nullptr;
}

/// Returns how many traces of misses may still be written: a robot that is started again and again
/// must not fill its disk.
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
                                options.monitor->traces.string());
  }
  const std::uint32_t left = traces_left(options.monitor->traces);
  if (left == 0) {
    RCLCPP_WARN(logger(), "%s has as many traces of misses as there may be: move them for more",
                options.monitor->traces.c_str());
    return nullptr;
  }
  return std::make_unique<engine::FlightTrace>(engine::FlightTraceOptions{
      .recorder = {.directory = options.monitor->traces, .name = "miss", .max_dumps = left},
      .sink = options.options.engine.sink,
      .handler = options.options.engine.on_miss});
}

std::unique_ptr<Monitor> make_monitor(const RobotOptions& options, engine::FlightTrace* trace) {
  if (!options.monitor) {
    return nullptr;
  }
  return std::make_unique<Monitor>(*options.monitor,
                                   trace != nullptr ? trace : options.options.engine.on_miss);
}

/// Lets what belongs to the robot hear first, and pass on to what the user has set.
Options with_listeners(Options options, const std::shared_ptr<Recording>& recording,
                       engine::FlightTrace* trace, Monitor* monitor) {
  if (trace != nullptr) {
    options.engine.sink = trace;
  }
  if (monitor != nullptr) {
    options.engine.on_miss = monitor;
    options.measure_responses = true;
    options.share_origins = true;
  }
  if (options.recording != nullptr && recording != nullptr) {
    throw std::invalid_argument("a robot with two recordings: leave Options::recording empty");
  }
  options.recording = recording != nullptr ? recording : options.recording;
  return options;
}

}  // namespace

std::shared_ptr<Executor> make_executor(const std::string& kind, Options options) {
  switch (rclrt::model::executor_kind_of(kind).value_or(ExecutorKind::kWaitSet)) {
    case ExecutorKind::kPreemptive:
      return std::make_shared<PreemptiveExecutor>(std::move(options));
    case ExecutorKind::kProducerConsumer:
      return std::make_shared<ProducerConsumerExecutor>(std::move(options));
    case ExecutorKind::kThreadDispatch:
      return std::make_shared<ThreadDispatchExecutor>(std::move(options));
    case ExecutorKind::kEdf:
      return std::make_shared<EdfExecutor>(std::move(options));
    case ExecutorKind::kPicas:
      return std::make_shared<PicasExecutor>(std::move(options));
    case ExecutorKind::kPerGroup:
      return std::make_shared<PerGroupExecutor>(std::move(options));
    case ExecutorKind::kStaticOrder:
      return std::make_shared<StaticOrderExecutor>(std::move(options));
    case ExecutorKind::kWorkshop:
      return std::make_shared<WorkshopExecutor>(std::move(options));
    default:
      break;
  }
  std::string names;
  for (const ExecutorKind each : rclrt::model::rclcpp_executor_kinds()) {
    names += (names.empty() ? "" : ", ") + std::string(rclrt::model::traits(each).name);
  }
  throw std::invalid_argument("there is no executor \"" + kind + "\" for rclcpp's nodes; choose " +
                              "from " + names);
}

RobotOptions load_robot(const std::filesystem::path& file) {
  const rclrt::model::Robot robot = rclrt::model::load_robot(file);
  RobotOptions result;
  set_executor(robot.executor, result);
  if (!robot.callbacks.empty()) {
    result.options.priorities = file;  // of which the executor reads that section
  }
  result.threads = rclrt::recorder::to_realtime(robot.threads);
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

/// What lives as long as a spin.
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

  /// Called with the robot's lock.
  ThreadPlanReport threads() {
    if (watch_ == nullptr) {
      return {};
    }
    watch_->look();
    return without_own_threads(watch_->report());
  }

 private:
  void start() {
    const RobotOptions& options = robot_.options_;
    if (!options.threads.rules.empty()) {
      auto watch =
          std::make_unique<rclrt::realtime::ThreadWatch>(rclrt::realtime::ThreadWatchOptions{
              with_own_threads(options.threads), options.thread_period,
              [this](const ThreadPlanReport& news) {
                note_used(news);
                log_news(news);
              }});
      const std::scoped_lock lock(robot_.mutex_);
      watch_ = std::move(watch);
    }
    if (robot_.monitor_ != nullptr) {
      robot_.monitor_->start(*robot_.executor_, options.options.ros.context);
    }
  }

  void end() noexcept {
    if (robot_.monitor_ != nullptr) {
      robot_.monitor_->stop();
    }
    const std::scoped_lock lock(robot_.mutex_);
    if (watch_ != nullptr) {
      watch_.reset();  // joins the thread that notes
      const std::vector<ThreadRule>& rules = robot_.options_.threads.rules;
      for (std::size_t i = 0; i < rules.size(); ++i) {
        if (!used_.contains(i + own_thread_rules())) {
          RCLCPP_WARN(logger(), "the rule of threads \"%s\" has been no thread's first match",
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
  std::set<std::size_t> used_;  // of the thread that looks, while there is one
  std::unique_ptr<rclrt::realtime::ThreadWatch> watch_;  // guarded by the robot's lock
};

Robot::Robot(RobotOptions options)
    : options_(std::move(options)),
      recording_(make_recording(options_.recording)),
      trace_(make_trace(options_)),
      monitor_(make_monitor(options_, trace_.get())),
      executor_(make_executor(options_.executor, with_listeners(options_.options, recording_,
                                                                trace_.get(), monitor_.get()))) {
  if (options_.thread_period < std::chrono::milliseconds(1) ||
      (options_.monitor && options_.monitor->period < std::chrono::milliseconds(1))) {
    throw std::invalid_argument("a robot's periods must be at least 1 ms");
  }
}

Robot::~Robot() = default;

void Robot::spin() {
  std::optional<Spin> spin(std::in_place,
                           *this);  // where it cannot begin, nothing is to be written
  try {
    executor_->spin();
  } catch (...) {
    spin.reset();
    try {
      write_recording();
    } catch (const std::exception& error) {  // the first error is the one to tell
      RCLCPP_ERROR(logger(), "the recording is not written: %s", error.what());
    }
    throw;
  }
  spin.reset();
  write_recording();
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

}  // namespace rclrt_rclcpp

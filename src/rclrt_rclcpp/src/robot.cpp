// SPDX-License-Identifier: Apache-2.0
#include "rclrt_rclcpp/robot.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "monitor.hpp"
#include "rclrt/model/robot.hpp"
#include "rclrt/realtime/thread_watch.hpp"
#include "rclrt/recorder/model_conversion.hpp"

namespace rclrt_rclcpp {

namespace {

using rclrt::model::ExecutorKind;
using rclrt::realtime::PlannedThread;
using rclrt::realtime::Policy;
using rclrt::realtime::ThreadPlan;
using rclrt::realtime::ThreadPlanReport;
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

/// The plan with a rule before all others: what rclrt starts has its own scheduling.
ThreadPlan complete(ThreadPlan plan) {
  plan.rules.insert(plan.rules.begin(),
                    {.function = "rclrt::realtime::Thread::RunOf<rclrt*", .keep = true});
  return plan;
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

void set_executor(const rclrt::model::RobotExecutor& from, RobotOptions& robot) {
  robot.executor = rclrt::model::traits(from.kind).name;
  engine::ExecutorOptions& options = robot.options.engine;
  if (from.realtime) {
    options.realtime = to_engine(*from.realtime);
  }
  options.top_priority = from.top_priority.value_or(options.top_priority);
  options.cpus = from.cpus;
  options.workers_per_level = from.workers_per_level.value_or(options.workers_per_level);
}

std::shared_ptr<Recording> make_recording(const std::optional<RecordingOptions>& options) {
  return options ? std::make_shared<Recording>(*options) : nullptr;
}

std::unique_ptr<Monitor> make_monitor(const RobotOptions& options) {
  return options.monitor
             ? std::make_unique<Monitor>(*options.monitor, options.options.engine.on_miss)
             : nullptr;
}

Options complete(Options options, const std::shared_ptr<Recording>& recording, Monitor* monitor) {
  if (monitor != nullptr) {
    options.engine.on_miss = monitor;  // which tells the user's
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
  }
  return result;
}

/// The watch of a spin, which others may ask.
class Robot::Watching {
 public:
  void begin(const RobotOptions& options) {
    if (options.threads.rules.empty()) {
      return;
    }
    auto watch = std::make_unique<rclrt::realtime::ThreadWatch>(rclrt::realtime::ThreadWatchOptions{
        complete(options.threads), options.thread_period, &log_news});
    const std::scoped_lock lock(mutex_);
    watch_ = std::move(watch);
  }
  void end() {
    const std::scoped_lock lock(mutex_);
    watch_.reset();
  }
  ThreadPlanReport report() {
    const std::scoped_lock lock(mutex_);
    if (watch_ == nullptr) {
      return {};
    }
    watch_->look();
    return watch_->report();
  }

 private:
  std::mutex mutex_;  // guards watch_
  std::unique_ptr<rclrt::realtime::ThreadWatch> watch_;
};

Robot::Robot(RobotOptions options)
    : options_(std::move(options)),
      recording_(make_recording(options_.recording)),
      monitor_(make_monitor(options_)),
      executor_(
          make_executor(options_.executor, complete(options_.options, recording_, monitor_.get()))),
      watching_(std::make_unique<Watching>()) {}

Robot::~Robot() = default;

void Robot::spin() {
  struct End {
    Robot& robot;
    ~End() {
      robot.watching_->end();
      if (robot.monitor_ != nullptr) {
        robot.monitor_->stop();
      }
    }
  };
  {
    const End end{*this};
    watching_->begin(options_);
    if (monitor_ != nullptr) {
      monitor_->start(*executor_, options_.options.ros.context);
    }
    executor_->spin();
  }
  if (recording_ != nullptr) {
    for (const std::string& line : recording_->write()) {
      RCLCPP_WARN(logger(), "%s", line.c_str());
    }
  }
}

ThreadPlanReport Robot::threads() const { return watching_->report(); }

}  // namespace rclrt_rclcpp

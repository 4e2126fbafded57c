// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/robot.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "limits.hpp"
#include "rclrt/yaml/file.hpp"
#include "read_robot_sections.hpp"
#include "read_scheduling.hpp"
#include "yaml.hpp"

namespace rclrt::model {

namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): the vocabulary of the readers

constexpr IntegerRange kWorkers{1, 1024};
constexpr IntegerRange kBestEffort{1, 1'000'000};
constexpr IntegerRange kMonitorPeriods_ms{10, 3'600'000};

ExecutorKind read_kind(const YamlNode& node, Context& context) {
  const std::vector<ExecutorKind> kinds = rclcpp_executor_kinds();
  std::vector<std::string_view> names;
  std::transform(kinds.begin(), kinds.end(), std::back_inserter(names),
                 [](ExecutorKind kind) { return traits(kind).name; });
  const auto index = read_word(node, "kind", names, context);
  return index ? kinds[*index] : ExecutorKind::kPreemptive;
}

void read_best_effort(const YamlNode& node, RobotExecutor& executor, Context& context) {
  if (executor.kind != ExecutorKind::kPreemptive &&
      executor.kind != ExecutorKind::kProducerConsumer) {
    context.diagnostics.report(node.at,
                               "best_effort_below has no meaning with 'kind: " +
                                   std::string(traits(executor.kind).name) + "'",
                               "'kind: preemptive' or 'kind: producer_consumer'");
  }
  if (const auto priority = read_integer(node, "best_effort_below", kBestEffort, context)) {
    executor.best_effort_below = static_cast<int>(*priority);
  }
}

RobotExecutor read_executor(const YamlNode& node, Context& context) {
  RobotExecutor executor;
  const Fields fields(
      node, "executor",
      {"kind", "realtime", "top_priority", "cpus", "workers_per_level", "best_effort_below"},
      context);
  if (const YamlNode* value = fields.find("kind")) {
    executor.kind = read_kind(*value, context);
  }
  if (const YamlNode* value = fields.find("realtime")) {
    executor.realtime = yaml::read_choice<RealtimeUse>(*value, "realtime",
                                                       {{"try", RealtimeUse::kTry},
                                                        {"require", RealtimeUse::kRequire},
                                                        {"off", RealtimeUse::kOff}},
                                                       context);
  }
  if (const YamlNode* value = fields.find("top_priority")) {
    if (const auto top = read_integer(*value, "top_priority", kTopPriorities, context)) {
      executor.top_priority = static_cast<int>(*top);
    }
  }
  executor.cpus = read_cpus(fields, "cpus", context);
  if (const YamlNode* value = fields.find("workers_per_level")) {
    if (const auto workers = read_integer(*value, "workers_per_level", kWorkers, context)) {
      executor.workers_per_level = static_cast<std::size_t>(*workers);
    }
  }
  if (const YamlNode* value = fields.find("best_effort_below")) {
    read_best_effort(*value, executor, context);
  }
  return executor;
}

std::filesystem::path read_path(const YamlNode* node, std::string_view what, Context& context) {
  if (node == nullptr) {
    return {};
  }
  const auto text = read_text(*node, what, context);
  if (text && text->empty()) {
    report_value(*node, what, "a path", context);
  }
  return text.value_or("");
}

RobotRecording read_recording(const YamlNode& node, Context& context) {
  const Fields fields(node, "recording", {"directory", "application"}, context);
  const YamlNode* const directory = fields.require("directory", "directory: out");
  return {read_path(directory, "directory", context),
          read_path(fields.find("application"), "application", context)};
}

RobotMonitor read_monitor(const YamlNode& node, Context& context) {
  RobotMonitor monitor;
  const Fields fields(node, "monitor", {"period_ms", "topic", "statistics", "traces"}, context);
  if (const YamlNode* value = fields.find("period_ms")) {
    if (const auto ms = read_integer(*value, "period_ms", kMonitorPeriods_ms, context)) {
      monitor.period = std::chrono::milliseconds(*ms);
    }
  }
  if (const YamlNode* value = fields.find("topic")) {
    monitor.topic = read_ros_name(*value, "topic", context).value_or("");
  }
  if (const YamlNode* value = fields.find("statistics")) {
    monitor.statistics = read_ros_name(*value, "statistics", context).value_or("");
  }
  monitor.traces = read_path(fields.find("traces"), "traces", context);
  return monitor;
}

Robot read_robot(const Fields& fields, Context& context) {
  Robot robot;
  if (const YamlNode* section = fields.find("executor")) {
    robot.executor = read_executor(*section, context);
  }
  if (const YamlNode* section = fields.find("callbacks")) {
    robot.callbacks = read_node_timings(*section, context);
  }
  if (const YamlNode* section = fields.find("threads")) {
    robot.threads.rules = read_thread_rules(*section, context);
  }
  if (const YamlNode* section = fields.find("recording")) {
    robot.recording = read_recording(*section, context);
    if (robot.executor.best_effort_below && !robot.recording->application.empty()) {
      context.diagnostics.report(section->at,
                                 "the recording has an application, whose bounds hold where every "
                                 "callback is real time",
                                 "no 'application' beside 'best_effort_below'");
    }
  }
  if (const YamlNode* section = fields.find("monitor")) {
    robot.monitor = read_monitor(*section, context);
  }
  return robot;
}

}  // namespace

namespace detail {

std::vector<std::string_view> robot_keys() {
  return {"rclrt", "executor", "callbacks", "threads", "recording", "monitor"};
}

}  // namespace detail

RobotResult parse_robot(std::string_view text) {
  Context context;
  RobotResult result;
  if (const auto root = yaml::read_yaml(text, context.diagnostics)) {
    const Fields fields(*root, "robot", robot_keys(), context);
    const YamlNode* version = fields.require("rclrt", "rclrt: 1");
    // Of another version nothing else can be judged.
    if (version == nullptr ||
        read_integer(*version, "the format version", kFormatVersions, context)) {
      Robot robot = read_robot(fields, context);
      if (context.diagnostics.empty()) {
        result.robot = std::move(robot);
      }
    }
  }
  result.diagnostics = context.diagnostics.take();
  return result;
}

Robot load_robot(const std::filesystem::path& file) {
  RobotResult result = parse_robot(yaml::read_file(file, "robot file"));
  if (!result.robot) {
    throw yaml::FileError(file, result.diagnostics);
  }
  Robot robot = *std::move(result.robot);
  if (robot.recording && !robot.recording->application.empty()) {
    robot.recording->application = file.parent_path() / robot.recording->application;
  }
  return robot;
}

std::vector<ExecutorKind> rclcpp_executor_kinds() {
  return {ExecutorKind::kPreemptive,     ExecutorKind::kProducerConsumer,
          ExecutorKind::kThreadDispatch, ExecutorKind::kEdf,
          ExecutorKind::kPicas,          ExecutorKind::kPerGroup,
          ExecutorKind::kStaticOrder,    ExecutorKind::kWorkshop};
}

}  // namespace rclrt::model

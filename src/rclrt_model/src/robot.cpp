// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/robot.hpp"

#include <string>
#include <utility>

#include "limits.hpp"
#include "rclrt/model/file_kind.hpp"
#include "rclrt/yaml/file.hpp"
#include "read_robot_sections.hpp"
#include "yaml.hpp"

namespace rclrt::model {

namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): the vocabulary of the readers

constexpr IntegerRange kMonitorPeriods_ms{10, 3'600'000};
constexpr IntegerRange kHeapMegabytes{0, 1'000'000};

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
  const Fields fields(node, "monitor", {"period_ms", "topic", "statistics", "misses", "traces"},
                      context);
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
  if (const YamlNode* value = fields.find("misses")) {
    monitor.misses = read_ros_name(*value, "misses", context).value_or("");
  }
  monitor.traces = read_path(fields.find("traces"), "traces", context);
  return monitor;
}

RobotMemory read_memory(const YamlNode& node, Context& context) {
  RobotMemory memory;
  const Fields fields(node, "memory", {"lock", "prefault_heap_mb"}, context);
  if (const YamlNode* value = fields.find("lock")) {
    const auto choice =
        yaml::read_choice<bool>(*value, "lock", {{"true", true}, {"false", false}}, context);
    memory.lock = choice.value_or(true);
  }
  if (const YamlNode* value = fields.find("prefault_heap_mb")) {
    const auto mb = read_integer(*value, "prefault_heap_mb", kHeapMegabytes, context);
    memory.prefault_heap_mb = static_cast<std::size_t>(mb.value_or(0));
  }
  return memory;
}

}  // namespace

namespace detail {

Robot read_robot(const Fields& fields, Context& context) {
  Robot robot;
  if (const YamlNode* section = fields.find("executor")) {
    robot.executor = read_robot_executor(*section, context);
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
                                 "the recording has an application, and its bounds hold only if "
                                 "every callback is real time",
                                 "no 'application' beside 'best_effort_below'");
    }
  }
  if (const YamlNode* section = fields.find("monitor")) {
    robot.monitor = read_monitor(*section, context);
  }
  if (const YamlNode* section = fields.find("memory")) {
    robot.memory = read_memory(*section, context);
  }
  robot.write_priorities = read_path(fields.find("write_priorities"), "write_priorities", context);
  return robot;
}

std::vector<std::string_view> robot_keys() {
  return {"rclrt",     "executor", "callbacks", "threads",
          "recording", "monitor",  "memory",    "write_priorities"};
}

}  // namespace detail

RobotResult parse_robot(std::string_view text) {
  Context context;
  RobotResult result;
  const auto root = yaml::read_yaml(text, context.diagnostics);
  if (root && !report_other_kind(*root, FileKind::kRobot, context)) {
    const Fields fields(*root, "robot", robot_keys(), context);
    const YamlNode* version = fields.require("rclrt", "rclrt: 1");
    // A file of another version cannot be checked further.
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

}  // namespace rclrt::model

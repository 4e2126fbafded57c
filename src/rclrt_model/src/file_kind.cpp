// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/file_kind.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "yaml.hpp"

namespace rclrt::model {

namespace {

using detail::YamlKind;
using detail::YamlNode;

/// The texts of a kind.
struct Texts {
  FileKind kind;
  const char* name;
  const char* what;
  const char* taken_by;
  const char* expected;  ///< the kind, and how to get such a file; nullptr: no reader expects it
};

constexpr std::array kTexts{
    Texts{FileKind::kApplication, "application", "an app.yaml, which describes an application",
          "`rclrt analyze FILE`",
          "an app.yaml with 'nodes', 'callbacks' and 'chains': `rclrt model` writes one from a "
          "trace or a recording of the robot"},
    Texts{FileKind::kRobot, "robot", "a robot.yaml, which configures a process of rclcpp nodes",
          "the parameter 'robot' of rclrt_component_container",
          "a robot.yaml: `rclrt synthesize app.yaml --nodes -o robot.yaml` writes one"},
    Texts{FileKind::kHost, "host", "a configuration of all processes of a host",
          "the parameters 'robot' and 'process' of rclrt_component_container",
          "a file with 'processes', each with a 'name' and the sections of a robot.yaml"},
    Texts{FileKind::kPriorities, "priorities", "a priorities file, which is for one application",
          "`rclrt analyze app.yaml --priorities FILE`",
          "a priorities file: `rclrt synthesize app.yaml -o priorities.yaml` writes one"},
    Texts{FileKind::kOverheads, "overheads", "a file of overheads, which a machine has",
          "`rclrt analyze app.yaml --overheads FILE`",
          "a file of overheads: `rclrt calibrate -o overheads.json` writes one"},
    Texts{FileKind::kCounterExample, "counter_example",
          "a counter-example, a schedule of an application",
          "`rclrt simulate app.yaml --replay FILE`",
          "a counter-example: `rclrt analyze app.yaml --counter-example FILE` writes one"},
    Texts{FileKind::kTaskSet, "task_set", "a task set", "`rclrt analyze FILE`",
          "a task set, such as tasks: [{id: control, c: 2, t: 10}]"},
    Texts{FileKind::kTaskCounterExample, "task_counter_example",
          "a counter-example of a task set, a schedule of it",
          "`rclrt simulate tasks.yaml --replay FILE`",
          "a counter-example of the task set: `rclrt analyze tasks.yaml --counter-example FILE` "
          "writes one"},
    Texts{FileKind::kRules, "rules", "a file of rules for generated applications",
          "`rclrt generate FILE`", "a file of rules, such as {\"chain_count\": 3}"},
    Texts{FileKind::kExperiment, "experiment", "an experiment", "`rclrt experiment FILE`",
          "an experiment, with kind: experiment"},
    Texts{FileKind::kWorkloads, "workloads", "a file of workloads, which a machine has timed",
          "`rclrt generate rules.json --workloads FILE`",
          "a file of workloads: `rclrt workloads calibrate -o workloads.json` writes one"},
    Texts{FileKind::kLink, "link", "what was measured of a link",
          "the section 'links' of an app.yaml, which takes its entry 'link'", nullptr},
    Texts{FileKind::kResults, "results", "the results of a run",
          "`rclrt report DIR` with its directory", nullptr},
    Texts{FileKind::kComparison, "comparison", "the results of a comparison",
          "`rclrt report DIR` with its directory", nullptr},
    Texts{FileKind::kBenchmark, "benchmark", "a benchmark of `rclrt bench`", "other programs",
          nullptr},
    Texts{FileKind::kLatencies, "latencies", "latencies of `rclrt latency`", "other programs",
          nullptr},
    Texts{FileKind::kClocks, "clocks", "what `rclrt clock` has measured",
          "`rclrt model DIR --clock FILE`", nullptr},
};

const Texts& texts_of(FileKind kind) { return *std::ranges::find(kTexts, kind, &Texts::kind); }

/// Returns the value of a key, or nullptr.
const YamlNode* value_of(const YamlNode& mapping, std::string_view key) {
  for (std::size_t i = 0; i + 1 < mapping.children.size(); i += 2) {
    if (mapping.children[i].text == key) {
      return &mapping.children[i + 1];
    }
  }
  return nullptr;
}

bool has_any(const YamlNode& mapping, std::initializer_list<std::string_view> keys) {
  return std::ranges::any_of(
      keys, [&](std::string_view key) { return value_of(mapping, key) != nullptr; });
}

bool has_all(const YamlNode& mapping, std::initializer_list<std::string_view> keys) {
  return std::ranges::all_of(
      keys, [&](std::string_view key) { return value_of(mapping, key) != nullptr; });
}

/// Returns whether the file names callbacks as the ROS graph does and states no execution times: it
/// is a node priorities file or a robot.yaml, and no app.yaml.
bool has_node_timings(const YamlNode& root) {
  const YamlNode* const list = value_of(root, "callbacks");
  return list != nullptr && list->kind == YamlKind::kSequence && !list->children.empty() &&
         std::ranges::all_of(list->children, [](const YamlNode& item) {
           const YamlNode* const node =
               item.kind == YamlKind::kMapping ? value_of(item, "node") : nullptr;
           return node != nullptr && node->text.starts_with('/') &&
                  !has_any(item, {"id", "wcet_ms"});
         });
}

/// Returns the kind that the file states itself.
std::optional<FileKind> stated_kind(const YamlNode& root) {
  struct Mark {
    std::string_view key;
    FileKind kind;
  };
  constexpr std::array kFormats{
      Mark{"rclrt_results", FileKind::kResults}, Mark{"rclrt_comparison", FileKind::kComparison},
      Mark{"rclrt_bench", FileKind::kBenchmark}, Mark{"rclrt_latency", FileKind::kLatencies},
      Mark{"rclrt_clock", FileKind::kClocks}};
  constexpr std::array kKinds{
      Mark{"overheads", FileKind::kOverheads}, Mark{"experiment", FileKind::kExperiment},
      Mark{"workloads", FileKind::kWorkloads}, Mark{"link", FileKind::kLink}};
  for (const Mark& each : kFormats) {
    if (value_of(root, each.key) != nullptr) {
      return each.kind;
    }
  }
  const YamlNode* const kind = value_of(root, "kind");
  const auto found =
      std::ranges::find(kKinds, kind == nullptr ? std::string_view() : kind->text, &Mark::key);
  return found == kKinds.end() ? std::nullopt : std::optional(found->kind);
}

/// A kind, and whether the file has keys that only files of this kind have.
struct Sign {
  FileKind kind;
  bool is_found;
};

std::vector<FileKind> kinds_of(std::initializer_list<Sign> signs) {
  std::vector<FileKind> result;
  for (const Sign& each : signs) {
    if (each.is_found) {
      result.push_back(each.kind);
    }
  }
  return result;
}

/// Returns the kind that the file states, or of which it has keys that other kinds do not have.
std::optional<FileKind> certain_kind(const YamlNode& root) {
  if (root.kind != YamlKind::kMapping) {
    return std::nullopt;
  }
  if (const auto stated = stated_kind(root); stated || value_of(root, "kind") != nullptr) {
    return stated;
  }
  const bool has_schedule = has_any(root, {"horizon_ms", "execution_from_percent", "offsets_ms"});
  const std::vector<FileKind> kinds = kinds_of({
      {FileKind::kApplication, has_any(root, {"nodes", "topics", "chains"})},
      {FileKind::kRobot, has_any(root, {"recording", "monitor", "memory", "write_priorities"}) ||
                             has_node_timings(root)},
      {FileKind::kHost, has_any(root, {"processes"})},
      {FileKind::kPriorities, !has_schedule && has_any(root, {"priorities"})},
      {FileKind::kOverheads, has_any(root, {"hop_us", "background_us", "rt_bandwidth"})},
      {FileKind::kCounterExample, has_schedule},
      {FileKind::kTaskSet, has_any(root, {"tasks"}) && !has_any(root, {"callbacks"})},
      {FileKind::kTaskCounterExample, has_all(root, {"ticks_per_unit", "task", "job"})},
      {FileKind::kRules, has_any(root, {"chain_count", "util_total", "chain_avg_len"})},
  });
  return kinds.size() == 1 ? std::optional(kinds.front()) : std::nullopt;
}

/// Returns whether files of this kind may have the keys of file_kind() that are not so certain.
bool may_have_names(FileKind kind) {
  constexpr std::array kKinds{FileKind::kRules, FileKind::kExperiment, FileKind::kWorkloads,
                              FileKind::kOverheads, FileKind::kTaskSet};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

}  // namespace

std::optional<FileKind> file_kind(const YamlNode& root) {
  const auto certain = certain_kind(root);
  if (certain || root.kind != YamlKind::kMapping || value_of(root, "kind") != nullptr) {
    return certain;
  }
  const bool is_application = has_any(root, {"name", "description"});
  const bool is_robot = has_any(root, {"executor"});
  if (is_application == is_robot) {
    return std::nullopt;
  }
  return is_application ? FileKind::kApplication : FileKind::kRobot;
}

std::string describe(FileKind kind) {
  const Texts& texts = texts_of(kind);
  return std::string(texts.what) + ", for " + texts.taken_by;
}

bool report_other_kind(const YamlNode& root, FileKind expected, yaml::Context& context) {
  const auto found = may_have_names(expected) ? certain_kind(root) : file_kind(root);
  if (!found || *found == expected) {
    return false;
  }
  const bool is_part = expected == FileKind::kRobot && *found == FileKind::kHost;
  context.diagnostics.report(
      root.at, "this is " + describe(*found),
      is_part ? "a robot.yaml, or the name of one of these processes beside the file"
              : texts_of(expected).expected);
  return true;
}

FileKind file_kind_named(std::string_view name) {
  const auto found = std::ranges::find(kTexts, name, &Texts::name);
  if (found == kTexts.end() || found->expected == nullptr) {
    throw std::invalid_argument("no reader expects a file of the kind '" + std::string(name) + "'");
  }
  return found->kind;
}

}  // namespace rclrt::model

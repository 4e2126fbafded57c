// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/host.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "limits.hpp"
#include "names.hpp"
#include "rclrt/model/file_kind.hpp"
#include "rclrt/yaml/file.hpp"
#include "read_robot_sections.hpp"
#include "yaml.hpp"

namespace rclrt::model {

namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): the vocabulary of the readers

/// A process, and the positions in the file of the compared values.
struct Placed {
  HostProcess process;
  Position at;
  Position top_at;  // of its top_priority, or of its entry
};

void read_name_of(const Fields& fields, HostProcess& process, std::map<std::string, Position>& seen,
                  Context& context) {
  const YamlNode* const name = fields.require("name", "name: sensors");
  if (name == nullptr) {
    return;
  }
  process.name = read_name(*name, "name", context).value_or("");
  const auto [first, fresh] = seen.try_emplace(process.name, name->at);
  if (!fresh) {
    context.diagnostics.report(name->at,
                               "a second process " + in_quotes(process.name) +
                                   " (the first is on " + yaml::line_of(first->second) + ")",
                               "a different name for each process");
  }
}

std::vector<Placed> read_processes(const YamlNode& list, Context& context) {
  std::vector<std::string_view> known{"name"};
  for (const std::string_view key : robot_keys()) {
    if (key != "rclrt") {
      known.push_back(key);
    }
  }
  std::vector<Placed> result;
  std::map<std::string, Position> seen;
  for (const YamlNode& item : read_filled_list(list, "processes", context)) {
    Placed placed{{}, item.at, item.at};
    const Fields fields(item, "process", known, context);
    if (item.kind == YamlKind::kMapping) {
      read_name_of(fields, placed.process, seen, context);
      placed.process.robot = read_robot(fields, context);
      if (const YamlNode* executor = fields.find("executor");
          executor != nullptr && executor->kind == YamlKind::kMapping) {
        Context ignored;  // its mistakes are reported already
        if (const YamlNode* top = Fields(*executor, "executor", robot_executor_keys(), ignored)
                                      .find("top_priority")) {
          placed.top_at = top->at;
        }
      }
    }
    result.push_back(std::move(placed));
  }
  return result;
}

int top_of(const HostProcess& process) {
  return process.robot.executor.top_priority.value_or(kTopPriority);
}

/// Checks that one scale of priorities has one top priority, and enough priorities below it.
void check_levels(const std::vector<Placed>& processes, const Host& host, Context& context) {
  const Placed* first = nullptr;
  for (const Placed& each : processes) {
    if (!has_kernel_levels(each.process.robot.executor)) {
      continue;
    }
    if (first == nullptr) {
      first = &each;
      continue;
    }
    if (top_of(each.process) != top_of(first->process)) {
      context.diagnostics.report(
          each.top_at,
          "top_priority is " + std::to_string(top_of(each.process)) + ", but in process " +
              in_quotes(first->process.name) + " it is " + std::to_string(top_of(first->process)) +
              ": a callback could run before a more urgent one of the other process",
          "the same top_priority in all processes of the host");
    }
  }
  const std::size_t levels = host.levels().size();
  if (first != nullptr && levels >= static_cast<std::size_t>(top_of(first->process))) {
    context.diagnostics.report(first->top_at,
                               "the callbacks of the host have " + std::to_string(levels) +
                                   " priorities, and the kernel has " +
                                   std::to_string(top_of(first->process) - 1) +
                                   " below this top_priority",
                               "fewer priorities, or a higher top_priority");
  }
}

/// Returns the canonical form of the path.
std::filesystem::path place_of(const std::filesystem::path& path) {
  const std::filesystem::path normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

/// Checks that no two processes write to the same path: the later process would replace the output
/// of the earlier one.
void check_outputs(const std::vector<Placed>& processes, Context& context) {
  std::map<std::filesystem::path, const Placed*> seen;
  const auto check = [&](const Placed& each, const char* key, const std::filesystem::path& path) {
    if (path.empty()) {
      return;
    }
    const auto [first, fresh] = seen.try_emplace(place_of(path), &each);
    if (!fresh) {
      context.diagnostics.report(each.at,
                                 std::string(key) + " of process " + in_quotes(each.process.name) +
                                     " is '" + path.string() + "', as of process " +
                                     in_quotes(first->second->process.name),
                                 "a different path for each process");
    }
  };
  for (const Placed& each : processes) {
    const Robot& robot = each.process.robot;
    check(each, "write_priorities", robot.write_priorities);
    check(each, "the recording's directory",
          robot.recording ? robot.recording->directory : std::filesystem::path());
  }
  // A recording replaces its directory, but refuses one that has other files.
  for (const Placed& each : processes) {
    const std::filesystem::path& file = each.process.robot.write_priorities;
    for (const Placed& other : processes) {
      const std::optional<RobotRecording>& recording = other.process.robot.recording;
      if (!file.empty() && recording &&
          place_of(file).parent_path() == place_of(recording->directory)) {
        context.diagnostics.report(
            each.at,
            "write_priorities of process " + in_quotes(each.process.name) +
                " is in the recording's directory of process " + in_quotes(other.process.name),
            "a file outside of this directory, because a recording replaces it");
      }
    }
  }
}

}  // namespace

bool has_kernel_levels(const RobotExecutor& executor) {
  return executor.realtime != RealtimeUse::kOff && executor.preemption != PreemptionUse::kNever &&
         traits(executor.kind).has_levels;
}

std::vector<int> Host::levels() const {
  std::set<int, std::greater<>> result;
  for (const HostProcess& each : processes) {
    if (!has_kernel_levels(each.robot.executor)) {
      continue;
    }
    const int least = each.robot.executor.best_effort_below.value_or(0);
    std::set<int> own{0};  // for callbacks without a priority, such as the services of each node
    for (const NodeTiming& timing : each.robot.callbacks) {
      own.insert(timing.priority.value_or(0));
    }
    std::ranges::copy_if(own, std::inserter(result, result.end()),
                         [&](int priority) { return priority >= least; });
  }
  return {result.begin(), result.end()};
}

const HostProcess* Host::find(std::string_view name) const {
  const auto found = std::ranges::find(processes, name, &HostProcess::name);
  return found == processes.end() ? nullptr : &*found;
}

HostResult parse_host(std::string_view text) {
  Context context;
  HostResult result;
  const auto root = yaml::read_yaml(text, context.diagnostics);
  if (root && !report_other_kind(*root, FileKind::kHost, context)) {
    const Fields fields(*root, "host", {"rclrt", "processes"}, context);
    const YamlNode* version = fields.require("rclrt", "rclrt: 1");
    // A file of another version cannot be checked further.
    if (version == nullptr ||
        read_integer(*version, "the format version", kFormatVersions, context)) {
      Host host;
      if (const YamlNode* list = fields.require("processes", "processes: [{name: sensors}]")) {
        std::vector<Placed> processes = read_processes(*list, context);
        for (const Placed& each : processes) {
          host.processes.push_back(each.process);
        }
        check_levels(processes, host, context);
        check_outputs(processes, context);
      }
      if (context.diagnostics.empty()) {
        result.host = std::move(host);
      }
    }
  }
  result.diagnostics = context.diagnostics.take();
  return result;
}

Host load_host(const std::filesystem::path& file) {
  HostResult result = parse_host(yaml::read_file(file, "host file"));
  if (!result.host) {
    throw yaml::FileError(file, result.diagnostics);
  }
  Host host = *std::move(result.host);
  for (HostProcess& each : host.processes) {
    if (each.robot.recording && !each.robot.recording->application.empty()) {
      each.robot.recording->application = file.parent_path() / each.robot.recording->application;
    }
  }
  return host;
}

}  // namespace rclrt::model

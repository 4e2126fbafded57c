// SPDX-License-Identifier: Apache-2.0
/// The sections "executors" and "nodes".
#include <utility>

#include "limits.hpp"
#include "names.hpp"
#include "read_scheduling.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {
namespace {

std::string read_namespace(const Fields& fields, Context& context) {
  const YamlNode* node = fields.find("namespace");
  if (node == nullptr) {
    return "/";
  }
  auto text = read_text(*node, "namespace", context);
  if (!text) {
    return "/";
  }
  if (is_namespace(*text)) {
    return *std::move(text);
  }
  report_value(*node, "namespace",
               "'/', or names each with a '/' before it such as '/front/left', at most " +
                   std::to_string(kMaxNamespace) + " characters",
               context);
  return "/";
}

std::size_t read_executor_of_node(const Fields& fields, Position at, Reading& reading) {
  if (const YamlNode* node = fields.find("executor")) {
    const auto name = read_text(*node, "executor", reading.context);
    return name ? reading.executors.resolve(*name, node->at, reading.context) : kUnknown;
  }
  if (reading.executors.size() > 1 && !fields.is_misspelt("executor")) {
    reading.context.diagnostics.report(at, "the node states no executor",
                                       "the key 'executor', because there are several executors");
  }
  return 0;
}

}  // namespace

void read_executors(const YamlNode* section, Reading& reading) {
  if (section == nullptr) {
    Executor executor{.name = "main"};
    const auto& hosts = reading.draft.application.hosts;
    if (!hosts.empty()) {
      executor.host = 0;
    }
    reading.draft.application.executors.push_back(std::move(executor));
    reading.executors.add("main", {}, reading.context);
    return;
  }
  const auto& items = read_filled_list(*section, "executors", reading.context);
  if (items.empty()) {
    reading.executors.assume_missing();
  }
  for (const YamlNode& item : items) {
    const Fields fields(item, "executor",
                        {"name", "host", "cpus", "scheduler_cpus", "process", "top_priority"},
                        reading.context);
    Executor executor;
    executor.name =
        read_declared_name(fields, "name", "name: main", reading.executors, reading.context);
    executor.cpus = read_cpus(fields, "cpus", reading.context);
    executor.scheduler_cpus = read_cpus(fields, "scheduler_cpus", reading.context);
    if (const YamlNode* value = fields.find("process")) {
      executor.process = read_name(*value, "process", reading.context).value_or("");
    }
    if (const YamlNode* value = fields.find("top_priority")) {
      if (const auto top = read_integer(*value, "top_priority", kTopPriorities, reading.context)) {
        executor.top_priority = static_cast<int>(*top);
      }
    }
    executor.host = read_host_of_executor(fields, item.at, executor, reading);
    reading.draft.application.executors.push_back(std::move(executor));
  }
}

void read_nodes(const YamlNode* section, Reading& reading) {
  if (section == nullptr) {
    return reading.nodes.assume_missing();
  }
  const auto& items = read_filled_list(*section, "nodes", reading.context);
  if (items.empty()) {
    reading.nodes.assume_missing();
  }
  for (const YamlNode& item : items) {
    const Fields fields(item, "node", {"name", "namespace", "executor"}, reading.context);
    Node node;
    node.name = read_declared_name(fields, "name", "name: lidar", reading.nodes, reading.context);
    node.name_space = read_namespace(fields, reading.context);
    node.executor = read_executor_of_node(fields, item.at, reading);
    reading.draft.application.nodes.push_back(std::move(node));
  }
}

}  // namespace rclrt::model::detail

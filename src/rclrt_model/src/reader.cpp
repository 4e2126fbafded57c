// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"

#include <utility>

#include "limits.hpp"
#include "names.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

Draft read_application(const YamlNode& root, Context& context) {
  Reading reading{context, {}};
  Application& application = reading.draft.application;
  const Fields fields(root, "application",
                      {"rclrt", "name", "description", "hosts", "links", "executors", "nodes",
                       "callbacks", "topics", "chains", "threads"},
                      context);
  if (root.kind != YamlKind::kMapping) {
    return {};
  }
  if (const YamlNode* node = fields.require("rclrt", "rclrt: 1")) {
    // A file of another version cannot be checked further.
    if (!read_integer(*node, "the format version", kFormatVersions, context)) {
      return {};
    }
  }
  if (const YamlNode* node = fields.require("name", "name: my_robot")) {
    application.name = read_name(*node, "name", context).value_or("");
  }
  if (const YamlNode* node = fields.find("description")) {
    application.description = read_text(*node, "description", context).value_or("");
  }
  read_hosts(fields.find("hosts"), reading);
  read_links(fields.find("links"), reading);
  const YamlNode* const executors = fields.find("executors");
  if (executors == nullptr && application.hosts.size() > 1) {
    context.diagnostics.report(fields.find("hosts")->at,
                               "there are several hosts, and no executor states its host",
                               "executors, each with the key 'host'");
  }
  read_executors(executors, reading);
  read_nodes(fields.require("nodes", "nodes: [{name: lidar}]"), reading);
  read_callbacks(fields.require("callbacks", "callbacks: [...]"), reading);
  read_topics(fields.find("topics"), reading);
  read_chains(fields.require("chains", "chains: [...]"), reading);
  read_threads(fields.find("threads"), reading);
  return std::move(reading.draft);
}

std::string read_declared_name(const Fields& fields, std::string_view key, std::string_view example,
                               NameIndex& index, Context& context) {
  const YamlNode* node = fields.require(key, example);
  const auto name = node != nullptr ? read_name(*node, key, context) : std::nullopt;
  if (!name) {
    index.add_unreadable();
    return {};
  }
  index.add(*name, node->at, context);
  return *name;
}

}  // namespace rclrt::model::detail

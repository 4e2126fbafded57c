// SPDX-License-Identifier: Apache-2.0
/// The section "topics", and the list of all topics that the callbacks use.
#include <map>

#include "limits.hpp"
#include "names.hpp"
#include "rclrt/model/services.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {
namespace {

using TopicIndex = std::map<std::string, std::size_t, std::less<>>;

TopicIndex collect_topics(Application& application) {
  TopicIndex index;
  const auto add = [&](const std::string& topic) {
    if (topic.empty()) {
      return;  // a topic that could not be read
    }
    if (index.try_emplace(topic, application.topics.size()).second) {
      application.topics.push_back({topic, 0});
    }
  };
  for (const Callback& callback : application.callbacks) {
    for (const std::string& topic : inputs(callback)) {
      add(topic);
    }
    for (const std::string& topic : callback.publishes) {
      add(topic);
    }
    for (const std::string& topic : callback.samples) {
      add(topic);
    }
  }
  return index;
}

void report_unused(const std::string& name, Position at, Reading& reading) {
  std::vector<std::string_view> used;
  used.reserve(reading.draft.application.topics.size());
  for (const Topic& topic : reading.draft.application.topics) {
    if (!is_service_topic(topic.name)) {
      used.push_back(topic.name);
    }
  }
  reading.context.diagnostics.report(
      at, "topic " + in_quotes(name) + " is used by no callback",
      reading.context.suggester.suggest(name, used, "a topic that a callback uses").expected);
}

}  // namespace

void read_topics(const YamlNode* section, Reading& reading) {
  Context& context = reading.context;
  const TopicIndex used = collect_topics(reading.draft.application);
  if (section == nullptr) {
    return;
  }
  NameIndex listed("topic", "topics");
  for (const YamlNode& item : read_list(*section, "topics", context)) {
    const Fields fields(item, "topic", {"name", "size_bytes", "network_priority"}, context);
    const YamlNode* name_node = fields.require("name", "name: points");
    const auto name = name_node != nullptr ? read_topic(*name_node, "name", context) : std::nullopt;
    std::int64_t size = 0;
    if (const YamlNode* node = fields.find("size_bytes")) {
      size = read_integer(*node, "size_bytes", kPayloadBytes, context).value_or(0);
    }
    std::int64_t priority = 0;
    if (const YamlNode* node = fields.find("network_priority")) {
      priority = read_integer(*node, "network_priority", kPriorities, context).value_or(0);
    }
    if (!name) {
      continue;
    }
    listed.add(*name, name_node->at, context);
    if (const auto found = used.find(*name); found != used.end()) {
      Topic& topic = reading.draft.application.topics[found->second];
      topic.size_bytes = static_cast<std::size_t>(size);
      topic.network_priority = static_cast<int>(priority);
    } else if (reading.draft.graph_known) {
      report_unused(*name, name_node->at, reading);
    }
  }
}

}  // namespace rclrt::model::detail

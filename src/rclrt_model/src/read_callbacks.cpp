// SPDX-License-Identifier: Apache-2.0
/// The section "callbacks".
#include <map>
#include <utility>

#include "limits.hpp"
#include "names.hpp"
#include "read_trigger.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {
namespace {

void read_trigger(const Fields& fields, Position at, Callback& callback, CallbackSource& source,
                  TopicReader& topics) {
  const YamlNode* timer = fields.find("timer");
  const YamlNode* subscription = fields.find("subscription");
  const YamlNode* sync = fields.find("sync");
  const int count = (timer != nullptr) + (subscription != nullptr) + (sync != nullptr);
  if (count != 1) {
    topics.lose();
    const bool misspelt = fields.is_misspelt("timer") || fields.is_misspelt("subscription") ||
                          fields.is_misspelt("sync");
    if (count > 1 || !misspelt) {
      topics.context().diagnostics.report(
          at,
          "callback " + in_quotes(callback.id) +
              (count == 0 ? " has no trigger" : " has more than one trigger"),
          "exactly one of 'timer', 'subscription' and 'sync'");
    }
  }
  TriggerDraft draft;
  if (sync != nullptr) {
    draft = read_sync(*sync, topics);
  }
  if (subscription != nullptr) {
    draft = read_subscription(*subscription, topics);
  }
  if (timer != nullptr) {
    draft = read_timer(*timer, topics.context());
  }
  callback.trigger = std::move(draft.trigger);
  source.inputs = std::move(draft.inputs);
}

void read_publishes(const YamlNode& node, Callback& callback, CallbackSource& source,
                    TopicReader& topics) {
  Context& context = topics.context();
  if (node.kind != YamlKind::kSequence) {
    topics.lose();
  }
  std::map<std::string, Position> seen;  // not a hash table: its keys are hostile
  for (const YamlNode& item : read_list(node, "publishes", context)) {
    const std::string topic = topics.read(item);
    if (topic.empty()) {
      continue;
    }
    const auto [first, inserted] = seen.try_emplace(topic, item.at);
    if (!inserted) {
      context.diagnostics.report(
          item.at, "the callback publishes the topic " + in_quotes(topic) + " twice",
          "each topic once (the first is on " + line_of(first->second) + ")");
      continue;
    }
    callback.publishes.push_back(topic);
    source.publishes.push_back(item.at);
  }
}

std::size_t read_node_of_callback(const Fields& fields, Reading& reading) {
  const YamlNode* node = fields.require("node", "node: lidar");
  const auto name = node != nullptr ? read_text(*node, "node", reading.context) : std::nullopt;
  return name ? reading.nodes.resolve(*name, node->at, reading.context) : kUnknown;
}

void read_timing(const Fields& fields, Callback& callback, Context& context) {
  if (const YamlNode* value = fields.require("wcet_ms", "wcet_ms: 2.5")) {
    callback.wcet =
        read_milliseconds(*value, "wcet_ms", Zero::kAllowed, context).value_or(Nanoseconds::zero());
  }
  if (const YamlNode* value = fields.find("overload")) {
    callback.overload = read_choice<Overload>(*value, "overload",
                                              {{"queue", Overload::kQueue},
                                               {"keep_last", Overload::kKeepLast},
                                               {"skip_if_running", Overload::kSkipIfRunning}},
                                              context)
                            .value_or(Overload::kQueue);
    if (callback.overload != Overload::kQueue && fields.find("sync") != nullptr) {
      context.diagnostics.report(value->at, "a sync keeps 'depth' messages of each topic",
                                 "no overload, or 'overload: queue'");
    }
  }
  if (const YamlNode* value = fields.find("deadline_ms")) {
    callback.deadline = read_milliseconds(*value, "deadline_ms", Zero::kRefused, context);
  }
  if (const YamlNode* value = fields.find("group")) {
    callback.group = read_name(*value, "group", context);
  }
  if (const YamlNode* value = fields.find("priority")) {
    callback.priority = static_cast<int>(
        read_integer(*value, "priority", kPriorities, context).value_or(kPriorities.min));
  }
}

void read_callback(const YamlNode& item, Reading& reading) {
  Context& context = reading.context;
  const Fields fields(item, "callback",
                      {"id", "node", "timer", "subscription", "sync", "wcet_ms", "publishes",
                       "overload", "deadline_ms", "group", "priority"},
                      context);
  Callback callback;
  callback.id = read_declared_name(fields, "id", "id: scan", reading.callbacks, context);
  CallbackSource source;
  const YamlNode* id = fields.find("id");
  source.id = id != nullptr ? id->at : item.at;
  bool topics_known = fields.sound() && !callback.id.empty();
  if (item.kind == YamlKind::kMapping) {
    callback.node = read_node_of_callback(fields, reading);
    const auto& nodes = reading.draft.application.nodes;
    // Views on both sides: a std::string here would be a temporary that the reader outlives.
    const std::string_view name_space = callback.node < nodes.size()
                                            ? std::string_view(nodes[callback.node].name_space)
                                            : std::string_view("/");
    TopicReader topics(name_space, context);
    read_trigger(fields, item.at, callback, source, topics);
    if (const YamlNode* value = fields.find("publishes")) {
      read_publishes(*value, callback, source, topics);
    }
    read_timing(fields, callback, context);
    topics_known = topics_known && topics.all_read();
  }
  if (!topics_known) {
    reading.draft.graph_known = false;
  }
  reading.draft.application.callbacks.push_back(std::move(callback));
  reading.draft.callbacks.push_back(std::move(source));
}

}  // namespace

void read_callbacks(const YamlNode* section, Reading& reading) {
  const auto* items =
      section != nullptr ? &read_filled_list(*section, "callbacks", reading.context) : nullptr;
  if (items == nullptr || items->empty()) {
    reading.callbacks.assume_missing();
    reading.draft.graph_known = false;
    return;
  }
  for (const YamlNode& item : *items) {
    read_callback(item, reading);
  }
}

}  // namespace rclrt::model::detail

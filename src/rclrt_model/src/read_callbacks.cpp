// SPDX-License-Identifier: Apache-2.0
/// The section "callbacks".
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "limits.hpp"
#include "names.hpp"
#include "rclrt/model/services.hpp"
#include "read_services.hpp"
#include "read_trigger.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {
namespace {

void read_trigger(const Fields& fields, Position at, Callback& callback, CallbackSource& source,
                  TopicReader& topics) {
  constexpr std::array<std::string_view, 6> kTriggers{"timer", "subscription", "sync",
                                                      "event", "service",      "client"};
  const auto count = std::ranges::count_if(
      kTriggers, [&](std::string_view key) { return fields.find(key) != nullptr; });
  if (count != 1) {
    topics.lose();
    const bool misspelt = std::ranges::any_of(
        kTriggers, [&](std::string_view key) { return fields.is_misspelt(key); });
    if (count > 1 || !misspelt) {
      topics.context().diagnostics.report(
          at,
          "callback " + in_quotes(callback.id) +
              (count == 0 ? " has no trigger" : " has more than one trigger"),
          "exactly one of 'timer', 'subscription', 'sync', 'event', 'service' and 'client'");
    }
  }
  TriggerDraft draft;
  if (const YamlNode* node = fields.find("client")) {
    draft = read_client(*node, topics);
  }
  if (const YamlNode* node = fields.find("service")) {
    draft = read_service(*node, topics);
  }
  if (const YamlNode* node = fields.find("sync")) {
    draft = read_sync(*node, topics);
  }
  if (const YamlNode* node = fields.find("subscription")) {
    draft = read_subscription(*node, topics);
  }
  if (const YamlNode* node = fields.find("timer")) {
    draft = read_timer(*node, topics.context());
  }
  if (const YamlNode* node = fields.find("event")) {
    draft = read_event(*node, topics.context());
  }
  callback.trigger = std::move(draft.trigger);
  source.inputs = std::move(draft.inputs);
  source.service = draft.service;
}

/// Reads a list of distinct topics and appends those that are missing to `publishes` of `callback`.
/// Returns the indices of the list's topics in `publishes`, ascending.
std::vector<std::size_t> read_outputs(const YamlNode& node, std::string_view what,
                                      Callback& callback, CallbackSource& source,
                                      TopicReader& topics) {
  Context& context = topics.context();
  if (node.kind != YamlKind::kSequence) {
    topics.lose();
  }
  // An ordered map, because an attacker chooses the keys of this table.
  std::map<std::string, Position> seen;
  std::map<std::string, std::size_t> published;
  for (std::size_t i = 0; i < callback.publishes.size(); ++i) {
    published.emplace(callback.publishes[i], i);
  }
  std::vector<std::size_t> result;
  for (const YamlNode& item : read_list(node, what, context)) {
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
    const auto [output, adds] = published.try_emplace(topic, callback.publishes.size());
    result.push_back(output->second);
    if (adds) {
      callback.publishes.push_back(topic);
      source.publishes.push_back(item.at);
    }
  }
  std::ranges::sort(result);
  return result;
}

/// Reads the answers of each topic: a mapping from topics to lists of topics.
void read_routes(const YamlNode& node, Callback& callback, CallbackSource& source,
                 TopicReader& topics) {
  Context& context = topics.context();
  const std::vector<std::string> taken = inputs(callback);
  const std::vector<std::string_view> known(taken.begin(), taken.end());
  if (taken.empty() || !topics.all_read()) {
    if (topics.all_read()) {
      context.diagnostics.report(
          node.at,
          "'publishes' is a mapping in a " + std::string(trigger_name(callback)) + "'s callback",
          "a list, because the callback takes no topics");
    }
    topics.lose();
    return;
  }
  callback.routes.resize(taken.size());
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const YamlNode& key = node.children[i];
    const auto at = std::ranges::find(taken, key.text);
    if (at == taken.end()) {
      context.diagnostics.report(
          key.at,
          "'publishes' has the key " + in_quotes(key.text) + ", which the callback does not take",
          context.suggester.suggest(key.text, known, "a topic that it takes").expected);
      topics.lose();
      continue;
    }
    callback.routes[static_cast<std::size_t>(at - taken.begin())] = read_outputs(
        node.children[i + 1], "publishes for " + in_quotes(key.text), callback, source, topics);
  }
  if (taken.size() == 1) {
    callback.routes.clear();  // there is no choice
  }
}

void read_publishes(const YamlNode& node, Callback& callback, CallbackSource& source,
                    TopicReader& topics) {
  if (node.kind == YamlKind::kMapping) {
    read_routes(node, callback, source, topics);
  } else {
    read_outputs(node, "publishes", callback, source, topics);
  }
}

std::size_t read_node_of_callback(const Fields& fields, Reading& reading) {
  const YamlNode* node = fields.require("node", "node: lidar");
  const auto name = node != nullptr ? read_text(*node, "node", reading.context) : std::nullopt;
  return name ? reading.nodes.resolve(*name, node->at, reading.context) : kUnknown;
}

void read_workload(const YamlNode& node, Callback& callback, Context& context) {
  const Fields fields(node, "workload", {"name", "iterations"}, context);
  Workload workload;
  if (const YamlNode* value = fields.require("name", "name: matrix")) {
    workload.name = read_name(*value, "name", context).value_or("");
  }
  if (const YamlNode* value = fields.require("iterations", "iterations: 100")) {
    workload.iterations = static_cast<std::uint64_t>(
        read_integer(*value, "iterations", kIterations, context).value_or(kIterations.min));
  }
  callback.workload = std::move(workload);
}

void read_observed(const YamlNode& node, Callback& callback, Context& context) {
  const Fields fields(node, "observation", {"n", "p50_ms", "p99_ms", "max_ms"}, context);
  ObservedTimes observed;
  if (const YamlNode* value = fields.require("n", "n: 500")) {
    observed.n = static_cast<std::uint64_t>(
        read_integer(*value, "n", kObservations, context).value_or(kObservations.min));
  }
  const auto read_time = [&](const char* key, const char* example) {
    const YamlNode* const value = fields.require(key, example);
    const auto time =
        value != nullptr ? read_milliseconds(*value, key, Zero::kAllowed, context) : std::nullopt;
    return time.value_or(Nanoseconds::max());
  };
  observed.p50 = read_time("p50_ms", "p50_ms: 1.5");
  observed.p99 = read_time("p99_ms", "p99_ms: 2");
  observed.max = read_time("max_ms", "max_ms: 2.5");
  if (observed.max != Nanoseconds::max() &&
      ((observed.p50 > observed.p99 && observed.p99 != Nanoseconds::max()) ||
       (observed.p99 > observed.max && observed.p99 != Nanoseconds::max()))) {
    context.diagnostics.report(node.at, "the observed times are not in ascending order",
                               "p50_ms <= p99_ms <= max_ms");
  }
  callback.observed = observed;
}

void read_executor(const Fields& fields, Callback& callback, CallbackSource& source,
                   Reading& reading) {
  if (const YamlNode* value = fields.find("executor")) {
    source.executor = value->at;
    if (const auto name = read_text(*value, "executor", reading.context)) {
      callback.executor = reading.executors.resolve(*name, value->at, reading.context);
    }
  }
}

/// Distinct names of one kind in a list of the file, with their positions.
struct NameList {
  const char* kind;
  std::vector<std::string>& names;
  std::vector<Position>& positions;
  std::set<std::string> seen{};  // ordered, because an attacker chooses the keys

  /// Adds the name, which may be empty if it could not be read. `what`: the key of the list.
  void add(const YamlNode& item, std::string_view what, const std::string& name, Context& context) {
    if (!seen.insert(name).second && !name.empty()) {
      context.diagnostics.report(
          item.at, in_quotes(what) + " lists the " + kind + " " + in_quotes(name) + " twice",
          "each " + std::string(kind) + " once");
      return;
    }
    names.push_back(name);
    positions.push_back(item.at);
  }
};

void read_stores(const YamlNode& node, Callback& callback, CallbackSource& source,
                 Context& context) {
  NameList variables{"variable", callback.stores, source.stores};
  for (const YamlNode& item : read_filled_list(node, "stores", context)) {
    variables.add(item, "stores", read_name(item, "variable", context).value_or(""), context);
  }
}

/// Reads a list of variables, and of topics as `{topic: scan}`.
void read_reads(const YamlNode& node, Callback& callback, CallbackSource& source,
                TopicReader& topics) {
  Context& context = topics.context();
  NameList variables{"variable", callback.reads, source.reads};
  NameList newest{"topic", callback.samples, source.samples};
  for (const YamlNode& item : read_filled_list(node, "reads", context)) {
    if (item.kind != YamlKind::kMapping) {
      variables.add(item, "reads", read_name(item, "variable", context).value_or(""), context);
      continue;
    }
    const Fields fields(item, "newest message", {"topic"}, context);
    const YamlNode* const topic = fields.require("topic", "topic: scan");
    if (topic == nullptr) {
      topics.lose();
    } else if (const std::string name = topics.read(*topic); !name.empty()) {
      newest.add(*topic, "reads", name, context);
    }
  }
  if (callback.samples.size() > static_cast<std::size_t>(kSampledTopics.max)) {
    context.diagnostics.report(
        node.at, "'reads' lists " + std::to_string(callback.samples.size()) + " topics",
        "at most " + std::to_string(kSampledTopics.max));
    topics.lose();
  }
}

void read_timing(const Fields& fields, Callback& callback, Context& context) {
  if (const YamlNode* value = fields.require("wcet_ms", "wcet_ms: 2.5")) {
    callback.wcet =
        read_milliseconds(*value, "wcet_ms", Zero::kAllowed, context).value_or(Nanoseconds::zero());
  }
  if (const YamlNode* value = fields.find("waits_ms")) {
    callback.waits = read_milliseconds(*value, "waits_ms", Zero::kAllowed, context)
                         .value_or(Nanoseconds::zero());
    if (callback.waits > Nanoseconds::zero() && callback.wcet == Nanoseconds::zero()) {
      context.diagnostics.report(value->at, "a callback that waits needs CPU time after that",
                                 "a 'wcet_ms' above 0, or no waits_ms");
    }
  }
  if (const YamlNode* value = fields.find("workload")) {
    read_workload(*value, callback, context);
  }
  if (const YamlNode* value = fields.find("observed")) {
    read_observed(*value, callback, context);
  }
  if (const YamlNode* value = fields.find("overload")) {
    callback.overload = read_choice<Overload>(*value, "overload",
                                              {{"queue", Overload::kQueue},
                                               {"keep_last", Overload::kKeepLast},
                                               {"skip_if_running", Overload::kSkipIfRunning}},
                                              context)
                            .value_or(Overload::kQueue);
    const char* const keeps = role_of(callback) == Role::kService      ? "requests of each client"
                              : role_of(callback) == Role::kClient     ? "responses"
                              : callback.kind() == CallbackKind::kSync ? "messages of each topic"
                                                                       : nullptr;
    if (callback.overload != Overload::kQueue && keeps != nullptr) {
      context.diagnostics.report(
          value->at, "a " + std::string(trigger_name(callback)) + " keeps 'depth' " + keeps,
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
  const Fields fields(
      item, "callback",
      {"id",          "node",    "timer",    "subscription", "sync",   "event",    "service",
       "client",      "wcet_ms", "observed", "publishes",    "calls",  "workload", "overload",
       "deadline_ms", "group",   "priority", "executor",     "stores", "reads",    "waits_ms"},
      context);
  Callback callback;
  callback.id = read_declared_name(fields, "id", "id: scan", reading.callbacks, context);
  CallbackSource source;
  const YamlNode* id = fields.find("id");
  source.id = id != nullptr ? id->at : item.at;
  source.executor = source.id;
  bool topics_known = fields.sound() && !callback.id.empty();
  if (item.kind == YamlKind::kMapping) {
    callback.node = read_node_of_callback(fields, reading);
    const auto& nodes = reading.draft.application.nodes;
    // Both sides are views: a std::string here would be a temporary that does not live long enough.
    const std::string_view name_space = callback.node < nodes.size()
                                            ? std::string_view(nodes[callback.node].name_space)
                                            : std::string_view("/");
    TopicReader topics(name_space, context);
    read_trigger(fields, item.at, callback, source, topics);
    if (const YamlNode* value = fields.find("publishes")) {
      read_publishes(*value, callback, source, topics);
    }
    if (const YamlNode* value = fields.find("calls")) {
      read_calls(*value, source, topics);
    }
    if (const YamlNode* value = fields.find("stores")) {
      read_stores(*value, callback, source, context);
      reading.draft.variables_known &= !callback.stores.empty();
    }
    if (const YamlNode* value = fields.find("reads")) {
      read_reads(*value, callback, source, topics);
      reading.draft.variables_known &= !callback.reads.empty() || !callback.samples.empty();
    }
    read_timing(fields, callback, context);
    read_executor(fields, callback, source, reading);
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
  add_service_topics(reading);
}

}  // namespace rclrt::model::detail

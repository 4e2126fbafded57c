// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"

#include <map>
#include <utility>

#include "callback_reader.hpp"
#include "limits.hpp"
#include "name_index.hpp"
#include "names.hpp"

namespace rclrt::model::detail {
namespace {

/// Reads the name of an entry and declares it.
std::string read_declared(const Fields& fields, std::string_view key, NameIndex& index,
                          Context& context) {
  const YamlNode* node = fields.require(key);
  const auto name = node != nullptr ? read_name(*node, key, context) : std::nullopt;
  if (!name) {
    index.add_unreadable();
    return {};
  }
  index.add(*name, node->at, context);
  return *name;
}

std::vector<int> read_cpus(const Fields& fields, Context& context) {
  std::vector<int> cpus;
  const YamlNode* node = fields.find("cpus");
  if (node == nullptr) return cpus;
  std::map<std::int64_t, Position> seen;
  for (const YamlNode& item : read_filled_list(*node, "cpus", context)) {
    const auto cpu = read_integer(item, "CPU", kCpus, context);
    if (!cpu) continue;
    if (!seen.try_emplace(*cpu, item.at).second) {
      context.diagnostics.report(item.at, "CPU " + std::to_string(*cpu) + " is listed twice",
                                 "each CPU once");
      continue;
    }
    cpus.push_back(static_cast<int>(*cpu));
  }
  return cpus;
}

class Reader {
 public:
  Reader(const YamlNode& root, Context& context)
      : context_(context),
        fields_(root, "the application",
                {"rclrt", "name", "description", "executors", "nodes", "callbacks", "topics",
                 "chains", "threads"},
                context) {}

  Draft read() {
    if (!read_version()) return std::move(draft_);
    if (const YamlNode* node = fields_.require("name")) {
      application_.name = read_name(*node, "name", context_).value_or("");
    }
    if (const YamlNode* node = fields_.find("description")) {
      application_.description = read_text(*node, "description", context_).value_or("");
    }
    read_executors();
    read_nodes();
    read_callbacks();
    collect_topics();
    read_topics();
    read_chains();
    read_threads();
    return std::move(draft_);
  }

 private:
  /// False for another version: nothing else in the file can be judged then.
  bool read_version() {
    const YamlNode* node = fields_.require("rclrt");
    if (node == nullptr) return true;
    const auto version = read_integer(*node, "format version 'rclrt'", {1, 1}, context_);
    return version.has_value();
  }

  void read_executors() {
    const YamlNode* node = fields_.find("executors");
    if (node == nullptr) {
      application_.executors.push_back({"main", {}});
      executors_.add("main", {}, context_);
      return;
    }
    const auto& items = read_filled_list(*node, "executors", context_);
    if (items.empty()) executors_.assume_missing();
    for (const YamlNode& item : items) {
      const Fields fields(item, "executor", {"name", "cpus"}, context_);
      Executor executor;
      executor.name = read_declared(fields, "name", executors_, context_);
      executor.cpus = read_cpus(fields, context_);
      application_.executors.push_back(std::move(executor));
    }
  }

  void read_nodes() {
    const YamlNode* section = fields_.require("nodes");
    if (section == nullptr) return nodes_.assume_missing();
    const auto& items = read_filled_list(*section, "nodes", context_);
    if (items.empty()) nodes_.assume_missing();
    for (const YamlNode& item : items) {
      const Fields fields(item, "node", {"name", "namespace", "executor"}, context_);
      Node node;
      node.name = read_declared(fields, "name", nodes_, context_);
      node.name_space = read_namespace(fields);
      node.executor = read_executor_of(fields, item);
      application_.nodes.push_back(std::move(node));
    }
  }

  std::string read_namespace(const Fields& fields) {
    const YamlNode* node = fields.find("namespace");
    if (node == nullptr) return "/";
    const auto text = read_text(*node, "namespace", context_);
    if (text && !is_namespace(*text)) {
      context_.diagnostics.report(
          node->at, "namespace is " + in_quotes(*text),
          "'/' or names each with a '/' before it, such as '/front/left', at most " +
              std::to_string(kMaxNamespace) + " characters");
    }
    return text && is_namespace(*text) ? *text : "/";
  }

  std::size_t read_executor_of(const Fields& fields, const YamlNode& item) {
    if (const YamlNode* node = fields.find("executor")) {
      const auto name = read_name(*node, "executor", context_);
      return name ? executors_.resolve(*name, node->at, context_) : kUnknown;
    }
    if (executors_.size() > 1 && item.kind == YamlKind::kMapping) {
      context_.diagnostics.report(item.at, "node has no 'executor'",
                                  "the key 'executor', because there are several executors");
    }
    return 0;
  }

  void read_callbacks() {
    const YamlNode* section = fields_.require("callbacks");
    const auto* items =
        section != nullptr ? &read_filled_list(*section, "callbacks", context_) : nullptr;
    if (items == nullptr || items->empty()) {
      callbacks_.assume_missing();
      draft_.graph_known = false;
      return;
    }
    for (const YamlNode& item : *items) read_callback(item, nodes_, callbacks_, draft_, context_);
  }

  void collect_topics() {
    for (const Callback& callback : application_.callbacks) {
      for (const std::string& topic : inputs(callback)) add_topic(topic);
      for (const std::string& topic : callback.publishes) add_topic(topic);
    }
  }

  void add_topic(const std::string& topic) {
    if (topic.empty()) return;
    if (topics_.try_emplace(topic, application_.topics.size()).second) {
      application_.topics.push_back({topic, 0});
    }
  }

  void read_topics() {
    const YamlNode* section = fields_.find("topics");
    if (section == nullptr) return;
    NameIndex listed("topic", "topics");
    for (const YamlNode& item : read_list(*section, "topics", context_)) {
      const Fields fields(item, "topic", {"name", "size_bytes"}, context_);
      const YamlNode* name_node = fields.require("name");
      const auto name =
          name_node != nullptr ? read_topic(*name_node, "name", context_) : std::nullopt;
      std::int64_t size = 0;
      if (const YamlNode* node = fields.find("size_bytes")) {
        size = read_integer(*node, "size_bytes", kPayloadBytes, context_).value_or(0);
      }
      if (!name) continue;
      listed.add(*name, name_node->at, context_);
      const auto found = topics_.find(*name);
      if (found != topics_.end()) {
        application_.topics[found->second].size_bytes = static_cast<std::size_t>(size);
      } else if (draft_.graph_known) {
        report_unused_topic(*name, name_node->at);
      }
    }
  }

  void report_unused_topic(const std::string& name, Position at) {
    std::vector<std::string_view> used;
    used.reserve(application_.topics.size());
    for (const Topic& topic : application_.topics) used.push_back(topic.name);
    context_.diagnostics.report(
        at, "topic " + in_quotes(name) + " is used by no callback",
        context_.suggester.expected_one_of(name, used, "a topic that a callback uses"));
  }

  void read_chains() {
    const YamlNode* section = fields_.require("chains");
    if (section == nullptr) return;
    NameIndex chains("chain", "chains");
    for (const YamlNode& item : read_filled_list(*section, "chains", context_)) {
      const Fields fields(item, "chain", {"id", "callbacks", "priority", "deadline_ms"}, context_);
      Chain chain;
      ChainSource source;
      chain.id = read_declared(fields, "id", chains, context_);
      if (const YamlNode* node = fields.require("callbacks")) {
        read_chain_callbacks(*node, chain, source);
      }
      if (const YamlNode* node = fields.require("priority")) {
        chain.priority = static_cast<int>(
            read_integer(*node, "priority", kPriorities, context_).value_or(0));
      }
      chain.deadline = read_deadline(fields, chain);
      application_.chains.push_back(std::move(chain));
      draft_.chains.push_back(std::move(source));
    }
  }

  void read_chain_callbacks(const YamlNode& node, Chain& chain, ChainSource& source) {
    std::map<std::size_t, Position> seen;
    for (const YamlNode& item : read_filled_list(node, "callbacks", context_)) {
      const auto id = read_name(item, "callback", context_);
      const std::size_t index = id ? callbacks_.resolve(*id, item.at, context_) : kUnknown;
      if (index != kUnknown && !seen.try_emplace(index, item.at).second) {
        context_.diagnostics.report(
            item.at, "chain " + in_quotes(chain.id) + " lists the callback " + in_quotes(*id) + " twice",
            "each callback once");
      }
      chain.callbacks.push_back(index);
      source.callbacks.push_back(item.at);
    }
  }

  Nanoseconds read_deadline(const Fields& fields, const Chain& chain) {
    if (const YamlNode* node = fields.find("deadline_ms")) {
      return read_milliseconds(*node, "deadline_ms", Zero::kRefused, context_)
          .value_or(Nanoseconds::zero());
    }
    const bool known = !chain.callbacks.empty() && chain.callbacks.front() != kUnknown;
    return known ? application_.period(chain) : Nanoseconds::zero();
  }

  void read_threads() {
    const YamlNode* section = fields_.find("threads");
    if (section == nullptr) return;
    NameIndex threads("thread", "threads");
    for (const YamlNode& item : read_list(*section, "threads", context_)) {
      const Fields fields(item, "thread", {"name", "policy", "priority", "cpus"}, context_);
      ThreadRule rule;
      if (const YamlNode* node = fields.require("name")) {
        if (read_choice<int>(*node, "name", {{"middleware", 0}}, context_)) {
          rule.name = "middleware";
          threads.add(rule.name, node->at, context_);
        }
      }
      read_thread_policy(fields, rule);
      rule.cpus = read_cpus(fields, context_);
      application_.threads.push_back(std::move(rule));
    }
  }

  void read_thread_policy(const Fields& fields, ThreadRule& rule) {
    const YamlNode* policy_node = fields.require("policy");
    if (policy_node == nullptr) return;
    const auto policy = read_choice<ThreadPolicy>(*policy_node, "policy",
                                                  {{"other", ThreadPolicy::kOther},
                                                   {"fifo", ThreadPolicy::kFifo},
                                                   {"rr", ThreadPolicy::kRoundRobin}},
                                                  context_);
    if (!policy) return;
    rule.policy = *policy;
    if (rule.policy != ThreadPolicy::kOther) {
      if (const YamlNode* node = fields.require("priority")) {
        rule.priority = static_cast<int>(
            read_integer(*node, "priority", kThreadPriorities, context_).value_or(0));
      }
    } else if (const YamlNode* node = fields.find("priority")) {
      context_.diagnostics.report(node->at, "priority is given with the policy 'other'",
                                  "no priority, or the policy 'fifo' or 'rr'");
    }
  }

  Context& context_;
  Fields fields_;
  Draft draft_;
  Application& application_ = draft_.application;
  NameIndex executors_{"executor", "executors"};
  NameIndex nodes_{"node", "nodes"};
  NameIndex callbacks_{"callback", "callbacks"};
  std::map<std::string, std::size_t, std::less<>> topics_;
};

}  // namespace

Draft read_application(const YamlNode& root, Context& context) {
  return Reader(root, context).read();
}

}  // namespace rclrt::model::detail

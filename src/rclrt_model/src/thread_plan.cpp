// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/thread_plan.hpp"

#include <array>
#include <string>
#include <utility>

#include "limits.hpp"
#include "read_robot_sections.hpp"
#include "read_scheduling.hpp"

namespace rclrt::model {

namespace detail {

namespace {

constexpr std::array<std::pair<const char*, std::string ThreadRule::*>, 3> kPatterns{
    {{"name", &ThreadRule::name},
     {"library", &ThreadRule::library},
     {"function", &ThreadRule::function}}};

/// Reads the patterns and declares them: no two rules have the same patterns.
void read_patterns(const Fields& fields, Position at, NameIndex& rules, ThreadRule& rule,
                   Context& context) {
  bool stated = false;
  std::string all;
  for (const auto& [key, pattern] : kPatterns) {
    const YamlNode* const node = fields.find(key);
    if (node == nullptr) {
      continue;
    }
    if (!stated) {
      at = node->at;
    }
    stated = true;
    if (const auto text = read_text(*node, key, context)) {
      rule.*pattern = *text;
      all += (all.empty() ? "" : ", ") + std::string(key) + " " + *text;
      if (text->empty()) {
        report_value(*node, key, "a pattern, such as '*'", context);
      }
    }
  }
  if (!stated && fields.sound()) {
    context.diagnostics.report(at, "the thread has no 'name', 'library' or 'function'",
                               "at least one, such as 'name: control'");
  }
  if (stated) {
    rules.add(rule.library.empty() && rule.function.empty() ? rule.name : all, at, context);
  }
}

void read_policy(const Fields& fields, ThreadRule& rule, Context& context) {
  const YamlNode* const policy = fields.find("policy");
  if (policy != nullptr &&
      !read_word(*policy, "policy", {"other", "fifo", "rr", "deadline", "keep"}, context)) {
    return;
  }
  rule.keep = policy != nullptr && policy->text == "keep";
  if (!rule.keep) {
    rule.scheduling = read_scheduling(fields, context);
    return;
  }
  for (const auto* key : {"priority", "cpus", "nice", "runtime_ms", "deadline_ms", "period_ms"}) {
    if (const YamlNode* node = fields.find(key)) {
      context.diagnostics.report(node->at, std::string(key) + " has no meaning with 'policy: keep'",
                                 "no other key for the scheduling");
    }
  }
}

}  // namespace

std::vector<ThreadRule> read_thread_rules(const YamlNode& list, Context& context) {
  std::vector<ThreadRule> rules;
  std::vector<std::string_view> keys = thread_rule_keys();
  keys.insert(keys.end(), {"library", "function"});
  NameIndex names("rule", "threads");
  for (const YamlNode& item : read_filled_list(list, "threads", context)) {
    const Fields fields(item, "thread", keys, context);
    ThreadRule rule;
    if (item.kind == YamlKind::kMapping) {
      read_patterns(fields, item.at, names, rule, context);
      read_policy(fields, rule, context);
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace detail

using namespace detail;  // NOLINT(google-build-using-namespace): the readers' vocabulary

ThreadPlan parse_thread_plan(std::string_view text, const std::filesystem::path& file) {
  Context context;
  ThreadPlan plan;
  if (const auto root = yaml::read_yaml(text, context.diagnostics)) {
    const Fields fields(*root, "thread plan", {"rclrt", "threads"}, context);
    const YamlNode* version = fields.require("rclrt", "rclrt: 1");
    // A file of another version cannot be checked further.
    if (version == nullptr ||
        read_integer(*version, "the format version", kFormatVersions, context)) {
      if (const YamlNode* threads = fields.require("threads", "threads: [...]")) {
        plan.rules = read_thread_rules(*threads, context);
      }
    }
  }
  if (!context.diagnostics.empty()) {
    throw yaml::FileError(file, context.diagnostics.take());
  }
  return plan;
}

ThreadPlan load_thread_plan(const std::filesystem::path& file) {
  return parse_thread_plan(yaml::read_file(file, "thread plan"), file);
}

}  // namespace rclrt::model

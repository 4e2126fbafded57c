// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/thread_plan.hpp"

#include <utility>

#include "limits.hpp"
#include "read_scheduling.hpp"

namespace rclrt::model {

namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): the readers' vocabulary

std::vector<ThreadRule> read_rules(const YamlNode& section, Context& context) {
  std::vector<ThreadRule> rules;
  NameIndex names("rule", "threads");
  for (const YamlNode& item : read_filled_list(section, "threads", context)) {
    const Fields fields(item, "thread", thread_rule_keys(), context);
    ThreadRule rule;
    if (const YamlNode* node = fields.require("name", "name: control")) {
      if (const auto name = read_text(*node, "name", context)) {
        rule.name = *name;
        names.add(rule.name, node->at, context);
      }
    }
    rule.scheduling = read_scheduling(fields, context);
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace

ThreadPlan parse_thread_plan(std::string_view text, const std::filesystem::path& file) {
  Context context;
  ThreadPlan plan;
  if (const auto root = yaml::read_yaml(text, context.diagnostics)) {
    const Fields fields(*root, "thread plan", {"rclrt", "threads"}, context);
    const YamlNode* version = fields.require("rclrt", "rclrt: 1");
    // Of another version nothing else can be judged.
    if (version == nullptr ||
        read_integer(*version, "the format version", kFormatVersions, context)) {
      if (const YamlNode* threads = fields.require("threads", "threads: [...]")) {
        plan.rules = read_rules(*threads, context);
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

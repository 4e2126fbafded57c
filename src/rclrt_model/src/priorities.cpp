// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/priorities.hpp"

#include "limits.hpp"
#include "rclrt/model/file_kind.hpp"
#include "yaml.hpp"

namespace rclrt::model {
namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): the vocabulary of the readers

using Entries = std::vector<std::pair<std::size_t, int>>;

Entries read_entries(const YamlNode& section, const Application& application, Context& context) {
  Entries result;
  if (section.kind != YamlKind::kMapping || section.children.empty()) {
    yaml::report_value(section, "priorities", "callbacks with their priorities, like {scan: 3}",
                       context);
    return result;
  }
  NameIndex callbacks("callback", "callbacks");
  for (const Callback& callback : application.callbacks) {
    callbacks.add(callback.id, {}, context);
  }
  for (std::size_t i = 0; i + 1 < section.children.size(); i += 2) {
    const YamlNode& key = section.children[i];
    const std::size_t callback = callbacks.resolve(key.text, key.at, context);
    const auto priority = read_integer(section.children[i + 1],
                                       "priority of " + in_quotes(key.text), kPriorities, context);
    if (callback != kUnknown && priority) {
      result.emplace_back(callback, static_cast<int>(*priority));
    }
  }
  return result;
}

Entries read_overlay(const YamlNode& root, const Application& application, Context& context) {
  if (report_other_kind(root, FileKind::kPriorities, context)) {
    return {};
  }
  const Fields fields(root, "priorities file", {"rclrt", "application", "priorities"}, context);
  if (root.kind != YamlKind::kMapping) {
    return {};
  }
  if (const YamlNode* node = fields.require("rclrt", "rclrt: 1")) {
    if (!read_integer(*node, "the format version", kFormatVersions, context)) {
      return {};
    }
  }
  if (const YamlNode* node = fields.find("application")) {
    const auto name = read_text(*node, "application", context);
    if (name && *name != application.name) {
      context.diagnostics.report(node->at, "these are the priorities of " + in_quotes(*name),
                                 "priorities for the application " + in_quotes(application.name));
    }
  }
  const YamlNode* section = fields.require("priorities", "priorities: {scan: 3}");
  return section != nullptr ? read_entries(*section, application, context) : Entries{};
}

}  // namespace

PrioritiesResult parse_priorities(std::string_view text, const Application& application) {
  Context context;
  PrioritiesResult result;
  if (const auto root = read_yaml(text, context.diagnostics)) {
    Entries entries = read_overlay(*root, application, context);
    if (context.diagnostics.empty()) {
      result.priorities = std::move(entries);
    }
  }
  result.diagnostics = context.diagnostics.take();
  return result;
}

Application load_application(const std::filesystem::path& file,
                             const std::filesystem::path& priorities) {
  Application application = load_application(file);
  if (priorities.empty()) {
    return application;
  }
  const PrioritiesResult result =
      parse_priorities(yaml::read_file(priorities, "priorities file"), application);
  if (!result.priorities) {
    throw ModelError(priorities, result.diagnostics);
  }
  for (const auto& [callback, priority] : *result.priorities) {
    application.callbacks[callback].priority = priority;
  }
  return application;
}

}  // namespace rclrt::model

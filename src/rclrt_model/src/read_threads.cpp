// SPDX-License-Identifier: Apache-2.0
/// The section "threads".
#include <utility>

#include "read_scheduling.hpp"
#include "reader.hpp"

namespace rclrt::model::detail {

void read_threads(const YamlNode* section, Reading& reading) {
  if (section == nullptr) {
    return;
  }
  Context& context = reading.context;
  NameIndex threads("thread", "threads");
  for (const YamlNode& item : read_list(*section, "threads", context)) {
    const Fields fields(item, "thread", thread_rule_keys(), context);
    ThreadRule rule;
    if (const YamlNode* node = fields.require("name", "name: middleware")) {
      if (read_word(*node, "name", {"middleware"}, context)) {
        rule.name = node->text;
        threads.add(rule.name, node->at, context);
      }
    }
    rule.scheduling = read_scheduling(fields, context);
    reading.draft.application.threads.push_back(std::move(rule));
  }
}

}  // namespace rclrt::model::detail

// SPDX-License-Identifier: Apache-2.0
/// The section "threads".
#include <utility>

#include "limits.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {
namespace {

void read_policy(const Fields& fields, ThreadRule& rule, Context& context) {
  const YamlNode* policy_node = fields.require("policy", "policy: fifo");
  if (policy_node == nullptr) return;
  const auto policy = read_choice<ThreadPolicy>(*policy_node, "policy",
                                                {{"other", ThreadPolicy::kOther},
                                                 {"fifo", ThreadPolicy::kFifo},
                                                 {"rr", ThreadPolicy::kRoundRobin}},
                                                context);
  if (!policy) return;
  rule.policy = *policy;
  if (rule.policy != ThreadPolicy::kOther) {
    if (const YamlNode* node = fields.require("priority", "priority: 50")) {
      rule.priority =
          static_cast<int>(read_integer(*node, "priority", kThreadPriorities, context).value_or(0));
    }
  } else if (const YamlNode* node = fields.find("priority")) {
    context.diagnostics.report(node->at, "priority has no meaning with 'policy: other'",
                               "no priority, or 'policy: fifo' or 'policy: rr'");
  }
}

}  // namespace

void read_threads(const YamlNode* section, Reading& reading) {
  if (section == nullptr) return;
  Context& context = reading.context;
  NameIndex threads("thread", "threads");
  for (const YamlNode& item : read_list(*section, "threads", context)) {
    const Fields fields(item, "thread", {"name", "policy", "priority", "cpus"}, context);
    ThreadRule rule;
    if (const YamlNode* node = fields.require("name", "name: middleware")) {
      if (read_word(*node, "name", {"middleware"}, context)) {
        rule.name = node->text;
        threads.add(rule.name, node->at, context);
      }
    }
    read_policy(fields, rule, context);
    rule.cpus = read_cpus(fields, context);
    reading.draft.application.threads.push_back(std::move(rule));
  }
}

}  // namespace rclrt::model::detail

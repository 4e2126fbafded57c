// SPDX-License-Identifier: Apache-2.0
// Topics of which callbacks read the newest message.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "names.hpp"
#include "rclrt/model/services.hpp"
#include "segments.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

bool check_samples(const Draft& draft, Context& context) {
  bool all_published = true;
  const auto& callbacks = draft.application.callbacks;
  std::map<std::string_view, std::vector<std::string_view>> publishers;
  std::vector<std::string_view> in_order;
  for (const Callback& callback : callbacks) {
    for (const std::string& topic : callback.publishes) {
      auto& own = publishers[topic];
      if (own.empty() && !is_service_topic(topic)) {
        in_order.push_back(topic);
      }
      own.push_back(callback.id);
    }
  }
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    const auto taken = inputs(callbacks[i]);
    for (std::size_t t = 0; t < callbacks[i].samples.size(); ++t) {
      const std::string& topic = callbacks[i].samples[t];
      const Position at = draft.callbacks[i].samples[t];
      const auto found = publishers.find(topic);
      if (found == publishers.end()) {
        all_published = false;
        context.diagnostics.report(
            at, "topic " + in_quotes(topic) + " is published by no callback",
            context.suggester.suggest(topic, in_order, "a topic that a callback publishes")
                .expected);
      } else if (found->second.size() > 1) {
        context.diagnostics.report(at,
                                   "the newest message of topic " + in_quotes(topic) +
                                       " may be that of any of " + list_in_quotes(found->second),
                                   "a topic that one callback publishes");
      } else if (std::ranges::find(taken, topic) != taken.end()) {
        context.diagnostics.report(at,
                                   "callback " + in_quotes(callbacks[i].id) +
                                       " reads the newest message of topic " + in_quotes(topic) +
                                       ", of which each message triggers it",
                                   "a topic that does not trigger it, or no entry here");
      }
    }
  }
  return all_published;
}

}  // namespace rclrt::model::detail

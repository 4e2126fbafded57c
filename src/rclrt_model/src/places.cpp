// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "names.hpp"
#include "rclrt/model/node_timing.hpp"
#include "rclrt/model/services.hpp"

namespace rclrt::model {

std::vector<std::vector<CallbackPlace>> places_of(const Application& application) {
  std::map<std::size_t, std::vector<std::string>> groups;  // by node, in the order of the file
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> timers;  // by node and group
  std::vector<std::vector<CallbackPlace>> result;
  for (const Callback& callback : application.callbacks) {
    const Node& node = application.nodes.at(callback.node);
    CallbackPlace place;
    place.node = detail::resolve_topic(node.name, node.name_space);
    if (callback.group && *callback.group != kDefaultGroup) {
      auto& names = groups[callback.node];
      auto found = std::find(names.begin(), names.end(), *callback.group);
      if (found == names.end()) {
        found = names.insert(names.end(), *callback.group);
      }
      place.group = 1 + static_cast<std::size_t>(found - names.begin());
    }
    auto& places = result.emplace_back();
    if (callback.kind() == CallbackKind::kTimer) {
      place.kind = "timer";
      place.name = std::to_string(timers[{callback.node, place.group}]++);
      places.push_back(std::move(place));
      continue;
    }
    if (callback.kind() == CallbackKind::kEvent) {
      continue;  // no entity of the ROS graph releases it
    }
    if (role_of(callback) != Role::kTopic) {
      place.kind = trigger_name(callback);
      place.name =
          detail::resolve_topic(std::get<Subscription>(callback.trigger).service, node.name_space);
      places.push_back(std::move(place));
      continue;
    }
    place.kind = "subscription";
    for (const std::string& topic : inputs(callback)) {
      place.name = detail::resolve_topic(topic, node.name_space);
      places.push_back(place);
    }
  }
  return result;
}

}  // namespace rclrt::model

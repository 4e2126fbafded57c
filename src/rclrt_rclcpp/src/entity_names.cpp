// SPDX-License-Identifier: Apache-2.0
#include "entity_names.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace rclrt_rclcpp {

namespace {

/// Returns whether rclcpp made this group for its subscription to /clock. rclcpp makes that group
/// earlier with simulated time than without. The group is not counted, so that the numbers of the
/// node's own groups are the same in both cases.
bool is_of_clock(const rclcpp::CallbackGroup& group) {
  if (group.automatically_add_to_executor_with_node()) {
    return false;
  }
  const auto any = [](const auto&) { return true; };
  const auto is_clock = [](const rclcpp::SubscriptionBase::SharedPtr& each) {
    return std::string_view(each->get_topic_name()) == "/clock";
  };
  return group.find_subscription_ptrs_if(is_clock) != nullptr &&
         group.find_subscription_ptrs_if([&](const auto& each) { return !is_clock(each); }) ==
             nullptr &&
         group.find_timer_ptrs_if(any) == nullptr && group.find_service_ptrs_if(any) == nullptr &&
         group.find_client_ptrs_if(any) == nullptr;
}

}  // namespace

std::string to_string(const Place& place) {
  const bool is_counted = place.kind == "timer" || place.kind == "waitable";  // within its group
  return (place.node.empty() ? "?" : place.node) +
         (is_counted && place.group > 0 ? " group " + std::to_string(place.group) : "") + " " +
         place.kind + " " + place.name;
}

std::string to_string(const CallbackInfo& callback) {
  return to_string(Place{callback.node, callback.kind, callback.name, callback.group});
}

void EntityNames::add_node(const std::shared_ptr<Node>& node) {
  if (node && std::none_of(nodes_.begin(), nodes_.end(),
                           [&](const auto& each) { return each.lock() == node; })) {
    nodes_.push_back(node);
  }
}

std::vector<std::shared_ptr<EntityNames::Node>> EntityNames::nodes() const {
  std::vector<std::shared_ptr<Node>> result;
  for (const auto& weak : nodes_) {
    if (auto node = weak.lock()) {
      result.push_back(std::move(node));
    }
  }
  return result;
}

EntityNames::Owner EntityNames::owner_of(const rclcpp::CallbackGroup::SharedPtr& group) {
  Owner owner;
  for (const auto& weak : nodes_) {
    const auto node = weak.lock();
    if (const auto index = node ? index_in(node, group) : std::nullopt) {
      owner = {node, node->get_fully_qualified_name(), *index};
    }
  }
  return owner;
}

/// Returns the index of a group among the groups that the node has or had, except those of /clock.
std::optional<std::size_t> EntityNames::index_in(const std::shared_ptr<Node>& node,
                                                 const rclcpp::CallbackGroup::SharedPtr& group) {
  std::vector<GroupOfNode>& known = groups_of_nodes_[Key(node)];
  node->for_each_callback_group([&](const rclcpp::CallbackGroup::SharedPtr& each) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& other) { return other.group.lock() == each; });
    GroupOfNode& entry = found != known.end() ? *found : known.emplace_back(each, false);
    entry.is_of_clock = is_of_clock(*each);
  });
  std::size_t index = 0;
  for (const GroupOfNode& each : known) {
    if (each.group.lock() == group) {
      return index;
    }
    index += each.is_of_clock ? 0 : 1;
  }
  return std::nullopt;
}

const std::string& EntityNames::number_of(const Key& entity, std::size_t& next) {
  const auto [found, fresh] = numbers_.try_emplace(entity);
  if (fresh) {
    found->second = std::to_string(next++);
  }
  return found->second;
}

void EntityNames::erase_expired() {
  std::erase_if(nodes_, [](const auto& each) { return each.expired(); });
  rclrt_rclcpp::erase_expired(groups_of_nodes_);
  rclrt_rclcpp::erase_expired(numbers_);
}

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
// One entity that an executor runs.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <rclcpp/rclcpp.hpp>

#include "entity_callback.hpp"
#include "rclrt/model/node_timing.hpp"
#include "rclrt_rclcpp/executors.hpp"

namespace rclrt_rclcpp {

using Place = rclrt::model::CallbackPlace;

/// Identifies an entity, a group or a node, which may end at any time.
using Key = std::weak_ptr<void>;

template <typename Value>
using WeakMap = std::map<Key, Value, std::owner_less<Key>>;

/// Removes the keys that have ended.
template <typename Value>
void erase_expired(WeakMap<Value>& map) {
  std::erase_if(map, [](const auto& each) { return each.first.expired(); });
}

/// An entity that the engine has.
struct Entry {
  Bound bound;
  Place place;
  Timing timing;
  rclcpp::CallbackGroup::WeakPtr group;
  /// For a subscription of which the stamps are not read yet, because no reader has asked for the
  /// origin of its data: the object that will be used then. nullptr: the stamps are read already,
  /// or no reader can ask.
  std::shared_ptr<OriginReader> origins;
  std::shared_ptr<StampedEnds> ends;  // of a subscription with `stamped_by`
  bool seen = true;                   // by the refresh under way
  std::chrono::nanoseconds period{};  // of a timer, not of a waitable's
};

using Entries = WeakMap<Entry>;

/// Returns a readable place: "/lidar timer 0", "/lidar group 1 timer 0".
std::string to_string(const Place& place);

}  // namespace rclrt_rclcpp

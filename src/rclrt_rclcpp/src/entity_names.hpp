// SPDX-License-Identifier: Apache-2.0
// Names of nodes, groups and entities without a name of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <vector>

#include "entity_entry.hpp"

namespace rclrt_rclcpp {

/// Makes the names of callbacks and numbers those without a name. A name does not change while its
/// node, group or entity exists, because numbers are not reused. The registry's lock guards it.
class EntityNames {
 public:
  using Node = rclcpp::node_interfaces::NodeBaseInterface;

  /// Adds a node, to find its groups; does nothing for a known node.
  void add_node(const std::shared_ptr<Node>& node);

  /// Returns the nodes that still exist.
  std::vector<std::shared_ptr<Node>> nodes() const;

  struct Owner {
    std::shared_ptr<Node> node;  // nullptr: not known
    std::string node_name;
    std::size_t index = 0;  // of the group among the node's
  };
  /// Returns the node that has the group.
  Owner owner_of(const rclcpp::CallbackGroup::SharedPtr& group);

  /// Returns the number of an entity that has no name of its own. An entity that is not known yet
  /// gets the number `next`, which is then incremented. So numbers follow the order in which the
  /// group got the entities.
  const std::string& number_of(const Key& entity, std::size_t& next);

  void erase_expired();

 private:
  struct GroupOfNode {
    rclcpp::CallbackGroup::WeakPtr group;
    bool is_of_clock = false;
  };

  std::optional<std::size_t> index_in(const std::shared_ptr<Node>& node,
                                      const rclcpp::CallbackGroup::SharedPtr& group);

  std::vector<std::weak_ptr<Node>> nodes_;
  WeakMap<std::vector<GroupOfNode>> groups_of_nodes_;  // in the order of their creation
  WeakMap<std::string> numbers_;
};

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
#include "publisher_topics.hpp"

#include <rcl/allocator.h>
#include <rcl/error_handling.h>
#include <rcl/graph.h>

#include <cstddef>

namespace rclrt_rclcpp {

std::set<std::string> publisher_topics(const rclcpp::node_interfaces::NodeBaseInterface& node) {
  std::set<std::string> topics;
  rcl_allocator_t allocator = rcl_get_default_allocator();
  rcl_names_and_types_t found = rcl_get_zero_initialized_names_and_types();
  if (rcl_get_publisher_names_and_types_by_node(node.get_rcl_node_handle(), &allocator, false,
                                                node.get_name(), node.get_namespace(),
                                                &found) == RCL_RET_OK) {
    for (std::size_t i = 0; i < found.names.size; ++i) {
      topics.insert(found.names.data[i]);
    }
  } else {
    rcl_reset_error();
  }
  if (rcl_names_and_types_fini(&found) != RCL_RET_OK) {
    rcl_reset_error();
  }
  return topics;
}

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
// The view of a node on the ROS graph.
#include <rcl/error_handling.h>
#include <rcl/graph.h>

#include <string>
#include <vector>

#include "rclrt/detail/poll_until.hpp"
#include "rclrt/error.hpp"
#include "rclrt/node.hpp"

namespace rclrt {

namespace {

/// Returns the name expanded and remapped, as for the node's own entities.
std::string resolve(const rcl_node_t& node, const std::string& name, bool is_service) {
  char* resolved = nullptr;
  const rcl_allocator_t allocator = rcl_get_default_allocator();
  detail::check(rcl_node_resolve_name(&node, name.c_str(), allocator, is_service, false, &resolved),
                "resolving the name \"" + name + "\"");
  std::string result = resolved;
  allocator.deallocate(resolved, allocator.state);
  return result;
}

using Count = rcl_ret_t (*)(const rcl_node_t*, const char*, std::size_t*);

std::size_t count(const rcl_node_t& node, const std::string& name, bool is_service, Count counter) {
  std::size_t result = 0;
  detail::check(counter(&node, resolve(node, name, is_service).c_str(), &result),
                "counting the users of \"" + name + "\"");
  return result;
}

/// The names that rcl hands out, for as long as they are read.
struct Names {
  rcutils_string_array_t array = rcutils_get_zero_initialized_string_array();
  ~Names() {
    if (rcutils_string_array_fini(&array) != RCUTILS_RET_OK) {
      rcl_reset_error();
    }
  }
};

}  // namespace

std::size_t Node::count_publishers(const std::string& topic) const {
  return count(handle_->node, topic, false, &rcl_count_publishers);
}

std::size_t Node::count_subscribers(const std::string& topic) const {
  return count(handle_->node, topic, false, &rcl_count_subscribers);
}

std::size_t Node::count_services(const std::string& service) const {
  return count(handle_->node, service, true, &rcl_count_services);
}

std::size_t Node::count_clients(const std::string& service) const {
  return count(handle_->node, service, true, &rcl_count_clients);
}

std::vector<std::string> Node::get_node_names() const {
  Names names;
  Names name_spaces;
  detail::check(rcl_get_node_names(&handle_->node, rcl_get_default_allocator(), &names.array,
                                   &name_spaces.array),
                "asking for the names of nodes");
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names.array.size; ++i) {
    const std::string name_space = name_spaces.array.data[i];
    result.push_back(name_space + (name_space.ends_with('/') ? "" : "/") + names.array.data[i]);
  }
  return result;
}

bool Node::wait_for_publishers(const std::string& topic, std::size_t at_least,
                               realtime::SaturatingNanoseconds timeout) const RCLRT_WAITS {
  return detail::poll_until(*handle_->context, timeout,
                            [&] { return count_publishers(topic) >= at_least; });
}

bool Node::wait_for_subscribers(const std::string& topic, std::size_t at_least,
                                realtime::SaturatingNanoseconds timeout) const RCLRT_WAITS {
  return detail::poll_until(*handle_->context, timeout,
                            [&] { return count_subscribers(topic) >= at_least; });
}

}  // namespace rclrt

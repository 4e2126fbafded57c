// SPDX-License-Identifier: Apache-2.0
#include "rclrt/node.hpp"

#include <rcl/error_handling.h>
#include <rcl/node_options.h>

#include <algorithm>
#include <utility>

#include "parameter_services.hpp"
#include "rclrt/error.hpp"

namespace rclrt {

NodeHandle::NodeHandle(std::shared_ptr<Context> used_context, const std::string& name,
                       const std::string& name_space)
    : context(std::move(used_context)), node(rcl_get_zero_initialized_node()) {
  rcl_node_options_t options = rcl_node_get_default_options();
  options.enable_rosout = false;  // rclrt has no ROS logging yet: the publisher would stay silent
  const rcl_ret_t result =
      rcl_node_init(&node, name.c_str(), name_space.c_str(), context->rcl(), &options);
  if (rcl_node_options_fini(&options) != RCL_RET_OK) {
    rcl_reset_error();
  }
  detail::check(result, "creating node \"" + name + "\" in namespace \"" + name_space + "\"");
}

NodeHandle::~NodeHandle() { detail::report(rcl_node_fini(&node), "ending a node"); }

Node::Node(std::shared_ptr<Context> context, const std::string& name, const std::string& name_space,
           const NodeOptions& options)
    : handle_(std::make_shared<NodeHandle>(std::move(context), name, name_space)),
      options_(options),
      parameters_(std::make_shared<Parameters>(handle_)) {}

void Node::offer_parameters() {
  if (!options_.parameter_services || offers_parameters_) {
    return;
  }
  parameters_->publish_events();
  const auto services =
      detail::make_parameter_services(handle_, parameters_, options_.parameter_priority);
  callbacks_.insert(callbacks_.end(), services.begin(), services.end());
  offers_parameters_ = true;  // last: after a throw the call can be repeated
}

bool Node::is_added_with_node(const executor::Callback& callback) const {
  const auto& group = callback.shared_group();
  return group == nullptr || std::find(groups_added_alone_.begin(), groups_added_alone_.end(),
                                       group) == groups_added_alone_.end();
}

std::string Node::get_name() const { return rcl_node_get_name(&handle_->node); }

std::string Node::get_fully_qualified_name() const {
  return rcl_node_get_fully_qualified_name(&handle_->node);
}

}  // namespace rclrt

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/publisher.hpp"

#include <rcl/error_handling.h>

#include <utility>

#include "rclrt/detail/publish_scope.hpp"
#include "rclrt/error.hpp"
#include "rclrt/node.hpp"

namespace rclrt {

namespace detail {
thread_local PublishScope* PublishScope::current_ = nullptr;
}  // namespace detail

PublisherBase::PublisherBase(std::shared_ptr<NodeHandle> node,
                             const rosidl_message_type_support_t* type, const std::string& topic,
                             const QoS& qos)
    : node_(std::move(node)), publisher_(rcl_get_zero_initialized_publisher()) {
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  options.qos = qos.rmw();
  detail::check(rcl_publisher_init(&publisher_, &node_->node, type, topic.c_str(), &options),
                "creating a publisher on topic \"" + topic + "\"");
}

PublisherBase::~PublisherBase() {
  detail::report(rcl_publisher_fini(&publisher_, &node_->node), "ending a publisher");
}

std::string PublisherBase::topic_name() const { return rcl_publisher_get_topic_name(&publisher_); }

std::size_t PublisherBase::subscription_count() const {
  std::size_t count = 0;
  detail::check(rcl_publisher_get_subscription_count(&publisher_, &count),
                "counting the subscriptions of a publisher");
  return count;
}

bool PublisherBase::publish_untyped(const void* message) noexcept {
  rcl_ret_t result = RCL_RET_ERROR;
  {
    const detail::PublishScope scope;
    result = rcl_publish(&publisher_, message, nullptr);
  }
  if (result != RCL_RET_OK) {
    rcl_reset_error();
    return false;
  }
  return true;
}

}  // namespace rclrt

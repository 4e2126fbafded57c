// SPDX-License-Identifier: Apache-2.0
#include "rclrt/publisher.hpp"

#include <rcl/error_handling.h>
#include <tracetools/tracetools.h>

#include <stdexcept>
#include <utility>

#include "middleware.hpp"
#include "rclrt/detail/publish_scope.hpp"
#include "rclrt/error.hpp"
#include "rclrt/node.hpp"

namespace rclrt {

namespace detail {
constinit thread_local PublishScope* PublishScope::current_ = nullptr;

PublisherHandle::PublisherHandle(std::shared_ptr<NodeHandle> used_node,
                                 const rosidl_message_type_support_t* used_type,
                                 const std::string& topic, const QoS& qos)
    : node(std::move(used_node)),
      publisher(rcl_get_zero_initialized_publisher()),
      type(used_type),
      matched_(rcl_get_zero_initialized_event()) {
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  options.qos = qos.rmw();
  check(rcl_publisher_init(&publisher, &node->node, type, topic.c_str(), &options),
        "creating a publisher on topic \"" + topic + "\"");
  lends = rcl_publisher_can_loan_messages(&publisher);
  const rcl_event_callback_t listener = [](const void* self, std::size_t /*count*/) {
    static_cast<PublisherHandle*>(const_cast<void*>(self))->change_.fetch_add(1);
  };
  listens_ = rcl_publisher_event_init(&matched_, &publisher, RCL_PUBLISHER_MATCHED) == RCL_RET_OK &&
             rcl_event_set_callback(&matched_, listener, this) == RCL_RET_OK;
  if (!listens_) {
    rcl_reset_error();  // a middleware without this event: it is asked each time
  }
  warning_ = std::make_unique<QosWarning>(*node, publisher, *type);
}

PublisherHandle::~PublisherHandle() {
  warning_.reset();
  if (listens_) {
    report(rcl_event_set_callback(&matched_, nullptr, nullptr), "ending a listener");
  }
  if (matched_.impl != nullptr) {
    report(rcl_event_fini(&matched_), "ending an event");
  }
  report(rcl_publisher_fini(&publisher, &node->node), "ending a publisher");
}

void* PublisherHandle::borrow() noexcept {
  void* message = nullptr;
  if (rcl_borrow_loaned_message(&publisher, type, &message) != RCL_RET_OK) {
    rcl_reset_error();
    return nullptr;
  }
  return message;
}

void PublisherHandle::give_back(void* token) noexcept {
  // Not through rcl, which refuses after shutdown: the middleware ends no publisher with loans.
  report(rmw_return_loaned_message_from_publisher(rcl_publisher_get_rmw_handle(&publisher), token),
         "returning a loan");
}

std::size_t PublisherHandle::count_subscriptions() noexcept {
  const std::uint32_t change = change_.load();
  if (const std::uint64_t known = known_.load(); listens_ && known >> 32U == change) {
    return static_cast<std::uint32_t>(known);
  }
  std::size_t count = 0;
  if (rcl_publisher_get_subscription_count(&publisher, &count) != RCL_RET_OK) {
    rcl_reset_error();
  }
  known_.store(std::uint64_t{change} << 32U | count);
  return count;
}

}  // namespace detail

PublisherBase::PublisherBase(std::shared_ptr<NodeHandle> node,
                             const rosidl_message_type_support_t* type, const std::string& topic,
                             const QoS& qos, const PublisherOptions& options,
                             detail::GetIntraTopic get_topic)
    : handle_(std::make_shared<detail::PublisherHandle>(std::move(node), type, topic, qos)),
      intra_topic_(get_topic(handle_->node->context->intra_topics(), get_topic_name())),
      always_outside_(detail::middleware_must_see(qos.rmw())),
      writer_(qos.rmw(), options.loans) {
  if (options.loans == 0) {
    throw std::invalid_argument(
        "publisher on topic \"" + get_topic_name() +
        "\": PublisherOptions::loans must be at least 1, because publish needs a message, too");
  }
  intra_topic_->join(writer_);
  if (!detail::reports_ignored_mismatches() && intra_topic_->has_mismatch(writer_)) {
    handle_->look_for_mismatch();
  }
}

PublisherBase::~PublisherBase() { intra_topic_->leave(writer_); }

std::string PublisherBase::get_topic_name() const {
  return rcl_publisher_get_topic_name(&handle_->publisher);
}

std::size_t PublisherBase::get_subscription_count() const {
  std::size_t count = 0;
  detail::check(rcl_publisher_get_subscription_count(&handle_->publisher, &count),
                "counting the subscriptions of a publisher");
  return detail::counts_ignored_matches() ? count : count + writer_.matched();
}

std::size_t PublisherBase::get_intra_process_subscription_count() const {
  return writer_.matched();
}

bool PublisherBase::assert_liveliness() noexcept {
  if (rcl_publisher_assert_liveliness(&handle_->publisher) != RCL_RET_OK) {
    rcl_reset_error();
    return false;
  }
  return true;
}

/// Returns whether a subscription needs the message through the middleware: the middleware has
/// matched more subscriptions than those that intra-process delivery reaches and it counts as well.
bool PublisherBase::is_needed_outside() noexcept {
  return always_outside_ || handle_->count_subscriptions() >
                                (detail::counts_ignored_matches() ? writer_.matched() : 0);
}

detail::IntraSlot* PublisherBase::borrow_slot() noexcept {
  detail::IntraSlot* const slot = intra_topic_->borrow();
  if (slot == nullptr) {
    exhausted_.fetch_add(1, std::memory_order_relaxed);  // statistics only
  }
  return slot;
}

bool PublisherBase::send(const void* message) noexcept {
  rcl_ret_t result = RCL_RET_ERROR;
  {
    const detail::PublishScope scope;
    TRACETOOLS_TRACEPOINT(rclcpp_publish, static_cast<const void*>(&handle_->publisher), message);
    result = rcl_publish(&handle_->publisher, message, nullptr);
  }
  if (result != RCL_RET_OK) {
    rcl_reset_error();
    return false;
  }
  return true;
}

bool PublisherBase::send_slot(detail::IntraSlot* slot, const void* message) noexcept {
  bool sent = handle_->node->context->ok();
  // The slot is released before a woken thread can preempt this one.
  const detail::PublishScope scope(intra_topic_.get());
  if (sent) {
    TRACETOOLS_TRACEPOINT(rclcpp_intra_publish, static_cast<const void*>(&handle_->publisher),
                          message);
    intra_topic_->hand_over(writer_, slot);
    if (is_needed_outside() && rcl_publish(&handle_->publisher, message, nullptr) != RCL_RET_OK) {
      rcl_reset_error();
      sent = false;
    }
  }
  intra_topic_->return_slot(slot);
  return sent;
}

bool PublisherBase::send_lent(void* message) noexcept {
  rcl_ret_t result = RCL_RET_ERROR;
  {
    const detail::PublishScope scope;
    TRACETOOLS_TRACEPOINT(rclcpp_publish, static_cast<const void*>(&handle_->publisher), message);
    result = rcl_publish_loaned_message(&handle_->publisher, message, nullptr);
  }
  if (result != RCL_RET_OK) {
    rcl_reset_error();
    return false;
  }
  return true;
}

}  // namespace rclrt

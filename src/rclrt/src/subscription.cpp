// SPDX-License-Identifier: Apache-2.0
#include "rclrt/subscription.hpp"

#include <rcl/error_handling.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "middleware.hpp"
#include "rclrt/detail/publish_scope.hpp"
#include "rclrt/error.hpp"
#include "rclrt/node.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "tracing.hpp"

namespace rclrt {

/// The intra-process side of a subscription.
struct SubscriptionBase::IntraPort final : detail::IntraReader {
  IntraPort(SubscriptionBase& subscription, std::shared_ptr<detail::IntraTopic> used_topic,
            const rmw_qos_profile_t& qos, std::size_t depth, std::size_t running)
      : IntraReader(qos, depth, running),
        owner(subscription),
        topic(std::move(used_topic)),
        wake(rcl_get_zero_initialized_guard_condition()) {
    detail::check(rcl_guard_condition_init(&wake, owner.node_->context->rcl(),
                                           rcl_guard_condition_get_default_options()),
                  "creating a guard condition");
    topic->join(*this);
  }
  ~IntraPort() override {
    topic->leave(*this);
    detail::report(rcl_guard_condition_fini(&wake), "ending a guard condition");
  }

  bool has_waiting() const noexcept {
    const std::scoped_lock lock(topic->mutex());
    return waiting() > 0;
  }

  void on_message() noexcept override {
    if (listening) {
      owner.announce(1);
    } else {
      ++unannounced;
      detail::report(rcl_trigger_guard_condition(&wake), "triggering a guard condition");
    }
  }

  SubscriptionBase& owner;
  const std::shared_ptr<detail::IntraTopic> topic;
  rcl_guard_condition_t wake;  // for wait_set: stays triggered until a wait takes it
  std::size_t place = 0;       // in the wait set
  // The topic's mutex guards both.
  bool listening = false;       // an executor is notified of each message
  std::size_t unannounced = 0;  // messages without a notification
  // The time at which the middleware delivered its newest message; 0: that message was taken, or a
  // message of an intra-process publisher is newer. Used only if one waiting instance represents
  // the newest message of both sources.
  std::atomic<std::int64_t> outside_ns{0};
};

namespace {
/// Returns how many instances may wait: one for each message that can wait. Messages of
/// intra-process publishers and messages of the middleware wait in separate queues, so both are
/// counted.
std::size_t instances(const QoS& qos, const CallbackOptions& options) {
  return options.intra_process ? 2 * qos.depth() : qos.depth();
}
}  // namespace

SubscriptionBase::SubscriptionBase(std::shared_ptr<NodeHandle> node,
                                   const rosidl_message_type_support_t* type,
                                   const std::string& topic, const QoS& qos,
                                   const CallbackOptions& options, detail::GetIntraTopic get_topic)
    : Entity(executor::EntityType::kSubscription, topic, instances(qos, options), options),
      node_(std::move(node)),
      subscription_(rcl_get_zero_initialized_subscription()) {
  if (options.intra_process && (get_topic == nullptr || detail::middleware_must_see(qos.rmw()))) {
    throw std::invalid_argument(
        "subscription on topic \"" + topic + "\": " +
        (get_topic == nullptr
             ? "only a Subscription<T> can be intra-process; leave out intra_process"
             : "with transient_local, a deadline or liveliness by topic it cannot be "
               "intra-process; leave out one of the two"));
  }
  rcl_subscription_options_t rcl_options = rcl_subscription_get_default_options();
  rcl_options.qos = qos.rmw();
  if (options.overload != Overload::kQueue) {
    rcl_options.qos.depth = 1;  // the one waiting instance finds the newest message
  }
  rcl_options.rmw_subscription_options.ignore_local_publications = options.intra_process;
  const rcl_ret_t result =
      rcl_subscription_init(&subscription_, &node_->node, type, topic.c_str(), &rcl_options);
  if (rcl_subscription_options_fini(&rcl_options) != RCL_RET_OK) {
    rcl_reset_error();
  }
  detail::check(result, "creating a subscription on topic \"" + topic + "\"");
  detail::trace_subscription(*this, *node_, subscription_);
  // A middleware that lends does not skip the publications of its own context.
  lends_ = !options.intra_process && rcl_subscription_can_loan_messages(&subscription_);
  if (options.intra_process) {
    try {
      port_ = make_port(qos, get_topic);
    } catch (...) {
      detail::report(rcl_subscription_fini(&subscription_, &node_->node), "ending a subscription");
      throw;
    }
  }
  warning_ = std::make_unique<detail::QosWarning>(*node_, subscription_, *type);
  if (port_ != nullptr && !detail::reports_ignored_mismatches() &&
      port_->topic->has_mismatch(*port_)) {
    warning_->look();
  }
}

std::unique_ptr<SubscriptionBase::IntraPort> SubscriptionBase::make_port(
    const QoS& qos, detail::GetIntraTopic get_topic) {
  // Without exclusion as many callbacks may read as there are workers.
  const std::size_t running =
      group().type() == CallbackGroupType::kReentrant ? realtime::allowed_cpus().size() : 1;
  return std::make_unique<IntraPort>(
      *this, get_topic(node_->context->intra_topics(), get_topic_name()), qos.rmw(),
      overload() == Overload::kQueue ? qos.depth() : 1, running);
}

SubscriptionBase::~SubscriptionBase() {
  warning_.reset();
  port_.reset();
  detail::report(rcl_subscription_fini(&subscription_, &node_->node), "ending a subscription");
}

std::string SubscriptionBase::get_topic_name() const {
  return rcl_subscription_get_topic_name(&subscription_);
}

std::size_t SubscriptionBase::get_publisher_count() const {
  std::size_t count = 0;
  detail::check(rcl_subscription_get_publisher_count(&subscription_, &count),
                "counting the publishers of a subscription");
  return port_ == nullptr || detail::counts_ignored_matches()
             ? count
             : count + port_->topic->count_writers(*port_);
}

[[gnu::hot]] const detail::IntraSlot* SubscriptionBase::take_slot(InstanceInfo& info) noexcept {
  if (!port_) {
    return nullptr;
  }
  // If one instance represents the newest message, the middleware's message is taken first if it is
  // newer. It may be a copy of an intra-process message, so that message waits here until the other
  // is taken.
  std::int64_t outside_ns = keeps_newest() ? port_->outside_ns.load() : 0;
  std::int64_t ready_ns = 0;
  detail::IntraSlot* const slot = port_->topic->take(*port_, ready_ns, outside_ns);
  if (slot == nullptr) {
    return nullptr;
  }
  if (outside_ns != 0) {
    port_->outside_ns.compare_exchange_strong(outside_ns, 0);
  }
  if (info.ready_ns == 0) {
    info.ready_ns = info.release_ns = ready_ns;
  }
  return slot;
}

void SubscriptionBase::return_slot(const detail::IntraSlot* slot) noexcept {
  port_->topic->return_slot(const_cast<detail::IntraSlot*>(slot));
}

bool SubscriptionBase::keeps_newest() const noexcept {
  return port_ && overload() != Overload::kQueue;
}

[[gnu::hot]] bool SubscriptionBase::take(void* message, InstanceInfo& info) {
  const bool polled = info.ready_ns == 0;
  const std::int64_t outside_ns = keeps_newest() ? port_->outside_ns.exchange(0) : 0;
  if (keeps_newest() && !polled && outside_ns == 0) {
    return false;  // what remains is older than a handed-over message
  }
  rmw_message_info_t message_info = rmw_get_zero_initialized_message_info();
  const rcl_ret_t result = rcl_take(&subscription_, message, &message_info, nullptr);
  const bool taken = was_taken(result, message_info, info);
  if (taken && outside_ns != 0) {
    port_->topic->discard_before(*port_, outside_ns);
  }
  return taken;
}

const void* SubscriptionBase::take_lent(InstanceInfo& info) {
  void* message = nullptr;
  rmw_message_info_t message_info = rmw_get_zero_initialized_message_info();
  const rcl_ret_t result =
      rcl_take_loaned_message(&subscription_, &message, &message_info, nullptr);
  return was_taken(result, message_info, info) ? message : nullptr;
}

[[gnu::hot]] bool SubscriptionBase::was_taken(rcl_ret_t result,
                                              const rmw_message_info_t& message_info,
                                              InstanceInfo& info) {
  if (result != RCL_RET_OK) {
    // A context that was shut down meanwhile invalidates the subscription: nothing to take.
    if (result == RCL_RET_SUBSCRIPTION_TAKE_FAILED || !node_->context->ok()) {
      rcl_reset_error();
      return false;
    }
    throw Error("taking a message from topic \"" + get_topic_name() + "\"", result);
  }
  stamp_arrival(info, message_info.received_timestamp);
  return true;
}

void SubscriptionBase::give_back(const void* lent) noexcept {
  // Not through rcl, which refuses after shutdown.
  detail::report(rmw_return_loaned_message_from_subscription(
                     rcl_subscription_get_rmw_handle(&subscription_), const_cast<void*>(lent)),
                 "returning a loan");
}

void SubscriptionBase::count_places(WaitSetPlaces& places) const {
  ++places.subscriptions;
  places.guard_conditions += port_ ? 1 : 0;
}

void SubscriptionBase::add_to(rcl_wait_set_t& wait_set) {
  detail::check(rcl_wait_set_add_subscription(&wait_set, &subscription_, &place_),
                "adding a subscription to a wait set");
  if (port_) {
    detail::check(rcl_wait_set_add_guard_condition(&wait_set, &port_->wake, &port_->place),
                  "adding a guard condition to a wait set");
    if (port_->has_waiting()) {  // more than the last ready set ran
      detail::report(rcl_trigger_guard_condition(&port_->wake), "triggering a guard condition");
    }
  }
}

bool SubscriptionBase::is_ready_in(const rcl_wait_set_t& wait_set) const {
  return wait_set.subscriptions[place_] != nullptr || (port_ && port_->has_waiting());
}

/// The rcl listener for new messages. If the middleware also delivers messages that came from an
/// intra-process publisher, because other subscriptions needed them, `take` skips these copies.
[[gnu::hot]] void SubscriptionBase::on_new_message(const void* self, std::size_t count) {
  auto& subscription =
      static_cast<SubscriptionBase&>(*static_cast<Entity*>(const_cast<void*>(self)));
  if (IntraPort* const port = subscription.port_.get()) {
    count -= count > 0 && detail::PublishScope::has_handed_over(port->topic.get()) ? 1 : 0;
    if (count == 0) {
      return;
    }
    port->outside_ns.store(realtime::monotonic_now_ns());
  }
  subscription.announce(count);
}

void SubscriptionBase::attach() {
  // Announces what has arrived before, too.
  listen(
      [this] {
        return rcl_subscription_set_on_new_message_callback(&subscription_, &on_new_message,
                                                            static_cast<Entity*>(this));
      },
      "listening to topic \"" + get_topic_name() + "\"");
  if (port_) {
    std::size_t unannounced = 0;
    {
      const std::scoped_lock lock(port_->topic->mutex());
      port_->listening = true;
      // wait_set may have taken some of them.
      unannounced = std::min(std::exchange(port_->unannounced, 0), port_->waiting());
    }
    announce(unannounced);
  }
}

void SubscriptionBase::detach() noexcept {
  // Waits for a listener that is running: after it returned, none will run.
  detail::report(rcl_subscription_set_on_new_message_callback(&subscription_, nullptr, nullptr),
                 "ending a listener");
  if (port_) {
    const std::scoped_lock lock(port_->topic->mutex());
    port_->listening = false;
  }
  await_held();
}

}  // namespace rclrt

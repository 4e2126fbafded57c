// SPDX-License-Identifier: Apache-2.0
// Subscriptions, services and clients: a middleware announces their work by number.
#include <memory>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "message_age.hpp"
#include "message_callback.hpp"
#include "rclrt/realtime/stamp.hpp"
#include "tracing.hpp"

namespace rclrt_rclcpp {

namespace {

using engine::InstanceInfo;
using engine::Outcome;

/// Takes as rclcpp's executors do: an error of the middleware is logged and the message is lost.
template <typename Take>
bool taken(const char* what, const char* name, const Take& take) {
  try {
    return take();
  } catch (const rclcpp::exceptions::RCLError& error) {
    RCLCPP_ERROR(rclcpp::get_logger("rclrt_rclcpp"), "taking %s '%s' failed: %s", what, name,
                 error.what());
    return false;
  }
}

class SubscriptionCallback final : public MessageCallback<rclcpp::SubscriptionBase> {
 public:
  SubscriptionCallback(const std::shared_ptr<rclcpp::SubscriptionBase>& subscription,
                       const rclcpp::QoS& qos, const engine::CallbackOptions& options,
                       Changes& changes)
      : MessageCallback(subscription, qos, options, changes) {
    if (traces_stamps()) {
      traced_stamps_.emplace(subscription->get_message_type_support_handle(), false);
    }
  }

  void count_from_stamp(const rclcpp::SubscriptionBase& subscription, AgeOptions options) override {
    own_age_ = std::make_unique<MessageAge>(subscription.get_message_type_support_handle(),
                                            std::move(options));
    // PAIRS WITH: age_counters() and note_taken()
    age_.store(own_age_.get(), std::memory_order_release);
  }
  AgeCounters age_counters() const noexcept override {
    // PAIRS WITH: count_from_stamp()
    const MessageAge* const age = age_.load(std::memory_order_acquire);
    return age != nullptr ? age->counters() : AgeCounters{};
  }

 private:
  rcl_ret_t set_listener(rclcpp::SubscriptionBase& subscription, rcl_event_callback_t function,
                         const void* user_data) override {
    return rcl_subscription_set_on_new_message_callback(
        subscription.get_subscription_handle().get(), function, user_data);
  }

  Outcome take_and_run(rclcpp::SubscriptionBase& subscription, InstanceInfo& info,
                       Taking& taking) override {
    switch (subscription.get_delivered_message_kind()) {
      case rclcpp::DeliveredMessageKind::ROS_MESSAGE:
        return subscription.can_loan_messages() ? run_loaned(subscription, info, taking)
                                                : run_message(subscription, info, taking);
      case rclcpp::DeliveredMessageKind::SERIALIZED_MESSAGE:
        return run_serialized(subscription, info, taking);
      default:
        throw std::runtime_error("subscription '" + std::string(subscription.get_topic_name()) +
                                 "': rclcpp cannot deliver dynamic messages to executors");
    }
  }

  /// Takes one message. With an overload policy under which one instance represents all waiting
  /// messages, takes all of them and keeps the newest. Returns false if there is none; `message`
  /// then is what `make` returned.
  template <typename Message, typename Make, typename Take, typename GiveBack>
  bool take(Message& message, rclcpp::MessageInfo& info, const Make& make, const Take& take_into,
            const GiveBack& give_back) {
    message = make();
    if (!take_into(message, info)) {
      return false;
    }
    while (!takes_one()) {
      Message next = make();
      rclcpp::MessageInfo next_info;
      if (!take_into(next, next_info)) {
        give_back(next);
        break;
      }
      give_back(message);
      message = std::move(next);
      info = next_info;
    }
    info.get_rmw_message_info().from_intra_process = false;
    return true;
  }

  /// Reports a taken message to the observer, if there is one. Also determines the time from which
  /// the age of its data counts (CLOCK_REALTIME stamps), if a deadline or a reader of this node's
  /// origins needs it, and returns that time.
  template <typename Message>
  Origin note_taken(const Message& message, const rclcpp::MessageInfo& info,
                    InstanceInfo& instance) {
    if (traced_stamps_) {
      trace_stamp(traced_stamps_->stamp_ns(message));
    }
    MessageAge* const age = age_.load(std::memory_order_acquire);  // PAIRS WITH: count_from_stamp()
    const bool has_age = age != nullptr && (age->is_limited() || age->is_noted() ||
                                            shares_origins(instance.ready_ns));
    if (observer() == nullptr && !has_age) {
      return {};
    }
    const rmw_message_info_t& details = info.get_rmw_message_info();
    const std::int64_t less_realtime_ns = rclrt::realtime::monotonic_less_realtime_ns();
    if (observer() != nullptr && details.source_timestamp > 0) {
      observer()->on_message_taken(details.source_timestamp + less_realtime_ns);
    }
    return has_age ? age->count_from_stamp(message, details, less_realtime_ns, *this, instance)
                   : Origin();
  }

  Outcome run_message(rclcpp::SubscriptionBase& subscription, InstanceInfo& info, Taking& taking) {
    rclcpp::MessageInfo message_info;
    std::shared_ptr<void> message;
    const auto give_back = [&](std::shared_ptr<void>& each) { subscription.return_message(each); };
    const bool found = take(
        message, message_info, [&] { return subscription.create_message(); },
        [&](const std::shared_ptr<void>& into, rclcpp::MessageInfo& its_info) {
          return taken("a message of", subscription.get_topic_name(),
                       [&] { return subscription.take_type_erased(into.get(), its_info); });
        },
        give_back);
    if (found) {
      const Origin origin = note_taken(static_cast<const void*>(message.get()), message_info, info);
      const Running running(*this, info, taking, origin);
      subscription.handle_message(message, message_info);
    }
    give_back(message);
    return found ? Outcome::kRan : Outcome::kEmpty;
  }

  Outcome run_serialized(rclcpp::SubscriptionBase& subscription, InstanceInfo& info,
                         Taking& taking) {
    rclcpp::MessageInfo message_info;
    std::shared_ptr<rclcpp::SerializedMessage> message;
    const auto give_back = [&](std::shared_ptr<rclcpp::SerializedMessage>& each) {
      subscription.return_serialized_message(each);
    };
    const bool found = take(
        message, message_info, [&] { return subscription.create_serialized_message(); },
        [&](const std::shared_ptr<rclcpp::SerializedMessage>& into, rclcpp::MessageInfo& its_info) {
          return taken("a serialized message of", subscription.get_topic_name(),
                       [&] { return subscription.take_serialized(*into, its_info); });
        },
        give_back);
    if (found) {
      const Origin origin = note_taken(*message, message_info, info);
      const Running running(*this, info, taking, origin);
      subscription.handle_serialized_message(message, message_info);
    }
    give_back(message);
    return found ? Outcome::kRan : Outcome::kEmpty;
  }

  Outcome run_loaned(rclcpp::SubscriptionBase& subscription, InstanceInfo& info, Taking& taking) {
    struct Loan {
      rclcpp::SubscriptionBase& subscription;
      void* message = nullptr;
      ~Loan() { give_back(message); }
      void give_back(void* each) const {
        if (each != nullptr &&
            rcl_return_loaned_message_from_subscription(
                subscription.get_subscription_handle().get(), each) != RCL_RET_OK) {
          RCLCPP_ERROR(rclcpp::get_logger("rclrt_rclcpp"),
                       "returning the loaned message of '%s' failed: %s",
                       subscription.get_topic_name(), rcl_get_error_string().str);
          rcl_reset_error();
        }
      }
    } loan{subscription};
    rclcpp::MessageInfo message_info;
    const bool found = take(
        loan.message, message_info, [] { return static_cast<void*>(nullptr); },
        [&](void*& into, rclcpp::MessageInfo& its_info) {
          return taken("a loaned message of", subscription.get_topic_name(), [&] {
            const rcl_ret_t ret =
                rcl_take_loaned_message(subscription.get_subscription_handle().get(), &into,
                                        &its_info.get_rmw_message_info(), nullptr);
            if (ret != RCL_RET_OK && ret != RCL_RET_SUBSCRIPTION_TAKE_FAILED) {
              rclcpp::exceptions::throw_from_rcl_error(ret);
            }
            return ret == RCL_RET_OK;
          });
        },
        [&](void* each) { loan.give_back(each); });
    if (!found) {
      return Outcome::kEmpty;
    }
    const Origin origin = note_taken(static_cast<const void*>(loan.message), message_info, info);
    const Running running(*this, info, taking, origin);
    subscription.handle_loaned_message(loan.message, message_info);
    return Outcome::kRan;
  }

  std::optional<StampReader> traced_stamps_;  // none: no session of `rclrt trace record`
  std::unique_ptr<MessageAge> own_age_;
  // nullptr: no reader asks for the age. Release and acquire: it may be set while instances run.
  std::atomic<MessageAge*> age_{nullptr};
};

class ServiceCallback final : public MessageCallback<rclcpp::ServiceBase> {
 public:
  using MessageCallback::MessageCallback;

 private:
  rcl_ret_t set_listener(rclcpp::ServiceBase& service, rcl_event_callback_t function,
                         const void* user_data) override {
    return rcl_service_set_on_new_request_callback(service.get_service_handle().get(), function,
                                                   user_data);
  }
  /// Sets an empty function instead of none, because rmw_fastrtps calls the function of a service
  /// without checking whether it was removed. Requests that arrive then are not announced, so the
  /// next listener looks for requests until it finds none.
  rcl_ret_t end_listener(const rclcpp::ServiceBase::SharedPtr& service) override {
    UndeliveredWork::instance().keep(service, kUnknown, 1);
    return set_listener(*service, [](const void*, std::size_t) {}, nullptr);
  }
  Outcome take_and_run(rclcpp::ServiceBase& service, InstanceInfo& info, Taking& taking) override {
    const auto header = service.create_request_header();
    std::shared_ptr<void> request = service.create_request();
    if (!taken("a request of service", service.get_service_name(),
               [&] { return service.take_type_erased_request(request.get(), *header); })) {
      return Outcome::kEmpty;
    }
    const Running running(*this, info, taking);
    service.handle_request(header, request);
    return Outcome::kRan;
  }
};

class ClientCallback final : public MessageCallback<rclcpp::ClientBase> {
 public:
  using MessageCallback::MessageCallback;

 private:
  rcl_ret_t set_listener(rclcpp::ClientBase& client, rcl_event_callback_t function,
                         const void* user_data) override {
    return rcl_client_set_on_new_response_callback(client.get_client_handle().get(), function,
                                                   user_data);
  }
  Outcome take_and_run(rclcpp::ClientBase& client, InstanceInfo& info, Taking& taking) override {
    const auto header = client.create_request_header();
    std::shared_ptr<void> response = client.create_response();
    if (!taken("a response of service", client.get_service_name(),
               [&] { return client.take_type_erased_response(response.get(), *header); })) {
      return Outcome::kEmpty;
    }
    const Running running(*this, info, taking);
    client.handle_response(header, response);
    return Outcome::kRan;
  }
};

}  // namespace

Bound bind(const rclcpp::SubscriptionBase::SharedPtr& subscription, engine::CallbackOptions options,
           Changes& changes) {
  options.type = engine::EntityType::kSubscription;
  return make_bound<SubscriptionCallback>(subscription, subscription->get_actual_qos(), options,
                                          changes);
}

Bound bind(const rclcpp::ServiceBase::SharedPtr& service, engine::CallbackOptions options,
           Changes& changes) {
  options.type = engine::EntityType::kService;
  return make_bound<ServiceCallback>(service, service->get_request_subscription_actual_qos(),
                                     options, changes);
}

Bound bind(const rclcpp::ClientBase::SharedPtr& client, engine::CallbackOptions options,
           Changes& changes) {
  options.type = engine::EntityType::kClient;
  return make_bound<ClientCallback>(client, client->get_response_subscription_actual_qos(), options,
                                    changes);
}

}  // namespace rclrt_rclcpp

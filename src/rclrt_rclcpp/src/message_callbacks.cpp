// SPDX-License-Identifier: Apache-2.0
// Subscriptions, services and clients: what a middleware tells of by number.
#include <algorithm>
#include <functional>
#include <rclcpp/rclcpp.hpp>
#include <stdexcept>

#include "entity_callback.hpp"
#include "left_behind.hpp"

namespace rclrt_rclcpp {

namespace {

using engine::InstanceInfo;
using engine::Outcome;

/// With KEEP_ALL the middleware drops nothing, and no fixed number of instances is enough; with
/// very deep queues it would be a waste. Then what finds no credit is counted, and announced when
/// one has run.
constexpr std::size_t kCountedCredits = 64;
constexpr std::size_t kDeepest = 1000;

bool is_counted(const rclcpp::QoS& qos) {
  return qos.history() == rclcpp::HistoryPolicy::KeepAll || qos.depth() > kDeepest;
}

/// As rclcpp's executors do: an error of the middleware is logged and the message is lost.
bool taken(const char* what, const char* name, const std::function<bool()>& take) {
  try {
    return take();
  } catch (const rclcpp::exceptions::RCLError& error) {
    RCLCPP_ERROR(rclcpp::get_logger("rclrt_rclcpp"), "taking %s '%s' failed: %s", what, name,
                 error.what());
    return false;
  }
}

template <typename Entity>
class MessageCallback : public engine::NotifiedCallback,
                        public Listener,
                        public std::enable_shared_from_this<MessageCallback<Entity>> {
 public:
  MessageCallback(const std::shared_ptr<Entity>& entity, const engine::CallbackOptions& options,
                  Changes& changes)
      : NotifiedCallback(options), Listener(changes), entity_(entity) {}

  void listen() override {
    if (const auto entity = entity_.lock()) {
      // The function keeps this object, which may be told of work for as long as the entity lives.
      // rclcpp registers it twice, so nothing is lost that comes between the count of what waits
      // and the registration.
      set_listener(*entity,
                   [self = this->shared_from_this()](std::size_t count) { self->tell(count); });
      tell(LeftBehind::instance().take(entity_));
    }
  }
  void unlisten() override {
    if (const auto entity = entity_.lock()) {
      clear_listener(*entity);
    }
  }
  void leave_rest() override {
    LeftBehind::instance().keep(entity_, take_left_behind() + take_untold());
  }
  bool expired() const noexcept override { return entity_.expired(); }

 protected:
  void attach() override { start_listening(); }
  void detach() noexcept override { stop_listening(); }

  Outcome run(InstanceInfo& info) override {
    const auto entity = entity_.lock();
    return entity ? take_and_run(*entity, info) : gone();
  }

  virtual void set_listener(Entity& entity, std::function<void(std::size_t)> told) = 0;
  virtual void clear_listener(Entity& entity) = 0;
  virtual Outcome take_and_run(Entity& entity, InstanceInfo& info) = 0;

 private:
  const std::weak_ptr<Entity> entity_;
};

class SubscriptionCallback final : public MessageCallback<rclcpp::SubscriptionBase> {
 public:
  using MessageCallback::MessageCallback;

 private:
  void set_listener(rclcpp::SubscriptionBase& subscription,
                    std::function<void(std::size_t)> told) override {
    counted_ = is_counted(subscription.get_actual_qos());
    subscription.set_on_new_message_callback(std::move(told));
  }
  void clear_listener(rclcpp::SubscriptionBase& subscription) override {
    subscription.clear_on_new_message_callback();
  }

  void announce(std::size_t count) noexcept RCLRT_NONBLOCKING override {
    if (counted_) {
      waiting_.fetch_add(count);
    }
    NotifiedCallback::announce(count);
  }

  Outcome take_and_run(rclcpp::SubscriptionBase& subscription, InstanceInfo& info) override {
    Outcome outcome = Outcome::kEmpty;
    switch (subscription.get_delivered_message_kind()) {
      case rclcpp::DeliveredMessageKind::ROS_MESSAGE:
        outcome = subscription.can_loan_messages() ? run_loaned(subscription, info)
                                                   : run_message(subscription, info);
        break;
      case rclcpp::DeliveredMessageKind::SERIALIZED_MESSAGE:
        outcome = run_serialized(subscription, info);
        break;
      default:
        throw std::runtime_error("subscription '" + std::string(subscription.get_topic_name()) +
                                 "': rclcpp cannot deliver dynamic messages to executors");
    }
    if (counted_) {
      std::size_t waiting = waiting_.load();
      while (waiting > 0 && !waiting_.compare_exchange_weak(waiting, waiting - 1)) {
      }
      // This instance is pending still; without another one nobody would come for the rest.
      if (waiting > 1 && counters().pending() <= 1) {
        NotifiedCallback::announce(1);
      }
    }
    return outcome;
  }

  /// With a policy under which one instance stands for all messages: the newest.
  bool takes_newest() const noexcept { return overload() != engine::Overload::kQueue; }

  Outcome run_message(rclcpp::SubscriptionBase& subscription, InstanceInfo& info) {
    rclcpp::MessageInfo message_info;
    std::shared_ptr<void> message = subscription.create_message();
    const auto take = [&] {
      return taken("a message of", subscription.get_topic_name(),
                   [&] { return subscription.take_type_erased(message.get(), message_info); });
    };
    bool found = take();
    while (found && takes_newest()) {
      const rclcpp::MessageInfo newest_info = message_info;
      std::shared_ptr<void> newest = std::exchange(message, subscription.create_message());
      if (!take()) {
        subscription.return_message(message);
        message = std::move(newest);
        message_info = newest_info;
        break;
      }
      subscription.return_message(newest);
    }
    if (found) {
      const Running running(*this, info);
      message_info.get_rmw_message_info().from_intra_process = false;
      subscription.handle_message(message, message_info);
    }
    subscription.return_message(message);
    return found ? Outcome::kRan : Outcome::kEmpty;
  }

  Outcome run_loaned(rclcpp::SubscriptionBase& subscription, InstanceInfo& info) {
    struct Loan {
      rclcpp::SubscriptionBase& subscription;
      void* message = nullptr;
      ~Loan() {
        if (message != nullptr &&
            rcl_return_loaned_message_from_subscription(
                subscription.get_subscription_handle().get(), message) != RCL_RET_OK) {
          RCLCPP_ERROR(rclcpp::get_logger("rclrt_rclcpp"),
                       "returning the loaned message of '%s' failed: %s",
                       subscription.get_topic_name(), rcl_get_error_string().str);
          rcl_reset_error();
        }
      }
    } loan{subscription};
    rclcpp::MessageInfo message_info;
    message_info.get_rmw_message_info().from_intra_process = false;
    const bool found = taken("a loaned message of", subscription.get_topic_name(), [&] {
      const rcl_ret_t ret =
          rcl_take_loaned_message(subscription.get_subscription_handle().get(), &loan.message,
                                  &message_info.get_rmw_message_info(), nullptr);
      if (ret != RCL_RET_OK && ret != RCL_RET_SUBSCRIPTION_TAKE_FAILED) {
        rclcpp::exceptions::throw_from_rcl_error(ret);
      }
      return ret == RCL_RET_OK;
    });
    if (!found) {
      return Outcome::kEmpty;
    }
    const Running running(*this, info);
    subscription.handle_loaned_message(loan.message, message_info);
    return Outcome::kRan;
  }

  Outcome run_serialized(rclcpp::SubscriptionBase& subscription, InstanceInfo& info) {
    rclcpp::MessageInfo message_info;
    std::shared_ptr<rclcpp::SerializedMessage> message = subscription.create_serialized_message();
    const bool found = taken("a serialized message of", subscription.get_topic_name(),
                             [&] { return subscription.take_serialized(*message, message_info); });
    if (found) {
      const Running running(*this, info);
      message_info.get_rmw_message_info().from_intra_process = false;
      subscription.handle_serialized_message(message, message_info);
    }
    subscription.return_serialized_message(message);
    return found ? Outcome::kRan : Outcome::kEmpty;
  }

  bool counted_ = false;  // set before anybody tells
  // Messages that were told of and have not been taken. Whoever finds no credit leaves
  // its message to an instance that is pending; the last of these looks here before it ends.
  std::atomic<std::size_t> waiting_{0};
};

class ServiceCallback final : public MessageCallback<rclcpp::ServiceBase> {
 public:
  using MessageCallback::MessageCallback;

 private:
  void set_listener(rclcpp::ServiceBase& service, std::function<void(std::size_t)> told) override {
    service.set_on_new_request_callback(std::move(told));
  }
  void clear_listener(rclcpp::ServiceBase& service) override {
    service.clear_on_new_request_callback();
  }
  Outcome take_and_run(rclcpp::ServiceBase& service, InstanceInfo& info) override {
    const auto header = service.create_request_header();
    std::shared_ptr<void> request = service.create_request();
    if (!taken("a request of service", service.get_service_name(),
               [&] { return service.take_type_erased_request(request.get(), *header); })) {
      return Outcome::kEmpty;
    }
    const Running running(*this, info);
    service.handle_request(header, request);
    return Outcome::kRan;
  }
};

class ClientCallback final : public MessageCallback<rclcpp::ClientBase> {
 public:
  using MessageCallback::MessageCallback;

 private:
  void set_listener(rclcpp::ClientBase& client, std::function<void(std::size_t)> told) override {
    client.set_on_new_response_callback(std::move(told));
  }
  void clear_listener(rclcpp::ClientBase& client) override {
    client.clear_on_new_response_callback();
  }
  Outcome take_and_run(rclcpp::ClientBase& client, InstanceInfo& info) override {
    const auto header = client.create_request_header();
    std::shared_ptr<void> response = client.create_response();
    if (!taken("a response of service", client.get_service_name(),
               [&] { return client.take_type_erased_response(response.get(), *header); })) {
      return Outcome::kEmpty;
    }
    const Running running(*this, info);
    client.handle_response(header, response);
    return Outcome::kRan;
  }
};

template <typename Callback, typename Entity>
Bound make_bound(const Entity& entity, const engine::CallbackOptions& options, Changes& changes) {
  const auto made = std::make_shared<Callback>(entity, options, changes);
  return {made, made};
}

/// What waits in the middleware at most; 10 is the depth of rclcpp's services.
constexpr std::size_t kServiceDepth = 10;

}  // namespace

Bound bind(const rclcpp::SubscriptionBase::SharedPtr& subscription, engine::CallbackOptions options,
           Changes& changes) {
  const rclcpp::QoS qos = subscription->get_actual_qos();
  options.type = engine::EntityType::kSubscription;
  options.credits = is_counted(qos) ? kCountedCredits : std::max<std::size_t>(qos.depth(), 1);
  return make_bound<SubscriptionCallback>(subscription, options, changes);
}

Bound bind(const rclcpp::ServiceBase::SharedPtr& service, engine::CallbackOptions options,
           Changes& changes) {
  options.type = engine::EntityType::kService;
  options.credits = kServiceDepth;
  return make_bound<ServiceCallback>(service, options, changes);
}

Bound bind(const rclcpp::ClientBase::SharedPtr& client, engine::CallbackOptions options,
           Changes& changes) {
  options.type = engine::EntityType::kClient;
  options.credits = kServiceDepth;
  return make_bound<ClientCallback>(client, options, changes);
}

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
// Nodes, and what they create.
#pragma once

#include <rcl/node.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/callback_options.hpp"
#include "rclrt/client.hpp"
#include "rclrt/context.hpp"
#include "rclrt/export.hpp"
#include "rclrt/guard_condition.hpp"
#include "rclrt/parameters.hpp"
#include "rclrt/publisher.hpp"
#include "rclrt/realtime/duration.hpp"
#include "rclrt/service.hpp"
#include "rclrt/subscription.hpp"
#include "rclrt/synchronizer.hpp"
#include "rclrt/timer.hpp"

namespace rclrt {

/// The rcl node, kept alive by everything that was created from it.
struct RCLRT_EXPORT NodeHandle {
  /// Makes the node in rcl. Throws Error.
  RCLRT_SETUP NodeHandle(std::shared_ptr<Context> context, const std::string& name,
                         const std::string& name_space);
  ~NodeHandle();
  NodeHandle(const NodeHandle&) = delete;
  NodeHandle& operator=(const NodeHandle&) = delete;

  const std::shared_ptr<Context> context;
  rcl_node_t node;
};

template <typename A>
struct ActionCallbacks;
template <typename A>
class ActionServer;
template <typename A>
class ActionClient;
class QosEventBase;

/// Options of a node.
struct NodeOptions {
  /// true: when its first parameter is declared, the node creates ROS's six parameter services and
  /// a publisher on /parameter_events. They are callbacks of the node, so declare a parameter
  /// before `add_node`.
  bool parameter_services = true;
  /// Priority of these services; by default they are less urgent than everything else.
  int parameter_priority = INT_MIN;
};

/// A ROS node. Use all of its functions in the configure phase, on one thread. They throw Error if
/// rcl refuses something (an invalid name, for example). Publishers, services and other entities
/// live as long as they have an owner. The node and the executor to which it is added own the
/// callbacks.
class RCLRT_EXPORT Node {
 public:
  /// Makes a node. Throws Error, for example if the name is invalid.
  RCLRT_SETUP Node(std::shared_ptr<Context> context, const std::string& name,
                   const std::string& name_space = "/", const NodeOptions& options = {});

  std::string get_name() const;
  /// Returns the name with its namespace.
  std::string get_fully_qualified_name() const;

  /// Creates a publisher. Throws Error.
  template <typename T>
  RCLRT_SETUP std::shared_ptr<Publisher<T>> create_publisher(const std::string& topic,
                                                             const QoS& qos,
                                                             const PublisherOptions& options = {}) {
    return std::make_shared<Publisher<T>>(handle_, topic, qos, options);
  }

  /// Creates a subscription. For each message it calls `callback` with `const T&`, optionally
  /// followed by `const InstanceInfo&`.
  template <typename T, typename F>
  RCLRT_SETUP std::shared_ptr<Subscription<T>> create_subscription(const std::string& topic,
                                                                   const QoS& qos, F callback,
                                                                   CallbackOptions options = {}) {
    auto subscription = std::make_shared<detail::SubscriptionOf<T, F>>(
        handle_, topic, qos, std::move(options), std::move(callback));
    callbacks_.push_back(subscription);
    return subscription;
  }

  /// Creates one subscription for each of these topics. They share `callback` and exclude each
  /// other. `callback` takes `const T&` and the index of the topic in `topics`, optionally followed
  /// by `const InstanceInfo&`. So one callback that is part of several chains can find out to which
  /// chain a message belongs.
  template <typename T, typename F>
  RCLRT_SETUP std::vector<std::shared_ptr<Subscription<T>>> create_subscriptions(
      const std::vector<std::string>& topics, const QoS& qos, F callback,
      CallbackOptions options = {}) {
    const auto function = std::make_shared<F>(std::move(callback));
    detail::exclude_each_other(options);
    std::vector<std::shared_ptr<Subscription<T>>> result;
    for (std::size_t i = 0; i < topics.size(); ++i) {
      result.push_back(create_subscription<T>(
          topics[i], qos,
          [function, i](const T& message, const InstanceInfo& info) {
            detail::call(*function, info, message, i);
          },
          options));
    }
    return result;
  }

  /// Creates a timer. `callback` takes nothing, or `const InstanceInfo&`, of which `release_ns` is
  /// the nominal release. A timer with a period of more than 292 years never expires. Throws
  /// std::invalid_argument unless `period` is positive.
  template <typename F>
  RCLRT_SETUP std::shared_ptr<Timer> create_wall_timer(realtime::SaturatingNanoseconds period,
                                                       F callback, CallbackOptions options = {},
                                                       const TimerOptions& timer = {}) {
    const auto offset = timer.offset.count() < 0 ? period : timer.offset;
    auto created = std::make_shared<detail::TimerOf<F>>(
        executor::CallbackOptions{.name = options.name.empty() ? "timer" : std::move(options.name),
                                  .type = executor::EntityType::kTimer,
                                  .level = options.priority,
                                  .credits = timer.depth,
                                  .overload = options.overload,
                                  .group = std::move(options.group),
                                  .deadline_ns = options.deadline.count()},
        executor::TimerOptions{period.count(), offset.count(), timer.overrun}, std::move(callback));
    callbacks_.push_back(created);
    detail::trace_timer(*created, *handle_, period.count());
    return created;
  }

  /// Creates a synchronizer of topics with several types. It calls `callback` with one message of
  /// each topic (`const Ts&...`, optionally followed by `const InstanceInfo&`) when the last
  /// message of a set has arrived. At most `qos.depth()` messages of each topic wait for messages
  /// of the others.
  template <typename... Ts, typename F>
  RCLRT_SETUP Synchronizer create_synchronizer(const std::array<std::string, sizeof...(Ts)>& topics,
                                               const QoS& qos, const SyncOptions& sync, F callback,
                                               CallbackOptions options = {}) {
    using State = detail::SyncState<F, Ts...>;
    const auto state = std::make_shared<State>(
        State{{qos.depth(), sync.policy, sync.window.count()}, std::move(callback)});
    detail::exclude_each_other(options);
    Synchronizer result;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add_sync_input<Ts>(topics[I], qos, options, result,
                          [state](Ts& message, const auto& input, InstanceInfo& info) {
                            return state->template add<I>(message, input, info);
                          }),
       ...);
    }(std::index_sequence_for<Ts...>{});
    trace(result, sync, state.get());
    return result;
  }

  /// Creates a synchronizer of topics with one type. `callback` takes `std::span<const T* const>`:
  /// one message of each topic, in the order of the topics. `const InstanceInfo&` may follow.
  template <typename T, typename F>
  RCLRT_SETUP Synchronizer create_synchronizer(const std::vector<std::string>& topics,
                                               const QoS& qos, const SyncOptions& sync, F callback,
                                               CallbackOptions options = {}) {
    using State = detail::SyncListState<F, T>;
    const auto state = std::make_shared<State>(
        State{{topics.size(), qos.depth(), sync.policy, sync.window.count()}, std::move(callback)});
    detail::exclude_each_other(options);
    Synchronizer result;
    for (std::size_t i = 0; i < topics.size(); ++i) {
      add_sync_input<T>(topics[i], qos, options, result,
                        [state, i](T& message, const auto& input, InstanceInfo& info) {
                          return state->add(i, message, input, info);
                        });
    }
    trace(result, sync, state.get());
    return result;
  }

  /// Creates a service. For each request it calls `callback` with `const S::Request&,
  /// S::Response&`, optionally followed by `const InstanceInfo&`. The response is sent when
  /// `callback` returns.
  template <typename S, typename F>
  RCLRT_SETUP std::shared_ptr<Service<S>> create_service(const std::string& name, F callback,
                                                         const QoS& qos = 10,
                                                         const CallbackOptions& options = {}) {
    auto service =
        std::make_shared<detail::ServiceOf<S, F>>(handle_, name, qos, options, std::move(callback));
    callbacks_.push_back(service);
    return service;
  }

  /// Creates a client. The callbacks that handle the responses run at `options.priority`.
  template <typename S>
  RCLRT_SETUP std::shared_ptr<Client<S>> create_client(const std::string& name, const QoS& qos = 10,
                                                       const CallbackOptions& options = {}) {
    auto client = std::make_shared<Client<S>>(handle_, name, qos, options);
    callbacks_.push_back(client);
    return client;
  }

  /// Creates a guard condition. `callback` runs after the guard condition's `trigger()` was called.
  /// It takes nothing, or `const InstanceInfo&`.
  template <typename F>
  RCLRT_SETUP std::shared_ptr<GuardCondition> create_guard_condition(
      F callback, const CallbackOptions& options = {}) {
    auto condition = std::make_shared<detail::GuardConditionOf<F>>(handle_->context, options,
                                                                   std::move(callback));
    callbacks_.push_back(condition);
    return condition;
  }

  /// Declares a parameter with the default `value`; the parameter has the type of `value`. The ROS
  /// arguments may override the default (`-p name:=value`, or a parameter file). Throws
  /// std::invalid_argument if the name is declared already, or if the resulting value has another
  /// type, is out of range or is refused by a callback.
  template <typename T>
  RCLRT_SETUP Parameter<StoredParameter<T>> declare_parameter(
      const std::string& name, T value, const ParameterOptions<StoredParameter<T>>& options = {}) {
    offer_parameters();
    return parameters_->declare<StoredParameter<T>>(name, StoredParameter<T>(std::move(value)),
                                                    options);
  }
  /// Declares a parameter that has no default. Throws std::invalid_argument if the ROS arguments do
  /// not give it a value.
  template <typename T>
  RCLRT_SETUP Parameter<T> declare_parameter(const std::string& name,
                                             const ParameterOptions<T>& options = {}) {
    offer_parameters();
    return parameters_->declare<T>(name, ParameterValue{}, options);
  }
  /// Returns the declared parameters, which live as long as the node and its callbacks.
  Parameters& parameters() noexcept { return *parameters_; }
  /// Warns of parameters that were given to this node and have no effect. See Parameters.
  RCLRT_SETUP void warn_of_ignored_overrides() const { parameters_->warn_of_ignored_overrides(); }

  // The following functions return the ROS graph as this node knows it. Names are expanded and
  // remapped like the names of the node's own topics. All of them are thread-safe, allocate, and
  // throw Error.

  /// Returns how many publishers the graph has on the topic. The next three functions do the same
  /// for subscriptions, services and clients. Throws Error.
  std::size_t count_publishers(const std::string& topic) const;
  /// Returns how many subscriptions the graph has on the topic.
  std::size_t count_subscribers(const std::string& topic) const;
  /// Returns how many servers of the service the graph has.
  std::size_t count_services(const std::string& service) const;
  /// Returns how many clients of the service the graph has.
  std::size_t count_clients(const std::string& service) const;
  /// Returns the names of all nodes, with their namespaces.
  std::vector<std::string> get_node_names() const;
  /// Waits until the topic has at least `at_least` publishers, and checks once a millisecond.
  /// Returns true when it has them. Returns false if `timeout` passes first (negative: no limit) or
  /// the context is shut down.
  bool wait_for_publishers(const std::string& topic, std::size_t at_least,
                           realtime::SaturatingNanoseconds timeout) const RCLRT_WAITS;
  /// Waits for subscriptions as wait_for_publishers does for publishers.
  bool wait_for_subscribers(const std::string& topic, std::size_t at_least,
                            realtime::SaturatingNanoseconds timeout) const RCLRT_WAITS;

  /// Creates a mutually exclusive or a reentrant callback group. If
  /// `automatically_add_to_executor_with_node` is false, `Executor::add_node` skips the group's
  /// callbacks and `Executor::add_callback_group` adds them. So the groups of one node can run in
  /// different executors.
  RCLRT_SETUP std::shared_ptr<CallbackGroup> create_callback_group(
      CallbackGroupType type = CallbackGroupType::kMutuallyExclusive,
      bool automatically_add_to_executor_with_node = true) {
    auto group = std::make_shared<CallbackGroup>(type);
    if (!automatically_add_to_executor_with_node) {
      groups_added_alone_.push_back(group);
    }
    return group;
  }

  /// Returns whether `Executor::add_node` adds this callback of the node. Returns false if the
  /// callback's group was created with `automatically_add_to_executor_with_node` false.
  RCLRT_SETUP bool is_added_with_node(const executor::Callback& callback) const;

  /// Returns the handle, for entities of your own (see add_callback).
  const std::shared_ptr<NodeHandle>& handle() const noexcept { return handle_; }

  /// Adds a callback of an entity that other code has created for this node. An executor that gets
  /// the node then also gets the callback. `create_action_client` and similar functions use it.
  /// Call it for your own classes that derive from SubscriptionBase or Subscription<T>.
  RCLRT_SETUP void add_callback(std::shared_ptr<executor::Callback> callback) {
    callbacks_.push_back(std::move(callback));
  }

  /// Returns the callbacks in order of creation.
  const std::vector<std::shared_ptr<executor::Callback>>& callbacks() const { return callbacks_; }

 private:
  template <typename T, typename Add>
  void add_sync_input(const std::string& topic, const QoS& qos, const CallbackOptions& options,
                      Synchronizer& synchronizer, Add add) {
    auto input =
        std::make_shared<detail::SyncInput<T, Add>>(handle_, topic, qos, options, std::move(add));
    synchronizer.inputs.push_back(input);
    callbacks_.push_back(std::move(input));
  }

  static void trace(const Synchronizer& synchronizer, const SyncOptions& options,
                    const void* state) {
    for (const auto& input : synchronizer.inputs) {
      detail::trace_synchronizer_input(
          state, *input, options.policy == SyncPolicy::kExact ? 0 : options.window.count());
    }
  }

  RCLRT_SETUP void offer_parameters();

  const std::shared_ptr<NodeHandle> handle_;
  const NodeOptions options_;
  const std::shared_ptr<Parameters> parameters_;
  bool offers_parameters_ = false;
  std::vector<std::shared_ptr<executor::Callback>> callbacks_;
  std::vector<std::shared_ptr<CallbackGroup>> groups_added_alone_;
};

}  // namespace rclrt

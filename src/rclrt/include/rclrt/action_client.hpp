// SPDX-License-Identifier: Apache-2.0
// Action clients: send goals, follow and cancel them, and get their results.
#pragma once

#include <action_msgs/msg/goal_status_array.hpp>
#include <action_msgs/srv/cancel_goal.hpp>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rclrt/action.hpp"
#include "rclrt/client.hpp"
#include "rclrt/detail/poll_until.hpp"
#include "rclrt/node.hpp"
#include "rclrt/subscription.hpp"

namespace rclrt {

template <typename A>
class ActionClient;

/// How a goal ended.
template <typename A>
struct ActionResult {
  GoalUUID goal_id{};
  GoalStatus status =
      GoalStatus::kUnknown;  ///< kUnknown: the server does not know the goal (any more)
  A::Result result;
};

/// A goal that was sent. Thread-safe.
template <typename A>
class ClientGoalHandle {
 public:
  const GoalUUID& goal_id() const noexcept { return id_; }
  /// Returns the status that the server reported last.
  GoalStatus status() const noexcept { return status_.load(); }

 private:
  friend class ActionClient<A>;
  using Handle = std::shared_ptr<ClientGoalHandle>;

  explicit ClientGoalHandle(const GoalUUID& id) : id_(id) {}
  /// Stores a status. Statuses arrive from three sources in any order; a terminal status is final.
  void note(GoalStatus status) noexcept {
    GoalStatus now = status_.load();
    while (!is_terminal(now) && now < status && !status_.compare_exchange_weak(now, status)) {
    }
  }

  const GoalUUID id_;
  std::atomic<GoalStatus> status_{GoalStatus::kUnknown};
  // Set before the goal is sent, and not changed.
  std::function<void(const Handle&)> on_response_;
  std::function<void(const Handle&, const typename A::Feedback&)> on_feedback_;
  std::function<void(const ActionResult<A>&)> on_result_;
  // Guarded by the client's mutex.
  bool asked_ = false;  // for the result
  std::shared_ptr<const ActionResult<A>> result_;
  std::vector<std::promise<ActionResult<A>>> waiting_;
};

/// Callbacks for the progress of a goal. Each may be empty.
template <typename A>
struct SendGoalOptions {
  using Handle = std::shared_ptr<ClientGoalHandle<A>>;
  std::function<void(const Handle&)> goal_response_callback;  ///< nullptr if it was rejected
  /// Called with each feedback message of the goal. The first call may come before
  /// `goal_response_callback`, because feedback arrives by a topic and the response by a service.
  std::function<void(const Handle&, const typename A::Feedback&)> feedback_callback;
  std::function<void(const ActionResult<A>&)> result_callback;  ///< only if it was accepted
};

/// Creates an action client of `node`; `options` are those of all its callbacks.
template <typename A>
RCLRT_SETUP std::shared_ptr<ActionClient<A>> create_action_client(Node& node,
                                                                  const std::string& name,
                                                                  CallbackOptions options = {});

/// The client of an action. Its three service clients and two subscriptions are separate callbacks
/// with one priority, and they exclude each other. All member functions are thread-safe. Functions
/// that send allocate and throw Error. To wait for a future inside a callback, see Client.
template <typename A>
class ActionClient final : public std::enable_shared_from_this<ActionClient<A>> {
  using SendGoal = A::Impl::SendGoalService;
  using CancelGoal = action_msgs::srv::CancelGoal;
  using GetResult = A::Impl::GetResultService;
  using FeedbackMessage = A::Impl::FeedbackMessage;
  using StatusMessage = action_msgs::msg::GoalStatusArray;

 public:
  using Handle = std::shared_ptr<ClientGoalHandle<A>>;
  using CancelResponse = CancelGoal::Response;

  /// Makes the client; use create_action_client.
  RCLRT_SETUP ActionClient(const std::shared_ptr<NodeHandle>& node,
                           const detail::ActionNames& names, const CallbackOptions& options)
      : context_(node->context),
        goals_(std::make_shared<Client<SendGoal>>(node, names.goal_service, 10, options)),
        cancels_(std::make_shared<Client<CancelGoal>>(node, names.cancel_service, 10, options)),
        results_(std::make_shared<Client<GetResult>>(node, names.result_service, 10, options)) {}

  /// Ends the client: futures that are not ready are broken promises.
  ~ActionClient() {
    for (const auto& [id, handle] : sent_) {
      handle->waiting_.clear();
    }
  }
  ActionClient(const ActionClient&) = delete;
  ActionClient& operator=(const ActionClient&) = delete;

  /// Returns whether a server is there with all its parts. Throws Error.
  bool action_server_is_ready() const {
    return goals_->service_is_ready() && cancels_->service_is_ready() &&
           results_->service_is_ready() && feedback_->get_publisher_count() > 0 &&
           statuses_->get_publisher_count() > 0;
  }
  /// Waits until `action_server_is_ready()`, and checks it once a millisecond. Returns true when it
  /// is ready. Returns false if `timeout` passes first (negative: no limit) or the context is shut
  /// down. Throws Error.
  bool wait_for_action_server(realtime::SaturatingNanoseconds timeout) const RCLRT_WAITS {
    return detail::poll_until(*context_, timeout, [this] { return action_server_is_ready(); });
  }

  /// Sends a goal. The returned future is ready when the server has answered. Its value is nullptr
  /// if the server rejected the goal.
  std::future<Handle> async_send_goal(const A::Goal& goal, SendGoalOptions<A> options = {}) {
    const Handle handle(new ClientGoalHandle<A>(detail::make_goal_uuid()));
    handle->on_response_ = std::move(options.goal_response_callback);
    handle->on_feedback_ = std::move(options.feedback_callback);
    handle->on_result_ = std::move(options.result_callback);
    {
      const std::scoped_lock lock(mutex_);
      sent_.emplace(handle->id_, handle);
    }
    typename SendGoal::Request request;
    request.goal_id.uuid = handle->id_;
    request.goal = goal;
    auto promise = std::make_shared<std::promise<Handle>>();
    auto future = promise->get_future();
    const auto on_response = [self = this->weak_from_this(), handle,
                              promise](const SendGoal::Response& response) {
      if (const auto client = self.lock()) {
        client->on_goal_response(handle, response.accepted, *promise);
      }
    };
    try {
      goals_->async_send_request(request, on_response);
    } catch (...) {
      forget(handle);
      throw;
    }
    return future;
  }

  /// Requests the result of a goal that this client sent and the server accepted. The returned
  /// future is ready when the goal has ended. If the client is destroyed first, the future has the
  /// error `broken_promise`.
  std::future<ActionResult<A>> async_get_result(const Handle& handle) {
    require(handle);
    std::promise<ActionResult<A>> promise;
    auto future = promise.get_future();
    {
      const std::scoped_lock lock(mutex_);
      if (handle->result_) {
        promise.set_value(*handle->result_);
        return future;
      }
      sent_.emplace(handle->id_, handle);
      handle->waiting_.push_back(std::move(promise));
    }
    ask_for_result(handle);
    return future;
  }

  /// Asks the server to cancel one goal, all goals, or the goals accepted at or before a system
  /// time. The response lists the goals that the server will cancel. To find out when such a goal
  /// has ended, request its result.
  std::future<CancelResponse> async_cancel_goal(const Handle& handle) {
    require(handle);
    CancelGoal::Request request;
    request.goal_info.goal_id.uuid = handle->id_;
    return cancels_->async_send_request(request).future;
  }
  std::future<CancelResponse> async_cancel_all_goals() {
    return cancels_->async_send_request(CancelGoal::Request{}).future;
  }
  /// Asks the server to cancel all goals accepted up to `time`.
  std::future<CancelResponse> async_cancel_goals_before(const builtin_interfaces::msg::Time& time) {
    CancelGoal::Request request;
    request.goal_info.stamp = time;
    return cancels_->async_send_request(request).future;
  }

  /// Returns the callbacks that an executor runs for this client.
  std::vector<std::shared_ptr<executor::Callback>> callbacks() const {
    return {goals_, cancels_, results_, feedback_, statuses_};
  }

 private:
  template <typename Action>
  friend std::shared_ptr<ActionClient<Action>> create_action_client(Node&, const std::string&,
                                                                    CallbackOptions);

  static void require(const Handle& handle) {
    if (!handle) {
      throw std::invalid_argument("a rejected goal (nullptr) has no result and cannot be canceled");
    }
  }

  void subscribe(const std::shared_ptr<NodeHandle>& node, const detail::ActionNames& names,
                 const CallbackOptions& options) {
    const auto make = [&]<typename T>(std::type_identity<T>, const std::string& topic,
                                      const QoS& qos, auto function) {
      return std::make_shared<detail::SubscriptionOf<T, decltype(function)>>(node, topic, qos,
                                                                             options, function);
    };
    const auto self = this->weak_from_this();
    feedback_ = make(std::type_identity<FeedbackMessage>{}, names.feedback_topic, 10,
                     [self](const FeedbackMessage& message) {
                       if (const auto client = self.lock()) {
                         client->on_feedback(message);
                       }
                     });
    // The QoS of `rcl_action_qos_profile_status_default`.
    statuses_ = make(std::type_identity<StatusMessage>{}, names.status_topic,
                     QoS(1).transient_local(), [self](const StatusMessage& message) {
                       if (const auto client = self.lock()) {
                         client->on_status(message);
                       }
                     });
  }

  void on_goal_response(const Handle& handle, bool accepted, std::promise<Handle>& promise) {
    if (accepted) {
      handle->note(GoalStatus::kAccepted);
    } else {
      forget(handle);
    }
    promise.set_value(accepted ? handle : nullptr);
    if (handle->on_response_) {
      handle->on_response_(accepted ? handle : nullptr);
    }
    if (accepted && handle->on_result_) {
      ask_for_result(handle);
    }
  }

  void ask_for_result(const Handle& handle) {
    {
      const std::scoped_lock lock(mutex_);
      if (std::exchange(handle->asked_, true)) {
        return;
      }
    }
    typename GetResult::Request request;
    request.goal_id.uuid = handle->id_;
    try {
      results_->async_send_request(
          request, [self = this->weak_from_this(), handle](const GetResult::Response& response) {
            if (const auto client = self.lock()) {
              client->on_result(handle, response);
            }
          });
    } catch (...) {  // no answer will come: break the promises, allow a new request
      const std::scoped_lock lock(mutex_);
      handle->asked_ = false;
      handle->waiting_.clear();
      throw;
    }
  }

  void on_result(const Handle& handle, const GetResult::Response& response) {
    const auto result = std::make_shared<const ActionResult<A>>(
        ActionResult<A>{handle->id_, static_cast<GoalStatus>(response.status), response.result});
    handle->note(result->status);
    std::vector<std::promise<ActionResult<A>>> waiting;
    {
      const std::scoped_lock lock(mutex_);
      handle->result_ = result;
      waiting.swap(handle->waiting_);
    }
    forget(handle);
    for (auto& promise : waiting) {
      promise.set_value(*result);
    }
    if (handle->on_result_) {
      handle->on_result_(*result);
    }
  }

  void on_feedback(const FeedbackMessage& message) {
    const Handle handle = find(message.goal_id.uuid);  // or it is another client's
    if (handle && handle->on_feedback_) {
      handle->on_feedback_(handle, message.feedback);
    }
  }

  void on_status(const StatusMessage& message) {
    for (const auto& each : message.status_list) {
      if (const Handle handle = find(each.goal_info.goal_id.uuid)) {
        handle->note(static_cast<GoalStatus>(each.status));
        if (is_terminal(handle->status()) && !will_have_result(handle)) {
          forget(handle);
        }
      }
    }
  }

  bool will_have_result(const Handle& handle) const {
    const std::scoped_lock lock(mutex_);
    return handle->asked_ || handle->on_result_;
  }

  Handle find(const GoalUUID& id) const {
    const std::scoped_lock lock(mutex_);
    const auto found = sent_.find(id);
    return found == sent_.end() ? nullptr : found->second;
  }

  void forget(const Handle& handle) {
    const std::scoped_lock lock(mutex_);
    sent_.erase(handle->id_);
  }

  const std::shared_ptr<Context> context_;
  const std::shared_ptr<Client<SendGoal>> goals_;
  const std::shared_ptr<Client<CancelGoal>> cancels_;
  const std::shared_ptr<Client<GetResult>> results_;
  std::shared_ptr<Subscription<FeedbackMessage>> feedback_;  // set once, on creation
  std::shared_ptr<Subscription<StatusMessage>> statuses_;    // ditto

  mutable realtime::PiMutex mutex_;  // guards sent_ and the handles; never held in user code
  std::map<GoalUUID, Handle> sent_;  // goals for which messages may still arrive
};

template <typename A>
std::shared_ptr<ActionClient<A>> create_action_client(Node& node, const std::string& name,
                                                      CallbackOptions options) {
  if (!options.group) {
    options.group = std::make_shared<CallbackGroup>();
  }
  const detail::ActionNames names = detail::action_names(name);
  auto client = std::make_shared<ActionClient<A>>(node.handle(), names, options);
  client->subscribe(node.handle(), names, options);
  for (auto& callback : client->callbacks()) {
    node.add_callback(std::move(callback));
  }
  return client;
}

}  // namespace rclrt

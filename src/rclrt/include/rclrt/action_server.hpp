// SPDX-License-Identifier: Apache-2.0
// Action servers: take goals, report feedback, and answer with results.
#pragma once

#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/action.hpp"
#include "rclrt/detail/action_server_base.hpp"
#include "rclrt/detail/deferred_service.hpp"
#include "rclrt/detail/time_message.hpp"
#include "rclrt/node.hpp"

namespace rclrt {

/// The answer of an action server to a goal.
enum class GoalResponse { kReject, kAcceptAndExecute, kAcceptAndDefer };
/// The answer of an action server to a request to cancel a goal.
enum class CancelResponse { kReject, kAccept };

template <typename A>
class ActionServer;

/// A goal that the server has accepted, for the code that executes the goal. All member functions
/// are thread-safe. If the last handle of an unfinished goal is destroyed, the goal is aborted.
template <typename A>
class ServerGoalHandle {
 public:
  using Goal = A::Goal;
  using Feedback = A::Feedback;
  using Result = A::Result;

  ~ServerGoalHandle();
  ServerGoalHandle(const ServerGoalHandle&) = delete;
  ServerGoalHandle& operator=(const ServerGoalHandle&) = delete;

  const Goal& goal() const noexcept { return goal_; }
  const GoalUUID& goal_id() const noexcept { return id_; }
  GoalStatus status() const { return server_->status(goal_id()); }
  /// Returns whether a client has asked to cancel the goal and the server has agreed. The code that
  /// executes the goal must then end it soon by calling `canceled`.
  bool is_canceling() const { return status() == GoalStatus::kCanceling; }
  bool is_executing() const { return status() == GoalStatus::kExecuting; }
  bool is_active() const {
    const GoalStatus now = status();
    return now != GoalStatus::kUnknown && !is_terminal(now);
  }

  /// Sends `feedback` to the clients. Locks only this goal (with priority inheritance). If a
  /// message of the same size was sent before, nothing is allocated here; rmw_fastrtps itself
  /// allocates about once. Returns false if the message was not sent, for the same reasons as
  /// Publisher::publish.
  bool publish_feedback(const Feedback& feedback);

  /// Begins the execution of a goal that was accepted as deferred (kAcceptAndDefer). Throws
  /// std::logic_error if the goal's execution has begun already or the goal has ended.
  void execute();
  /// Ends the goal with `result`, which the clients get. `succeed`, `abort` and `canceled` throw
  /// std::logic_error if the goal has ended already. `succeed` and `abort` also throw if the goal
  /// is not executing yet, and `canceled` if no client has asked to cancel the goal.
  void succeed(const Result& result) { finish(GOAL_EVENT_SUCCEED, result, "succeed"); }
  /// Ends the goal as aborted; see succeed.
  void abort(const Result& result) { finish(GOAL_EVENT_ABORT, result, "abort"); }
  /// Ends the goal as canceled; see succeed.
  void canceled(const Result& result) { finish(GOAL_EVENT_CANCELED, result, "be canceled"); }

 private:
  friend class ActionServer<A>;
  ServerGoalHandle(std::shared_ptr<ActionServer<A>> server, const GoalUUID& id, Goal goal)
      : server_(std::move(server)), id_(id), goal_(std::move(goal)) {
    message_.goal_id.uuid = id;
  }
  void finish(rcl_action_goal_event_t event, const Result& result, const char* what);
  [[noreturn]] void refuse(const char* what) const {
    throw std::logic_error(std::string("a goal cannot ") + what + ": its status is " +
                           std::to_string(static_cast<int>(status())) +
                           " (action_msgs/msg/GoalStatus has the names)");
  }

  const std::shared_ptr<ActionServer<A>> server_;
  const GoalUUID id_;
  const Goal goal_;
  realtime::PiMutex feedback_mutex_;  // guards message_
  A::Impl::FeedbackMessage message_;  // reused
};

/// The callbacks of an action server.
template <typename A>
struct ActionCallbacks {
  using Handle = std::shared_ptr<ServerGoalHandle<A>>;
  /// Decides whether to accept a goal; empty: all goals are accepted and executed.
  std::function<GoalResponse(const GoalUUID&, const typename A::Goal&)> handle_goal;
  /// Decides whether to cancel a goal; empty: no goal is cancelled.
  std::function<CancelResponse(const Handle&)> handle_cancel;
  /// Called with each accepted goal; it executes the goal, or starts its execution elsewhere. It
  /// must return soon: while it runs, the server handles no other goal, cancel request or result
  /// request, unless its group is reentrant.
  std::function<void(Handle)> handle_accepted;
};

/// Creates an action server of `node`. `options` apply to each of its three services. Clients can
/// request the result of a goal until `result_timeout` after its end (negative: without limit).
/// Throws std::invalid_argument if there is no `handle_accepted`.
template <typename A>
RCLRT_SETUP std::shared_ptr<ActionServer<A>> create_action_server(
    Node& node, const std::string& name, ActionCallbacks<A> callbacks,
    const CallbackOptions& options = {},
    realtime::SaturatingNanoseconds result_timeout = std::chrono::seconds(10));

/// The server of an action. Its three services are separate callbacks with one priority, and they
/// exclude each other. Handling a goal allocates memory. Clients can request a result until
/// `result_timeout` after the goal's end; the next request after that removes the result.
///
/// The server uses the services and topics of rclrt, not the action server of rcl_action, which is
/// one entity with one lock. So sending feedback never waits for a request that is being handled.
/// The names, states and messages are those of rcl_action.
template <typename A>
class ActionServer final : public detail::ActionServerBase,
                           public std::enable_shared_from_this<ActionServer<A>> {
  using SendGoal = A::Impl::SendGoalService;
  using CancelGoal = A::Impl::CancelGoalService;
  using GetResult = A::Impl::GetResultService;
  using Handle = ServerGoalHandle<A>;

 public:
  using Callback = std::shared_ptr<executor::Callback>;

  /// Makes the server; use create_action_server.
  RCLRT_SETUP ActionServer(const std::shared_ptr<NodeHandle>& node,
                           const detail::ActionNames& names, ActionCallbacks<A> callbacks,
                           realtime::SaturatingNanoseconds result_timeout)
      : ActionServerBase(node, names, result_timeout),
        callbacks_(std::move(callbacks)),
        feedback_(node, names.feedback_topic, 10) {
    if (!callbacks_.handle_accepted) {
      throw std::invalid_argument("action server \"" + names.feedback_topic +
                                  "\": ActionCallbacks::handle_accepted is missing; set it to the "
                                  "function that gets the accepted goals");
    }
  }

  /// Returns the callbacks that an executor runs; empty after the server has ended.
  std::vector<Callback> callbacks() const {
    std::vector<Callback> result;
    for (const auto& each : services_) {
      if (auto service = each.lock()) {
        result.push_back(std::move(service));
      }
    }
    return result;
  }

 private:
  template <typename Action>
  friend std::shared_ptr<ActionServer<Action>> create_action_server(
      Node&, const std::string&, ActionCallbacks<Action>, const CallbackOptions&,
      realtime::SaturatingNanoseconds);
  friend class ServerGoalHandle<A>;
  using ResultResponse = GetResult::Response;

  struct Record {
    std::weak_ptr<Handle> handle;
    std::shared_ptr<ResultResponse> result;  // once it has ended
    std::vector<rmw_request_id_t> waiting;   // for the result
  };

  /// Makes the services, which keep the server alive.
  std::vector<Callback> make_services(const std::shared_ptr<NodeHandle>& node,
                                      const detail::ActionNames& names, CallbackOptions options) {
    if (!options.group) {
      options.group = std::make_shared<CallbackGroup>();
    }
    auto self = this->shared_from_this();
    auto goals = detail::make_deferred_service<SendGoal>(
        node, names.goal_service, options,
        [self](const auto& request, rmw_request_id_t id) { self->on_goal(request, id); });
    auto cancels = detail::make_deferred_service<CancelGoal>(
        node, names.cancel_service, options,
        [self](const auto& request, rmw_request_id_t id) { self->on_cancel(request, id); });
    auto results = detail::make_deferred_service<GetResult>(
        node, names.result_service, options,
        [self](const auto& request, rmw_request_id_t id) { self->on_result(request, id); });
    goals_service_ = goals;
    cancel_service_ = cancels;
    result_service_ = results;
    services_ = {goals, cancels, results};
    return {goals, cancels, results};
  }

  void on_goal(const SendGoal::Request& request, rmw_request_id_t request_id) {
    const GoalUUID& id = request.goal_id.uuid;
    expire();
    auto wanted = GoalResponse::kReject;
    if (status(id) == GoalStatus::kUnknown) {
      wanted = callbacks_.handle_goal ? callbacks_.handle_goal(id, request.goal)
                                      : GoalResponse::kAcceptAndExecute;
    }
    typename SendGoal::Response response;
    std::shared_ptr<Handle> handle;
    if (wanted != GoalResponse::kReject) {
      const std::int64_t now = realtime::read_clock_ns(CLOCK_REALTIME);
      const std::scoped_lock lock(mutex_);
      if (goals_.accept(id, now)) {  // with a reentrant group another one may have come meanwhile
        if (wanted == GoalResponse::kAcceptAndExecute) {
          advance_locked(id, GOAL_EVENT_EXECUTE);  // at once: a cancel request may come next
        }
        handle.reset(new Handle(this->shared_from_this(), id, request.goal));
        records_[id].handle = handle;
        response.accepted = true;
        response.stamp = detail::time_message(now);
      }
    }
    send(goals_service_, request_id, response);
    if (!handle) {
      return;
    }
    publish_status();
    callbacks_.handle_accepted(std::move(handle));
  }

  void on_cancel(const CancelGoal::Request& request, rmw_request_id_t request_id) {
    expire();
    typename CancelGoal::Response response;
    std::vector<std::shared_ptr<Handle>> asked;
    {
      const std::scoped_lock lock(mutex_);
      const auto selection = goals_.to_cancel(request.goal_info);
      response.return_code = selection.return_code;
      for (const GoalUUID& id : selection.goals) {
        asked.push_back(records_[id].handle.lock());
      }
    }
    for (const auto& handle : asked) {
      if (!handle || !callbacks_.handle_cancel ||
          callbacks_.handle_cancel(handle) == CancelResponse::kReject) {
        continue;
      }
      const std::scoped_lock lock(mutex_);
      if (advance_locked(handle->goal_id(), GOAL_EVENT_CANCEL_GOAL)) {  // or it ended meanwhile
        response.goals_canceling.push_back(goals_.info(handle->goal_id()));
      }
    }
    if (!response.goals_canceling.empty()) {
      publish_status();
    } else if (!asked.empty()) {
      response.return_code = CancelGoal::Response::ERROR_REJECTED;
    }
    send(cancel_service_, request_id, response);
  }

  void on_result(const GetResult::Request& request, rmw_request_id_t request_id) {
    expire();
    std::shared_ptr<ResultResponse> response;
    {
      const std::scoped_lock lock(mutex_);
      const auto found = records_.find(request.goal_id.uuid);
      if (found == records_.end()) {
        response = std::make_shared<ResultResponse>();  // its status is "unknown"
      } else if (found->second.result) {
        response = found->second.result;
      } else {
        found->second.waiting.push_back(request_id);
      }
    }
    if (response) {
      send(result_service_, request_id, *response);
    }
  }

  /// Returns false when the goal's state does not allow it.
  bool execute(const GoalUUID& id) {
    {
      const std::scoped_lock lock(mutex_);
      if (!advance_locked(id, GOAL_EVENT_EXECUTE)) {
        return false;
      }
    }
    publish_status();
    return true;
  }

  bool finish(const GoalUUID& id, rcl_action_goal_event_t event, const A::Result& result) {
    const auto response = std::make_shared<ResultResponse>();
    response->result = result;
    std::vector<rmw_request_id_t> waiting;
    {
      const std::scoped_lock lock(mutex_);
      if (!advance_locked(id, event)) {
        return false;
      }
      response->status = static_cast<std::int8_t>(goals_.status(id));
      records_[id].result = response;
      waiting.swap(records_[id].waiting);
    }
    publish_status();
    std::exception_ptr error;  // every request gets its answer, even if one fails
    for (const rmw_request_id_t& request : waiting) {
      try {
        send(result_service_, request, *response);
      } catch (...) {
        error = std::current_exception();
      }
    }
    if (error) {
      std::rethrow_exception(error);
    }
    return true;
  }

  /// Aborts an unfinished goal without a handle: its clients would wait for its result for ever.
  void give_up(const GoalUUID& id) noexcept {
    try {
      if (is_terminal(status(id))) {
        return;
      }
      execute(id);  // if it was deferred until now
      finish(id, GOAL_EVENT_ABORT, typename A::Result());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rclrt: a goal without a handle could not be aborted: %s\n",
                   error.what());
    }
  }

  void expire() {
    const std::scoped_lock lock(mutex_);
    for (const GoalUUID& id : expire_locked()) {
      records_.erase(id);
    }
  }

  template <typename Service, typename Response>
  static void send(const std::weak_ptr<Service>& service, rmw_request_id_t id, Response& response) {
    if (const auto there = service.lock()) {
      there->answer(id, response);
    }
  }

  const ActionCallbacks<A> callbacks_;
  Publisher<typename A::Impl::FeedbackMessage> feedback_;
  // Set once, before the first request. Weak: the services hold the server.
  std::weak_ptr<detail::AnsweringService<SendGoal>> goals_service_;
  std::weak_ptr<detail::AnsweringService<CancelGoal>> cancel_service_;
  std::weak_ptr<detail::AnsweringService<GetResult>> result_service_;
  std::vector<std::weak_ptr<executor::Callback>> services_;
  std::map<GoalUUID, Record> records_;  // of the goals in the table; guarded by mutex_
};

template <typename A>
ServerGoalHandle<A>::~ServerGoalHandle() {
  server_->give_up(goal_id());
}

template <typename A>
bool ServerGoalHandle<A>::publish_feedback(const Feedback& feedback) {
  const std::scoped_lock lock(feedback_mutex_);
  message_.feedback = feedback;
  return server_->feedback_.publish(message_);
}

template <typename A>
void ServerGoalHandle<A>::execute() {
  if (!server_->execute(goal_id())) {
    refuse("execute");
  }
}

template <typename A>
void ServerGoalHandle<A>::finish(rcl_action_goal_event_t event, const Result& result,
                                 const char* what) {
  if (!server_->finish(goal_id(), event, result)) {
    refuse(what);
  }
}

template <typename A>
std::shared_ptr<ActionServer<A>> create_action_server(
    Node& node, const std::string& name, ActionCallbacks<A> callbacks,
    const CallbackOptions& options, realtime::SaturatingNanoseconds result_timeout) {
  const detail::ActionNames names = detail::action_names(name);
  auto server =
      std::make_shared<ActionServer<A>>(node.handle(), names, std::move(callbacks), result_timeout);
  for (auto& service : server->make_services(node.handle(), names, options)) {
    node.add_callback(std::move(service));
  }
  return server;
}

}  // namespace rclrt

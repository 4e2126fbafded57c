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

/// What an action server answers to a goal.
enum class GoalResponse { kReject, kAcceptAndExecute, kAcceptAndDefer };
/// What an action server answers to a request to cancel a goal.
enum class CancelResponse { kReject, kAccept };

template <typename A>
class ActionServer;

/// A goal that was accepted, for whoever works on it. All member functions are thread-safe. A goal
/// whose handle nobody holds any more is aborted.
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
  /// Returns whether a client has asked to cancel it and the server has agreed: end it with
  /// `canceled`, soon.
  bool is_canceling() const { return status() == GoalStatus::kCanceling; }
  bool is_executing() const { return status() == GoalStatus::kExecuting; }
  bool is_active() const {
    const GoalStatus now = status();
    return now != GoalStatus::kUnknown && !is_terminal(now);
  }

  /// Sends `feedback` to the clients. Locks only this goal (with priority inheritance); a feedback
  /// of a size seen before allocates nothing here, rmw_fastrtps about once. False when it was not
  /// sent, as Publisher::publish.
  bool publish_feedback(const Feedback& feedback);

  /// Begins work on a goal that was deferred (kAcceptAndDefer). Throws std::logic_error when the
  /// goal is past that.
  void execute();
  /// Ends the goal; clients get the result. These three throw std::logic_error when it has ended
  /// already, or (succeed and abort) does not execute yet, or (canceled) nobody asked for it.
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
    throw std::logic_error(std::string("a goal cannot ") + what + " in state " +
                           std::to_string(static_cast<int>(status())) +
                           " of action_msgs/msg/GoalStatus");
  }

  const std::shared_ptr<ActionServer<A>> server_;
  const GoalUUID id_;
  const Goal goal_;
  realtime::PiMutex feedback_mutex_;  // guards message_
  A::Impl::FeedbackMessage message_;  // reused
};

/// What an action server asks and tells its user.
template <typename A>
struct ActionCallbacks {
  using Handle = std::shared_ptr<ServerGoalHandle<A>>;
  /// Whether to accept a goal; empty: all are accepted and executed.
  std::function<GoalResponse(const GoalUUID&, const typename A::Goal&)> handle_goal;
  /// Whether a goal shall end early; empty: none.
  std::function<CancelResponse(const Handle&)> handle_cancel;
  /// Takes the goal over. It must not work on it for long: while it runs, no other goal, cancel
  /// request or result request of this server is served, unless its group is reentrant.
  std::function<void(Handle)> handle_accepted;
};

/// Creates an action server of `node`; `options` are those of its three services.
/// `result_timeout`: how long after its end a goal's result can be asked for; negative: for ever.
/// Throws std::invalid_argument without `handle_accepted`.
template <typename A>
RCLRT_SETUP std::shared_ptr<ActionServer<A>> create_action_server(
    Node& node, const std::string& name, ActionCallbacks<A> callbacks,
    const CallbackOptions& options = {},
    realtime::SaturatingNanoseconds result_timeout = std::chrono::seconds(10));

/// The three services of an action are callbacks of their own, of one priority, that exclude each
/// other; goals allocate. A result can be asked for until `result_timeout` after the goal's end; it
/// is forgotten when the next request comes.
///
/// It stands on the services and topics of rclrt, not on rcl_action's bundle of them, which is one
/// entity with one lock around it: so a feedback never waits for a request that is being served.
/// The names, states and messages are rcl_action's.
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
                                  "\": it needs handle_accepted, to give the goals to");
    }
  }

  /// Returns what an executor runs of it; empty after it has ended.
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
    std::exception_ptr error;  // all are answered, whatever becomes of one
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

  /// Aborts an unfinished goal whose handle ends: clients must not wait for its result for ever.
  void give_up(const GoalUUID& id) noexcept {
    try {
      if (is_terminal(status(id))) {
        return;
      }
      execute(id);  // if it was deferred until now
      finish(id, GOAL_EVENT_ABORT, typename A::Result());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rclrt: aborting a goal that nobody holds: %s\n", error.what());
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

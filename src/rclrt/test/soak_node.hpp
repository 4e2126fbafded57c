// SPDX-License-Identifier: Apache-2.0
// The other parts of a robot: an action with both its sides, QoS events, parameters, and an
// observer of the graph. The node joins its executor and leaves it as a whole.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <std_msgs/msg/int64.hpp>
#include <stdexcept>
#include <string>
#include <test_msgs/action/fibonacci.hpp>
#include <utility>
#include <vector>

#include "ros_fixture.hpp"

namespace rclrt::test {

struct Thrown : std::runtime_error {
  Thrown() : std::runtime_error("thrown by a callback") {}
};

class SoakNode {
  using Fibonacci = test_msgs::action::Fibonacci;
  using Accepted = std::shared_ptr<ServerGoalHandle<Fibonacci>>;
  using Random = std::mt19937;

 public:
  SoakNode(const std::string& executor, const std::shared_ptr<Context>& context)
      : node_(context, "robot", "/" + executor),
        speed_(node_.declare_parameter("speed", std::int64_t{1})),
        server_(create_action_server<Fibonacci>(
            node_, "count",
            {.handle_goal =
                 [this](const GoalUUID&, const Fibonacci::Goal& goal) {
                   throw_sometimes();
                   return goal.order % 7 == 0 ? GoalResponse::kReject
                                              : GoalResponse::kAcceptAndExecute;
                 },
             .handle_cancel =
                 [this](const Accepted&) {
                   throw_sometimes();
                   return CancelResponse::kAccept;
                 },
             .handle_accepted =
                 [this](Accepted goal) {
                   const std::scoped_lock lock(mutex_);
                   goals_.push_back(std::move(goal));
                 }},
            {.priority = 4}, std::chrono::milliseconds(20))),
        client_(create_action_client<Fibonacci>(node_, "count", {.priority = 3})),
        publisher_(node_.create_publisher<std_msgs::msg::Int64>("late", soon())),
        subscription_(node_.create_subscription<std_msgs::msg::Int64>(
            "late", soon(), [](const std_msgs::msg::Int64&) {})) {
    node_.create_wall_timer(std::chrono::milliseconds(2), [this] { work_on_goals(); });
    create_qos_event<RequestedDeadlineMissed>(node_, subscription_,
                                              [this](const RequestedDeadlineMissed&) { ++events_; },
                                              {.priority = 2});
    create_qos_event<OfferedDeadlineMissed>(
        node_, publisher_, [this](const OfferedDeadlineMissed&) { ++events_; }, {.priority = 1});
    create_graph_callback(node_, [this] { ++events_; });
    publisher_->publish(std_msgs::msg::Int64{});  // the next messages are late
  }

  /// Called by one thread.
  void come_or_go(Executor& executor) {
    is_there_ ? executor.remove_node(node_) : executor.add_node(node_);
    is_there_ = !is_there_;
  }

  /// Called by one thread, which may be another.
  void send(Random& random) {
    if (random() % 8 != 0) {
      return;  // the client remembers a goal that is never answered
    }
    Fibonacci::Goal goal;
    goal.order = static_cast<std::int32_t>(random() % 50);
    client_->async_send_goal(goal, {.result_callback = [this](const auto&) { ++results_; }});
    if (random() % 8 == 0) {
      client_->async_cancel_all_goals();
    }
    if (random() % 8 == 0) {
      node_.parameters().set("speed", ParameterValue(static_cast<std::int64_t>(random() % 9)));
    }
  }

  /// Returns whether a goal has had a result and a message was late. From any thread.
  bool has_seen_everything() const { return results_ != 0 && events_ != 0; }

  /// Returns the problems, after the node is in no executor any more.
  std::vector<std::string> problems() const {
    std::vector<std::string> result;
    for (const auto& callback : node_.callbacks()) {
      const executor::Counters counters = callback->counters();
      if (counters.pending() != 0) {
        result.push_back(callback->name() + ": released " + std::to_string(counters.released) +
                         ", completed " + std::to_string(counters.completed) + ", dropped " +
                         std::to_string(counters.dropped));
      }
    }
    if (!has_seen_everything()) {
      result.push_back("no goal has had a result, or nothing was ever late");
    }
    return result;
  }

 private:
  static QoS soon() { return QoS(10).deadline(std::chrono::milliseconds(10)); }

  void throw_sometimes() {
    if (++calls_ % 61 == 0) {
      throw Thrown();
    }
  }

  void work_on_goals() {
    std::vector<Accepted> goals;
    {
      const std::scoped_lock lock(mutex_);
      goals.swap(goals_);
    }
    for (const Accepted& goal : goals) {
      goal->publish_feedback(Fibonacci::Feedback{});
      if (goal->goal().order < speed_.get() || !goal->is_active()) {
        continue;  // dropped: aborted
      }
      try {
        goal->is_canceling() ? goal->canceled(Fibonacci::Result{})
                             : goal->succeed(Fibonacci::Result{});
        // A cancel may come in between; then the destruction of the handle ends the goal.
      } catch (const std::logic_error&) {  // NOLINT(bugprone-empty-catch)
      }
    }
  }

  Node node_;
  Parameter<std::int64_t> speed_;
  std::atomic<int> calls_{0};
  std::atomic<int> results_{0};
  std::atomic<int> events_{0};
  std::mutex mutex_;  // guards goals_
  std::vector<Accepted> goals_;
  std::shared_ptr<ActionServer<Fibonacci>> server_;
  std::shared_ptr<ActionClient<Fibonacci>> client_;
  std::shared_ptr<Publisher<std_msgs::msg::Int64>> publisher_;
  std::shared_ptr<Subscription<std_msgs::msg::Int64>> subscription_;
  bool is_there_ = false;
};

}  // namespace rclrt::test

// SPDX-License-Identifier: Apache-2.0
// Action servers and clients over the real middleware, under every executor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <test_msgs/action/fibonacci.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using test_msgs::action::Fibonacci;
using Numbers = std::vector<std::int32_t>;
using ServerGoal = std::shared_ptr<ServerGoalHandle<Fibonacci>>;
using ClientGoal = std::shared_ptr<ClientGoalHandle<Fibonacci>>;
using testing::HasSubstr;
using testing::ThrowsMessage;

Fibonacci::Goal goal(std::int32_t order) {
  Fibonacci::Goal result;
  result.order = order;
  return result;
}
Fibonacci::Result result(Numbers sequence) {
  Fibonacci::Result made;
  made.sequence = std::move(sequence);
  return made;
}
Fibonacci::Feedback feedback(Numbers sequence) {
  Fibonacci::Feedback made;
  made.sequence = std::move(sequence);
  return made;
}

/// A spinning executor. The server rejects negative orders and defers order 0; the test completes
/// the accepted goals, which are in `accepted`.
class Actions : public EveryExecutor {
 protected:
  void SetUp() override {
    server_ = create_action_server<Fibonacci>(
        server_node_, "fibonacci",
        {.handle_goal =
             [](const GoalUUID&, const Fibonacci::Goal& wanted) {
               return wanted.order < 0    ? GoalResponse::kReject
                      : wanted.order == 0 ? GoalResponse::kAcceptAndDefer
                                          : GoalResponse::kAcceptAndExecute;
             },
         .handle_cancel =
             [this](const ServerGoal&) {
               return may_cancel_ ? CancelResponse::kAccept : CancelResponse::kReject;
             },
         .handle_accepted =
             [this](ServerGoal handle) {
               EXPECT_EQ(current_instance()->level, 3);
               const std::scoped_lock lock(mutex_);
               accepted_.push_back(std::move(handle));
             }},
        {.priority = 3}, std::chrono::milliseconds(result_timeout_ms_));
    client_ = create_action_client<Fibonacci>(client_node_, "fibonacci", {.priority = 2});
    ASSERT_TRUE(client_->wait_for_action_server(kLimit));
    executor_ = executor();
    executor_->add_node(server_node_);
    executor_->add_node(client_node_);
    thread_ = std::thread([this] { executor_->spin(); });
  }
  void TearDown() override {
    executor_->cancel();
    thread_.join();
  }

  template <typename T>
  static T get(std::future<T> future) {
    EXPECT_EQ(future.wait_for(kLimit), std::future_status::ready);
    return future.get();
  }
  /// Sends a goal and returns both its sides.
  std::pair<ClientGoal, ServerGoal> start(std::int32_t order,
                                          SendGoalOptions<Fibonacci> options = {}) {
    const ClientGoal sent = get(client_->async_send_goal(goal(order), std::move(options)));
    EXPECT_NE(sent, nullptr);
    ServerGoal taken;
    EXPECT_TRUE(eventually([&] {
      const std::scoped_lock lock(mutex_);
      for (const auto& each : accepted_) {
        if (each->goal_id() == sent->goal_id()) {
          taken = each;
        }
      }
      return taken != nullptr;
    }));
    return {sent, taken};
  }

  Node server_node_{context, "server"};
  Node client_node_{context, "client"};
  int result_timeout_ms_ = 60'000;
  std::atomic<bool> may_cancel_{true};
  std::mutex mutex_;  // guards accepted_
  std::vector<ServerGoal> accepted_;
  std::shared_ptr<ActionServer<Fibonacci>> server_;
  std::shared_ptr<ActionClient<Fibonacci>> client_;
  std::unique_ptr<Executor> executor_;
  std::thread thread_;
};
INSTANTIATE_TEST_SUITE_P(Every, Actions, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(Actions, AGoalIsAcceptedGivesFeedbackAndSucceeds) {
  std::promise<ActionResult<Fibonacci>> called;
  std::vector<Numbers> seen;
  std::atomic<int> feedbacks{0};
  auto [sent, taken] = start(
      5,
      {.goal_response_callback = [](const ClientGoal& handle) { EXPECT_NE(handle, nullptr); },
       .feedback_callback =
           [&](const ClientGoal&, const Fibonacci::Feedback& message) {
             EXPECT_EQ(current_instance()->level, 2);
             seen.push_back(message.sequence);
             ++feedbacks;
           },
       .result_callback = [&](const ActionResult<Fibonacci>& ended) { called.set_value(ended); }});
  EXPECT_EQ(taken->goal().order, 5);
  EXPECT_TRUE(taken->is_executing());
  EXPECT_TRUE(taken->publish_feedback(feedback({0, 1})));
  EXPECT_TRUE(taken->publish_feedback(feedback({0, 1, 1})));
  EXPECT_TRUE(eventually([&] { return feedbacks == 2; }));
  EXPECT_EQ(seen, (std::vector<Numbers>{{0, 1}, {0, 1, 1}}));
  auto second = client_->async_get_result(sent);
  taken->succeed(result({0, 1, 1, 2, 3}));
  const auto ended = get(called.get_future());
  EXPECT_EQ(ended.status, GoalStatus::kSucceeded);
  EXPECT_EQ(ended.result.sequence, (Numbers{0, 1, 1, 2, 3}));
  EXPECT_EQ(ended.goal_id, sent->goal_id());
  EXPECT_EQ(get(std::move(second)).result.sequence, (Numbers{0, 1, 1, 2, 3}));
  EXPECT_EQ(sent->status(), GoalStatus::kSucceeded);
  EXPECT_EQ(get(client_->async_get_result(sent)).status, GoalStatus::kSucceeded) << "still known";
  EXPECT_FALSE(taken->is_active());
  EXPECT_THAT([t = taken] { t->abort(result({})); },
              ThrowsMessage<std::logic_error>(HasSubstr("a goal cannot abort: its status is 4")));
}

TEST_P(Actions, ARejectedGoalIsNone) {
  std::promise<bool> called;
  auto future = client_->async_send_goal(
      goal(-1), {.goal_response_callback =
                     [&](const ClientGoal& handle) { called.set_value(handle == nullptr); },
                 .result_callback = [](const auto&) { ADD_FAILURE() << "it has no result"; }});
  EXPECT_EQ(get(std::move(future)), nullptr);
  EXPECT_TRUE(get(called.get_future()));
}

TEST_P(Actions, ADeferredGoalExecutesWhenItIsTold) {
  auto [sent, taken] = start(0);
  EXPECT_EQ(taken->status(), GoalStatus::kAccepted);
  EXPECT_THAT([t = taken] { t->succeed(result({})); },
              ThrowsMessage<std::logic_error>(HasSubstr("a goal cannot succeed: its status is 1")));
  taken->execute();
  EXPECT_THAT([t = taken] { t->execute(); },
              ThrowsMessage<std::logic_error>(HasSubstr("a goal cannot execute: its status is 2")));
  EXPECT_TRUE(eventually([&, s = sent] { return s->status() == GoalStatus::kExecuting; }));
  taken->abort(result({7}));
  const auto ended = get(client_->async_get_result(sent));
  EXPECT_EQ(ended.status, GoalStatus::kAborted);
  EXPECT_EQ(ended.result.sequence, Numbers{7});
}

TEST_P(Actions, AGoalIsCanceledWhenBothSidesWantIt) {
  using Response = ActionClient<Fibonacci>::CancelResponse;
  auto [sent, taken] = start(5);
  EXPECT_THAT(
      [t = taken] { t->canceled(result({})); },
      ThrowsMessage<std::logic_error>(HasSubstr("a goal cannot be canceled: its status is 2")))
      << "no cancellation was requested";
  may_cancel_ = false;
  EXPECT_EQ(get(client_->async_cancel_goal(sent)).return_code, Response::ERROR_REJECTED);
  EXPECT_TRUE(taken->is_executing());
  may_cancel_ = true;
  const auto answer = get(client_->async_cancel_goal(sent));
  EXPECT_EQ(answer.return_code, Response::ERROR_NONE);
  ASSERT_EQ(answer.goals_canceling.size(), 1U);
  EXPECT_EQ(answer.goals_canceling[0].goal_id.uuid, sent->goal_id());
  EXPECT_TRUE(taken->is_canceling());
  auto ended = client_->async_get_result(sent);
  taken->canceled(result({1}));
  EXPECT_EQ(get(std::move(ended)).status, GoalStatus::kCanceled);
  EXPECT_EQ(get(client_->async_cancel_goal(sent)).return_code, Response::ERROR_GOAL_TERMINATED);
}

TEST_P(Actions, AllGoalsOrThoseUpToATimeAreCanceled) {
  auto [first, first_taken] = start(1);
  auto [second, second_taken] = start(2);
  const auto listed = get(client_->async_cancel_all_goals()).goals_canceling;
  EXPECT_EQ(listed.size(), 2U);
  auto [third, third_taken] = start(3);
  EXPECT_EQ(get(client_->async_cancel_goals_before(listed[0].stamp)).goals_canceling.size(), 0U);
  EXPECT_TRUE(third_taken->is_executing());
}

TEST_P(Actions, AGoalThatNobodyHoldsAnyMoreIsAborted) {
  auto [sent, taken] = start(0);
  auto ended = client_->async_get_result(sent);
  {
    const std::scoped_lock lock(mutex_);
    accepted_.clear();
  }
  taken.reset();
  EXPECT_EQ(get(std::move(ended)).status, GoalStatus::kAborted);
}

TEST_P(Actions, AfterItsRemovalNothingOfAServerRunsWhileItsGoalsCanStillEnd) {
  auto [sent, taken] = start(5);
  auto ended = client_->async_get_result(sent);
  // Its request has been served before the server is destroyed.
  EXPECT_TRUE(eventually([&] { return server_->callbacks()[2]->counters().completed == 1; }));
  executor_->remove_node(server_node_);
  taken->succeed(result({1, 2}));
  EXPECT_EQ(get(std::move(ended)).result.sequence, (Numbers{1, 2}));
  auto unanswered = client_->async_send_goal(goal(1));
  executor_->remove_node(client_node_);
  executor_->add_node(server_node_);
  executor_->add_node(client_node_);
  EXPECT_NE(get(std::move(unanswered)), nullptr) << "it has waited for the server to come back";
}

TEST_P(Actions, AFutureOfAClientThatEndsIsABrokenPromise) {
  create_action_client<Fibonacci>(client_node_, "fibonacci").swap(client_);
  executor_->add_node(client_node_);
  ASSERT_TRUE(client_->wait_for_action_server(kLimit));
  auto [sent, taken] = start(5);
  auto never = client_->async_get_result(sent);
  executor_->remove_node(client_node_);
  client_.reset();
  EXPECT_THAT([&] { get(std::move(never)); },
              ThrowsMessage<std::future_error>(HasSubstr("Broken promise")));
}

class ShortLivedResults : public Actions {
 protected:
  ShortLivedResults() { result_timeout_ms_ = 0; }
};
INSTANTIATE_TEST_SUITE_P(Every, ShortLivedResults, ::testing::ValuesIn(executor_names()),
                         parameter_name);

TEST_P(ShortLivedResults, AnExpiredResultIsUnknown) {
  auto [sent, taken] = start(5);
  taken->succeed(result({1}));
  EXPECT_EQ(get(client_->async_get_result(sent)).status, GoalStatus::kUnknown);
}

TEST(Action, AServerNeedsSomebodyToGiveTheGoalsTo) {
  Node node(make_context(), "node");
  EXPECT_THAT([&] { create_action_server<Fibonacci>(node, "fibonacci", {}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("ActionCallbacks::handle_accepted is missing")));
}

TEST(Action, AnInvalidNameIsAnErrorThatSaysSo) {
  Node node(make_context(), "node");
  EXPECT_THAT([&] { create_action_client<Fibonacci>(node, ""); },
              ThrowsMessage<Error>(HasSubstr("naming the parts of action \"\"")));
  EXPECT_THAT([&] { create_action_client<Fibonacci>(node, "not a name"); },
              ThrowsMessage<Error>(HasSubstr("creating a client of service \"not a name")));
}

TEST_P(Actions, ARejectedGoalHasNoResultToAskFor) {
  EXPECT_THAT([&] { client_->async_get_result(nullptr); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("a rejected goal (nullptr) has no result and cannot be canceled")));
  EXPECT_THAT([&] { client_->async_cancel_goal(nullptr); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("a rejected goal (nullptr) has no result and cannot be canceled")));
}

}  // namespace
}  // namespace rclrt::test

// SPDX-License-Identifier: Apache-2.0
// Services and clients over the real middleware, under every executor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <future>
#include <memory>
#include <std_srvs/srv/set_bool.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using std_srvs::srv::SetBool;
using testing::HasSubstr;
using testing::ThrowsMessage;

SetBool::Request request(bool data) {
  SetBool::Request result;
  result.data = data;
  return result;
}

class Services : public EveryExecutor {
 protected:
  /// A server that answers with the negation, and a client of it.
  void SetUp() override {
    server_node_.create_service<SetBool>(
        "negate",
        [this](const SetBool::Request& asked, SetBool::Response& answer) {
          ++served_;
          answer.success = !asked.data;
          answer.message = asked.data ? "was true" : "was false";
        },
        10, {.priority = 1});
    client_ = client_node_.create_client<SetBool>("negate", 10, {.priority = 2});
    ASSERT_TRUE(client_->wait_for_service(kLimit));
    executor_ = executor();
    executor_->add_node(server_node_);
    executor_->add_node(client_node_);
  }

  Node server_node_{context, "server"};
  Node client_node_{context, "client"};
  std::shared_ptr<Client<SetBool>> client_;
  std::unique_ptr<Executor> executor_;
  std::atomic<int> served_{0};
};
INSTANTIATE_TEST_SUITE_P(Every, Services, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(Services, AResponseComesBackToTheCallbackOfItsRequest) {
  std::vector<std::string> answers;
  const auto note = [&](const SetBool::Response& response) {
    answers.push_back(response.message);
    if (answers.size() == 2) {
      executor_->cancel();
    }
  };
  executor_->prepare();
  client_->async_send_request(request(true), note);
  client_->async_send_request(request(false), note);
  executor_->spin();
  EXPECT_EQ(answers, (std::vector<std::string>{"was true", "was false"}));
}

TEST_P(Services, AFutureIsReadyWhenTheExecutorHasHandledTheResponse) {
  executor_->prepare();
  auto sent = client_->async_send_request(request(false));
  std::thread waiting([&] {
    EXPECT_EQ(sent.future.wait_for(kLimit), std::future_status::ready);
    executor_->cancel();
  });
  executor_->spin();
  waiting.join();
  EXPECT_TRUE(sent.future.get().success);
}

TEST_P(Services, ACallbackMayAskAndItsResponseIsHandledByAnotherCallback) {
  bool answered = false;
  Node asking(context, "asking");
  asking.create_wall_timer(std::chrono::milliseconds(1), [&] {
    if (served_ == 0) {
      client_->async_send_request(request(true),
                                  [&](const SetBool::Response& response, const InstanceInfo& info) {
                                    answered = !response.success;
                                    EXPECT_GE(info.start_ns, info.ready_ns);
                                    EXPECT_EQ(info.level, 2);
                                    executor_->cancel();
                                  });
    }
  });
  executor_->add_node(asking);
  executor_->spin();
  EXPECT_TRUE(answered);
}

TEST_P(Services, AResponseThatDoesNotFindItsClientIsCounted) {
  // Its responses are best-effort, and the client takes only reliable ones: they never match.
  const auto service = server_node_.create_service<SetBool>(
      "unheard", [this](const SetBool::Request&, SetBool::Response&) { ++served_; },
      QoS(10).best_effort());
  const auto client = client_node_.create_client<SetBool>("unheard");
  Node asking(context, "asking");
  asking.create_wall_timer(std::chrono::milliseconds(10), [&] {
    client->async_send_request(request(true), [](const SetBool::Response&) { ADD_FAILURE(); });
    if (service->lost_responses() >= 2) {
      executor_->cancel();
    }
  });
  executor_->add_node(server_node_);
  executor_->add_node(client_node_);
  executor_->add_node(asking);
  EXPECT_EQ(service->lost_responses(), 0U);
  executor_->spin();
  EXPECT_GE(served_.load(), 2);
}

TEST_P(Services, EveryRequestOfABurstWithinTheDepthIsAnswered) {
  constexpr int kBurst = 10;
  int answers = 0;
  executor_->prepare();
  for (int i = 0; i < kBurst; ++i) {
    client_->async_send_request(request(true), [&](const SetBool::Response&) {
      if (++answers == kBurst) {
        executor_->cancel();
      }
    });
  }
  executor_->spin();
  EXPECT_EQ(answers, kBurst);
  EXPECT_EQ(served_.load(), kBurst);
  EXPECT_EQ(client_->counters().completed, 10U);
  EXPECT_EQ(client_->counters().pending(), 0U);
}

TEST_P(Services, ARemovedRequestIsAnsweredToNobody) {
  bool second = false;
  executor_->prepare();
  const auto id = client_->async_send_request(
      request(true), [](const SetBool::Response&) { ADD_FAILURE() << "it was removed"; });
  EXPECT_TRUE(client_->remove_pending_request(id));
  EXPECT_FALSE(client_->remove_pending_request(id));
  client_->async_send_request(request(true), [&](const SetBool::Response&) {
    second = true;
    executor_->cancel();
  });
  executor_->spin();
  EXPECT_TRUE(second);
  EXPECT_EQ(client_->counters().dropped, 1U);
}

TEST_P(Services, AFutureOfAPrunedRequestIsABrokenPromise) {
  auto sent = client_->async_send_request(request(true));
  EXPECT_EQ(client_->prune_pending_requests(), 1U);
  EXPECT_THAT([&] { sent.future.get(); },
              ThrowsMessage<std::future_error>(HasSubstr("Broken promise")));
}

TEST_P(Services, WhatARemovedHandlerOwnsMayUseTheClientWhenItEnds) {
  struct Owned {
    ~Owned() { pending = client.prune_pending_requests(); }
    Client<SetBool>& client;
    std::size_t& pending;
  };
  std::size_t pending = 99;
  auto owned = std::shared_ptr<Owned>(new Owned{*client_, pending});
  const auto id = client_->async_send_request(
      request(true), [owned = std::move(owned)](const SetBool::Response&) {});
  EXPECT_TRUE(client_->remove_pending_request(id));
  EXPECT_EQ(pending, 0U);
}

TEST_P(Services, WithoutAServerAClientWaitsNoLongerThanItsTimeout) {
  const auto lonely = client_node_.create_client<SetBool>("nobody");
  EXPECT_FALSE(lonely->service_is_ready());
  EXPECT_FALSE(lonely->wait_for_service(std::chrono::milliseconds(5)));
}

TEST_P(Services, AnExceptionOfAServiceCallbackIsRethrownBySpin) {
  Node node(context, "throwing");
  node.create_service<SetBool>("throwing", [](const SetBool::Request&, SetBool::Response&) {
    throw std::runtime_error("no answer");
  });
  const auto client = client_node_.create_client<SetBool>("throwing");
  ASSERT_TRUE(client->wait_for_service(kLimit));
  executor_->add_node(node);
  executor_->prepare();
  client->async_send_request(request(true), [](const SetBool::Response&) {});
  EXPECT_THAT([&] { executor_->spin(); }, ThrowsMessage<std::runtime_error>("no answer"));
}

TEST_P(Services, RequestsThatCameBeforePrepareAreServed) {
  auto sent = client_->async_send_request(request(true));
  std::thread waiting([&] {
    EXPECT_EQ(sent.future.wait_for(kLimit), std::future_status::ready);
    executor_->cancel();
  });
  executor_->spin();
  waiting.join();
  EXPECT_EQ(served_.load(), 1);
}

TEST_P(Services, AServiceMayMoveToAnExecutorOfAnotherKindAndBack) {
  executor_.reset();
  Node node(context, "node");
  const auto service = node.create_service<SetBool>(
      "echo", [](const SetBool::Request& asked, SetBool::Response& answer) {
        answer.success = asked.data;
      });
  const auto client = node.create_client<SetBool>("echo");
  ASSERT_TRUE(client->wait_for_service(kLimit));
  for (const std::string& name :
       {std::string("preemptive"), GetParam(), std::string("preemptive")}) {
    const auto moved = make_executor(name, context);
    moved->add(service);
    moved->add(client);
    std::thread spinning([&] { moved->spin(); });
    for (int i = 0; i < 3; ++i) {
      auto sent = client->async_send_request(request(true));
      EXPECT_EQ(sent.future.wait_for(kLimit), std::future_status::ready) << name;
    }
    moved->cancel();
    spinning.join();
  }
  EXPECT_EQ(service->counters().completed, 9U);
}

/// Returns how often the calling thread has slept or waited for a lock so far.
long waits_of_this_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

class ServicePreemption : public PreemptingExecutor {};
INSTANTIATE_TEST_SUITE_P(, ServicePreemption, ::testing::ValuesIn(preempting_executors()),
                         parameter_name);

TEST_P(ServicePreemption, AServiceThatPreemptsItsClientDoesNotWaitForALockOfTheClient) {
  const auto client = node_.create_client<SetBool>("preempts", 10, {.priority = 3, .deadline = 1h});
  std::atomic<bool> served{false};
  bool preempted = false;
  long waits = -1;
  node_.create_service<SetBool>("preempts",
                                [&](const SetBool::Request&, SetBool::Response&) {
                                  const long before = waits_of_this_thread();
                                  client->remove_pending_request(-1);
                                  waits = waits_of_this_thread() - before;
                                  served = true;
                                },
                                10, {.priority = 2, .deadline = 2h});
  const auto timer = node_.create_wall_timer(
      std::chrono::milliseconds(5),
      [&] {
        client->async_send_request(request(true), [](const SetBool::Response&) {});
        preempted = served;  // one CPU: only preemption can have let it run by now
        executor_->cancel();
      },
      {.priority = 1, .deadline = 3h});
  spin_when([&] { return client->wait_for_service(kLimit); });
  EXPECT_TRUE(preempted);
  EXPECT_EQ(waits, 0);
}

TEST(Service, AnOverloadPolicyIsRefusedForItWouldAnswerTheWrongRequest) {
  Node node(make_context(), "node");
  for (const Overload overload : {Overload::kKeepLast, Overload::kSkipIfRunning}) {
    EXPECT_THAT(
        [&] {
          node.create_service<SetBool>("s", [](const SetBool::Request&, SetBool::Response&) {}, 10,
                                       {.overload = overload});
        },
        ThrowsMessage<std::invalid_argument>(
            HasSubstr("service \"s\": its requests and responses must not be dropped")));
    EXPECT_THAT([&] { node.create_client<SetBool>("s", 10, {.overload = overload}); },
                ThrowsMessage<std::invalid_argument>(
                    HasSubstr("client \"s\": its requests and responses must not be dropped")));
  }
}

TEST(Service, AnInvalidNameIsAnErrorThatSaysSo) {
  Node node(make_context(), "node");
  try {
    node.create_service<SetBool>("not a name", [](const SetBool::Request&, SetBool::Response&) {});
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("creating service \"not a name\""), std::string::npos);
  }
}

}  // namespace
}  // namespace rclrt::test

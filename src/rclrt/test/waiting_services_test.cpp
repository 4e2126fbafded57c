// SPDX-License-Identifier: Apache-2.0
// Service calls that wait within a callback of the same executor: they are answered if a thread is
// free or a spare one exists, and reported if not.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <std_msgs/msg/int64.hpp>
#include <std_srvs/srv/set_bool.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ros_fixture.hpp"
#include "stderr_file.hpp"

namespace rclrt::test {
namespace {

using std_msgs::msg::Int64;
using std_srvs::srv::SetBool;
using namespace std::chrono_literals;

/// A component as users write it for a MultiThreadedExecutor: a timer in a reentrant group calls a
/// service of another node and waits for the answer.
class Component {
 public:
  explicit Component(const std::shared_ptr<Context>& context)
      : server_(context, "server"), client_node_(context, "client") {
    const auto of_service = std::make_shared<CallbackGroup>(executor::GroupType::kReentrant);
    const auto of_client = std::make_shared<CallbackGroup>(executor::GroupType::kReentrant);
    server_.create_service<SetBool>(
        "component",
        [](const SetBool::Request&, SetBool::Response& answer) { answer.success = true; }, 10,
        {.group = of_service});
    client_ = client_node_.create_client<SetBool>("component", 10, {.group = of_client});
    client_node_.create_wall_timer(
        20ms,
        [this] {
          ++started;
          if (ending) {  // no worker may be left for the service
            ++ended;
            return;
          }
          auto sent = client_->async_send_request(SetBool::Request());
          answered += sent.future.wait_for(20s) == std::future_status::ready ? 1 : 0;
          ++calls;
          ++ended;
        },
        {.group = of_client});
  }

  void add_to(Executor& executor) const {
    executor.add_node(server_);
    executor.add_node(client_node_);
  }
  bool wait_for_service() const { return client_->wait_for_service(20s); }

  std::atomic<bool> ending{false};  // no more calls
  std::atomic<int> started{0};      // runs of the timer's callback
  std::atomic<int> ended{0};
  std::atomic<int> calls{0};
  std::atomic<int> answered{0};

 private:
  Node server_;
  Node client_node_;
  std::shared_ptr<Client<SetBool>> client_;
};

class WaitingServices : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<Context> context_ = make_context();
};
INSTANTIATE_TEST_SUITE_P(, WaitingServices, ::testing::Values("preemptive", "per_group"),
                         parameter_name);

TEST_P(WaitingServices, AreAnsweredWithoutAnySettingBesideAChainThatLosesNothing) {
  const auto allowed = realtime::allowed_cpus();
  for (const std::size_t cpus : {1, 2}) {
    ExecutorOptions options;
    options.cpus.assign(allowed.begin(), allowed.begin() + static_cast<std::ptrdiff_t>(
                                                               std::min(cpus, allowed.size())));
    const auto executor = make_executor(GetParam(), context_, options);
    Component component(context_);
    Node chain(context_, "chain");
    const auto publisher = chain.create_publisher<Int64>("step", 100);
    std::atomic<std::int64_t> sent{0};
    std::atomic<std::int64_t> received{0};
    chain.create_wall_timer(2ms, [&] {
      Int64 message;
      message.data = ++sent;
      publisher->publish(message);
    });
    chain.create_subscription<Int64>("step", 100, [&](const Int64&) { ++received; });
    component.add_to(*executor);
    executor->add_node(chain);
    ASSERT_TRUE(component.wait_for_service());
    std::thread spinner([&] { executor->spin(); });
    EXPECT_TRUE(eventually([&] { return component.calls >= 15; }));
    const std::int64_t until = sent;
    EXPECT_TRUE(eventually([&] { return received >= until; })) << received << " of " << until;
    component.ending = true;
    EXPECT_TRUE(eventually([&] { return component.ended == component.started; }));
    executor->cancel();
    spinner.join();
    EXPECT_EQ(component.answered, component.calls) << cpus << " CPUs";
  }
}

class UnansweredServices : public EveryExecutor {};
INSTANTIATE_TEST_SUITE_P(Every, UnansweredServices, ::testing::ValuesIn(executor_names()),
                         parameter_name);

TEST_P(UnansweredServices, AreToldOnStandardError) {
  if (GetParam() == "thread_dispatch" && !realtime::why_no_realtime(95)) {
    GTEST_SKIP() << "each callback has a thread";
  }
  ExecutorOptions options;
  options.cpus = {realtime::allowed_cpus().front()};
  options.spare_workers = 0;
  const auto spinning = executor(options);
  Node server(context, "server");
  Node asking(context, "asking");
  const auto group = std::make_shared<CallbackGroup>(executor::GroupType::kReentrant);
  server.create_service<SetBool>("inner", [](const SetBool::Request&, SetBool::Response&) {}, 10,
                                 {.group = group});
  const auto client = asking.create_client<SetBool>("inner", 10, {.group = group});
  ASSERT_TRUE(client->wait_for_service(20s));
  const StderrFile stderr_file;
  std::atomic<bool> told{false};
  asking.create_wall_timer(10ms,
                           [&] {
                             auto sent = client->async_send_request(SetBool::Request());
                             const auto end = std::chrono::steady_clock::now() + 60s;
                             while (!told && std::chrono::steady_clock::now() < end &&
                                    sent.future.wait_for(300ms) != std::future_status::ready) {
                               told = stderr_file.contains("every worker waits");
                             }
                             spinning->cancel();
                           },
                           {.group = group});
  spinning->add_node(server);
  spinning->add_node(asking);
  spinning->spin();
  EXPECT_TRUE(told) << stderr_file.text();
}

}  // namespace
}  // namespace rclrt::test

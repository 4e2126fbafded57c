// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/model_conversion.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace rclrt::recorder {
namespace {

using std::chrono::milliseconds;

TEST(ModelConversion, KeepsWhatAThreadPlanStates) {
  const auto plan = model::parse_thread_plan(R"(
rclrt: 1
threads:
  - {name: control, policy: fifo, priority: 80, cpus: [1]}
  - {name: "dds.*", policy: rr, priority: 40}
  - {name: camera, policy: deadline, runtime_ms: 2, deadline_ms: 10, period_ms: 20}
  - {name: "log*", policy: other, nice: 10}
)",
                                             "plan.yaml");
  using realtime::Policy;
  const realtime::ThreadPlan expected{
      {{"control", {.policy = Policy::kFifo, .priority = 80, .cpus = {1}}},
       {"dds.*", {.policy = Policy::kRoundRobin, .priority = 40}},
       {"camera",
        {.policy = Policy::kDeadline,
         .reservation = {milliseconds(2), milliseconds(10), milliseconds(20)}}},
       {"log*", {.policy = Policy::kOther, .nice = 10}}}};
  EXPECT_EQ(to_realtime(plan), expected);
}

TEST(ModelConversion, KeepsTheOptionsOfAnExecutor) {
  const auto of = [](const char* name) { return to_engine(model::parse_executor(name)); };
  EXPECT_EQ(of("wait_set:threads=3").wait_set.threads, 3U);
  EXPECT_TRUE(of("wait_set:static").wait_set.subscriptions_first);
  const executor::WaitSetOptions arbitrary = of("wait_set:order=arbitrary:seed=7").wait_set;
  EXPECT_EQ(arbitrary.order, executor::WaitSetOrder::kArbitrary);
  EXPECT_EQ(arbitrary.seed, 7U);
  EXPECT_EQ(of("wait_set").wait_set.order, executor::WaitSetOrder::kRegistration);
  EXPECT_TRUE(of("events:timers_thread").events.timers_thread);
  EXPECT_TRUE(of("static_order:let").static_order.logical_execution_time);
  EXPECT_EQ(of("static_order").static_order.trigger, executor::trigger_any());
  EXPECT_EQ(of("static_order:trigger=all").static_order.trigger, executor::trigger_all());
  const auto one = of("static_order:trigger_on=planner").static_order.trigger;
  EXPECT_NE(one, executor::trigger_any());
  EXPECT_NE(one, executor::trigger_all());
}

TEST(ModelConversion, KeepsThePoliciesOfCallbacks) {
  EXPECT_EQ(to_engine(model::Overload::kQueue), executor::Overload::kQueue);
  EXPECT_EQ(to_engine(model::Overload::kKeepLast), executor::Overload::kKeepLast);
  EXPECT_EQ(to_engine(model::Overload::kSkipIfRunning), executor::Overload::kSkipIfRunning);
  EXPECT_EQ(to_engine(model::OverrunPolicy::kCatchUp), executor::OverrunPolicy::kCatchUp);
  EXPECT_EQ(to_engine(model::OverrunPolicy::kSkip), executor::OverrunPolicy::kSkip);
  EXPECT_EQ(to_engine(model::OverrunPolicy::kRebase), executor::OverrunPolicy::kRebase);
}

}  // namespace
}  // namespace rclrt::recorder

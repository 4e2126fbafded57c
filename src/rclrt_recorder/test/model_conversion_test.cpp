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

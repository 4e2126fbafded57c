// SPDX-License-Identifier: Apache-2.0
#include "middleware_threads.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <string>

#include "rclrt/rclrt.hpp"
#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::runner {
namespace {

model::Application with_rule(const model::ThreadRule& rule) {
  model::Application application;
  application.threads = {rule};
  return application;
}

/// Returns how many threads of this process have exactly this scheduling.
int threads_with(const realtime::Scheduling& scheduling) {
  int count = 0;
  for (const pid_t tid : realtime::thread_ids()) {
    count += realtime::read_scheduling(tid) == scheduling ? 1 : 0;
  }
  return count;
}

TEST(MiddlewareThreads, GetTheStatedPolicyPriorityAndCpuAndNobodyElseDoes) {
  if (const auto reason = realtime::why_no_realtime(33)) {
    GTEST_SKIP() << *reason;
  }
  const int cpu = realtime::allowed_cpus().front();
  const MiddlewareThreads middleware;
  const auto context = Context::make(0, nullptr, {.handle_signals = true, .domain_id = 97});
  const Node node(context, "node");
  const auto created = realtime::thread_ids().size();
  EXPECT_EQ(middleware.apply(with_rule({"middleware", {model::Policy::kFifo, 33, {cpu}}})),
            std::nullopt);
  const int changed = threads_with({realtime::Policy::kFifo, 33, {cpu}});
  EXPECT_GT(changed, 0);
  EXPECT_LT(static_cast<std::size_t>(changed), created);  // not the main thread, not our own
  EXPECT_NE(realtime::read_scheduling(0)->policy, realtime::Policy::kFifo);
}

TEST(MiddlewareThreads, StayAsTheyAreWithoutARule) {
  const MiddlewareThreads middleware;
  const auto context = Context::make(0, nullptr, {.handle_signals = false, .domain_id = 97});
  const Node node(context, "node");
  EXPECT_EQ(middleware.apply({}), std::nullopt);
  EXPECT_EQ(threads_with({realtime::Policy::kFifo, 33, realtime::allowed_cpus()}), 0);
}

TEST(MiddlewareThreads, ARuleThatCannotBeAppliedIsReportedWithTheThread) {
  const MiddlewareThreads middleware;
  const auto context = Context::make(0, nullptr, {.handle_signals = false, .domain_id = 97});
  const Node node(context, "node");
  const auto problem =
      middleware.apply(with_rule({"middleware", {model::Policy::kOther, 0, {100'000}}}));
  ASSERT_TRUE(problem.has_value());
  EXPECT_NE(problem->find("middleware thread \""), std::string::npos) << *problem;
  EXPECT_NE(problem->find("CPU 100000 cannot be used"), std::string::npos) << *problem;
}

}  // namespace
}  // namespace rclrt::runner

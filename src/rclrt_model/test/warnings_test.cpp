// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rclrt/model/parse.hpp"

namespace rclrt::model {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// scan (a timer, 50 ms) publishes to fuse; both need `wcet` ms. Each has an executor.
Application two_executors(const std::string& executors, const std::string& wcet = "1",
                          const std::string& more = "") {
  const ParseResult result = parse_application(R"(rclrt: 1
name: demo
executors: [)" + executors + R"(]
nodes: [{name: a, executor: first}, {name: b, executor: second}]
callbacks:
  - {id: scan, node: a, timer: {period_ms: 50}, wcet_ms: )" +
                                               wcet +
                                               R"(, publishes: [points], priority: 5}
  - {id: log, node: a, timer: {period_ms: 100}, wcet_ms: 0, priority: 1}
  - {id: fuse, node: b, subscription: {topic: points}, wcet_ms: )" +
                                               wcet + R"(, priority: 3}
chains: [{id: obstacle, callbacks: [scan, fuse], deadline_ms: 40}]
)" + more);
  EXPECT_TRUE(result.application) << (result.diagnostics.empty()
                                          ? ""
                                          : to_string(result.diagnostics.front(), "f"));
  return result.application.value_or(Application());
}

std::vector<std::string> of_robot(const std::string& sections) {
  const RobotResult result = parse_robot("rclrt: 1\n" + sections);
  EXPECT_TRUE(result.robot) << sections;
  return result.robot ? warnings(*result.robot) : std::vector<std::string>{"invalid"};
}

TEST(ApplicationWarnings, MoreWorkThanTheTimeOfItsCpusIsNamedWithTheCpus) {
  // 40 ms and 40 ms in each 50 ms: 160 % of one CPU, 80 % of each of two.
  EXPECT_THAT(warnings(two_executors("{name: first, cpus: [1]}, {name: second, cpus: [2]}", "40")),
              IsEmpty());
  EXPECT_THAT(warnings(two_executors(
                  "{name: first, cpus: [1]}, {name: second, cpus: [1], top_priority: 93}", "40")),
              ElementsAre(AllOf(HasSubstr("cpus: [1] need 160 % of the time of one CPU"),
                                HasSubstr("state more CPUs"))));
  EXPECT_THAT(warnings(two_executors("{name: first}, {name: second, top_priority: 93}", "60")),
              ElementsAre(HasSubstr("executor 'first' states no cpus"),
                          HasSubstr("executor 'second' states no cpus")));
  EXPECT_THAT(
      warnings(two_executors(
          "{name: first, cpus: [2, 1]}, {name: second, cpus: [1], top_priority: 93}", "50")),
      IsEmpty());
}

TEST(ApplicationWarnings, TheNewestMessageOfAnotherProcessNeedsTheMiddlewareAboveTheCallbacks) {
  const auto found = [](const std::string& process) {
    const ParseResult result = parse_application(
        "rclrt: 1\nname: demo\nexecutors: [{name: first, cpus: [1]}, {name: second, cpus: [2]" +
        process +
        "}]\nnodes: [{name: n, executor: first}, {name: m, executor: second}]\ncallbacks:\n"
        "  - {id: scan, node: n, timer: {period_ms: 10}, wcet_ms: 1, publishes: [x]}\n"
        "  - {id: drive, node: m, timer: {period_ms: 10}, wcet_ms: 1, reads: [{topic: x}]}\n"
        "chains: [{id: path, callbacks: [scan, drive], max_age_ms: 100}]\n");
    EXPECT_TRUE(result.application);
    return warnings(result.application.value_or(Application()));
  };
  EXPECT_THAT(found(""), IsEmpty());
  EXPECT_THAT(found(", process: p"),
              ElementsAre(AllOf(HasSubstr("from 'scan' to 'drive'"),
                                HasSubstr("threads: [{name: middleware, policy: fifo"))));
}

TEST(ApplicationWarnings, AMessageOfAnotherProcessNeedsTheMiddlewareAboveTheCallbacks) {
  const std::string apart = "{name: first, cpus: [1], process: p}, {name: second, cpus: [2]";
  EXPECT_THAT(warnings(two_executors(apart + ", process: p}")), IsEmpty());
  EXPECT_THAT(
      warnings(two_executors(apart + "}")),
      ElementsAre(AllOf(HasSubstr("from 'scan' to 'fuse'"),
                        HasSubstr("threads: [{name: middleware, policy: fifo, priority: 96}]"))));
  const auto at = [&](const char* priority) {
    return warnings(two_executors(
        apart + "}", "1",
        std::string("threads: [{name: middleware, policy: fifo, priority: ") + priority + "}]\n"));
  };
  EXPECT_THAT(at("96"), IsEmpty());
  const auto raise = ElementsAre(HasSubstr(
      "cross processes and may wait for callbacks, because the middleware's threads are not above "
      "these; state policy: fifo, priority: 96 in the rule for middleware under threads"));
  EXPECT_THAT(at("50"), raise);
  EXPECT_THAT(at("81"), raise);
  const std::string low =
      "{name: first, cpus: [1], process: p, top_priority: 80}, "
      "{name: second, cpus: [2], top_priority: 70}";
  EXPECT_THAT(warnings(two_executors(low, "1",
                                     "threads: [{name: middleware, policy: fifo, "
                                     "priority: 81}]\n")),
              IsEmpty());
}

TEST(ApplicationWarnings, DifferentPrioritiesWithOneKernelPriorityAreNamedWithATopPriority) {
  // Both executors give 94 to their most urgent callback.
  EXPECT_THAT(warnings(two_executors("{name: first, cpus: [1]}, {name: second, cpus: [1, 2]}")),
              ElementsAre(AllOf(HasSubstr("'scan' (priority 5, executor 'first') and 'fuse' "
                                          "(priority 3, executor 'second')"),
                                HasSubstr("the same kernel priority, 94"),
                                HasSubstr("a top_priority of 93 for 'second'"))));
  // first has the kernel priorities 94 and 93, second has 92.
  EXPECT_THAT(warnings(two_executors(
                  "{name: first, cpus: [1]}, {name: second, cpus: [1, 2], top_priority: 93}")),
              IsEmpty());
  EXPECT_THAT(warnings(two_executors("{name: first, cpus: [1]}, {name: second, cpus: [2]}")),
              IsEmpty());
}

TEST(OrderWarnings, UnderEdfNameCallbacksOfChainsWithoutADeadline) {
  Application application = two_executors("{name: first}, {name: second}");
  EXPECT_THAT(order_warnings(application, ExecutorKind::kEdf),
              ElementsAre(HasSubstr("no deadline_ms of their own (scan, fuse); the deadline_ms of "
                                    "a chain orders nothing")));
  application.callbacks[2].deadline = std::chrono::milliseconds(40);
  application.chains[0].deadline = std::chrono::milliseconds(50);  // the period of scan
  EXPECT_THAT(order_warnings(application, ExecutorKind::kEdf), IsEmpty());
  EXPECT_THAT(order_warnings(application, ExecutorKind::kEvents), IsEmpty());
}

TEST(RobotWarnings, RealTimeCallbacksNeedAThreadRuleForTheReceivingThreads) {
  const std::string callbacks = "callbacks: [{node: /a, priority: 3}]\n";
  const auto missing =
      ElementsAre(HasSubstr("; add threads: [{name: middleware, policy: fifo, priority: 96}]"));
  EXPECT_THAT(of_robot(callbacks), missing);
  EXPECT_THAT(of_robot("executor: {realtime: require}"), missing);
  EXPECT_THAT(of_robot("executor: {kind: edf}"), missing);
  EXPECT_THAT(of_robot(callbacks + "executor: {top_priority: 80}"),
              ElementsAre(HasSubstr("policy: fifo, priority: 81}]")));
  const auto rule = [&](const std::string& text) {
    return of_robot(callbacks + "threads: [" + text + "]\n");
  };
  const auto to_add = ElementsAre(HasSubstr(
      "; add {name: middleware, policy: fifo, priority: 96} as the first rule under threads"));
  const auto to_raise = ElementsAre(
      HasSubstr("; state policy: fifo, priority: 96 in the rule for middleware under threads"));
  EXPECT_THAT(rule("{library: \"libfast*\", policy: fifo, priority: 96}"), IsEmpty());
  EXPECT_THAT(rule("{name: \"dds.*\", policy: rr, priority: 97}"), IsEmpty());
  EXPECT_THAT(rule("{function: \"*Listener*\", policy: other}, {name: \"*\", policy: fifo, "
                   "priority: 96}"),
              IsEmpty());
  EXPECT_THAT(rule("{library: \"libfast*\", policy: fifo, priority: 40}"), to_add);
  EXPECT_THAT(rule("{library: \"libfast*\", policy: keep}"), to_add);
  EXPECT_THAT(rule("{name: middleware, policy: fifo, priority: 96}"), IsEmpty());
  EXPECT_THAT(rule("{name: middleware, policy: fifo, priority: 40}"), to_raise);
  EXPECT_THAT(rule("{name: middleware, policy: keep}"), to_raise);
  EXPECT_THAT(rule("{name: \"*\", policy: other}, {name: middleware, policy: fifo, priority: 96}"),
              ElementsAre(HasSubstr("; make the rule for middleware the first one under threads")));
  EXPECT_THAT(rule("{library: \"libddsc*\", policy: fifo, priority: 96}"), IsEmpty());
  EXPECT_THAT(rule("{name: \"*\", policy: other}, {library: \"libfast*\", policy: fifo, "
                   "priority: 96}"),
              to_add);
}

TEST(RobotWarnings, WithoutRealTimeCallbacksThereIsNone) {
  EXPECT_THAT(of_robot(""), IsEmpty());
  EXPECT_THAT(of_robot("executor: {realtime: \"off\"}\ncallbacks: [{node: /a, priority: 3}]"),
              IsEmpty());
  EXPECT_THAT(of_robot("executor: {best_effort_below: 4}\ncallbacks: [{node: /a, priority: 3}]"),
              IsEmpty());
}

TEST(HostWarnings, NameTheProcess) {
  const HostResult host = parse_host(
      "rclrt: 1\nprocesses: [{name: a}, {name: b, callbacks: [{node: /b, priority: 1}]}]");
  ASSERT_TRUE(host.host);
  EXPECT_THAT(warnings(*host.host), ElementsAre(HasSubstr("process 'b': messages from other")));
}

}  // namespace
}  // namespace rclrt::model

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/node_timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mutator.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/yaml/file.hpp"

namespace rclrt::model {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::string_view kTimings = R"(rclrt: 1
callbacks:
  - {node: /lidar, timer: 0, priority: 8}
  - {node: /lidar, group: 1, timer: 2, priority: 7}
  - {node: /a/filter, subscription: /points, priority: 5, deadline_ms: 10, overload: keep_last}
  - {node: /a/filter, service: /filter/reset, priority: 1}
  - {node: /a/filter, group: 1, priority: 4}
  - {node: /a/filter, priority: 2}
  - {node: /control, subscription: /filtered, max_age_ms: 50}
  - {node: /control, subscription: /scan, max_age_ms: 50, stamped_by: lidar-1.local}
)";

std::string problem_of_timings(std::string_view text) {
  const auto result = parse_node_timings(text);
  EXPECT_EQ(result.timings.has_value(), result.diagnostics.empty());
  return result.diagnostics.empty() ? "" : to_string(result.diagnostics.front(), "f");
}

std::string problem_of_entry(const std::string& entry) {
  return problem_of_timings("rclrt: 1\ncallbacks:\n  - {" + entry + "}\n");
}

TEST(NodeTiming, EveryKindOfEntryIsRead) {
  const auto timings = parse_node_timings(kTimings).timings;
  ASSERT_TRUE(timings);
  ASSERT_EQ(timings->size(), 8U);
  EXPECT_EQ(to_string((*timings)[0]), "node /lidar, group 0, timer 0");
  EXPECT_EQ((*timings)[0].priority, 8);
  EXPECT_EQ((*timings)[0].line, 3U);
  EXPECT_EQ(to_string((*timings)[1]), "node /lidar, group 1, timer 2");
  EXPECT_EQ((*timings)[2].deadline, milliseconds(10));
  EXPECT_EQ((*timings)[2].overload, Overload::kKeepLast);
  EXPECT_EQ((*timings)[2].scope(), TimingScope::kCallback);
  EXPECT_EQ((*timings)[4].scope(), TimingScope::kGroup);
  EXPECT_EQ((*timings)[5].scope(), TimingScope::kNode);
  EXPECT_EQ((*timings)[6].max_age, milliseconds(50));
  EXPECT_FALSE((*timings)[6].deadline);
  EXPECT_EQ((*timings)[6].stamped_by, "");
  EXPECT_EQ((*timings)[7].stamped_by, "lidar-1.local");
}

TEST(NodeTiming, AnEntryFitsWhatItNames) {
  const auto timings = *parse_node_timings(kTimings).timings;
  const CallbackPlace timer{"/lidar", "timer", "0", 0};
  const CallbackPlace other_timer{"/lidar", "timer", "0", 1};
  const CallbackPlace points{"/a/filter", "subscription", "/points", 3};
  EXPECT_TRUE(timings[0].fits(timer));
  EXPECT_FALSE(timings[0].fits(other_timer));  // an index counts within the default group
  EXPECT_TRUE(timings[2].fits(points));        // a topic in any group
  EXPECT_FALSE(timings[3].fits(points));
  EXPECT_FALSE(timings[4].fits(points));
  EXPECT_TRUE(timings[5].fits(points));
  EXPECT_FALSE(timings[5].fits(timer));
}

TEST(NodeTiming, ATimerIsNamedByItsPeriodAndAGroupByOneOfItsCallbacks) {
  const auto timings = *parse_node_timings(R"(rclrt: 1
callbacks:
  - {node: /a, timer_period_ms: 1333.000001, priority: 3}
  - {node: /a, timer_period_ms: 0.5, group: 2, priority: 4}
  - {node: /a, subscription: /points, whole_group: true, priority: 5}
  - {node: /a, subscription: /points, whole_group: false, priority: 6}
)")
                            .timings;
  const CallbackPlace timer{"/a", "timer", "7", 4};
  EXPECT_EQ(timings[0].scope(), TimingScope::kCallback);
  EXPECT_TRUE(timings[0].fits(timer, std::chrono::nanoseconds(1'333'000'001)));
  EXPECT_FALSE(timings[0].fits(timer, std::chrono::nanoseconds(1'333'000'000)));
  EXPECT_FALSE(timings[0].fits(timer));  // its period is not known
  EXPECT_FALSE(timings[1].fits(timer, std::chrono::microseconds(500)));
  EXPECT_TRUE(timings[1].fits({"/a", "timer", "0", 2}, std::chrono::microseconds(500)));
  EXPECT_EQ(timings[2].scope(), TimingScope::kGroup);
  EXPECT_TRUE(timings[2].fits({"/a", "subscription", "/points", 3}));
  EXPECT_EQ(timings[3].scope(), TimingScope::kCallback);
  EXPECT_EQ(to_string(timings[0]), "node /a, timer with period 1333.000001 ms");
  EXPECT_EQ(to_string(timings[1]), "node /a, group 2, timer with period 0.5 ms");
  EXPECT_EQ(to_string(timings[2]), "node /a, the whole group of subscription /points");
}

TEST(NodeTiming, MistakesOfPeriodsAndWholeGroupsAreNamedWithTheirPlace) {
  EXPECT_EQ(problem_of_entry("node: /a, timer: 0, timer_period_ms: 5"),
            "f:3:5: one entry for a timer and a timer_period_ms; expected an entry of its own for "
            "each of the two");
  EXPECT_NE(problem_of_entry("node: /a, timer_period_ms: 0").find("f:3:33: timer_period_ms is"),
            std::string::npos);
  EXPECT_EQ(problem_of_entry("node: /a, whole_group: true"),
            "f:3:29: whole_group without a callback; expected a callback of the group in the same "
            "entry, such as subscription: /topic or timer_period_ms: 100");
  EXPECT_EQ(problem_of_entry("node: /a, waitable: 0, whole_group: true"),
            "f:3:42: whole_group beside waitable; expected group: N, or a callback of the group "
            "that has a name or a period");
  EXPECT_EQ(problem_of_entry("node: /a, timer: 0, whole_group: true, max_age_ms: 3"),
            "f:3:57: max_age_ms of a whole group; expected an entry of its own for each callback "
            "with a largest age");
  EXPECT_NE(problem_of_entry("node: /a, timer: 0, whole_group: 1").find("whole_group is '1'"),
            std::string::npos);
  EXPECT_NE(problem_of_entry("node: /a, timer_period_ms: 5}\n  - {node: /a, timer_period_ms: 5.0")
                .find("f:4:5: a second entry for the callbacks of line 3"),
            std::string::npos);
  EXPECT_EQ(problem_of_entry("node: /a, timer_period_ms: 5}\n  - {node: /a, timer_period_ms: 5, "
                             "whole_group: true"),
            "");
}

TEST(NodeTiming, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(problem_of_timings("rclrt: 1\n"),
            "f:1:1: the node priorities file has no 'callbacks'; expected a key such as "
            "'callbacks: [{node: /lidar, timer: 0, priority: 5}]'");
  EXPECT_NE(problem_of_entry("timer: 0").find("f:3:5: the entry has no 'node'"), std::string::npos);
  EXPECT_NE(problem_of_entry("node: lidar").find("a fully qualified name"), std::string::npos);
  EXPECT_NE(problem_of_entry("node: /a, timer: x").find("f:3:23: timer is 'x'"), std::string::npos);
  EXPECT_NE(problem_of_entry("node: /a, timer: 0, service: /b")
                .find("one entry for a timer and a service"),
            std::string::npos);
  EXPECT_NE(problem_of_entry("node: /a, priorty: 3").find("did you mean 'priority'"),
            std::string::npos);
  EXPECT_NE(problem_of_entry("node: /a, subscription: /b, max_age_ms: 0").find("max_age_ms"),
            std::string::npos);
  EXPECT_EQ(problem_of_entry("node: /a, service: /b, max_age_ms: 5"),
            "f:3:41: max_age_ms without a subscription or a timer; expected subscription: /topic "
            "or timer: N in the same entry, because only messages, and what a timer samples, have "
            "an age");
  EXPECT_EQ(
      problem_of_entry("node: /a, subscription: /b, deadline_ms: 5, max_age_ms: 5"),
      "f:3:62: max_age_ms beside deadline_ms; expected one of the two: max_age_ms counts from "
      "the data's stamp, deadline_ms from the release");
  EXPECT_EQ(problem_of_entry("node: /a, subscription: /b, stamped_by: arm"),
            "f:3:46: stamped_by without the age of a subscription; expected subscription: /topic "
            "and max_age_ms in the same entry");
  EXPECT_NE(problem_of_entry("node: /a, timer: 0, max_age_ms: 5, stamped_by: arm")
                .find("stamped_by without the age of a subscription"),
            std::string::npos);
  EXPECT_NE(problem_of_entry("node: /a, subscription: /b, max_age_ms: 5, stamped_by: a b")
                .find("the name of a host in `rclrt clock`"),
            std::string::npos);
  EXPECT_NE(problem_of_entry("node: /a, deadline_ms: -1").find("deadline_ms"), std::string::npos);
  EXPECT_NE(
      problem_of_entry("node: /a, service: /b, overload: keep_last").find("overload of a service"),
      std::string::npos);
  EXPECT_NE(problem_of_entry("node: /a, timer: 0}\n  - {node: /a, timer: 0, group: 0")
                .find("f:4:5: a second entry for the callbacks of line 3"),
            std::string::npos);
}

TEST(CallbackPlaces, AreCountedInTheOrderOfTheFile) {
  const auto application = parse_application(R"(
rclrt: 1
name: robot
nodes: [{name: lidar, namespace: /front}, {name: planner}]
callbacks:
  - {id: scan, node: lidar, timer: {period_ms: 10}, wcet_ms: 1,
     publishes: [points, /scan]}
  - {id: blink, node: lidar, timer: {period_ms: 10}, wcet_ms: 1, publishes: [/light],
     group: default}
  - {id: slow, node: lidar, timer: {period_ms: 10}, wcet_ms: 1, group: second}
  - {id: own, node: lidar, subscription: {topic: points}, wcet_ms: 1, group: first}
  - {id: plan, node: planner, timer: {period_ms: 10}, wcet_ms: 1, publishes: [/light]}
  - {id: fuse, node: planner, sync: {topics: [/light, /scan], window_ms: 5}, wcet_ms: 1}
chains: [{id: c, callbacks: [scan, own], priority: 1, deadline_ms: 10}]
)")
                               .application.value();
  using Places = std::vector<CallbackPlace>;
  EXPECT_EQ(places_of(application),
            (std::vector<Places>{{{"/front/lidar", "timer", "0", 0}},
                                 {{"/front/lidar", "timer", "1", 0}},
                                 {{"/front/lidar", "timer", "0", 1}},
                                 {{"/front/lidar", "subscription", "/front/points", 2}},
                                 {{"/planner", "timer", "0", 0}},
                                 {{"/planner", "subscription", "/light", 0},
                                  {"/planner", "subscription", "/scan", 0}}}));
}

TEST(NodeTiming, AFileThatCannotBeReadIsNamed) {
  EXPECT_THAT([&] { load_node_timings("/nowhere/priorities.yaml"); },
              ThrowsMessage<yaml::FileError>(HasSubstr(
                  "/nowhere/priorities.yaml: the file cannot be read: No such file or directory")));
}

TEST(NodeTiming, AnyBytesGiveEntriesOrDiagnostics) {
  test::Mutator mutator({std::string(kTimings)}, test::fuzz_seed());
  std::size_t accepted = 0;
  for (unsigned long i = 0; i < test::fuzz_iterations(20'000); ++i) {
    const std::string text = mutator.next();
    const auto result = parse_node_timings(text);
    ASSERT_EQ(result.timings.has_value(), result.diagnostics.empty()) << text;
    accepted += result.timings.has_value();
  }
  EXPECT_GT(accepted, 0U);
}

}  // namespace
}  // namespace rclrt::model

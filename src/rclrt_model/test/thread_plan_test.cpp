// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/thread_plan.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace rclrt::model {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

ThreadPlan parse(const std::string& text) { return parse_thread_plan(text, "plan.yaml"); }

std::string error_of_plan(const std::string& text) {
  try {
    parse(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of_rule(const std::string& rule) {
  return error_of_plan("rclrt: 1\nthreads:\n  - {" + rule + "}\n");
}

TEST(ThreadPlanFile, HasEveryPolicyWithItsParameters) {
  const ThreadPlan plan = parse(R"(
rclrt: 1
threads:
  - {name: control, policy: fifo, priority: 80, cpus: [1, 0]}
  - {name: "dds.*", policy: rr, priority: 1}
  - {name: camera, policy: deadline, runtime_ms: 2.5, deadline_ms: 10, period_ms: 20}
  - {name: lidar, policy: deadline, runtime_ms: 2, period_ms: 20}
  - {name: "log*", policy: other, nice: -20}
  - {name: "*", policy: other}
)");
  const ThreadPlan expected{
      {{"control", {.policy = Policy::kFifo, .priority = 80, .cpus = {0, 1}}},
       {"dds.*", {.policy = Policy::kRoundRobin, .priority = 1}},
       {"camera",
        {.policy = Policy::kDeadline,
         .reservation = {microseconds(2500), milliseconds(10), milliseconds(20)}}},
       {"lidar",
        {.policy = Policy::kDeadline,
         .reservation = {milliseconds(2), milliseconds(20), milliseconds(20)}}},
       {"log*", {.nice = -20}},
       {"*", {}}}};
  EXPECT_EQ(plan, expected);
}

TEST(ThreadPlanFile, IsRefusedWithThePlaceOfEachMistake) {
  EXPECT_EQ(error_of_rule("name: a, policy: fifoo, priority: 1"),
            "plan.yaml:3:23: policy is 'fifoo'; expected 'other', 'fifo', 'rr', 'deadline' or "
            "'keep' (did you mean 'fifo'?)");
  EXPECT_EQ(error_of_rule("name: a, policy: fifo, priority: 99"),
            "plan.yaml:3:39: priority is '99'; expected a whole number from 1 to 98");
  EXPECT_EQ(error_of_rule("name: a, policy: rr"),
            "plan.yaml:3:5: the thread has no 'priority'; expected a key such as 'priority: 50'");
  EXPECT_EQ(error_of_rule("name: a, policy: other, nice: 20"),
            "plan.yaml:3:36: nice is '20'; expected a whole number from -20 to 19");
  EXPECT_EQ(
      error_of_rule("policy: other"),
      "plan.yaml:3:5: the thread has no 'name', 'library' or 'function'; expected at least one, "
      "such as 'name: control'");
  EXPECT_EQ(error_of_rule("name: a, policy: other, cpu: [1]"),
            "plan.yaml:3:30: unknown key 'cpu' in the thread; expected a known key (did you mean "
            "'cpus'?)");
}

TEST(ThreadPlanFile, IsRefusedWhereAKeyHasNoMeaningWithThePolicy) {
  EXPECT_EQ(
      error_of_rule("name: a, policy: other, priority: 3"),
      "plan.yaml:3:40: priority has no meaning with 'policy: other'; expected no priority, or "
      "'policy: fifo' or 'policy: rr'");
  EXPECT_EQ(error_of_rule("name: a, policy: fifo, priority: 3, nice: 1"),
            "plan.yaml:3:48: nice has no meaning with 'policy: fifo'; expected no nice value, or "
            "'policy: other'");
  EXPECT_EQ(error_of_rule("name: a, policy: rr, priority: 3, period_ms: 1"),
            "plan.yaml:3:51: period_ms has no meaning with 'policy: rr'; expected 'policy: "
            "deadline'");
  EXPECT_EQ(error_of_rule("name: a, policy: deadline, runtime_ms: 1, period_ms: 9, cpus: [0]"),
            "plan.yaml:3:68: cpus has no meaning with 'policy: deadline'; expected no list, "
            "because the kernel accepts only threads that may use every CPU");
}

TEST(ThreadPlanFile, IsRefusedWithAReservationThatContradictsItself) {
  EXPECT_EQ(error_of_rule("name: a, policy: deadline, runtime_ms: 3, deadline_ms: 2, period_ms: 9"),
            "plan.yaml:3:45: runtime_ms is '3'; expected no more than the deadline");
  EXPECT_EQ(error_of_rule("name: a, policy: deadline, runtime_ms: 1, deadline_ms: 9, period_ms: 2"),
            "plan.yaml:3:61: deadline_ms is '9'; expected no more than the period");
  EXPECT_EQ(error_of_rule("name: a, policy: deadline, runtime_ms: 0.001, period_ms: 2"),
            "plan.yaml:3:45: runtime_ms is '0.001'; expected at least 0.001024");
  EXPECT_EQ(error_of_rule("name: a, policy: deadline, period_ms: 2"),
            "plan.yaml:3:5: the thread has no 'runtime_ms'; expected a key such as 'runtime_ms: "
            "2'");
}

TEST(ThreadPlanFile, IsRefusedWithTheSamePatternTwice) {
  EXPECT_EQ(error_of_plan("rclrt: 1\nthreads:\n  - {name: a, policy: other}\n  - {name: a, policy: "
                          "other, nice: 1}\n"),
            "plan.yaml:4:12: rule 'a' is declared twice; expected a name of its own (the first is "
            "on line 3)");
}

TEST(ThreadPlanFile, IsRefusedWithoutAVersionOrRules) {
  EXPECT_EQ(error_of_plan("threads: [{name: a, policy: other}]"),
            "plan.yaml:1:1: the thread plan has no 'rclrt'; expected a key such as 'rclrt: 1'");
  EXPECT_EQ(error_of_plan("rclrt: 2\nthreads: []"),
            "plan.yaml:1:8: the format version is '2'; expected 1");
  EXPECT_EQ(error_of_plan("rclrt: 1\nthreads: []"),
            "plan.yaml:2:10: threads is an empty list; expected at least one entry");
  EXPECT_EQ(error_of_plan("rclrt: 1"),
            "plan.yaml:1:1: the thread plan has no 'threads'; expected a key such as 'threads: "
            "[...]'");
}

TEST(ThreadPlanFile, ThatIsMissingIsNamed) {
  try {
    load_thread_plan("/no/such/plan.yaml");
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "/no/such/plan.yaml: the file cannot be read: No such file or directory; expected "
                 "a readable thread plan");
  }
}

}  // namespace
}  // namespace rclrt::model

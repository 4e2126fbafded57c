// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/read_task_set.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rclrt::analysis {
namespace {

TaskFile read(const std::string& text) {
  auto result = parse_task_set(text);
  for (const auto& problem : result.diagnostics) {
    ADD_FAILURE() << yaml::to_string(problem, "f");
  }
  return result.file.value_or(TaskFile{});
}

/// Returns the first problem as "line:column: message".
std::string problem(const std::string& text) {
  const auto result = parse_task_set(text);
  if (result.diagnostics.empty()) {
    return "none";
  }
  return yaml::to_string(result.diagnostics.front(), "").substr(1);
}

std::string with_task(const std::string& task) { return "rclrt: 1\ntasks:\n  - {" + task + "}\n"; }

TEST(ReadTaskSet, TimesBecomeTicksOfTheLastDecimalInTheFile) {
  const TaskFile file = read(
      "rclrt: 1\n"
      "policy: edf\n"
      "tasks:\n"
      "  - {id: a, c: 2.5, t: 10}\n"
      "  - {id: b, c: 0.125, t: 1e2, d: 30, j: 1, b: 0.50, suspension: 2}\n");
  EXPECT_EQ(file.policy, Policy::kEdf);
  EXPECT_EQ(file.decimals, 3);
  EXPECT_FALSE(file.rounded);
  ASSERT_EQ(file.tasks.size(), 2U);
  EXPECT_EQ(file.tasks[0].wcet, 2'500);
  EXPECT_EQ(file.tasks[0].deadline, 10'000);
  EXPECT_EQ(file.tasks[1].wcet, 125);
  EXPECT_EQ(file.tasks[1].period, 100'000);
  EXPECT_EQ(file.tasks[1].deadline, 30'000);
  EXPECT_EQ(file.tasks[1].jitter, 1'000);
  EXPECT_EQ(file.tasks[1].blocking, 500);
  EXPECT_EQ(file.tasks[1].suspension, 2'000);
}

TEST(ReadTaskSet, JsonIsAccepted) {
  const TaskFile file = read(
      R"({"rclrt": 1, "tasks": [{"id": "a", "c": 1, "t": 5}, {"id": "b", "c": 1e-3, "t": 7}]})");
  EXPECT_EQ(file.decimals, 3);
  EXPECT_TRUE(file.priorities_by_place);
  EXPECT_GT(file.tasks[0].priority, file.tasks[1].priority);
}

TEST(ReadTaskSet, MoreThanNineDecimalsAreRoundedToTheSafeSide) {
  const TaskFile file = read(with_task("id: a, c: 0.3333333333333333, t: 10.00000000099"));
  EXPECT_TRUE(file.rounded);
  EXPECT_EQ(file.decimals, 9);
  EXPECT_EQ(file.tasks[0].wcet, 333'333'334);
  EXPECT_EQ(file.tasks[0].period, 10'000'000'000);
}

TEST(ReadTaskSet, ProblemsNamePlaceAndFix) {
  EXPECT_EQ(problem(with_task("id: a, c: -1, t: 5")),
            "3:16: c is '-1'; expected a decimal number that is not negative, such as 2.5, of at "
            "most 18 digits");
  EXPECT_EQ(problem(with_task("id: a, c: 1, t: 0.0")),
            "3:22: t is '0.0'; expected a period above 0");
  EXPECT_EQ(problem(with_task("id: a, c: 1, t: 1e300")),
            "3:22: t is '1e300'; expected at most 1152921504606846976 when the file has times of 0 "
            "decimals");
  EXPECT_EQ(problem(with_task("id: a, c: 1, t: 5, suspention: 1")),
            "3:25: unknown key 'suspention' in the task; expected a known key (did you mean "
            "'suspension'?)");
  EXPECT_EQ(problem("rclrt: 1\npolicy: fifo\ntasks: [{id: a, c: 1, t: 2}]\n"),
            "2:9: policy is 'fifo'; expected 'fp_preemptive', 'fp_nonpreemptive', "
            "'fp_limited_preemptive', 'edf' or 'edf_nonpreemptive'");
  EXPECT_EQ(problem("rclrt: 1\npolicy: fp_nonpreemptive\n"
                    "tasks: [{id: a, c: 1, t: 2, suspension: 1}]\n"),
            "3:41: suspension is '1'; expected none under this policy: each part of the job would "
            "be blocked anew");
  EXPECT_EQ(
      problem("rclrt: 1\ntasks:\n- {id: a, c: 1, t: 2, priority: 1}\n- {id: b, c: 1, t: 2}\n"),
      "4:3: task 'b' has no priority, and others have one; expected a priority for each task (a "
      "higher number is more urgent), or for none (the first is the most urgent)");
  EXPECT_EQ(problem("rclrt: 1\ntasks: []\n"),
            "2:8: tasks is an empty list; expected at least one entry");
  EXPECT_EQ(problem("rclrt: 2\ntasks: [{id: a, c: 1, t: 2}]\n"),
            "1:8: the format version is '2'; expected 1");
  EXPECT_EQ(
      problem("rclrt: 1\ntasks: [{id: a, c: 1, t: 2}, {id: a, c: 1, t: 2}]\n"),
      "2:35: task 'a' is declared twice; expected a name of its own (the first is on line 2)");
  EXPECT_EQ(problem("rclrt: 1\nname: d\xFFmo\n"),
            "2:8: the text cannot be read: invalid leading UTF-8 octet; expected UTF-8 without "
            "control characters");
}

TEST(ReadTaskSet, TicksAreWrittenAsTheFilesUnit) {
  EXPECT_EQ(in_units(2'500, 3), "2.5");
  EXPECT_EQ(in_units(5, 3), "0.005");
  EXPECT_EQ(in_units(12'000, 3), "12");
  EXPECT_EQ(in_units(0, 0), "0");
  EXPECT_EQ(in_units(-1'500, 3), "-1.5");
}

}  // namespace
}  // namespace rclrt::analysis

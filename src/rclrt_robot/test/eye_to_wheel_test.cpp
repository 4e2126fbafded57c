// SPDX-License-Identifier: Apache-2.0
// The example follows the camera's data through two timers, to the wheel.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "program.hpp"
#include "rclcpp_fixture.hpp"

namespace rclrt_robot::test {
namespace {

const std::filesystem::path kExample = PACKAGE_DIRECTORY "/../../examples/eye_to_wheel";

TEST(EyeToWheel, TellsTheAgeOfTheCamerasDataAtTheWheel) {
  if (!std::filesystem::exists(kExample)) {
    GTEST_SKIP() << "the package was taken out of its repository";
  }
  // The monitor follows one more node of the chain each second.
  Program program("EYE_TO_WHEEL",
                  {(kExample / "app.yaml").string(), (kExample / "robot.yaml").string(),
                   "--ros-args", "-p", "duration:=8"});
  EXPECT_EQ(program.exit_code(), 0) << program.output();
  EXPECT_NE(program.output().find("age of their data best "), std::string::npos)
      << program.output();
}

/// Runs the example with stamps and another executor. Returns the lines of the file of ages.
std::vector<std::string> lines_of_ages(const std::string& executor) {
  const std::filesystem::path ages = std::filesystem::path(testing::TempDir()) / "ages.csv";
  std::vector<std::string> arguments{(kExample / "app.yaml").string(),
                                     (kExample / "robot.yaml").string(),
                                     "--ros-args",
                                     "-p",
                                     "duration:=1",
                                     "-p",
                                     "stamped:=true",
                                     "-p",
                                     "ages:=" + ages.string()};
  if (!executor.empty()) {
    arguments.insert(arguments.end(), {"-p", "executor:=" + executor});
  }
  Program program("EYE_TO_WHEEL", arguments);
  EXPECT_EQ(program.exit_code(), 0) << program.output();
  std::vector<std::string> lines;
  std::ifstream file(ages);
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  std::filesystem::remove(ages);
  return lines;
}

TEST(EyeToWheel, WithStampsEachExecutorShowsTheAges) {
  if (!std::filesystem::exists(kExample)) {
    GTEST_SKIP() << "the package was taken out of its repository";
  }
  for (const char* executor : {"", "wait_set", "events", "events_urgent_timers"}) {
    const std::vector<std::string> lines = lines_of_ages(executor);
    ASSERT_GT(lines.size(), 10U) << executor;
    EXPECT_EQ(lines.front(), "end_ns,age_ns");
    // The shortest way takes 15.8 ms of work.
    const std::string& last = lines.back();
    EXPECT_GE(std::stoll(last.substr(last.find(',') + 1)), 15'000'000) << executor;
  }
}

TEST(EyeToWheel, AnExecutorOfRclcppNeedsStamps) {
  Program program("EYE_TO_WHEEL",
                  {"app.yaml", "robot.yaml", "--ros-args", "-p", "executor:=wait_set"});
  EXPECT_EQ(program.exit_code(), 2);
  EXPECT_NE(program.output().find("expected stamped:=true"), std::string::npos);
  Program unknown("EYE_TO_WHEEL",
                  {"app.yaml", "robot.yaml", "--ros-args", "-p", "executor:=preemptive"});
  EXPECT_EQ(unknown.exit_code(), 2);
  EXPECT_NE(unknown.output().find("expected wait_set, events or events_urgent_timers"),
            std::string::npos);
}

TEST(EyeToWheel, RefusesAnotherApplication) {
  Program without("EYE_TO_WHEEL", {});
  EXPECT_EQ(without.exit_code(), 2);
  Program program("EYE_TO_WHEEL",
                  {PACKAGE_DIRECTORY "/examples/mixed_criticality.yaml", "robot.yaml"});
  EXPECT_EQ(program.exit_code(), 2) << program.output();
}

}  // namespace
}  // namespace rclrt_robot::test

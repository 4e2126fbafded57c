// SPDX-License-Identifier: Apache-2.0
// The example follows the camera's data through two timers, to the wheel.
#include <filesystem>
#include <string>

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

TEST(EyeToWheel, RefusesAnotherApplication) {
  Program without("EYE_TO_WHEEL", {});
  EXPECT_EQ(without.exit_code(), 2);
  Program program("EYE_TO_WHEEL",
                  {PACKAGE_DIRECTORY "/examples/mixed_criticality.yaml", "robot.yaml"});
  EXPECT_EQ(program.exit_code(), 2) << program.output();
}

}  // namespace
}  // namespace rclrt_robot::test

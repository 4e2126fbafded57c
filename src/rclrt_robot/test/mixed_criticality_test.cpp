// SPDX-License-Identifier: Apache-2.0
// The example runs, prints what it promises, and is recorded.
#include <string>
#include <vector>

#include "folder.hpp"
#include "program.hpp"
#include "rclcpp_fixture.hpp"

namespace rclrt_robot::test {
namespace {

bool says(const Program& program, const std::string& text) {
  return program.output().find(text) != std::string::npos;
}

TEST(MixedCriticality, SaysHowLateTheControlLoopWas) {
  for (const std::string executor : {"rclrt", "--single-threaded"}) {
    std::vector<std::string> arguments{"--ros-args", "-p", "duration:=0.5"};
    if (executor != "rclrt") {
      arguments.insert(arguments.begin(), executor);
    }
    Program program("MIXED_CRITICALITY", arguments);
    EXPECT_EQ(program.exit_code(), 0);
    EXPECT_TRUE(says(program, "late by p50 ")) << program.output();
  }
}

TEST(MixedCriticality, RefusesWhatItDoesNotKnow) {
  Program program("MIXED_CRITICALITY", {"--sngle-threaded"});
  EXPECT_EQ(program.exit_code(), 2);
}

TEST(MixedCriticality, IsRecorded) {
  const Folder folder;
  Program program("MIXED_CRITICALITY",
                  {"--record", (folder / "out").string(), "--ros-args", "-p", "duration:=0.5"});
  EXPECT_EQ(program.exit_code(), 0) << program.output();
  EXPECT_TRUE(std::filesystem::exists(folder / "out/results.json"));
}

TEST(MixedCriticality, ATimeThatIsNoneIsNamedAndTheExitCodeIs2) {
  for (const std::string value : {"0", "-1.0", "1e-10", ".nan", ".inf", "1e7", "a"}) {
    Program program("MIXED_CRITICALITY", {"--ros-args", "-p", "duration:=" + value});
    EXPECT_EQ(program.exit_code(), 2) << value << program.output();
    EXPECT_TRUE(says(program, "parameter duration is ")) << program.output();
  }
}

}  // namespace
}  // namespace rclrt_robot::test

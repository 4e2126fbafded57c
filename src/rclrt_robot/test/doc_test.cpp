// SPDX-License-Identifier: Apache-2.0
// The code in the pages on rclcpp is compiled, and the files in them are read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "rclrt/model/host.hpp"
#include "rclrt/model/node_timing.hpp"
#include "rclrt/model/robot.hpp"

namespace {

constexpr auto kAgeOfData = "how-to/age-of-data.md";
constexpr auto kLaunchFile = "how-to/launch-file.md";
constexpr auto kCausesOfMisses = "how-to/causes-of-misses.md";
constexpr auto kNav2 = "how-to/nav2.md";
constexpr auto kRos2Control = "how-to/ros2-control.md";
constexpr auto kRclcppExecutors = "reference/rclcpp-executors.md";
constexpr auto kRecordings = "reference/recordings.md";
constexpr auto kRobotYaml = "reference/robot-yaml.md";

std::string read(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class Pages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kDocs)) {
      GTEST_SKIP() << "the package was taken out of its repository";
    }
  }

  /// Returns the code blocks of a page in a language, in their order.
  static std::vector<std::string> blocks(const std::string& page, const std::string& language) {
    const std::string text = read(kDocs / page);
    std::vector<std::string> result;
    const std::string fence = "```" + language + "\n";
    for (std::size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
      at += fence.size();
      result.push_back(text.substr(at, text.find("```", at) - at));
    }
    return result;
  }

 private:
  inline static const std::filesystem::path kDocs = PACKAGE_DIRECTORY "/../../docs";
};

TEST_F(Pages, TheirCodeIsWhatWasCompiled) {
  const std::string compiled = read(PACKAGE_DIRECTORY "/../rclrt_rclcpp/examples/one_line.cpp") +
                               read(PACKAGE_DIRECTORY "/test/doc_snippets.cpp");
  std::size_t count = 0;
  for (const std::string page : {kRclcppExecutors, kRobotYaml, kRecordings, kAgeOfData}) {
    for (const std::string& block : blocks(page, "cpp")) {
      const std::string indented = std::regex_replace(block, std::regex("(^|\n)(?=[^\n])"), "$1  ");
      EXPECT_NE(compiled.find(indented), std::string::npos) << page << ": " << block;
      ++count;
    }
  }
  EXPECT_EQ(count, 13U);
}

TEST_F(Pages, TheLaunchFileIsTheExamples) {
  const std::string example = read(PACKAGE_DIRECTORY "/../../examples/container/robot.launch.py");
  const auto python = blocks(kLaunchFile, "python");
  ASSERT_EQ(python.size(), 1U);
  std::istringstream lines(python.front());
  int same = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string text = line.substr(line.find_first_not_of(' '));
    for (const std::string key : {"package=\"rclrt_robot\"", "executable=", "extra_arguments="}) {
      if (text.rfind(key, 0) == 0) {
        EXPECT_NE(example.find(text.substr(0, text.find(','))), std::string::npos) << text;
        ++same;
      }
    }
  }
  EXPECT_EQ(same, 3);
}

TEST_F(Pages, TheirFilesAreRead) {
  const auto container = blocks(kLaunchFile, "yaml");
  ASSERT_EQ(container.size(), 1U);
  const auto robot = rclrt::model::parse_robot(container.front()).robot;
  ASSERT_TRUE(robot);
  EXPECT_EQ(robot->callbacks.size(), 2U);
  EXPECT_EQ(robot->threads.rules.size(), 4U);

  const auto sections = blocks(kRobotYaml, "yaml");
  ASSERT_EQ(sections.size(), 3U);
  const auto entries = rclrt::model::parse_node_timings(sections[0]);
  ASSERT_TRUE(entries.timings);
  ASSERT_EQ(entries.timings->size(), 10U);
  EXPECT_EQ((*entries.timings)[4].stamped_by, "lidar");
  const auto control = blocks(kRos2Control, "yaml");
  ASSERT_EQ(control.size(), 1U);
  for (const std::string& text : {sections[1], control.front()}) {
    const auto other = rclrt::model::parse_robot(text).robot;
    ASSERT_TRUE(other) << text;
    EXPECT_EQ(other->executor.best_effort_below, 1);
    EXPECT_EQ(other->callbacks.size(), 1U);
  }
  const auto host = rclrt::model::parse_host(sections[2]).host;
  ASSERT_TRUE(host);
  EXPECT_EQ(host->processes.size(), 2U);

  const auto misses = blocks(kCausesOfMisses, "yaml");
  ASSERT_EQ(misses.size(), 1U);
  const auto monitored = rclrt::model::parse_robot(misses.front()).robot;
  ASSERT_TRUE(monitored);
  EXPECT_EQ(monitored->callbacks.size(), 2U);
}

TEST_F(Pages, ThePlanOfNav2IsTheExamples) {
  const auto shown = blocks(kNav2, "yaml");
  ASSERT_EQ(shown.size(), 1U);
  std::string example = read(PACKAGE_DIRECTORY "/../../examples/nav2/robot.yaml");
  example = std::regex_replace(example, std::regex("(^|\n) *#[^\n]*"), "");
  example = std::regex_replace(example, std::regex(" +#[^\n]*"), "");
  EXPECT_EQ(shown.front(), example.substr(example.find_first_not_of('\n')));
}

}  // namespace

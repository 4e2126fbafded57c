// SPDX-License-Identifier: Apache-2.0
// The code in docs/rclcpp.md is compiled, and the files in it are read.
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

std::string read(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class Page : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path page = PACKAGE_DIRECTORY "/../../docs/rclcpp.md";
    if (!std::filesystem::exists(page)) {
      GTEST_SKIP() << "the package was taken out of its repository";
    }
    page_ = read(page);
  }

  std::vector<std::string> blocks(const std::string& language) const {
    std::vector<std::string> result;
    const std::string fence = "```" + language + "\n";
    for (std::size_t at = page_.find(fence); at != std::string::npos; at = page_.find(fence, at)) {
      at += fence.size();
      result.push_back(page_.substr(at, page_.find("```", at) - at));
    }
    return result;
  }

 private:
  std::string page_;
};

TEST_F(Page, ItsCodeIsWhatWasCompiled) {
  const std::string compiled = read(PACKAGE_DIRECTORY "/examples/one_line.cpp") +
                               read(PACKAGE_DIRECTORY "/test/doc_snippets.cpp");
  ASSERT_EQ(blocks("cpp").size(), 12U);
  for (const std::string& block : blocks("cpp")) {
    const std::string indented = std::regex_replace(block, std::regex("(^|\n)(?=[^\n])"), "$1  ");
    EXPECT_NE(compiled.find(indented), std::string::npos) << block;
  }
}

TEST_F(Page, ItsLaunchFileIsTheExamples) {
  const std::string example = read(PACKAGE_DIRECTORY "/../../examples/container/robot.launch.py");
  ASSERT_FALSE(blocks("python").empty());
  std::istringstream lines(blocks("python").front());
  int same = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string text = line.substr(line.find_first_not_of(' '));
    for (const std::string key : {"package=\"rclrt_rclcpp\"", "executable=", "extra_arguments="}) {
      if (text.rfind(key, 0) == 0) {
        EXPECT_NE(example.find(text.substr(0, text.find(','))), std::string::npos) << text;
        ++same;
      }
    }
  }
  EXPECT_EQ(same, 3);
}

TEST_F(Page, ItsFilesAreRead) {
  ASSERT_EQ(blocks("yaml").size(), 6U);
  const auto robot = rclrt::model::parse_robot(blocks("yaml").front()).robot;
  ASSERT_TRUE(robot);
  EXPECT_EQ(robot->callbacks.size(), 2U);
  EXPECT_EQ(robot->threads.rules.size(), 4U);
  const auto host = rclrt::model::parse_host(blocks("yaml")[1]).host;
  ASSERT_TRUE(host);
  EXPECT_EQ(host->processes.size(), 2U);
  for (const std::size_t best_effort : {2U, 4U}) {
    const auto other = rclrt::model::parse_robot(blocks("yaml")[best_effort]).robot;
    ASSERT_TRUE(other) << blocks("yaml")[best_effort];
    EXPECT_EQ(other->executor.best_effort_below, 1);
    EXPECT_EQ(other->callbacks.size(), 1U);
  }
  const auto ages = rclrt::model::parse_node_timings(blocks("yaml")[3]);
  ASSERT_TRUE(ages.timings);
  EXPECT_EQ(ages.timings->size(), 2U);
  const auto result = rclrt::model::parse_node_timings(blocks("yaml").back());
  ASSERT_TRUE(result.timings);
  EXPECT_EQ(result.timings->size(), 7U);
}

}  // namespace

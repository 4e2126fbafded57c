// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/priorities.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "mutator.hpp"

namespace rclrt::model {
namespace {

constexpr const char* kRobotApplication = R"(rclrt: 1
name: robot
nodes: [{name: n}]
callbacks:
  - {id: scan, node: n, timer: {period_ms: 10}, wcet_ms: 1, publishes: [points]}
  - {id: brake, node: n, subscription: {topic: points}, wcet_ms: 1, priority: 7}
chains: [{id: stop, callbacks: [scan, brake], priority: 2}]
)";

Application robot_application() { return *parse_application(kRobotApplication).application; }

/// Returns the first problem as "line:column: message", or "".
std::string problem_of_priorities(std::string_view overlay) {
  const auto result = parse_priorities(overlay, robot_application());
  EXPECT_NE(result.priorities.has_value(), !result.diagnostics.empty());
  if (result.diagnostics.empty()) {
    return "";
  }
  return to_string(result.diagnostics.front(), "f").substr(2);
}

TEST(Priorities, TheListedCallbacksGetThem) {
  const auto result =
      parse_priorities("rclrt: 1\npriorities:\n  brake: 3  # why\n", robot_application());
  ASSERT_TRUE(result.priorities);
  EXPECT_EQ(*result.priorities, (std::vector<std::pair<std::size_t, int>>{{1, 3}}));
}

TEST(Priorities, EveryMistakeIsLocated) {
  EXPECT_EQ(problem_of_priorities("rclrt: 1\npriorities: {brakes: 3}\n"),
            "2:14: callback 'brakes' is not declared under 'callbacks'; expected a declared "
            "callback (did you mean 'brake'?)");
  EXPECT_EQ(problem_of_priorities("rclrt: 1\napplication: rover\npriorities: {brake: 3}\n"),
            "2:14: these are the priorities of 'rover'; expected priorities for the application "
            "'robot'");
  EXPECT_EQ(problem_of_priorities("rclrt: 1\npriorities: {brake: -1}\n").substr(0, 35),
            "2:21: priority of 'brake' is '-1'; ");
  EXPECT_EQ(problem_of_priorities("rclrt: 1\npriorities: {brake: nan}\n").substr(0, 36),
            "2:21: priority of 'brake' is 'nan'; ");
  EXPECT_EQ(problem_of_priorities("rclrt: 1\npriorities: {brake: 1, brake: 2}\n").substr(0, 6),
            "2:24: ");
  EXPECT_NE(problem_of_priorities("rclrt: 1\npriorities: [1]\n"), "");
  EXPECT_NE(problem_of_priorities("rclrt: 1\npriorities: {}\n"), "");
  EXPECT_NE(problem_of_priorities("rclrt: 2\npriorities: {brake: 1}\n"), "");
  EXPECT_NE(problem_of_priorities("rclrt: 1\n"), "");
  EXPECT_NE(problem_of_priorities("rclrt: 1\npriorities: {[a]: 1}\n"), "");
  EXPECT_NE(problem_of_priorities("rclrt: 1\npriorities: {brake: 1}\nchains: []\n"), "");
  EXPECT_NE(problem_of_priorities(""), "");
}

TEST(Priorities, AFileReplacesThoseOfTheApplication) {
  const auto directory = std::filesystem::path(testing::TempDir());
  const auto app = directory / "priorities_test_app.yaml";
  const auto overlay = directory / "priorities_test_overlay.yaml";
  std::ofstream(app) << kRobotApplication;
  std::ofstream(overlay) << "rclrt: 1\napplication: robot\npriorities: {scan: 9}\n";
  const Application loaded = load_application(app, overlay);
  EXPECT_EQ(loaded.effective_priority(0), 9);
  EXPECT_EQ(loaded.effective_priority(1), 7);  // not listed: its own
  EXPECT_EQ(load_application(app, {}), robot_application());

  std::ofstream(overlay) << "rclrt: 1\npriorities: {scam: 9}\n";
  try {
    load_application(app, overlay);
    FAIL() << "an unknown callback must be refused";
  } catch (const ModelError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, overlay.string().size() + 7),
              overlay.string() + ":2:14: ");
  }
}

TEST(Priorities, MutatedFilesGivePrioritiesOrDiagnostics) {
  test::Mutator mutator({"rclrt: 1\napplication: robot\npriorities:\n  scan: 3  # a\n  brake: 2\n",
                         "{rclrt: 1, priorities: {brake: 1000000, scan: 0}}\n"},
                        test::fuzz_seed());
  const Application application = robot_application();
  std::size_t accepted = 0;
  for (unsigned long i = 0; i < test::fuzz_iterations(20'000); ++i) {
    const std::string text = mutator.next();
    const auto result = parse_priorities(text, application);
    ASSERT_NE(result.priorities.has_value(), !result.diagnostics.empty()) << text;
    if (!result.priorities) {
      continue;
    }
    ++accepted;
    for (const auto& [callback, priority] : *result.priorities) {
      ASSERT_LT(callback, application.callbacks.size()) << text;
      ASSERT_TRUE(priority >= 0 && priority <= 1'000'000) << text;
    }
  }
  EXPECT_GT(accepted, 100U);
}

}  // namespace
}  // namespace rclrt::model

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/file_kind.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/model/host.hpp"
#include "rclrt/model/node_timing.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/model/priorities.hpp"
#include "rclrt/model/robot.hpp"

namespace rclrt::model {
namespace {

using testing::StartsWith;

constexpr const char* kApplicationText =
    "rclrt: 1\nname: demo\nnodes: [{name: a}]\ncallbacks: [{id: b, node: a}]\n";
constexpr const char* kRobotText = "rclrt: 1\nexecutor: {cpus: [1]}\nmonitor: {period_ms: 100}\n";
constexpr const char* kTimingsText = "rclrt: 1\ncallbacks: [{node: /a, timer: 0, priority: 1}]\n";
constexpr const char* kHostText = "rclrt: 1\nprocesses: [{name: a}]\n";
constexpr const char* kPrioritiesText = "rclrt: 1\napplication: demo\npriorities: {b: 3}\n";
constexpr const char* kOverheadsText = R"({"rclrt": 1, "kind": "overheads", "executors": {}})";
constexpr const char* kCounterExampleText =
    "rclrt: 1\napplication: demo\nexecutor: preemptive\nchain: c\nhorizon_ms: 5\npriorities: {}\n";

constexpr const char* kNoApplication =
    "expected an app.yaml with 'nodes', 'callbacks' and 'chains': `rclrt model` writes one from a "
    "trace or a recording of the robot\n";
constexpr const char* kNoRobot =
    "expected a robot.yaml: `rclrt synthesize app.yaml --nodes -o robot.yaml` writes one\n";

std::string lines_of(const std::vector<yaml::Diagnostic>& diagnostics) {
  std::string text;
  for (const yaml::Diagnostic& each : diagnostics) {
    text += to_string(each, "f") + "\n";
  }
  return text;
}

std::string refusal_of(const std::string& text) {
  return lines_of(parse_application(text).diagnostics);
}

std::optional<FileKind> kind_of(const std::string& text) {
  yaml::Diagnostics diagnostics;
  const auto root = yaml::read_yaml(text, diagnostics);
  return root ? file_kind(*root) : std::nullopt;
}

TEST(FileKind, IsFoundByKeys) {
  const std::vector<std::pair<FileKind, std::string>> files = {
      {FileKind::kApplication, kApplicationText},
      {FileKind::kApplication, "rclrt: 1\nname: demo\n"},
      {FileKind::kRobot, kRobotText},
      {FileKind::kRobot, kTimingsText},
      {FileKind::kRobot, "rclrt: 1\nexecutor: {}\n"},
      {FileKind::kHost, kHostText},
      {FileKind::kPriorities, kPrioritiesText},
      {FileKind::kOverheads, kOverheadsText},
      {FileKind::kOverheads, "rclrt: 1\nhop_us: {}\nexecutors: {}\n"},
      {FileKind::kCounterExample, kCounterExampleText},
      {FileKind::kTaskSet, "rclrt: 1\nname: demo\ntasks: []\n"},
      {FileKind::kTaskCounterExample,
       R"({"rclrt": 1, "ticks_per_unit": 10, "task": "a", "job": 1})"},
      {FileKind::kRules, R"({"name": "small", "chain_count": 3})"},
      {FileKind::kExperiment, "rclrt: 1\nkind: experiment\nname: load\nchains: [a]\n"},
      {FileKind::kWorkloads, R"({"rclrt": 1, "kind": "workloads", "workloads": []})"},
      {FileKind::kLink, R"({"rclrt": 1, "kind": "link", "link": {}})"},
      {FileKind::kResults, R"({"rclrt_results": 1, "chains": [], "callbacks": []})"},
      {FileKind::kComparison, R"({"rclrt_comparison": 1, "executors": []})"},
      {FileKind::kBenchmark, R"({"rclrt_bench": 1})"},
      {FileKind::kLatencies, R"({"rclrt_latency": 1})"},
      {FileKind::kClocks, R"({"rclrt_clock": 1})"},
  };
  for (const auto& [kind, text] : files) {
    EXPECT_EQ(kind_of(text), kind) << text;
  }
  for (const char* text : {"[1]", "5", "{}", "rclrt: 1\nnodes: []\npriorities: {}\n",
                           "rclrt: 1\nkind: experimnt\nname: load\nchains: [a]\n"}) {
    EXPECT_EQ(kind_of(text), std::nullopt) << text;
  }
}

TEST(FileKind, AnotherOneThanTheApplicationIsOneLineWithTheCommandThatTakesIt) {
  const std::string robot =
      "f:1:1: this is a robot.yaml, which configures a process of rclcpp nodes, for the parameter "
      "'robot' of rclrt_component_container; ";
  EXPECT_EQ(refusal_of(kRobotText), robot + kNoApplication);
  EXPECT_EQ(refusal_of(kTimingsText), robot + kNoApplication);
  EXPECT_EQ(refusal_of("rclrt: 1\nexecutor: {}\n"), robot + kNoApplication);
  EXPECT_EQ(
      refusal_of(kOverheadsText),
      std::string("f:1:1: this is a file of overheads, which a machine has, for `rclrt analyze "
                  "app.yaml --overheads FILE`; ") +
          kNoApplication);
  EXPECT_EQ(
      refusal_of(kCounterExampleText),
      std::string("f:1:1: this is a counter-example, a schedule of an application, for `rclrt "
                  "simulate app.yaml --replay FILE`; ") +
          kNoApplication);
  EXPECT_EQ(refusal_of(R"({"rclrt_results": 1, "chains": [], "callbacks": []})"),
            std::string("f:1:1: this is the results of a run, for `rclrt report DIR` with its "
                        "directory; ") +
                kNoApplication);
  EXPECT_THAT(refusal_of(kHostText),
              StartsWith("f:1:1: this is a configuration of all processes of a "));
  EXPECT_THAT(refusal_of(kPrioritiesText),
              StartsWith("f:1:1: this is a priorities file, which is for "));
}

TEST(FileKind, TheApplicationIsNamedWhereAnotherKindIsExpected) {
  const std::string found =
      "f:1:1: this is an app.yaml, which describes an application, for `rclrt analyze FILE`; ";
  EXPECT_EQ(lines_of(parse_robot(kApplicationText).diagnostics), found + kNoRobot);
  EXPECT_EQ(lines_of(parse_node_timings(kApplicationText).diagnostics), found + kNoRobot);
  EXPECT_EQ(lines_of(parse_priorities(kApplicationText, Application()).diagnostics),
            found +
                "expected a priorities file: `rclrt synthesize app.yaml -o priorities.yaml` "
                "writes one\n");
}

TEST(FileKind, ARobotAndItsHostDiffer) {
  EXPECT_THAT(lines_of(parse_robot(kHostText).diagnostics),
              testing::EndsWith("expected a robot.yaml, or the name of one of these processes "
                                "beside the file\n"));
  EXPECT_THAT(lines_of(parse_host(kRobotText).diagnostics),
              testing::EndsWith("expected a file with 'processes', each with a 'name' and the "
                                "sections of a robot.yaml\n"));
}

TEST(FileKind, AFileWithKeysOfTwoKindsHasEachMistakeReported) {
  const auto result = parse_application("rclrt: 1\nname: demo\nexecutor: {cpus: [1]}\n");
  ASSERT_EQ(result.diagnostics.size(), 4U);
  EXPECT_EQ(to_string(result.diagnostics.back(), "f"),
            "f:3:1: unknown key 'executor' in the application; expected a known key (did you mean "
            "'executors'?)");
}

// All rules have defaults, and `name` is a rule, too.
TEST(FileKind, ANameIsNoReasonToRefuseRules) {
  yaml::Context context;
  const auto root =
      yaml::read_yaml(R"({"name": "small", "executor_count": 2})", context.diagnostics);
  ASSERT_TRUE(root.has_value());
  EXPECT_FALSE(report_other_kind(*root, FileKind::kRules, context));
  EXPECT_TRUE(report_other_kind(*root, FileKind::kRobot, context));
}

TEST(FileKind, HasANameForThoseThatAReaderExpects) {
  EXPECT_EQ(file_kind_named("counter_example"), FileKind::kCounterExample);
  EXPECT_THROW(file_kind_named("results"), std::invalid_argument);
  EXPECT_THROW(file_kind_named(""), std::invalid_argument);
}

}  // namespace
}  // namespace rclrt::model

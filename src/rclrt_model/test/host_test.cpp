// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/host.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rclrt::model {
namespace {

std::string problems_of(const std::string& text) {
  std::string result;
  for (const auto& each : parse_host(text).diagnostics) {
    result += to_string(each, "f") + "\n";
  }
  return result;
}

TEST(Host, StatesEachProcessAndOneScaleOfPriorities) {
  const auto result = parse_host(R"(
rclrt: 1
processes:
  - name: sensors
    executor: {cpus: [0], top_priority: 80}
    callbacks: [{node: /lidar, timer: 0, priority: 8}, {node: /camera, priority: 3}]
  - name: control
    executor: {kind: thread_dispatch, top_priority: 80}
    callbacks: [{node: /controller, priority: 5}]
    memory: {lock: false, prefault_heap_mb: 16}
    write_priorities: found.yaml
  - name: logger
    executor: {realtime: "off", top_priority: 10}
    callbacks: [{node: /logger, priority: 100}]
)");
  ASSERT_TRUE(result.host) << problems_of("");
  const Host& host = *result.host;
  EXPECT_EQ(host.levels(), (std::vector<int>{8, 5, 3, 0}));
  ASSERT_NE(host.find("control"), nullptr);
  EXPECT_EQ(host.find("control")->robot.callbacks.front().node, "/controller");
  EXPECT_FALSE(host.find("control")->robot.memory->lock);
  EXPECT_EQ(host.find("control")->robot.memory->prefault_heap_mb, 16U);
  EXPECT_EQ(host.find("control")->robot.write_priorities, "found.yaml");
  EXPECT_EQ(host.find("nobody"), nullptr);
}

TEST(Host, WhatIsBestEffortHasNoLevel) {
  const auto result = parse_host(R"(
rclrt: 1
processes:
  - name: one
    executor: {best_effort_below: 4}
    callbacks: [{node: /a, priority: 3}, {node: /b, priority: 4}]
)");
  ASSERT_TRUE(result.host);
  EXPECT_EQ(result.host->levels(), std::vector<int>{4});
}

TEST(Host, IsRefusedWhereThePrioritiesOfProcessesDoNotFitTogether) {
  EXPECT_EQ(
      problems_of(R"(rclrt: 1
processes:
  - name: sensors
    callbacks: [{node: /lidar, priority: 8}]
  - name: control
    executor: {top_priority: 80}
)"),
      "f:6:30: top_priority is 80, but in process 'sensors' it is 95: a callback could run before "
      "a more urgent one of the other process; expected the same top_priority in all processes "
      "of the host\n");
  // Each fits by itself.
  std::string both = "rclrt: 1\nprocesses:\n";
  for (int process = 0; process < 2; ++process) {
    both += "  - name: p" + std::to_string(process) +
            "\n    executor: {top_priority: 10}\n    callbacks:\n";
    for (int i = 0; i < 5; ++i) {
      const std::string number = std::to_string(1 + 5 * process + i);
      both.append("      - {node: /n").append(number).append(", priority: ").append(number);
      both += "}\n";
    }
  }
  EXPECT_NE(problems_of(both).find("f:4:30: the callbacks of the host have 11 priorities, and the "
                                   "kernel has 9 below this top_priority"),
            std::string::npos)
      << problems_of(both);
}

TEST(Host, MistakesAreTold) {
  EXPECT_NE(problems_of("rclrt: 1\n").find("the host has no 'processes'"), std::string::npos);
  EXPECT_NE(problems_of("rclrt: 2\nprocesses: 3\n").find("f:1:8"), std::string::npos);
  EXPECT_NE(problems_of("rclrt: 1\nprocesses: []\n").find("f:2:12"), std::string::npos);
  EXPECT_NE(problems_of("rclrt: 1\nprocesses: [3]\n").find("f:2:13"), std::string::npos);
  EXPECT_NE(problems_of("rclrt: 1\nprocesses: [{executor: {}}]\n").find("has no 'name'"),
            std::string::npos);
  EXPECT_NE(
      problems_of("rclrt: 1\nprocesses: [{name: a}, {name: a}]\n").find("a second process 'a'"),
      std::string::npos);
  EXPECT_NE(problems_of("rclrt: 1\nprocesses: [{name: a, rclrt: 1}]\n").find("unknown key 'rclrt'"),
            std::string::npos);
  EXPECT_NE(problems_of("rclrt: 1\nprocesses: [{name: a, executor: {kind: wait_set}}]\n")
                .find("f:2:40: kind is 'wait_set'"),
            std::string::npos)
      << problems_of("rclrt: 1\nprocesses: [{name: a, executor: {kind: wait_set}}]\n");
  EXPECT_EQ(
      problems_of(R"(rclrt: 1
processes:
  - {name: a, write_priorities: found.yaml}
  - {name: b, write_priorities: ./found.yaml}
  - {name: c, recording: {directory: out}, write_priorities: c.yaml}
  - {name: d, recording: {directory: out/}}
  - {name: e, write_priorities: out/e.yaml}
)"),
      "f:4:5: write_priorities of process 'b' is './found.yaml', as of process 'a'; expected "
      "a different path for each process\n"
      "f:6:5: the recording's directory of process 'd' is 'out/', as of process 'c'; expected "
      "a different path for each process\n"
      "f:7:5: write_priorities of process 'e' is in the recording's directory of process "
      "'c'; expected a file outside of this directory, because a recording replaces it\n"
      "f:7:5: write_priorities of process 'e' is in the recording's directory of process "
      "'d'; expected a file outside of this directory, because a recording replaces it\n");
  // Each mistake has one line.
  EXPECT_EQ(problems_of("rclrt: 1\nprocesses: [{name: a, executor: {top: 3, cpus: [0]}}]\n"),
            "f:2:34: unknown key 'top' in the executor; expected a known key (did you mean "
            "'top_priority'?)\n");
}

}  // namespace
}  // namespace rclrt::model

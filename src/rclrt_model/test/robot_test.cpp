// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/robot.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "mutator.hpp"
#include "rclrt/model/host.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/model/priorities.hpp"
#include "rclrt/yaml/file.hpp"

namespace rclrt::model {
namespace {

constexpr std::string_view kRobotFile = R"(rclrt: 1
executor: {kind: producer_consumer, realtime: require, preemption: always, top_priority: 80,
           cpus: [3, 2], scheduler_cpus: [1], workers_per_level: 2}
callbacks:
  - {node: /controller_server, priority: 8, deadline_ms: 5}
threads:
  - {library: "libfastdds*", policy: fifo, priority: 81}
  - {function: "*TransformListener*", name: "a*", policy: rr, priority: 40, cpus: [1]}
  - {name: "gpu*", policy: keep}
recording: {directory: out, application: app.yaml}
monitor: {period_ms: 500, topic: /robot/diagnostics, statistics: /statistics,
          misses: /misses, traces: out}
)";

std::string problem_of_robot(std::string_view text) {
  const auto result = parse_robot(text);
  EXPECT_EQ(result.robot.has_value(), result.diagnostics.empty());
  return result.diagnostics.empty() ? "" : to_string(result.diagnostics.front(), "f");
}

TEST(RobotFile, EverySectionIsRead) {
  const auto robot = parse_robot(kRobotFile).robot;
  ASSERT_TRUE(robot);
  EXPECT_EQ(robot->executor, (RobotExecutor{.kind = ExecutorKind::kProducerConsumer,
                                            .realtime = RealtimeUse::kRequire,
                                            .preemption = PreemptionUse::kAlways,
                                            .top_priority = 80,
                                            .cpus = {3, 2},
                                            .scheduler_cpus = {1},
                                            .workers_per_level = 2}));
  ASSERT_EQ(robot->callbacks.size(), 1U);
  EXPECT_EQ(to_string(robot->callbacks[0]), "node /controller_server");
  EXPECT_EQ(robot->callbacks[0].line, 5U);
  const ThreadPlan expected{
      {{.scheduling = {.policy = Policy::kFifo, .priority = 81}, .library = "libfastdds*"},
       {.name = "a*",
        .scheduling = {.policy = Policy::kRoundRobin, .priority = 40, .cpus = {1}},
        .function = "*TransformListener*"},
       {.name = "gpu*", .keep = true}}};
  EXPECT_EQ(robot->threads, expected);
  EXPECT_EQ(robot->recording, (RobotRecording{"out", "app.yaml"}));
  EXPECT_EQ(robot->monitor, (RobotMonitor{std::chrono::milliseconds(500), "/robot/diagnostics",
                                          "/statistics", "/misses", "out"}));
}

TEST(RobotFile, EachSectionMayBeLeftOut) {
  EXPECT_EQ(parse_robot("rclrt: 1\n").robot, Robot());
  EXPECT_EQ(parse_robot("rclrt: 1\nexecutor: {}\n").robot, Robot());
}

TEST(RobotFile, TakesBestEffortWhereLevelsOrGroupsHaveThreadsAndNoBoundsAreClaimed) {
  const auto robot =
      parse_robot("rclrt: 1\nexecutor: {best_effort_below: 3}\nrecording: {directory: out}\n")
          .robot;
  ASSERT_TRUE(robot);
  EXPECT_EQ(robot->executor, RobotExecutor{.best_effort_below = 3});
  EXPECT_EQ(problem_of_robot("rclrt: 1\nexecutor: {kind: per_group, best_effort_below: 3}\n"), "");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nexecutor: {kind: picas, best_effort_below: 3}\n"),
            "f:2:44: best_effort_below has no meaning with 'kind: picas'; expected 'kind: "
            "producer_consumer' or 'kind: preemptive' or 'kind: per_group'");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nexecutor: {best_effort_below: 3}\n"
                             "recording: {directory: out, application: app.yaml}\n"),
            "f:3:12: the recording has an application, and its bounds hold only if every "
            "callback is real time; expected no 'application' beside 'best_effort_below'");
}

TEST(RobotFile, ReadsReservationsByTheirPriority) {
  const auto robot = parse_robot(
                         "rclrt: 1\nexecutor:\n  reservations:\n"
                         "  - {priority: 9, runtime_ms: 2, period_ms: 10}\n"
                         "  - {priority: 4, runtime_ms: 1, deadline_ms: 5, period_ms: 20}\n")
                         .robot;
  ASSERT_TRUE(robot);
  using std::chrono::milliseconds;
  const std::map<int, Reservation> expected{
      {4, {milliseconds(1), milliseconds(5), milliseconds(20)}},
      {9, {milliseconds(2), milliseconds(10), milliseconds(10)}}};
  EXPECT_EQ(robot->executor.reservations, expected);
  EXPECT_EQ(problem_of_robot("rclrt: 1\nexecutor: {reservations: [{priority: 1, runtime_ms: 2, "
                             "period_ms: 1}]}\n"),
            "f:2:53: runtime_ms is '2'; expected no more than the deadline");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nexecutor: {reservations: [{priority: 1, runtime_ms: 1, "
                             "period_ms: 2}, {priority: 1, runtime_ms: 1, period_ms: 2}]}\n"),
            "f:2:82: priority 1 has two reservations; expected one for each priority");
}

TEST(RobotFile, RefusesWhatAnExecutorWouldRefuse) {
  const auto problem = [](const std::string& executor) {
    return problem_of_robot("rclrt: 1\nexecutor: {" + executor + "}\n");
  };
  EXPECT_EQ(problem("kind: edf, cpus: [0, 1]"),
            "f:2:29: 'kind: edf' runs on one CPU; expected one CPU");
  EXPECT_EQ(problem("kind: edf, cpus: [1]"), "");
  EXPECT_EQ(problem("kind: per_group, workers_per_level: 2"),
            "f:2:48: workers_per_level has no meaning with 'kind: per_group'; expected no number");
  EXPECT_EQ(problem("kind: thread_dispatch, workers_per_level: 2"), "");
  EXPECT_EQ(problem("kind: picas, scheduler_cpus: [0]"),
            "f:2:41: scheduler_cpus has no meaning with 'kind: picas'; expected 'kind: "
            "producer_consumer' or 'kind: thread_dispatch'");
  EXPECT_EQ(problem("kind: picas, preemption: always"),
            "f:2:37: preemption has no meaning with 'kind: picas'; expected 'never' or "
            "'by_realtime'");
  EXPECT_EQ(problem("kind: per_group, preemption: never"),
            "f:2:41: preemption: never has no meaning with 'kind: per_group'; expected 'kind: "
            "picas', which runs callbacks to completion");
  EXPECT_EQ(problem("preemption: never, best_effort_below: 3"),
            "f:2:50: best_effort_below has no meaning with 'preemption: never'; expected one of "
            "the two");
  EXPECT_EQ(problem("cpus: [0], reservations: [{priority: 1, runtime_ms: 1, period_ms: 2}]"),
            "f:2:37: reservations beside 'cpus'; expected no 'cpus', because the kernel accepts "
            "reservations only of threads that may use every CPU");
}

TEST(RobotFile, IsANodePrioritiesFileByItsSection) {
  const auto timings = parse_node_timings(kRobotFile).timings;
  ASSERT_TRUE(timings);
  EXPECT_EQ(*timings, parse_robot(kRobotFile).robot->callbacks);
}

TEST(RobotFile, FindsTheApplicationBesideItself) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("rclrt_robot_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "robot.yaml") << kRobotFile;
  const Robot robot = load_robot(folder / "robot.yaml");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(robot.recording, (RobotRecording{"out", folder / "app.yaml"}));
}

TEST(RobotFile, IsRefusedWithThePlaceOfEachMistake) {
  EXPECT_EQ(problem_of_robot("rclrt: 2\n"), "f:1:8: the format version is '2'; expected 1");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nexecutors: {}\n"),
            "f:2:1: unknown key 'executors' in the robot; expected a known key (did you mean "
            "'executor'?)");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nexecutor: {kind: events}\n"),
            "f:2:18: kind is 'events'; expected 'producer_consumer', 'thread_dispatch', "
            "'preemptive', 'edf', 'picas', 'per_group', 'static_order' or 'workshop'");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nexecutor: {top_priority: 99}\n"),
            "f:2:26: top_priority is '99'; expected a whole number from 2 to 95");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nexecutor: {realtime: yes}\n"),
            "f:2:22: realtime is 'yes'; expected 'try', 'require' or 'off'");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nexecutor: {workers_per_level: 0}\n"),
            "f:2:31: workers_per_level is '0'; expected a whole number from 1 to 1024");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nrecording: {application: app.yaml}\n"),
            "f:2:12: the recording has no 'directory'; expected a key such as 'directory: out'");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nmonitor: {period_ms: 1}\n"),
            "f:2:22: period_ms is '1'; expected a whole number from 10 to 3600000");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nmonitor: {topic: diagnostics}\n"),
            "f:2:18: topic is 'diagnostics'; expected a fully qualified name, like /robot/lidar");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nmonitor: {statistics: 5 ms}\n"),
            "f:2:23: statistics is '5 ms'; expected a fully qualified name, like /robot/lidar");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nthreads: [{name: a, policy: keep, priority: 3}]\n"),
            "f:2:45: priority has no meaning with 'policy: keep'; expected no other key for the "
            "scheduling");
  EXPECT_EQ(problem_of_robot("rclrt: 1\nthreads: [{library: '', policy: other}]\n"),
            "f:2:21: library is the text ''; expected a pattern, such as '*'");
  EXPECT_EQ(
      problem_of_robot("rclrt: 1\nthreads:\n  - {library: a, policy: other}\n  - {library: a, "
                       "policy: keep}\n"),
      "f:4:15: rule 'library a' is declared twice; expected a name of its own (the first is "
      "on line 3)");
}

TEST(RobotFile, AnyBytesGiveARobotOrDiagnostics) {
  test::Mutator mutator({std::string(kRobotFile)}, test::fuzz_seed());
  std::size_t accepted = 0;
  for (unsigned long i = 0; i < test::fuzz_iterations(20'000); ++i) {
    const std::string text = mutator.next();
    const auto result = parse_robot(text);
    ASSERT_EQ(result.robot.has_value(), result.diagnostics.empty()) << text;
    accepted += result.robot.has_value();
  }
  EXPECT_GT(accepted, 0U);
}

}  // namespace
}  // namespace rclrt::model

// SPDX-License-Identifier: Apache-2.0
// A robot's reports on names that match nothing, its memory, and its behaviour with the other
// processes of a host.
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "folder.hpp"
#include "log.hpp"
#include "monitor_fixture.hpp"
#include "rclrt/model/node_timing.hpp"
#include "rclrt/model/parse.hpp"

namespace rclrt_robot::test {
namespace {

class RobotProcess : public MonitorTest {
 protected:
  RobotOptions load(const std::string& text, const std::string& process = "") {
    return load_robot(folder_.write("robot.yaml", "rclrt: 1\n" + text), process);
  }

  Folder folder_;
  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("lidar");
  const rclcpp::TimerBase::SharedPtr timer_ = node_->create_wall_timer(10ms, [] {});
};

TEST_F(RobotProcess, ANameThatFitsNothingIsToldWhileItRuns) {
  RobotOptions options = load(R"(
callbacks:
  - {node: /lidar, timer: 0, priority: 3}
  - {node: /lydar, timer: 0, priority: 4}
  - {node: /lidar, timer: 7, priority: 4}
  - {node: /elsewhere_altogether, priority: 4}
monitor: {period_ms: 50}
)");
  options.report_after = 1ms;
  Robot robot(options);
  robot.executor().add_node(node_);
  const Log log;
  const auto told = [&](const std::string& text) {
    return Log::has(RCUTILS_LOG_SEVERITY_WARN, text);
  };
  spin(robot, [&] {
    const auto statuses = operator_.statuses(process_name());
    return told("/elsewhere_altogether") && !statuses.empty() &&
           statuses.back().level == DiagnosticStatus::WARN &&
           statuses.back().message.find("nothing fits node /lydar") != std::string::npos &&
           statuses.back().message.find("2 more") != std::string::npos;
  });
  EXPECT_TRUE(told(":5: nothing fits node /lydar, group 0, timer 0; did you mean /lidar?"))
      << Log::all();
  EXPECT_TRUE(told("timer 7; the node has timer 0")) << Log::all();
  EXPECT_TRUE(told("/elsewhere_altogether; there is no such node")) << Log::all();
  EXPECT_FALSE(told(":4: nothing fits")) << Log::all();
}

TEST_F(RobotProcess, WritesEveryCallbackThatItFinds) {
  RobotOptions options = load("write_priorities: " + (folder_ / "found.yaml").string() +
                              "\ncallbacks: [{node: /lidar, timer: 0, priority: 3}]\n");
  options.report_after = 1ms;
  Robot robot(options);
  robot.executor().add_node(node_);
  spin(robot, [&] { return std::filesystem::exists(folder_ / "found.yaml"); });
  const auto found = rclrt::model::load_node_timings(folder_ / "found.yaml");
  const auto timer = std::ranges::find_if(
      found, [](const auto& each) { return each.kind == "timer" && each.node == "/lidar"; });
  ASSERT_NE(timer, found.end());
  EXPECT_EQ(timer->priority, 3);
  EXPECT_GT(found.size(), 5U) << "the services of the node, too";
  for (const auto& each : std::filesystem::directory_iterator(folder_ / "")) {
    EXPECT_EQ(each.path().string().find(".partial"), std::string::npos) << each.path();
  }
}

TEST_F(RobotProcess, WhatCannotBeWrittenIsToldAndItGoesOn) {
  RobotOptions options = load("write_priorities: " + (folder_ / "none/found.yaml").string() + "\n");
  Robot robot(options);
  robot.executor().add_node(node_);
  const Log log;
  spin(robot, [&] { return robot.executor().is_spinning(); });
  EXPECT_TRUE(Log::has(RCUTILS_LOG_SEVERITY_WARN, "the priorities are not written: cannot write "))
      << Log::all();
}

TEST_F(RobotProcess, MemoryIsLockedAsFarAsPermittedOrTheLogSaysWhyNot) {
  RobotOptions options = load("memory: {prefault_heap_mb: 2}\n");
  ASSERT_TRUE(options.memory);
  EXPECT_TRUE(options.memory->lock);
  EXPECT_EQ(options.memory->prefault_heap, 2'000'000U);
  const Log log;
  Robot robot(options);
  robot.executor().add_node(node_);
  spin(robot, [&] { return robot.executor().is_spinning(); });
  robot.update_memory();
  std::string status;
  for (std::ifstream file("/proc/self/status"); std::getline(file, status);) {
    if (status.starts_with("VmLck:")) {
      break;
    }
  }
  const bool is_locked = status.find(" 0 kB") == std::string::npos;
  EXPECT_TRUE(is_locked || Log::has(RCUTILS_LOG_SEVERITY_WARN, "memory is not locked: "))
      << status << Log::all();
}

TEST_F(RobotProcess, TheLogBeginsWithTheExecutorAndWarnsOfReceivingThreadsBelowIt) {
  const std::string cpu = std::to_string(rclrt::realtime::allowed_cpus().front());
  const std::string text = "executor: {kind: preemptive, top_priority: 70, cpus: [" + cpu +
                           "]}\ncallbacks: [{node: /lidar, timer: 0, priority: 3}]\n";
  const std::string start = "executor preemptive on cpus " + cpu + ": ";
  const bool realtime = !rclrt::realtime::why_no_realtime(70);
  for (const bool above : {false, true}) {
    const Log log;
    Robot robot(load(text + (above ? "threads: [{name: middleware, policy: fifo, priority: "
                                     "71}, {name: \"*\", policy: keep}]\n"
                                   : "")));
    robot.executor().add_node(node_);
    spin(robot, [&] { return robot.executor().is_spinning(); });
    EXPECT_TRUE(Log::has(RCUTILS_LOG_SEVERITY_INFO,
                         start + (realtime ? "SCHED_FIFO 69 and below, memory not locked"
                                           : "normal scheduling, because real time is not")))
        << Log::all(RCUTILS_LOG_SEVERITY_INFO);
    EXPECT_EQ(Log::has(RCUTILS_LOG_SEVERITY_WARN, "policy: fifo, priority: 71}]"),
              realtime && !above)
        << Log::all();
    robot.executor().remove_node(node_);
  }
}

TEST_F(RobotProcess, ThePrioritiesOfAHostMeanTheSameInEachProcess) {
  const std::string host = R"(
processes:
  - name: sensors
    callbacks: [{node: /lidar, timer: 0, priority: 8}, {node: /lidar, priority: 2}]
  - name: control
    callbacks: [{node: /lidar, timer: 0, priority: 5}]
)";
  std::vector<int> priorities;
  for (const char* const process : {"sensors", "control"}) {
    RobotOptions options = load(host, process);
    EXPECT_EQ(options.options.levels, (std::vector<int>{8, 5, 2, 0})) << process;
    Robot robot(options);
    robot.executor().add_node(node_);
    EXPECT_TRUE(robot.executor().unmatched().empty());
    for (const CallbackInfo& each : robot.executor().callbacks()) {
      if (each.kind == "timer") {
        priorities.push_back(each.priority);
      }
    }
    if (robot.executor().engine().realtime()) {
      // 8, 5, 2 and 0 take 94 to 91, in whichever process.
      EXPECT_EQ(robot.executor().engine().options().top_priority, 95);
    }
  }
  EXPECT_EQ(priorities, (std::vector<int>{8, 5}));
  try {
    load(host, "planner");
    FAIL() << "there is none";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("there is no process 'planner'; expected one of sensors, control"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(RobotProcess, WhereFewerCpusAreAllowedARecordingSaysSo) {
  const std::vector<int> allowed = rclrt::realtime::allowed_cpus();
  if (allowed.size() < 2) {
    GTEST_SKIP() << "one CPU is all there is";
  }
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(allowed.front()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);  // as taskset does
  {
    RobotOptions options;
    options.recording = RecordingOptions{.directory = folder_ / "out"};
    Robot robot(options);
    robot.executor().add_node(node_);
    const auto fired = [&] {
      const auto all = robot.executor().callbacks();
      return std::ranges::any_of(all, [](const auto& each) {
        return each.kind == "timer" && each.counters.completed > 3;
      });
    };
    spin(robot, fired);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  const auto model = rclrt::model::load_application(folder_ / "out/observed.yaml");
  ASSERT_EQ(model.executors.size(), 1U);
  EXPECT_EQ(model.executors.front().cpus, std::vector<int>{allowed.front()});
}

}  // namespace
}  // namespace rclrt_robot::test

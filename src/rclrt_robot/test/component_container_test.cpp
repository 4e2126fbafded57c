// SPDX-License-Identifier: Apache-2.0
// The container for composable nodes, through its services.
#include <algorithm>
#include <composition_interfaces/srv/list_nodes.hpp>
#include <composition_interfaces/srv/load_node.hpp>
#include <composition_interfaces/srv/unload_node.hpp>
#include <mutex>
#include <set>
#include <std_msgs/msg/string.hpp>
#include <string>
#include <utility>
#include <vector>

#include "folder.hpp"
#include "middleware.hpp"
#include "monitor_fixture.hpp"
#include "program.hpp"
#include "without_realtime.hpp"

namespace rclrt_robot::test {
namespace {

using composition_interfaces::srv::ListNodes;
using composition_interfaces::srv::LoadNode;
using composition_interfaces::srv::UnloadNode;

class ComponentContainer : public Ros {
 protected:
  ComponentContainer() { executor_.add_node(node_); }
  ~ComponentContainer() override { std::filesystem::remove(file_); }

  std::string write_priorities(const std::string& entries) {
    std::ofstream(file_) << "rclrt: 1\ncallbacks:\n" << entries;
    return "priorities:=" + file_.string();
  }

  template <typename Service>
  Service::Response call(const std::string& name, const Service::Request& what,
                         const std::string& container = "/ComponentManager") {
    const auto client = node_->create_client<Service>(container + "/_container/" + name);
    EXPECT_TRUE(client->wait_for_service(20s));
    auto future = client->async_send_request(std::make_shared<typename Service::Request>(what));
    const auto code = executor_.spin_until_future_complete(future, 20s);
    EXPECT_EQ(code, rclcpp::FutureReturnCode::SUCCESS);
    return code == rclcpp::FutureReturnCode::SUCCESS ? *future.get() : typename Service::Response();
  }

  /// Waits for a condition while the test's own node is spun.
  bool becomes_true(const std::function<bool()>& condition) {
    return eventually([&] {
      executor_.spin_some();
      return condition();
    });
  }

  static LoadNode::Request component(const std::string& name = "ThreadName") {
    LoadNode::Request request;
    request.package_name = "rclrt_robot";
    request.plugin_name = "rclrt_robot::test::" + name;
    return request;
  }

  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("user");
  rclcpp::executors::SingleThreadedExecutor executor_;
  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      ("rclrt_robot_container_" + std::to_string(getpid()) + ".yaml");
};

TEST_F(ComponentContainer, ALoadedNodeRunsAtThePriorityOfTheFile) {
  Program container("CONTAINER",
                    {"--ros-args", "-p",
                     write_priorities("  - {node: /thread_name, timer: 0, priority: 7}\n"
                                      "  - {node: /nobody, priority: 1}\n"
                                      "  - {node: /thread_name, timer: 1, priority: 3}\n")});
  std::string thread;
  int messages = 0;
  const auto subscription = node_->create_subscription<std_msgs::msg::String>(
      "thread_name", 10, [&](const std_msgs::msg::String& name) {
        thread = name.data;
        ++messages;
      });
  const LoadNode::Response loaded = call<LoadNode>("load_node", component());
  ASSERT_TRUE(loaded.success) << loaded.error_message << container.output();
  EXPECT_EQ(loaded.full_node_name, "/thread_name");
  EXPECT_TRUE(becomes_true([&] { return messages > 2; }));  // so timer 1 is there
  // Without permission for real time all levels share threads.
  const std::string expected = rclrt::realtime::why_no_realtime(95) ? " run" : " L7";
  EXPECT_NE(thread.find(expected), std::string::npos) << thread;

  UnloadNode::Request unload;
  unload.unique_id = loaded.unique_id;
  EXPECT_TRUE(call<UnloadNode>("unload_node", unload).success);
  container.signal(SIGINT);
  EXPECT_EQ(container.exit_code(), 0) << container.output();
  EXPECT_NE(container.output().find(":4: nothing fits node /nobody"), std::string::npos)
      << container.output();
  EXPECT_EQ(container.output().find("nothing fits node /thread_name"), std::string::npos)
      << container.output();
}

TEST_F(ComponentContainer, ANodesExtraArgumentsStateItsPriorityAndItsDeadline) {
  std::ofstream(file_) << "rclrt: 1\nmonitor: {period_ms: 100}\n";
  Program container("CONTAINER", {"--ros-args", "-p", "robot:=" + file_.string()});
  Operator heard;
  std::string thread;
  const auto subscription = node_->create_subscription<std_msgs::msg::String>(
      "thread_name", 10, [&](const std_msgs::msg::String& name) { thread = name.data; });
  LoadNode::Request request = component();
  request.extra_arguments.push_back(rclcpp::Parameter("priority", 6).to_parameter_msg());
  request.extra_arguments.push_back(rclcpp::Parameter("deadline_ms", 2.5).to_parameter_msg());
  const LoadNode::Response loaded = call<LoadNode>("load_node", request);
  ASSERT_TRUE(loaded.success) << loaded.error_message << container.output();
  EXPECT_TRUE(becomes_true([&] { return !thread.empty(); }));
  const std::string expected = rclrt::realtime::why_no_realtime(95) ? " run" : " L6";
  EXPECT_NE(thread.find(expected), std::string::npos) << thread;
  const std::string timer = "rclrt: /thread_name timer 0";
  EXPECT_TRUE(eventually([&] { return !heard.statuses(timer).empty(); })) << container.output();
  EXPECT_EQ(value_of(heard.statuses(timer).back(), "priority"), "6");
  EXPECT_EQ(value_of(heard.statuses(timer).back(), "deadline_ms"), "2.500");
  request.extra_arguments.front() = rclcpp::Parameter("priorty", 6).to_parameter_msg();
  const LoadNode::Response refused = call<LoadNode>("load_node", request);
  EXPECT_NE(refused.error_message.find("did you mean 'priority'?"), std::string::npos)
      << refused.error_message;
  EXPECT_EQ(call<ListNodes>("list_nodes", ListNodes::Request()).full_node_names.size(), 1U);
  request.extra_arguments.front() =
      rclcpp::Parameter("use_intra_process_comms", true).to_parameter_msg();
  EXPECT_TRUE(call<LoadNode>("load_node", request).success) << container.output();
}

/// Uses the arguments that launch_ros gives the container of the example.
TEST_F(ComponentContainer, RunsAsALaunchFileStartsIt) {
  const Folder folder;
  const std::filesystem::path robot =
      folder.write("robot.yaml",
                   "rclrt: 1\ncallbacks:\n  - {node: /front/urgent, priority: 5, deadline_ms: 10}\n"
                   "monitor: {period_ms: 100}\n");
  const std::filesystem::path parameters = folder.write(
      "parameters.yaml", "/**:\n  ros__parameters:\n    robot: " + robot.string() + "\n");
  Program container("CONTAINER", {"--ros-args", "-r", "__node:=container", "-r", "__ns:=/front",
                                  "--params-file", parameters.string()});
  Operator heard;
  LoadNode::Request request = component();
  request.node_name = "urgent";
  request.node_namespace = "/front";
  const LoadNode::Response loaded = call<LoadNode>("load_node", request, "/front/container");
  ASSERT_TRUE(loaded.success) << loaded.error_message << container.output();
  EXPECT_EQ(loaded.full_node_name, "/front/urgent");
  const std::string timer = "rclrt: /front/urgent timer 0";
  ASSERT_TRUE(eventually([&] { return !heard.statuses(timer).empty(); })) << container.output();
  EXPECT_EQ(value_of(heard.statuses(timer).back(), "priority"), "5");
  EXPECT_EQ(value_of(heard.statuses(timer).back(), "deadline_ms"), "10.000");
  container.signal(SIGINT);
  EXPECT_EQ(container.exit_code(), 0) << container.output();
}

TEST_F(ComponentContainer, AnEntryThatFitsWhatANodeMakesLaterIsNoMistake) {
  Program container("CONTAINER",
                    {"--ros-args", "-p",
                     write_priorities("  - {node: /thread_name, timer: 1, priority: 3}\n"
                                      "  - {node: /thread_name, timer: 2, priority: 3}\n")});
  int messages = 0;
  const auto subscription = node_->create_subscription<std_msgs::msg::String>(
      "thread_name", 10, [&](const std_msgs::msg::String&) { ++messages; });
  ASSERT_TRUE(call<LoadNode>("load_node", component()).success) << container.output();
  EXPECT_TRUE(becomes_true([&] { return messages > 2; }));
  container.signal(SIGINT);
  EXPECT_EQ(container.exit_code(), 0) << container.output();
  EXPECT_EQ(container.output().find(":3: nothing fits"), std::string::npos) << container.output();
  EXPECT_NE(container.output().find(":4: nothing fits"), std::string::npos) << container.output();
}

TEST_F(ComponentContainer, TheRobotsFileStatesEverythingAndParametersGoBeforeIt) {
  std::ofstream(file_) << "rclrt: 1\n"
                          "executor: {kind: edf, top_priority: 70}\n"
                          "callbacks:\n"
                          "  - {node: /nobody, priority: 1}\n"
                          "threads:\n"
                          "  - {name: middleware, policy: other, nice: 7}\n";
  Program container("CONTAINER",
                    {"--ros-args", "-p", "robot:=" + file_.string(), "-p", "executor:=preemptive"});
  std::string thread;
  const auto subscription = node_->create_subscription<std_msgs::msg::String>(
      "thread_name", 10, [&](const std_msgs::msg::String& name) { thread = name.data; });
  ASSERT_TRUE(call<LoadNode>("load_node", component()).success) << container.output();
  EXPECT_TRUE(becomes_true([&] { return !thread.empty(); }));
  EXPECT_EQ(thread.find("EDF"), std::string::npos) << thread;
  if (!rclrt::realtime::why_no_realtime(95)) {
    EXPECT_NE(thread.find(" L0"), std::string::npos) << thread << ": of the preemptive one";
  }
  EXPECT_TRUE(becomes_true([&] {
    const std::vector<int> values = container.nice_values(middleware_threads().receiver);
    return values.size() >= 2 &&
           std::all_of(values.begin(), values.end(), [](int value) { return value == 7; });
  })) << container.output();
  container.signal(SIGINT);
  EXPECT_EQ(container.exit_code(), 0) << container.output();
  EXPECT_NE(container.output().find(":4: nothing fits node /nobody"), std::string::npos)
      << container.output();
}

TEST_F(ComponentContainer, WhatTheOtherContainersTakeIsTakenOrNamed) {
  std::ofstream(file_) << "rclrt: 1\nexecutor: {kind: preemptive, workers_per_level: 3}\n";
  Program container("CONTAINER", {"--use_multi_threaded_executor", "--ros-args", "-p",
                                  "robot:=" + file_.string(), "-p", "thread_num:=1"});
  ASSERT_TRUE(call<LoadNode>("load_node", component()).success) << container.output();
  container.signal(SIGINT);
  EXPECT_EQ(container.exit_code(), 0) << container.output();
  EXPECT_NE(container.output().find("--use_multi_threaded_executor has no effect"),
            std::string::npos)
      << container.output();
  Program refused("CONTAINER", {"--ros-args", "-p", "executor:=per_group", "-p", "thread_num:=2"});
  EXPECT_EQ(refused.exit_code(), 2);
  EXPECT_NE(refused.output().find(std::thread::hardware_concurrency() > 1 ? "workers_per_level"
                                                                          : "thread_num"),
            std::string::npos)
      << refused.output();
}

TEST_F(ComponentContainer, WrongParametersEndItWithTheCause) {
  std::ofstream(file_) << "rclrt: 1\nthreads: [{name: a, policy: fifoo}]\n";
  for (const auto& [parameter, cause] :
       {std::pair<std::string, std::string>{"robot:=" + file_.string(), ":2:29: policy is 'fifoo'"},
        {"executor:=wait_set", "there is no executor \"wait_set\""},
        {"realtime:=on", "expected try, require or off"},
        {"top_priority:=96", "top_priority is 96; expected 2 to 95"}}) {
    Program container("CONTAINER", {"--ros-args", "-p", parameter});
    EXPECT_EQ(container.exit_code(), 2) << parameter;
    EXPECT_NE(container.output().find(cause), std::string::npos) << container.output();
  }
}

TEST_F(ComponentContainer, AParameterThatItDoesNotKnowIsRefusedOrNamed) {
  Program misspelt("CONTAINER", {"--ros-args", "-p", "top_prioritty:=80"});
  EXPECT_EQ(misspelt.exit_code(), 2);
  EXPECT_NE(misspelt.output().find("did you mean top_priority?"), std::string::npos)
      << misspelt.output();
  Program of_others("CONTAINER", {"--ros-args", "-p", "wheel_radius:=0.2"});
  EXPECT_TRUE(eventually([&] {
    return of_others.output().find("parameter wheel_radius is unknown") != std::string::npos;
  })) << of_others.output();
}

TEST_F(ComponentContainer, IsOneProcessOfAHostsFile) {
  std::ofstream(file_) << "rclrt: 1\nprocesses:\n  - {name: sensors, callbacks: [{node: "
                          "/thread_name, timer: 0, priority: 7}]}\n  - {name: control}\n";
  Program container("CONTAINER",
                    {"--ros-args", "-p", "robot:=" + file_.string(), "-p", "process:=sensors"});
  const LoadNode::Response loaded = call<LoadNode>("load_node", component());
  ASSERT_TRUE(loaded.success) << loaded.error_message << container.output();
  container.signal(SIGINT);
  EXPECT_EQ(container.exit_code(), 0) << container.output();
  EXPECT_EQ(container.output().find("nothing fits"), std::string::npos) << container.output();
}

TEST_F(ComponentContainer, RecordsWhatIsLoadedLaterWhereItsParameterSays) {
  const Folder folder;
  Program container("CONTAINER", {"--ros-args", "-p", "record:=" + (folder / "out").string()});
  int messages = 0;
  const auto subscription = node_->create_subscription<std_msgs::msg::String>(
      "thread_name", 10, [&](const std_msgs::msg::String&) { ++messages; });
  ASSERT_TRUE(call<LoadNode>("load_node", component()).success) << container.output();
  EXPECT_TRUE(becomes_true([&] { return messages > 3; }));
  container.signal(SIGINT);
  EXPECT_EQ(container.exit_code(), 0) << container.output();
  std::ostringstream results;
  results << std::ifstream(folder / "out" / "results.json").rdbuf();
  EXPECT_NE(results.str().find("/thread_name timer 0"), std::string::npos) << results.str();
}

TEST_F(ComponentContainer, WhatRequiresRealTimeEndsWithoutItAndTheRestHasOneWarning) {
  std::thread([this] {
    const WithoutRealtime without;
    Program container("CONTAINER", {"--ros-args", "-p", "realtime:=require"});
    EXPECT_EQ(container.exit_code(), 2);
    EXPECT_NE(container.output().find("CAP_SYS_NICE"), std::string::npos) << container.output();
    const std::string name = "\"" + middleware_threads().receiver;
    std::ofstream(file_) << "rclrt: 1\nthreads: [{name: " << name
                         << "*\", policy: fifo, priority: 96}]\n";
    Program tries("CONTAINER", {"--ros-args", "-p", "robot:=" + file_.string()});
    EXPECT_TRUE(call<LoadNode>("load_node", component()).success) << tries.output();
    const auto place = [&](const std::string& text, std::size_t from = 0) {
      return tries.output().find(text, from);
    };
    const std::string threads = " threads of " + middleware_threads().library;
    EXPECT_TRUE(eventually([&] { return place(threads) != std::string::npos; }));
    EXPECT_NE(place("normal scheduling, because real"), std::string::npos) << tries.output();
    EXPECT_EQ(place(name, place("\n", place(threads))), std::string::npos);
  }).join();
}

TEST_F(ComponentContainer, NodesAreUnloadedWhileTheyRun) {
  Program container("CONTAINER");
  for (int round = 0; round < 5; ++round) {
    const LoadNode::Response loaded = call<LoadNode>("load_node", component());
    ASSERT_TRUE(loaded.success) << loaded.error_message << container.output();
    UnloadNode::Request unload;
    unload.unique_id = loaded.unique_id;
    ASSERT_TRUE(call<UnloadNode>("unload_node", unload).success) << container.output();
  }
  container.signal(SIGINT);
  EXPECT_EQ(container.exit_code(), 0) << container.output();
}

TEST_F(ComponentContainer, TwoLibrariesInOneProcessSeeTheSameEngine) {
  const char* const engine = std::getenv("ENGINE");
  ASSERT_NE(engine, nullptr) << "ENGINE is not set: run the test through ctest";
  if (engine != std::string("SHARED_LIBRARY")) {
    GTEST_SKIP() << "each library has a static engine of its own";
  }
  Program container("CONTAINER", {"--ros-args", "-p",
                                  write_priorities("  - {node: /a, timer: 0, priority: 7}\n"
                                                   "  - {node: /b, timer: 0, priority: 3}\n")});
  std::set<std::string> levels;
  const auto subscription = node_->create_subscription<std_msgs::msg::String>(
      "engine_state", 10, [&](const std_msgs::msg::String& state) { levels.insert(state.data); });
  for (const char name : {'a', 'b'}) {
    LoadNode::Request request = component(std::string("EngineState") + (name == 'a' ? "A" : "B"));
    request.node_name = name;
    const LoadNode::Response loaded = call<LoadNode>("load_node", request);
    ASSERT_TRUE(loaded.success) << loaded.error_message << container.output();
  }
  EXPECT_TRUE(becomes_true([&] { return levels.size() >= 2; })) << container.output();
  EXPECT_EQ(levels, (std::set<std::string>{"a: level 7", "b: level 3"})) << container.output();
  container.signal(SIGINT);
  EXPECT_EQ(container.exit_code(), 0) << container.output();
}

TEST_F(ComponentContainer, ANodeThatTheExecutorCannotTakeInIsRefusedAndTheOthersGoOn) {
  RCLRT_SKIP_WITHOUT_REALTIME();  // else no level takes a priority, and any number fits
  std::string entries;
  for (int i = 0; i < 100; ++i) {  // 94 fit below a top priority of 95
    const std::string index = std::to_string(i);
    entries += "  - {node: /many_timers, timer: " + index + ", priority: " + index + "}\n";
  }
  const std::string cpu = std::to_string(rclrt::realtime::allowed_cpus().front());
  Program container("CONTAINER",
                    {"--ros-args", "-p", write_priorities(entries), "-p", "cpus:=[" + cpu + "]"});
  int messages = 0;
  const auto subscription = node_->create_subscription<std_msgs::msg::String>(
      "thread_name", 10, [&](const std_msgs::msg::String&) { ++messages; });
  const LoadNode::Response before = call<LoadNode>("load_node", component());
  ASSERT_TRUE(before.success) << before.error_message << container.output();
  for (int round = 0; round < 5; ++round) {
    const LoadNode::Response refused = call<LoadNode>("load_node", component("ManyTimers"));
    ASSERT_FALSE(refused.success);
    ASSERT_NE(refused.error_message.find("priority levels do not fit"), std::string::npos)
        << refused.error_message << container.output();
  }
  const auto listed = call<ListNodes>("list_nodes", ListNodes::Request());
  EXPECT_EQ(listed.full_node_names, std::vector<std::string>{"/thread_name"});
  const int until_here = messages;
  EXPECT_TRUE(becomes_true([&] { return messages > until_here + 3; })) << container.output();

  UnloadNode::Request unload;
  unload.unique_id = before.unique_id;
  ASSERT_TRUE(call<UnloadNode>("unload_node", unload).success) << container.output();
  const LoadNode::Response after = call<LoadNode>("load_node", component());
  ASSERT_TRUE(after.success) << after.error_message << container.output();
  const int loaded = messages;
  EXPECT_TRUE(becomes_true([&] { return messages > loaded + 3; })) << container.output();
  container.signal(SIGINT);
  EXPECT_EQ(container.exit_code(), 0) << container.output();
}

TEST_F(ComponentContainer, ACpuThatDoesNotExistIsRefusedAndTheExitCodeIs2) {
  for (const std::string cpu : {"4294967296", "-4294967296", "-1", "1023"}) {
    Program container("CONTAINER", {"--ros-args", "-p", "cpus:=[" + cpu + "]"});
    EXPECT_EQ(container.exit_code(), 2) << cpu;
    EXPECT_NE(container.output().find(cpu), std::string::npos) << container.output();
  }
}

TEST_F(ComponentContainer, AMistakeInTheFileIsNamedAndTheExitCodeIs2) {
  Program container("CONTAINER",
                    {"--ros-args", "-p", write_priorities("  - {node: here, priority: 1}\n")});
  EXPECT_EQ(container.exit_code(), 2);
  EXPECT_NE(container.output().find(":3:12: node is 'here'"), std::string::npos)
      << container.output();
}

}  // namespace
}  // namespace rclrt_robot::test

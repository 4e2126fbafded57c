// SPDX-License-Identifier: Apache-2.0
#include "rclrt_robot/recording.hpp"

#include <gmock/gmock.h>

#include "recorded_robot.hpp"

namespace rclrt_robot::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kRobot = R"(
rclrt: 1
name: small_robot
executors: [{name: main, cpus: [FIRST]}]
nodes: [{name: lidar, executor: main}, {name: planner, executor: main}]
callbacks:
  - {id: scan, node: lidar, timer: {period_ms: 10}, wcet_ms: 1, publishes: [points]}
  - {id: filter, node: planner, subscription: {topic: points}, wcet_ms: 1, publishes: [stop]}
  - {id: brake, node: planner, subscription: {topic: stop}, wcet_ms: 1, group: brakes}
chains:
  - {id: obstacle, callbacks: [scan, filter, brake], priority: 2, deadline_ms: 10}
)";

template <typename Executor>
class Recordings : public Ros {};
TYPED_TEST_SUITE(Recordings, AllExecutors, ExecutorName);

TYPED_TEST(Recordings, FollowTheChainsOfTheApplication) {
  for (const bool intra_process : {false, true}) {
    SCOPED_TRACE(intra_process);
    const Folder folder;
    const auto recording = std::make_shared<Recording>(RecordingOptions{
        .directory = folder / "out", .application = folder.write("robot.yaml", kRobot)});
    Options options = on_one_cpu();
    options.recording = recording;
    TypeParam executor(options);
    RecordedRobot robot(intra_process);
    executor.add_node(robot.lidar);
    executor.add_node(robot.planner);
    executor.set_priority(robot.group, 7);
    spin_until(executor, [&] { return robot.braked >= 20; });
    EXPECT_EQ(recording->write(), std::vector<std::string>());

    const Json results = Json::parse(text_of(folder / "out/results.json"));
    EXPECT_EQ(results["application"]["name"], "small_robot");
    ASSERT_EQ(results["chains"].size(), 1U);
    const Json& chain = results["chains"][0];
    EXPECT_EQ(chain["callbacks"], Json({"scan", "filter", "brake"}));
    EXPECT_GE(chain["completed"].get<int>(), 19);
    // A busy machine may lose releases. A chain loses no more than its callbacks do.
    int lost = 0;
    for (const Json& each : results["callbacks"]) {
      lost += each["dropped"].get<int>();
    }
    EXPECT_LE(chain["dropped"].get<int>(), lost);
    EXPECT_EQ(chain["unmatched"], 0);
    EXPECT_GT(chain["response_ms"]["best"].get<double>(), 0);
    const Json& brake = named(results["callbacks"], "brake");
    EXPECT_EQ(brake["priority"], 7);
    EXPECT_EQ(brake["node"], "planner");
    EXPECT_GE(brake["completed"].get<int>(), 20);
    EXPECT_NE(text_of(folder / "out/instances.csv").find("obstacle:"), std::string::npos);
    EXPECT_GT(std::filesystem::file_size(folder / "out/trace.pftrace"), 1'000U);
  }
}

using Recorded = Ros;

TEST_F(Recorded, WithoutAnApplicationEachTimerIsAChain) {
  const Folder folder;
  const auto recording = std::make_shared<Recording>(RecordingOptions{.directory = folder / "out"});
  Options options = on_one_cpu();
  options.recording = recording;
  PreemptiveExecutor executor(options);
  RecordedRobot robot;
  executor.add_node(robot.lidar);
  executor.add_node(robot.planner);
  spin_until(executor, [&] { return robot.braked >= 5; });
  EXPECT_EQ(recording->write(), std::vector<std::string>());
  const Json results = Json::parse(text_of(folder / "out/results.json"));
  ASSERT_EQ(results["chains"].size(), 1U);
  EXPECT_EQ(results["chains"][0]["id"], "/lidar timer 0");
  EXPECT_EQ(results["chains"][0]["deadline_ms"], 10);
  EXPECT_GE(results["chains"][0]["completed"].get<int>(), 4);
  EXPECT_GE(named(results["callbacks"], "/planner group 1 subscription /stop")["completed"], 5);
  for (const Json& callback : results["callbacks"]) {
    EXPECT_GT(callback["released"], 0) << callback["id"];  // such as parameter services
  }
}

TEST_F(Recorded, WhatTheRobotHasOtherwiseIsTold) {
  const Folder folder;
  const auto application = folder.write("robot.yaml", R"(
rclrt: 1
name: small_robot
executors: [{name: main, cpus: [FIRST]}, {name: other}]
nodes: [{name: lidar, executor: main}, {name: planner, executor: other}]
callbacks:
  - {id: scan, node: lidar, timer: {period_ms: 20}, wcet_ms: 1, publishes: [points, lines]}
  - {id: fuse, node: planner, sync: {topics: [points, lines], window_ms: 5}, wcet_ms: 1}
  - {id: wave, node: planner, timer: {period_ms: 20}, wcet_ms: 1}
chains:
  - {id: fused, callbacks: [scan, fuse], priority: 2, deadline_ms: 10}
  - {id: waving, callbacks: [wave], priority: 1, deadline_ms: 10}
)");
  const auto recording = std::make_shared<Recording>(
      RecordingOptions{.directory = folder / "out", .application = application});
  Options options = on_one_cpu();
  options.recording = recording;
  PreemptiveExecutor executor(options);
  RecordedRobot robot;
  executor.add_node(robot.lidar);
  executor.add_node(robot.planner);
  spin_until(executor, [&] { return robot.braked >= 3; });
  EXPECT_EQ(
      recording->write(),
      (std::vector<std::string>{
          "callback 'scan' (/lidar timer 0) has a period of 10.0 ms, not 20.0 ms",
          "callback 'wave': the robot has none like it (/planner timer 0)",
          "node 'planner' runs on CPU " + std::to_string(rclrt::realtime::allowed_cpus().front()) +
              ", not on every CPU: the bounds are those of the latter",
          "chain 'fused' goes through a synchronisation and is not measured"}));
}

TEST_F(Recorded, AnApplicationHasNoBestEffortBesideIt) {
  const Folder folder;
  const auto application = folder.write("robot.yaml", R"(
rclrt: 1
name: small_robot
executors: [{name: main}]
nodes: [{name: lidar, executor: main}]
callbacks: [{id: scan, node: lidar, timer: {period_ms: 20}, wcet_ms: 1}]
chains: [{id: scanning, callbacks: [scan], priority: 1, deadline_ms: 10}]
)");
  Options options = on_one_cpu();
  options.engine.best_effort_below = 1;
  options.recording = std::make_shared<Recording>(
      RecordingOptions{.directory = folder / "out", .application = application});
  try {
    const PreemptiveExecutor executor(options);
    FAIL() << "its bounds assume real time";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("leave out best_effort_below or the application"),
              std::string::npos);
  }
}

TEST_F(Recorded, SeveralExecutorsOfOneKindAreOneRun) {
  RCLRT_SKIP_WITHOUT_REALTIME();  // else an executor has one thread, which has no level in its name
  const Folder folder;
  const auto recording = std::make_shared<Recording>(RecordingOptions{
      .directory = folder / "out", .application = folder.write("robot.yaml", kRobot)});
  Options options = on_one_cpu();
  options.recording = recording;
  options.engine.name = "sensors";
  PreemptiveExecutor sensors(options);
  options.engine.name = "planning";
  PreemptiveExecutor planning(options);
  EXPECT_THAT([&] { ThreadDispatchExecutor other(options); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("use another recording for the thread_dispatch executor")));
  RecordedRobot robot;
  sensors.add_node(robot.lidar);
  planning.add_node(robot.planner);
  std::thread thread([&] { sensors.spin(); });
  spin_until(planning, [&] { return robot.braked >= 5; });
  sensors.cancel();
  thread.join();
  recording->write();
  const Json results = Json::parse(text_of(folder / "out/results.json"));
  EXPECT_GE(results["chains"][0]["completed"].get<int>(), 4);
  const std::string instances = text_of(folder / "out/instances.csv");
  EXPECT_NE(instances.find(",scan,0,sensors L0"), std::string::npos);
  EXPECT_NE(instances.find(",filter,0,planning L0"), std::string::npos);
}

TEST_F(Recorded, AnExecutorMayEndBeforeItIsWritten) {
  const Folder folder;
  const auto recording = std::make_shared<Recording>(RecordingOptions{.directory = folder / "out"});
  RecordedRobot robot;
  {
    Options options = on_one_cpu();
    options.recording = recording;
    PreemptiveExecutor executor(options);
    executor.add_node(robot.lidar);
    executor.add_node(robot.planner);
    spin_until(executor, [&] { return robot.braked >= 4; });
  }
  recording->write();
  const Json results = Json::parse(text_of(folder / "out/results.json"));
  // The first may have been due before the recording began.
  EXPECT_GE(results["chains"][0]["completed"].get<int>(), 3)
      << text_of(folder / "out/instances.csv");
}

TEST_F(Recorded, TheSinkOfTheUserGetsTheInstancesToo) {
  struct Counting : engine::InstanceSink {
    void record(const engine::InstanceRecord&) noexcept override { ++count; }
    std::atomic<int> count{0};
  } sink;
  const Folder folder;
  Options options = on_one_cpu();
  options.engine.sink = &sink;
  options.recording = std::make_shared<Recording>(RecordingOptions{.directory = folder / "out"});
  PreemptiveExecutor executor(options);
  RecordedRobot robot;
  executor.add_node(robot.lidar);
  executor.add_node(robot.planner);
  spin_until(executor, [&] { return robot.braked >= 3; });
  EXPECT_GE(sink.count, 9);
}

TEST_F(Recorded, WithoutASpinNothingIsLeftBehind) {
  const Folder folder;
  {
    const Recording recording({.directory = folder / "out"});
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_F(Recorded, WhatCannotBeUsedIsRefusedWithItsPlace) {
  const Folder folder;
  const auto error_of = [](const RecordingOptions& options) -> std::string {
    try {
      const Recording recording(options);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(error_of({.directory = folder / "out",
                      .application = folder.write("bad.yaml", "rclrt: 1\nname: 7 7\n")})
                .find("bad.yaml:2:7"),
            std::string::npos);
  EXPECT_NE(error_of({.directory = folder.write("file", "text")}).find("file"), std::string::npos);
  Recording recording({.directory = folder / "out"});
  EXPECT_THAT([&] { recording.write(); },
              ThrowsMessage<std::logic_error>(HasSubstr("the recording was not started")));
  recording.start();
  EXPECT_THAT([&] { recording.write(); },
              ThrowsMessage<std::logic_error>(HasSubstr("no executor has this recording")));
}

TEST_F(Recorded, WhatHasStoppedIsNotLateForWhatFollows) {
  const Folder folder;
  const auto recording = std::make_shared<Recording>(RecordingOptions{.directory = folder / "out"});
  Options options = on_one_cpu();
  options.recording = recording;
  PreemptiveExecutor executor(options);
  recording->start();  // before the timers: their first release counts
  auto node = std::make_shared<rclcpp::Node>("one");
  std::atomic<int> ticks{0};
  rclcpp::TimerBase::SharedPtr once = node->create_wall_timer(1ms, [&] { once->cancel(); });
  const auto timer = node->create_wall_timer(10ms, [&] { ++ticks; });
  executor.add_node(node);
  spin_until(executor, [&] { return ticks >= 50; });
  // Nothing spins: for a second there are no releases.
  const std::int64_t until_ns = rclrt::realtime::monotonic_now_ns() + 1'000'000'000;
  rclrt::realtime::sleep_until_ns(until_ns);
  recording->write();
  EXPECT_THAT([&] { recording->write(); },
              ThrowsMessage<std::logic_error>("the recording was written already"));
  const Json results = Json::parse(text_of(folder / "out/results.json"));
  EXPECT_EQ(named(results["chains"], "/one timer 0")["released"], 1);
  // It would be 100 if the second without a spin were included.
  EXPECT_LE(named(results["chains"], "/one timer 1")["pending"].get<int>(), 10);
}

TEST_F(Recorded, AChainOfAnotherProcessHasNoReleases) {
  const Folder folder;
  const auto application = folder.write("robot.yaml", R"(
rclrt: 1
name: two
executors: [{name: main, cpus: [FIRST]}, {name: elsewhere}]
nodes: [{name: lidar, executor: main}, {name: arm, executor: elsewhere}]
callbacks:
  - {id: scan, node: lidar, timer: {period_ms: 10}, wcet_ms: 1}
  - {id: wave, node: arm, timer: {period_ms: 10}, wcet_ms: 1}
chains:
  - {id: waving, callbacks: [wave], priority: 1, deadline_ms: 10}
)");
  const auto recording = std::make_shared<Recording>(
      RecordingOptions{.directory = folder / "out", .application = application});
  Options options = on_one_cpu();
  options.recording = recording;
  PreemptiveExecutor executor(options);
  RecordedRobot robot;
  executor.add_node(robot.lidar);
  executor.add_node(robot.planner);
  spin_until(executor, [&] { return robot.braked >= 20; });
  EXPECT_EQ(recording->write(),
            std::vector<std::string>{"callback 'wave': the robot has none like it (/arm timer 0)"});
  const Json results = Json::parse(text_of(folder / "out/results.json"));
  EXPECT_EQ(results["chains"][0]["released"], 0);
  EXPECT_EQ(results["chains"][0]["missed"], 0);
}

TEST_F(Recorded, WhatHasLeftKeepsItsCounts) {
  const Folder folder;
  const auto recording = std::make_shared<Recording>(RecordingOptions{.directory = folder / "out"});
  Options options = on_one_cpu();
  options.recording = recording;
  PreemptiveExecutor executor(options);
  auto node = std::make_shared<rclcpp::Node>("one");
  const auto publisher = node->create_publisher<Int64>("points", 10);
  executor.add_node(node);
  std::atomic<int> seen{0};
  for (int i = 0; i < 3; ++i) {
    auto subscription =
        node->create_subscription<Int64>("points", 10, [&](const Int64&) { ++seen; });
    const int before = seen;
    spin_until(executor, [&] {
      publisher->publish(Int64());
      return seen > before;
    });
    subscription.reset();
  }
  recording->write();
  const Json results = Json::parse(text_of(folder / "out/results.json"));
  EXPECT_GE(named(results["callbacks"], "/one subscription /points")["completed"].get<int>(), seen);
}

}  // namespace
}  // namespace rclrt_robot::test

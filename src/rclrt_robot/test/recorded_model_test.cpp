// SPDX-License-Identifier: Apache-2.0
// The model and the limits of a robot that was recorded without an application.
#include <algorithm>
#include <rcl_interfaces/msg/parameter_event.hpp>

#include "rclrt/model/parse.hpp"
#include "recorded_robot.hpp"

namespace rclrt_robot::test {
namespace {

using Recorded = Ros;

TEST_F(Recorded, IsAModelOfTheRobotThatWasFound) {
  for (const bool intra_process : {false, true}) {
    SCOPED_TRACE(intra_process);
    const Folder folder;
    const auto recording =
        std::make_shared<Recording>(RecordingOptions{.directory = folder / "out"});
    Options options = on_one_cpu();
    options.recording = recording;
    options.priorities = folder.write("robot.yaml", R"(
rclrt: 1
callbacks:
  - {node: /lidar, timer: 0, priority: 3, deadline_ms: 4}
  - {node: /planner, subscription: /stop, priority: 2, max_age_ms: 60}
)");
    PreemptiveExecutor executor(options);
    RecordedRobot robot(intra_process);
    executor.add_node(robot.lidar);
    executor.add_node(robot.planner);
    // A waitable, a service that is asked, and a topic of tools.
    std::atomic<int> told{0};
    const auto events = robot.planner->create_subscription<rcl_interfaces::msg::ParameterEvent>(
        "/parameter_events", 10, [&](const rcl_interfaces::msg::ParameterEvent&) { ++told; });
    robot.lidar->declare_parameter("speed", 1);
    rclcpp::SyncParametersClient client(std::make_shared<rclcpp::Node>("asks"), "/lidar");
    {
      const Spinning spinning(executor);
      EXPECT_EQ(client.get_parameter<int>("speed"), 1);
      EXPECT_TRUE(eventually([&] { return robot.braked >= 30 && told > 0; }));
    }
    EXPECT_EQ(recording->write(), std::vector<std::string>());

    const auto model = rclrt::model::load_application(folder / "out/observed.yaml");
    ASSERT_EQ(model.executors.size(), 1U);
    EXPECT_EQ(model.executors[0].cpus, options.engine.cpus);
    const auto index_of = [&](const std::string& id) {
      const auto found = std::ranges::find(model.callbacks, id, &rclrt::model::Callback::id);
      EXPECT_NE(found, model.callbacks.end()) << text_of(folder / "out/observed.yaml");
      return static_cast<std::size_t>(found - model.callbacks.begin());
    };
    const std::vector<std::size_t> way{index_of("lidar_timer_0"),
                                       index_of("planner_subscription_points"),
                                       index_of("planner_group_1_subscription_stop")};
    const auto chain = std::ranges::find(model.chains, way, &rclrt::model::Chain::callbacks);
    ASSERT_NE(chain, model.chains.end()) << text_of(folder / "out/observed.yaml");
    EXPECT_EQ(chain->deadline, 60ms);
    EXPECT_EQ(model.callbacks[way[0]].deadline, 4ms);
    EXPECT_EQ(model.callbacks[way[0]].priority, 3);
    EXPECT_EQ(model.callbacks[way[1]].group, "default");
    EXPECT_GT(model.callbacks[way[2]].observed->n, 0U);

    const Json results = Json::parse(text_of(folder / "out/results.json"));
    EXPECT_EQ(named(results["chains"], "/lidar timer 0")["deadline_ms"], 4);
    const Json& aged =
        named(results["chains"], "/lidar timer 0 to /planner group 1 subscription /stop");
    EXPECT_EQ(aged["deadline_ms"], 60);
    EXPECT_GE(aged["completed"].get<int>(), 25);
    EXPECT_EQ(named(results["callbacks"], "/lidar timer 0")["deadline_ms"], 4);
    EXPECT_EQ(named(results["callbacks"], "/planner group 1 subscription /stop")["max_age_ms"], 60);
  }
}

}  // namespace
}  // namespace rclrt_robot::test

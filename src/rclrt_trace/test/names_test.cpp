// SPDX-License-Identifier: Apache-2.0
// Names of ROS in a model: unchanged, or changed with a note, and never two with the same name.
#include <set>
#include <string>

#include "robot.hpp"

namespace rclrt::trace {
namespace {

/// Returns the model of a timer that publishes on the topics, with one subscription for each topic.
TracedModel model_with(const std::vector<std::string>& topics) {
  Robot robot;
  robot.node(1, "node");
  robot.timer(20, 1, 10 * kMs, 21);
  std::uint64_t handle = 100;
  for (const std::string& topic : topics) {
    robot.publisher(handle, 1, topic);
    robot.subscription(handle + 1, 1, topic, handle + 2);
    handle += 10;
  }
  robot.start(21);
  for (std::uint64_t i = 0; i < topics.size(); ++i) {
    robot.publish(100 + 10 * i, i + 1);
  }
  robot.end(21, kMs);
  for (std::uint64_t i = 0; i < topics.size(); ++i) {
    robot.take(101 + 10 * i, i + 1);
    robot.start(102 + 10 * i);
    robot.end(102 + 10 * i, kMs);
  }
  return robot.model();
}

TEST(Names, LegalTopicsComeThroughUnchanged) {
  const std::vector<std::string> topics{"/points",
                                        "/_hidden/topic_",
                                        "/a/b/c/D9",
                                        "/rt/_action/feedback",
                                        "/" + std::string(246, 'x'),
                                        "/" + std::string(210, 'x') + "/one"};
  const TracedModel made = model_with(topics);
  EXPECT_EQ(made.application.callbacks[0].publishes, topics);
  EXPECT_FALSE(has_note(made, "is called"));
}

TEST(Names, TopicsThatTheModelDoesNotTakeStayApart) {
  const std::string long_one(300, 'y');
  const std::vector<std::string> topics{"/a__b",
                                        "/a_b",
                                        "/a___b",
                                        "/a-b",
                                        "/a.b/c",
                                        "/a/9",
                                        "/" + long_one + "1",
                                        "/" + long_one + "2"};
  const TracedModel made = model_with(topics);
  const std::vector<std::string>& published = made.application.callbacks[0].publishes;
  ASSERT_EQ(published.size(), topics.size());
  EXPECT_EQ(std::set<std::string>(published.begin(), published.end()).size(), topics.size());
  EXPECT_EQ(published[1], "/a_b");
  EXPECT_TRUE(has_note(made, "topic '/a__b' is called '/a_b_2'"));
  EXPECT_EQ(made.application.chains.size(), topics.size());
}

TEST(Names, NodesComeThroughUnchangedWhereTheyCan) {
  Robot robot;
  const std::vector<std::pair<std::string, std::string>> nodes{
      {"camera", "/left"},
      {"camera", "/right"},
      {"camera_2", "/"},
      {"_hidden_", "/"},
      {"a__b", "/"},
      {"a_b", "/n"},
      {"x", "/a__b"},
      {"y", "/a_b"},
      {std::string(255, 'n'), "/" + std::string(244, 's')}};
  std::uint64_t handle = 1;
  for (const auto& [name, name_space] : nodes) {
    robot.node(handle, name, name_space);
    robot.timer(handle + 1, handle, 10 * kMs, handle + 2);
    robot.start(handle + 2);
    robot.end(handle + 2, kMs);
    handle += 10;
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.nodes.size(), nodes.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const model::Node& node = made.application.nodes[i];
    names.insert(node.name);
    const bool said =
        node.name == nodes[i].first || has_note(made, "is called '" + node.name + "'");
    EXPECT_TRUE(said) << node.name;
    if (nodes[i].second != "/a__b") {
      EXPECT_EQ(node.name_space, nodes[i].second);
    }
  }
  EXPECT_EQ(names.size(), nodes.size());
  EXPECT_TRUE(names.contains("camera_2"));
  EXPECT_TRUE(names.contains("_hidden_"));
  EXPECT_TRUE(has_note(made, "node '/right/camera' is called 'camera_3'"));
  EXPECT_TRUE(has_note(made, "node '/a__b' is called"));
  EXPECT_TRUE(has_note(made, "namespace '/a__b' of node 'x' is called '/a_b_2'"));
}

TEST(Names, ATimerOfAVeryLongPeriodStaysATimer) {
  Robot robot;
  robot.node(1, "node");
  robot.timer(20, 1, 24 * 3600 * 1000 * kMs, 21);
  robot.timer(22, 1, INT64_MAX, 23);
  robot.timer(24, 1, 0, 25);
  robot.timer(26, 1, 1, 27);
  for (const std::uint64_t callback : {21U, 23U, 25U, 27U}) {
    robot.start(callback);
    robot.end(callback, kMs);
  }
  const TracedModel made = robot.model();
  const model::Nanoseconds hour(3600 * 1000 * kMs);
  EXPECT_EQ(std::get<model::Timer>(made.application.callbacks[0].trigger).period, hour);
  EXPECT_EQ(std::get<model::Timer>(made.application.callbacks[1].trigger).period, hour);
  EXPECT_EQ(made.application.callbacks[2].kind(), model::CallbackKind::kEvent);
  EXPECT_EQ(std::get<model::Timer>(made.application.callbacks[3].trigger).period,
            model::Nanoseconds(1));
  EXPECT_TRUE(has_note(made, "timer 'node_timer_1' has a period of 86400 s"));
  EXPECT_TRUE(has_note(made, "'node_timer_3' is a timer without a period"));
}

TEST(Names, ACallbackOfMoreTopicsThanTheModelTakesSaysSo) {
  Robot robot;
  robot.node(1, "node");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.emit(EventKind::kCallbackAdded, {21, 1, 0, 1, 0, 0}, {"tick", "timer"});
  for (std::uint64_t i = 0; i < 103; ++i) {
    const std::string topic = "/topic_" + std::to_string(i);
    robot.publisher(1000 + 2 * i, 1, topic);
    robot.subscription(5000 + i, 1, topic, 8000 + i);
    robot.emit(EventKind::kCallbackAdded, {8000 + i, 1, 0, 1, 0, 0}, {"all", "subscription"});
    robot.start(21);
    robot.publish(1000 + 2 * i, i + 1);
    robot.end(21, kMs);
    robot.take(5000 + i, i + 1);
    robot.start(8000 + i);
    robot.end(8000 + i, kMs);
  }
  EXPECT_TRUE(has_note(robot.model(), "callback 'all' takes 3 topics more than the model allows"));
}

}  // namespace
}  // namespace rclrt::trace

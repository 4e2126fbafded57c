// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/observed_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <rclrt/model/parse.hpp>
#include <rclrt/model/write.hpp>
#include <string>
#include <vector>

#include "sample_results.hpp"

namespace rclrt::recorder {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

/// The recording of a robot without an application file.
class Found {
 public:
  Found() {
    results_.application.name = "robot";
    results_.application.executors = {{.name = "executor"}};
    results_.window = {.start_ns = 0, .end_ns = 1'000 * kMs};
    results_.proposes_chains = true;
  }

  std::size_t node(const std::string& name, const std::string& name_space = "/") {
    results_.application.nodes.push_back({.name = name, .name_space = name_space, .executor = 0});
    return results_.application.nodes.size() - 1;
  }

  std::size_t timer(std::size_t node, const std::string& id, model::Nanoseconds period,
                    const std::vector<std::string>& publishes = {}) {
    return add(node, id, model::Timer{.period = period}, publishes);
  }
  std::size_t subscription(std::size_t node, const std::string& topic,
                           const std::vector<std::string>& publishes = {}) {
    const model::Node& of = results_.application.nodes[node];
    return add(
        node,
        (of.name_space == "/" ? "" : of.name_space) + "/" + of.name + " subscription " + topic,
        model::Subscription{.topics = {topic}}, publishes);
  }
  std::size_t other(std::size_t node, const std::string& kind, const std::string& name) {
    const std::size_t index =
        add(node, "/" + results_.application.nodes[node].name + " " + kind + " " + name,
            model::Subscription{.topics = {name}}, {});
    results_.other_kinds[index] = kind;
    return index;
  }

  void ran(std::size_t callback, std::int64_t at_ms) {
    results_.records.push_back(
        recorder::ran(static_cast<std::uint32_t>(callback), at_ms * kMs, at_ms * kMs + kMs, {}));
  }

  RunResults& results() { return results_; }
  model::Application& application() { return results_.application; }

  /// Returns the model as the parser reads it.
  model::Application model() const {
    const std::string text = to_yaml(observed_model(results_));
    const auto parsed = model::parse_application(text);
    for (const auto& each : parsed.diagnostics) {
      ADD_FAILURE() << each.line << ": " << each.message << "\n" << text;
    }
    return parsed.application.value_or(model::Application());
  }

 private:
  std::size_t add(std::size_t node, const std::string& id, auto trigger,
                  const std::vector<std::string>& publishes) {
    results_.application.callbacks.push_back({.id = id,
                                              .node = node,
                                              .trigger = trigger,
                                              .publishes = publishes,
                                              .group = std::string(model::kDefaultGroup),
                                              .priority = 0});
    return results_.application.callbacks.size() - 1;
  }

  RunResults results_;
};

std::vector<std::string> ids_of(const model::Application& application) {
  std::vector<std::string> result;
  for (const model::Callback& each : application.callbacks) {
    result.push_back(each.id);
  }
  return result;
}

TEST(ObservedModel, WhatWasFoundOfARobotIsAModel) {
  Found found;
  const std::size_t lidar = found.node("lidar");
  const std::size_t mapper = found.node("mapper");
  const std::size_t scan = found.timer(lidar, "/lidar timer 0", milliseconds(10), {"/points"});
  const std::size_t map = found.subscription(mapper, "/points", {"/map"});
  const std::size_t draw = found.subscription(mapper, "/map");
  const std::size_t events = found.subscription(mapper, "/parameter_events");
  const std::size_t outside = found.subscription(mapper, "/goal");
  const std::size_t service = found.other(mapper, "service", "/mapper/reset");
  const std::size_t parameters = found.other(mapper, "service", "/mapper/get_parameters");
  const std::size_t waitable = found.other(mapper, "waitable", "0");
  found.subscription(mapper, "/never");
  for (int i = 0; i < 20; ++i) {
    found.ran(scan, 10 * i);
    found.ran(map, 10 * i + 2);
    found.ran(draw, 10 * i + 4);
    found.ran(waitable, 11 * i);
  }
  found.ran(events, 1);
  found.ran(parameters, 1);
  found.ran(outside, 5);
  found.ran(service, 6);
  const model::Application model = found.model();
  EXPECT_THAT(ids_of(model), ElementsAre("lidar_timer_0", "mapper_subscription_points",
                                         "mapper_subscription_map", "mapper_subscription_goal",
                                         "mapper_service_mapper_reset", "mapper_waitable_0"));
  ASSERT_EQ(model.callbacks.size(), 6U);
  EXPECT_EQ(model.callbacks[1].kind(), model::CallbackKind::kSubscription);
  EXPECT_EQ(model.callbacks[3].kind(), model::CallbackKind::kEvent);
  // One request in a second: it has no interval to a next one.
  EXPECT_EQ(std::get<model::Event>(model.callbacks[4].trigger).min_interval, milliseconds(1'000));
  EXPECT_EQ(std::get<model::Event>(model.callbacks[5].trigger).min_interval, milliseconds(11));
  ASSERT_FALSE(model.chains.empty());
  EXPECT_THAT(model.chains[0].callbacks, ElementsAre(0, 1, 2));
  EXPECT_EQ(model.chains[0].deadline, milliseconds(10));
  EXPECT_EQ(model.chains[0].id, "lidar_timer_0_to_mapper_subscription_map");
  EXPECT_THAT(model.description, HasSubstr("1 callback never ran to an end: left out"));
  EXPECT_THAT(model.description, HasSubstr("2 callbacks are for tools"));
  EXPECT_THAT(model.description, HasSubstr("/mapper subscription /goal"));
}

TEST(ObservedModel, ALargestAgeIsTheDeadlineOfTheWayThere) {
  Found found;
  const std::size_t node = found.node("one");
  const std::size_t scan = found.timer(node, "/one timer 0", milliseconds(10), {"/a"});
  const std::size_t middle = found.subscription(node, "/a", {"/b"});
  const std::size_t last = found.subscription(node, "/b");
  found.results().max_ages = {{middle, milliseconds(4)}, {last, milliseconds(7)}};
  for (const std::size_t each : {scan, middle, last}) {
    found.ran(each, 1);
  }
  const model::Application model = found.model();
  ASSERT_EQ(model.chains.size(), 2U);
  EXPECT_THAT(model.chains[0].callbacks, ElementsAre(0, 1));
  EXPECT_EQ(model.chains[0].deadline, milliseconds(4));
  EXPECT_THAT(model.chains[1].callbacks, ElementsAre(0, 1, 2));
  EXPECT_EQ(model.chains[1].deadline, milliseconds(7));
}

TEST(ObservedModel, NamesThatBecomeOneStayTwo) {
  Found found;
  const std::size_t one = found.node("arm", "/left");
  const std::size_t other = found.node("arm", "/right");
  const std::string near_end(300, 'x');
  for (const std::string& name :
       {std::string("a/b"), std::string("a_b"), near_end, near_end + "y"}) {
    found.ran(found.subscription(one, "/" + name), 1);
  }
  found.ran(found.subscription(other, "/a_b"), 1);
  found.application().executors.push_back({.name = "executor"});
  const model::Application model = found.model();
  EXPECT_EQ(model.callbacks.size(), 5U);
  EXPECT_EQ(model.executors.size(), 2U);
  ASSERT_EQ(model.nodes.size(), 2U);
  EXPECT_EQ(model.nodes[0].name, "arm");
  EXPECT_EQ(model.nodes[1].name, "arm_2");
  EXPECT_EQ(model.nodes[1].name_space, "/right");
  EXPECT_THAT(model.description, HasSubstr("node /right/arm is called arm_2"));
}

TEST(ObservedModel, ACycleOfMessagesIsCutAtAnEvent) {
  Found found;
  const std::size_t node = found.node("one");
  const std::size_t kick = found.timer(node, "/one timer 0", milliseconds(100), {"/ping"});
  const std::size_t ping = found.subscription(node, "/ping", {"/pong"});
  const std::size_t pong = found.subscription(node, "/pong", {"/ping"});
  for (const std::size_t each : {kick, ping, pong}) {
    found.ran(each, 1);
  }
  EXPECT_THAT(found.model().description, HasSubstr("is on a cycle of messages"));
}

TEST(ObservedModel, PrioritiesAndTimesThatNoFileCanStateBecomeOnesThatItCan) {
  Found found;
  const std::size_t node = found.node("one");
  found.ran(found.timer(node, "/one timer 0", std::chrono::hours(100)), 1);
  found.ran(found.timer(node, "/one timer 1", model::Nanoseconds(0)), 1);
  found.ran(found.timer(node, "/one timer 2", milliseconds(1)), 1);
  found.application().callbacks[0].priority = -5;
  found.application().callbacks[1].priority = 2'000'000'000;
  found.application().callbacks[2].deadline = std::chrono::hours(100);
  const model::Application model = found.model();
  ASSERT_EQ(model.callbacks.size(), 3U);
  EXPECT_EQ(model.callbacks[0].kind(), model::CallbackKind::kEvent);
  EXPECT_EQ(model.callbacks[1].kind(), model::CallbackKind::kEvent);
  EXPECT_EQ(model.callbacks[0].priority, 0);
  EXPECT_EQ(model.callbacks[2].priority, 1);
  EXPECT_EQ(model.callbacks[1].priority, 2);
}

TEST(ObservedModel, WhatAFileStatesStaysBesideWhatWasFound) {
  RunResults results = sample_results();
  const model::Application stated = observed_model(results);
  results.application.callbacks.push_back({.id = "/planner service /planner/reset",
                                           .node = 1,
                                           .trigger = model::Subscription{.topics = {"/reset"}},
                                           .publishes = {}});
  const auto added = static_cast<std::uint32_t>(results.application.callbacks.size() - 1);
  results.other_kinds[added] = "service";
  results.records.push_back(ran(added, kSampleStart, kSampleStart + 5, {}));
  const auto parsed = model::parse_application(to_yaml(observed_model(results)));
  ASSERT_TRUE(parsed.application) << parsed.diagnostics.front().message;
  EXPECT_EQ(parsed.application->callbacks.size(), stated.callbacks.size() + 1);
  EXPECT_EQ(parsed.application->callbacks.back().id, "planner_service_planner_reset");
  EXPECT_EQ(parsed.application->chains, stated.chains);
}

TEST(ObservedModel, OfAnyRobotThereIsOne) {
  std::mt19937 random(45);
  const auto below = [&](std::size_t end) { return random() % end; };
  for (int round = 0; round < 200; ++round) {
    Found found;
    std::vector<std::size_t> nodes;
    for (std::size_t i = 0; i < 1 + below(4); ++i) {
      nodes.push_back(found.node(std::string(below(2) == 0 ? "n" : "_n__x") + char('a' + below(2)),
                                 below(2) == 0 ? "/" : "/deep/er"));
    }
    const auto topic = [&] {
      return "/t" + std::to_string(below(6)) + (below(5) == 0 ? "__" : "");
    };
    for (std::size_t i = 0; i < 2 + below(20); ++i) {
      const std::size_t node = nodes[below(nodes.size())];
      std::vector<std::string> publishes;
      if (below(2) == 0) {
        publishes.push_back("/t" + std::to_string(below(6)));
      }
      const std::size_t callback =
          below(3) == 0   ? found.timer(node, "/x timer " + std::to_string(i),
                                        milliseconds(below(3) * 10), publishes)
          : below(3) == 0 ? found.other(node, "waitable", std::to_string(i))
                          : found.subscription(node, topic(), publishes);
      found.application().callbacks[callback].priority = static_cast<int>(below(5)) - 1;
      if (below(3) == 0) {
        found.results().max_ages[callback] = milliseconds(1 + below(50));
      }
      for (std::size_t run = below(15); run > 0; --run) {
        found.ran(callback, static_cast<std::int64_t>(below(1'000)));
      }
    }
    bool any = false;
    for (const InstanceRecord& each : found.results().records) {
      any = any || !found.application().callbacks[each.callback].id.ends_with("__");
    }
    if (any) {
      found.model();
      ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
// Values that nodes store and read, which they state by message links.
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rclrt/recorder/results.hpp"
#include "sampling_robot.hpp"
#include "trace_reader.hpp"
#include "traced_results.hpp"

namespace rclrt::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(TracedVariables, ALinkJoinsWhatASubscriptionTookAndWhatATimerPublishes) {
  Sampling robot;
  robot.link({30}, {11});
  robot.run();
  const TracedModel made = robot.model();
  const model::Application& application = made.application;
  ASSERT_EQ(application.callbacks.size(), 4U);
  EXPECT_THAT(application.callbacks[1].stores, ElementsAre("planner_images"));
  EXPECT_THAT(application.callbacks[2].reads, ElementsAre("planner_images"));
  ASSERT_EQ(application.cause_effect_chains.size(), 1U);
  EXPECT_EQ(application.cause_effect_chains[0].id, "camera_timer_1_to_motor_path");
  EXPECT_THAT(path_of(application, 0),
              ElementsAre("camera_timer_1", "planner_images", "planner_timer_1", "motor_path"));
  EXPECT_THAT(application.cause_effect_chains[0].segments,
              ElementsAre(model::Segment{0, 0}, model::Segment{1, 0}));
  EXPECT_THAT(made.proposals, IsEmpty());
  EXPECT_FALSE(has_note(made, "may publish"));
  const auto read = model::parse_application(to_yaml(application)).application;
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cause_effect_chains, application.cause_effect_chains);
}

TEST(TracedVariables, WithoutALinkTheyAreProposedAndNotInTheModel) {
  Sampling robot;
  robot.run();
  const TracedModel made = robot.model();
  EXPECT_THAT(made.application.cause_effect_chains, IsEmpty());
  EXPECT_THAT(made.application.callbacks[1].stores, IsEmpty());
  EXPECT_TRUE(has_note(made, "timer planner_timer_1 may publish what planner_images took"));
  EXPECT_THAT(
      made.proposals,
      ElementsAre("The trace does not show whether these timers read what their nodes took:",
                  "if it does, planner_timer_1 has 'reads: [planner_images]'",
                  "  and planner_images has 'stores: [planner_images]'",
                  HasSubstr("callbacks: [camera_timer_1, planner_images, planner_timer_1, "
                            "motor_path]}")));
}

TEST(TracedVariables, ATimerIsNotProposedAsAReaderOfItsOwnMessages) {
  Sampling robot;
  robot.subscription(60, 2, "/path", 61);
  robot.run();
  robot.take(60, 1);
  robot.start(61);
  robot.end(61, kMs);
  const TracedModel made = robot.model();
  EXPECT_THAT(made.proposals, testing::Contains("if it does, planner_timer_1 has 'reads: "
                                                "[planner_images]'"));
}

TEST(TracedVariables, TheProposedLinesMakeTheModelOfTheLink) {
  Sampling without;
  without.run();
  std::string text = to_yaml(without.model().application);
  const auto add = [&](const std::string& callback, const std::string& keys) {
    const std::size_t at =
        text.find('}', text.find("{id: " + callback + ",", text.find("callbacks:")));
    text.insert(text.find('\n', at) - 1, ", " + keys);
  };
  add("planner_images", "stores: [planner_images]");
  add("planner_timer_1", "reads: [planner_images]");
  text += "  - " +
          without.model().proposals.back().substr(std::string("  and to the chains ").size()) +
          "\n";
  const model::ParseResult parsed = model::parse_application(text);
  ASSERT_TRUE(parsed.application) << text << parsed.diagnostics.front().message;
  EXPECT_EQ(parsed.application->cause_effect_chains.size(), 1U);
}

TEST(TracedVariables, ALinkOfASubscriptionThatPublishesForTwo) {
  Robot robot;
  robot.node(1, "sensors");
  robot.publisher(10, 1, "/slow");
  robot.publisher(11, 1, "/fast");
  robot.timer(20, 1, 100 * kMs, 21);
  robot.timer(22, 1, 10 * kMs, 23);
  robot.node(2, "fusion");
  robot.subscription(30, 2, "/slow", 31);
  robot.subscription(32, 2, "/fast", 33);
  robot.publisher(12, 2, "/fused");
  robot.link({30}, {12});
  robot.node(3, "motor");
  robot.subscription(40, 3, "/fused", 41);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    if (i % 10 == 1) {
      robot.start(21);
      robot.publish(10, i);
      robot.end(21, kMs);
      robot.take(30, i);
      robot.start(31);
      robot.end(31, kMs);
    }
    robot.start(23);
    robot.publish(11, i);
    robot.end(23, kMs);
    robot.take(32, i);
    robot.start(33);
    robot.publish(12, i);
    robot.end(33, kMs);
    robot.take(40, i);
    robot.start(41);
    robot.end(41, kMs);
    robot.now_ns += 5 * kMs;
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.cause_effect_chains.size(), 1U);
  EXPECT_THAT(path_of(made.application, 0),
              ElementsAre("sensors_timer_1", "fusion_slow", "fusion_fast", "motor_fused"));
  EXPECT_EQ(made.application.cause_effect_chains[0].segments.back().entry, 1U);
}

TEST(TracedVariables, WhatStoresAndPublishesEndsAChainOfItsOwn) {
  Sampling robot;
  robot.publisher(12, 2, "/seen");
  robot.node(4, "log");
  robot.subscription(60, 4, "/seen", 61);
  robot.link({30}, {11});
  robot.now_ns += kMs;
  robot.start(21);
  robot.publish(10, 100);
  robot.end(21, kMs);
  robot.take(30, 100);
  robot.start(31);
  robot.publish(12, 100);
  robot.end(31, kMs);
  robot.take(60, 100);
  robot.start(61);
  robot.end(61, kMs);
  robot.run();
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.cause_effect_chains.size(), 1U);
  EXPECT_THAT(path_of(made.application, 0),
              ElementsAre("camera_timer_1", "planner_images", "planner_timer_1", "motor_path"));
}

/// The declarations of LTTng for the event of a link.
constexpr const char* kMetadata = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };
clock { name = "monotonic"; freq = 1000000000; };
stream {
  event.header := struct { uint8_t id; uint64_t timestamp; };
  event.context := struct { integer { size = 32; align = 8; signed = 1; } _vpid;
    integer { size = 32; align = 8; signed = 1; } _vtid; };
};
event { name = "ros2:message_link_periodic_async"; id = 0; fields := struct {
  integer { size = 64; align = 8; signed = 0; encoding = none; base = 10; } __subs_length;
  integer { size = 64; align = 8; signed = 0; encoding = none; base = 16; } _subs[ __subs_length ];
  integer { size = 64; align = 8; signed = 0; encoding = none; base = 10; } __pubs_length;
  integer { size = 64; align = 8; signed = 0; encoding = none; base = 16; } _pubs[ __pubs_length ];
}; };)";

TEST(TracedVariables, LinksAreReadFromATrace) {
  std::string bytes;
  const auto append = [&](std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) {
      bytes.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
    }
  };
  append(0xC1FC1FC1, 4);
  const auto event = [&](std::uint64_t time, const std::vector<std::uint64_t>& subscriptions,
                         const std::vector<std::uint64_t>& publishers) {
    append(0, 1);
    append(time, 8);
    append(100, 4);
    append(101, 4);
    for (const auto* const list : {&subscriptions, &publishers}) {
      append(list->size(), 8);
      for (const std::uint64_t each : *list) {
        append(each, 8);
      }
    }
  };
  event(1000, {0xFFFF'8000'0000'0001, 2}, {3});
  event(2000, {}, {4});
  const std::filesystem::path trace = std::filesystem::path(testing::TempDir()) / "links";
  std::filesystem::create_directories(trace);
  std::ofstream(trace / "metadata") << kMetadata;
  std::ofstream(trace / "stream", std::ios::binary) << bytes;
  std::vector<std::vector<std::uint64_t>> lists;
  read_trace(trace, [&](const TraceEvent& found) {
    EXPECT_EQ(found.kind, EventKind::kMessageLink);
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.pid, 100);
    for (const auto& list : found.lists) {
      lists.emplace_back(list.begin(), list.end());
    }
  });
  std::filesystem::remove_all(trace);
  EXPECT_THAT(lists, ElementsAre(ElementsAre(0xFFFF'8000'0000'0001, 2), ElementsAre(3), IsEmpty(),
                                 ElementsAre(4)));
}

TEST(TracedVariables, ALinkWithoutPublicationsIsNamed) {
  Sampling robot;
  robot.publisher(12, 2, "/never");
  robot.link({30, 999}, {12});
  robot.run();
  const TracedModel made = robot.model();
  EXPECT_THAT(made.application.cause_effect_chains, IsEmpty());
  EXPECT_TRUE(has_note(made, "callback 'planner_images' is linked to topics on which no callback"));
  EXPECT_TRUE(has_note(made, "1 subscriptions and publishers of message links were made before"));
}

TEST(TracedVariables, TheResultsOfATraceHaveTheAges) {
  Sampling robot;
  robot.link({30}, {11});
  robot.run();
  TracedModel made = robot.model();
  std::vector<std::string> notes;
  const recorder::RunResults results = trace_results(
      robot.system, std::move(made), model::ExecutorKind::kWaitSet, ReadCounts{}, notes);
  recorder::require_consistent(results);
  ASSERT_EQ(results.cause_effect_chains.size(), 1U);
  const auto& outputs = results.cause_effect_chains[0].found.outputs;
  ASSERT_EQ(outputs.size(), 5U);
  // The image of 0 ms is stored after 2 ms; the path follows at once, and the motor ends at 5 ms.
  EXPECT_EQ(outputs[1].age(), model::Nanoseconds(5 * kMs));
}

TEST(TracedVariables, AChainWithASegmentThatCannotBeFollowedIsNotMeasured) {
  Sampling robot;
  robot.node(5, "driver");  // its publications are outside of callbacks
  robot.publisher(13, 5, "/scans");
  robot.subscription(70, 2, "/scans", 71);
  robot.link({30, 70}, {11});
  robot.publish(13, 1000);
  robot.take(70, 1000);
  robot.start(71);
  robot.end(71, kMs);
  robot.run();
  TracedModel made = robot.model();
  EXPECT_EQ(made.application.cause_effect_chains.size(), 2U);
  std::vector<std::string> notes;
  const recorder::RunResults results = trace_results(
      robot.system, std::move(made), model::ExecutorKind::kWaitSet, ReadCounts{}, notes);
  recorder::require_consistent(results);
  ASSERT_EQ(results.cause_effect_chains.size(), 1U);
  EXPECT_EQ(results.cause_effect_chains[0].found.outputs.size(), 5U);
}

}  // namespace
}  // namespace rclrt::trace

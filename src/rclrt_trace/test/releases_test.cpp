// SPDX-License-Identifier: Apache-2.0
// Traces of ROS releases with fewer events of publications, and work outside of callbacks.
#include <string>

#include "robot.hpp"

namespace rclrt::trace {
namespace {

constexpr std::int64_t kDay_ns = 1'700'000'000'000'000'000;  // the time of day at time 0

/// A sensor and a motor in two processes, with the events of Humble.
struct Humble : Robot {
  Humble() {
    clock_offset_ns = kDay_ns;
    node(1, "sensor");
    publisher(10, 1, "/points");
    timer(20, 1, 10 * kMs, 21);
    pid = tid = 200;
    node(1, "motor");
    subscription(30, 1, "/points", 31);
  }
  /// Returns the time at which the middleware sends the message.
  std::uint64_t send() {
    pid = tid = 100;
    start(21);
    now_ns += kMs / 2;
    emit(EventKind::kRclPublish, {10});
    emit(EventKind::kRmwPublish, {});  // has only the message
    now_ns += 3'000;
    const auto sent = static_cast<std::uint64_t>(now_ns + kDay_ns);
    end(21, kMs / 2);
    return sent;
  }
  void receive(std::uint64_t sent) {
    pid = tid = 200;
    take(30, sent);
    start(31);
    end(31, kMs);
  }
};

TEST(Releases, BeforeJazzyMessagesAreFollowedByWhenTheyWereSent) {
  Humble robot;
  for (int i = 0; i < 10; ++i) {
    robot.receive(robot.send());
    robot.now_ns += 8 * kMs;
  }
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.callbacks.size(), 2U);
  EXPECT_EQ(made.application.callbacks[0].publishes, std::vector<std::string>{"/points"});
  ASSERT_EQ(made.application.chains.size(), 1U);
  EXPECT_EQ(made.application.chains[0].callbacks.size(), 2U);
  EXPECT_EQ(robot.system.gaps().unknown_sources, 0U);
  EXPECT_EQ(robot.system.gaps().timeless, 10U);
  EXPECT_EQ(robot.system.gaps().incomplete_events, 0U);
  EXPECT_EQ(robot.system.instances().back().publisher, 0U);
  EXPECT_TRUE(has_note(made, "10 messages were followed by when they were sent"));
}

TEST(Releases, AMessageIsOfThePublicationBeforeItAndOfNoOther) {
  Humble robot;
  const std::uint64_t first = robot.send();
  const std::int64_t published_ns = robot.system.instances().back().start_ns + kMs / 2;
  const std::uint64_t second = robot.send();
  robot.receive(first);  // late: the second is published already
  EXPECT_EQ(robot.system.instances().back().published_ns, published_ns);
  robot.receive(second);
  EXPECT_GT(robot.system.instances().back().published_ns, published_ns);
  robot.now_ns += 1000 * kMs;
  robot.receive(static_cast<std::uint64_t>(robot.now_ns + kDay_ns));  // of another publisher
  EXPECT_EQ(robot.system.instances().back().publisher, kNone);
  EXPECT_EQ(robot.system.gaps().unknown_sources, 1U);
}

TEST(Releases, ATraceOfJazzyDoesNotGuess) {
  Robot robot;
  robot.node(1, "sensor");
  robot.publisher(10, 1, "/points");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.node(2, "motor");
  robot.subscription(30, 2, "/points", 31);
  robot.start(21);
  robot.emit(EventKind::kRclPublish, {10});
  robot.publish(10, 77);
  robot.end(21, kMs);
  robot.take(30, static_cast<std::uint64_t>(robot.now_ns));  // another message
  robot.start(31);
  robot.end(31, kMs);
  robot.take(30, 77);
  robot.start(31);
  robot.end(31, kMs);
  robot.model();
  const auto& runs = robot.system.instances();
  EXPECT_EQ(runs[1].publisher, kNone);
  EXPECT_EQ(runs[2].publisher, 0U);
  EXPECT_EQ(robot.system.gaps().timeless, 0U);
  EXPECT_EQ(robot.system.gaps().publications, 1U);
}

TEST(Releases, ATraceWithoutAnyPublicationIsRefused) {
  Humble robot;
  robot.pid = robot.tid = 100;
  for (int i = 0; i < 3; ++i) {
    robot.start(21);
    robot.end(21, kMs);
    robot.receive(static_cast<std::uint64_t>(robot.now_ns + kDay_ns));
    robot.pid = robot.tid = 100;
  }
  try {
    build_model(robot.system, "robot");
    FAIL() << "a model was made";
  } catch (const TraceError& error) {
    EXPECT_NE(std::string(error.what()).find("publications cannot be followed"), std::string::npos)
        << error.what();
  }
}

TEST(Releases, OnePublisherWithoutPublicationsIsSaidToBeNotFollowed) {
  Humble robot;
  robot.pid = robot.tid = 200;
  robot.publisher(40, 1, "/within");  // intra-process: Humble has no event of it
  robot.subscription(41, 1, "/within", 42);
  robot.receive(robot.send());
  robot.start(42);
  robot.end(42, kMs);
  const TracedModel made = robot.model();
  EXPECT_TRUE(
      has_note(made, "takes /within, of which the trace has a publisher and no publication"));
  EXPECT_FALSE(has_note(made, "no callback of the trace publishes"));
}

TEST(Releases, EventsComeAsOftenAsTheirMessagesAreSent) {
  Humble robot;
  robot.pid = robot.tid = 200;
  robot.subscription(50, 1, "/joy", 51);
  const auto day = static_cast<std::uint64_t>(kDay_ns);
  for (const std::uint64_t sent_ms : {10U, 20U, 35U}) {  // the runs follow each other
    robot.take(50, day + sent_ms * kMs);
    robot.start(51);
    robot.end(51, kMs / 25);
  }
  robot.receive(robot.send());
  const TracedModel made = robot.model();
  const auto& event = std::get<model::Event>(made.application.callbacks[2].trigger);
  EXPECT_EQ(event.min_interval, model::Nanoseconds(10 * kMs));
  EXPECT_EQ(event.max_interval, model::Nanoseconds(15 * kMs));
}

TEST(Releases, WhatAThreadPublishesOutsideOfCallbacksIsSaid) {
  Humble robot;
  robot.pid = 200;
  robot.tid = 207;
  robot.thread = "goal";
  robot.publisher(60, 1, "/fibonacci/_action/feedback");
  robot.subscription(61, 1, "/fibonacci/_action/feedback", 62);
  for (int i = 0; i < 4; ++i) {
    robot.emit(EventKind::kRclPublish, {60});
    robot.publish(60, 900U + static_cast<std::uint64_t>(i));
  }
  robot.thread = "main";
  robot.receive(robot.send());
  robot.take(61, 901);
  robot.start(62);
  robot.end(62, kMs);
  const TracedModel made = robot.model();
  EXPECT_TRUE(has_note(made,
                       "thread 207 ('goal') of process 200 published 4 messages on "
                       "/fibonacci/_action/feedback outside of callbacks"));
  EXPECT_TRUE(has_note(made, "which a thread publishes outside of callbacks"));
}

TEST(Releases, ATopicThatAThreadAlsoPublishesOutsideOfCallbacksStartsAnEvent) {
  for (const int outside : {1, 10}) {
    Humble robot;
    for (int i = 0; i < 10; ++i) {
      robot.receive(robot.send());
      robot.now_ns += 4 * kMs;
      if (i < outside) {
        robot.pid = 100;
        robot.tid = 107;
        robot.emit(EventKind::kRclPublish, {10});
        robot.emit(EventKind::kRmwPublish, {});
        robot.now_ns += 3'000;
        robot.receive(static_cast<std::uint64_t>(robot.now_ns + kDay_ns));
      }
      robot.now_ns += 4 * kMs;
    }
    const TracedModel made = robot.model();
    ASSERT_EQ(made.application.callbacks.size(), 2U);
    const model::CallbackKind kind = made.application.callbacks[1].kind();
    EXPECT_EQ(kind, outside == 1 ? model::CallbackKind::kSubscription : model::CallbackKind::kEvent)
        << outside << " of " << 10 + outside << " messages";
    EXPECT_TRUE(has_note(made, "of process 100 published " + std::to_string(outside) + " message"));
  }
}

TEST(Releases, WhatThreadsWithoutCallbacksHaveOfTheCpusIsSaid) {
  constexpr std::uint64_t kRuns = 0;
  constexpr std::uint64_t kWaits = 2;
  Humble robot;
  const auto worked = [&](std::int64_t tid, std::int64_t for_ns) {
    robot.pid = 200;
    robot.tid = tid;
    robot.emit(EventKind::kThreadSwitch, {kRuns});
    robot.now_ns += for_ns;
    robot.emit(EventKind::kThreadSwitch, {kWaits});
  };
  worked(208, 500 * kMs);  // before the first callback
  robot.receive(robot.send());
  for (int i = 0; i < 10; ++i) {
    worked(207, 4 * kMs);
    robot.now_ns += 5 * kMs;
    robot.receive(robot.send());
  }
  EXPECT_TRUE(has_note(robot.model(), "1 thread of process 200 that ran no callback"));
}

TEST(Releases, ServicesForToolsAreNoPartOfTheRobot) {
  Humble robot;
  robot.pid = robot.tid = 200;
  for (const std::string_view name :
       {"/container/_container/load_node", "/motor/set_parameters", "/lift/change_state"}) {
    robot.emit(EventKind::kServiceInit, {70, 1}, {name});
    robot.emit(EventKind::kServiceCallback, {70, 71});
    for (int i = 0; i < 2; ++i) {
      robot.start(71);
      robot.end(71, 50 * kMs);
    }
  }
  robot.emit(EventKind::kServiceInit, {72, 1}, {"/reset"});
  robot.emit(EventKind::kServiceCallback, {72, 73});
  robot.start(73);
  robot.end(73, kMs);
  robot.receive(robot.send());
  const TracedModel made = robot.model();
  EXPECT_EQ(made.application.callbacks.size(), 3U);
  EXPECT_TRUE(has_note(made, "6 runs of 3 services for tools"));
}

TEST(Releases, StartsWithoutEndsDoNotGrowWithTheTrace) {
  Robot robot;
  robot.node(1, "sensor");
  robot.timer(20, 1, 10 * kMs, 21);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    robot.start(21);
  }
  for (std::uint64_t i = 0; i < 1000; ++i) {
    robot.end(21, kMs);
  }
  EXPECT_EQ(robot.system.instances().size(), 256U);
  EXPECT_EQ(robot.system.gaps().unfinished, 744U);
  EXPECT_EQ(robot.system.gaps().unmatched_ends, 744U);
}

TEST(Releases, AMessageThatIsHandedOverAndSentIsOnePublication) {
  Robot robot;
  robot.node(1, "sensor");
  robot.publisher(10, 1, "/points");
  robot.publisher(11, 1, "/status");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.subscription(30, 1, "/points", 31);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    robot.start(21);
    robot.emit(EventKind::kIntraPublish, {10, 7777});
    robot.emit(EventKind::kEnqueue, {6000, i});
    robot.emit(EventKind::kRclPublish, {10});
    robot.publish(10, i);
    robot.emit(EventKind::kRclPublish, {10});  // a second message, for other processes only
    robot.publish(10, 100 + i);
    robot.emit(EventKind::kIntraPublish, {10, 7777});
    robot.emit(EventKind::kRclPublish, {11});  // another publisher
    robot.publish(11, 200 + i);
    robot.end(21, kMs);
    robot.take(30, i);
    robot.start(31);
    robot.end(31, 9 * kMs);
  }
  robot.model();
  EXPECT_EQ(robot.system.publications(0).size(), 9U);
  EXPECT_EQ(robot.system.publications(1).size(), 3U);
  EXPECT_EQ(robot.system.gaps().publications, 12U);
  EXPECT_EQ(robot.system.instances().back().publisher, 0U);
}

}  // namespace
}  // namespace rclrt::trace

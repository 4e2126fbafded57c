// SPDX-License-Identifier: Apache-2.0
// Newest messages of topics, which callbacks of a trace take themselves.
#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rclrt/recorder/results.hpp"
#include "sampling_robot.hpp"
#include "traced_results.hpp"

namespace rclrt::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kStored = 700;

/// The planner's timer takes the newest image itself, as from a subscription of depth 1.
struct SamplingByTake : Sampling {
  std::uint64_t newest = 0;

  void send_image(std::uint64_t stamp) {
    start(21);
    now_ns += kMs / 2;
    publish(10, stamp);
    end(21, kMs / 2);
    newest = stamp;
  }

  void send_path(std::uint64_t stamp) {
    start(41);
    take(30, newest);
    emit(EventKind::kRmwTake, {1030, 0, 0});  // there is no other one
    publish(11, stamp);
    end(41, 2 * kMs);
    take(50, stamp);
    start(51);
    end(51, kMs);
  }

  void run_all() {
    run_with([this](std::uint64_t stamp) { send_image(stamp); },
             [this](std::uint64_t stamp) { send_path(stamp); });
  }
};

TEST(TracedSamples, ATimerThatTakesTheNewestMessageReadsItsTopic) {
  SamplingByTake robot;
  robot.run_all();
  const TracedModel made = robot.model();
  const model::Application& application = made.application;
  ASSERT_EQ(application.callbacks.size(), 3U);
  EXPECT_THAT(application.callbacks[1].samples, ElementsAre("/images"));
  ASSERT_EQ(application.cause_effect_chains.size(), 1U);
  EXPECT_THAT(path_of(application, 0),
              ElementsAre("camera_timer_1", "planner_timer_1", "motor_path"));
  EXPECT_THAT(made.proposals, IsEmpty());
}

TEST(TracedSamples, AgesFollowTheMessageThatWasTaken) {
  SamplingByTake robot;
  robot.run_all();
  // The camera publishes the image of 121 ms; before it ends, the planner takes this image on
  // another thread.
  robot.now_ns = 121 * kMs;
  robot.start(21);
  robot.publish(10, 100);
  robot.now_ns += kMs;
  robot.tid = 101;
  robot.newest = 100;
  robot.send_path(100);
  robot.tid = 100;
  robot.end(21, kMs);
  const auto outputs = outputs_of(robot);
  ASSERT_EQ(outputs.size(), 6U);
  EXPECT_EQ(outputs.back().age(), model::Nanoseconds(4 * kMs));
}

TEST(TracedSamples, WithoutANewMessageTheLastOneCountsAgain) {
  SamplingByTake robot;
  robot.run_all();
  robot.now_ns = 131 * kMs;
  robot.send_image(100);  // lost on its way
  robot.now_ns = 141 * kMs;
  robot.start(41);
  robot.emit(EventKind::kRmwTake, {1030, 0, 0});
  robot.publish(11, 100);
  robot.end(41, 2 * kMs);
  robot.take(50, 100);
  robot.start(51);
  robot.end(51, kMs);
  const auto outputs = outputs_of(robot);
  ASSERT_EQ(outputs.size(), 6U);
  // That of 101 ms, because the image of 111 ms was not taken.
  EXPECT_EQ(outputs.back().age(), model::Nanoseconds(43 * kMs));
}

TEST(TracedSamples, AMessageThatACallbackTakesBySpinningIsForItsOwnSubscription) {
  Sampling robot;
  robot.run();
  robot.now_ns += 10 * kMs;
  robot.start(21);
  robot.publish(10, 1000);
  robot.end(21, kMs);
  robot.start(41);
  robot.take(30, 1000);
  robot.start(31);
  robot.end(31, kMs);
  robot.end(41, kMs);
  const TracedModel made = robot.model();
  for (const model::Callback& each : made.application.callbacks) {
    EXPECT_THAT(each.samples, IsEmpty()) << each.id;
  }
}

TEST(TracedSamples, ATopicOfSeveralPublishersIsNoted) {
  SamplingByTake robot;
  robot.timer(22, 1, 100 * kMs, 23);
  robot.start(23);
  robot.publish(10, 1000);
  robot.end(23, kMs);
  robot.run_all();
  const TracedModel made = robot.model();
  EXPECT_THAT(made.application.cause_effect_chains, IsEmpty());
  EXPECT_TRUE(has_note(made,
                       "callback 'planner_timer_1' takes messages of topic '/images' itself, "
                       "which no single other callback publishes"));
}

TEST(TracedSamples, TheLastMessageOfARunThatTakesAllCounts) {
  SamplingByTake robot;
  robot.run_all();
  robot.now_ns = 131 * kMs;
  robot.send_image(100);
  robot.now_ns = 141 * kMs;
  robot.send_image(101);
  robot.start(41);
  robot.take(30, 100);
  robot.take(30, 101);
  robot.emit(EventKind::kRmwTake, {1030, 0, 0});
  robot.publish(11, 100);
  robot.end(41, 2 * kMs);
  robot.take(50, 100);
  robot.start(51);
  robot.end(51, kMs);
  const auto outputs = outputs_of(robot);
  ASSERT_EQ(outputs.size(), 6U);
  EXPECT_EQ(outputs.back().age(), model::Nanoseconds(4 * kMs));
}

TEST(TracedSamples, ARunThatStoresAValueAfterItsPublicationIsTheOneThatWasTaken) {
  SamplingByTake robot;
  robot.run_all();
  robot.now_ns = 121 * kMs;
  robot.start(21);
  robot.publish(10, 100);
  robot.now_ns += kMs;
  robot.tid = 101;
  robot.newest = 100;
  robot.send_path(100);  // before the store
  robot.tid = 100;
  robot.store(kStored, 1);
  robot.end(21, kMs);
  const auto outputs = outputs_of(robot);
  ASSERT_EQ(outputs.size(), 6U);
  EXPECT_EQ(outputs.back().age(), model::Nanoseconds(4 * kMs));
}

/// Another sensor, of which the planner takes the newest message, too.
struct SamplingTwoTopics : SamplingByTake {
  SamplingTwoTopics() {
    node(4, "laser");
    publisher(13, 4, "/scans");
    timer(80, 4, 20 * kMs, 81);
    subscription(82, 2, "/scans", 83);
  }
  void scan(std::uint64_t stamp) {
    start(81);
    publish(13, stamp);
    end(81, kMs);
  }
  const TracedInstance& plan_with(std::uint64_t image_stamp, std::uint64_t scan_stamp) {
    start(41);
    take(30, image_stamp);
    take(82, scan_stamp);
    end(41, kMs);
    return system.instances().back();
  }
};

TEST(TracedSamples, ARunReadsSeveralTopicsAtATimeAtWhichAllWereTheNewest) {
  SamplingTwoTopics robot;
  robot.send_image(1);
  const std::int64_t scan_ns = robot.now_ns;
  robot.scan(2);
  const TracedInstance& first = robot.plan_with(1, 2);
  EXPECT_GE(first.read_ns, scan_ns);
  EXPECT_LE(first.read_ns, first.start_ns);
  EXPECT_EQ(robot.system.gaps().mixed_reads, 0U);
}

TEST(TracedSamples, OfMessagesThatWereNeverTheNewestTogetherTheOldestCounts) {
  SamplingTwoTopics robot;
  robot.start(21);
  const std::int64_t image_ns = robot.now_ns;
  robot.publish(10, 1);
  robot.end(21, kMs);
  robot.send_image(2);  // on its way while the planner runs
  robot.scan(3);
  EXPECT_EQ(robot.plan_with(1, 3).read_ns, image_ns);
  EXPECT_EQ(robot.system.gaps().mixed_reads, 1U);
  EXPECT_TRUE(has_note(robot.model(), "1 runs read several values or newest messages which"));
}

TEST(TracedSamples, AStatusOfAnActionIsTakenByTheExecutorThatTheCallbackSpins) {
  SamplingByTake robot;
  robot.publisher(14, 1, "/dock/_action/status");
  robot.subscription(90, 2, "/dock/_action/status", 91);
  robot.start(21);
  robot.publish(14, 500);
  robot.end(21, kMs);
  robot.start(41);
  robot.take(90, 500);
  robot.end(41, kMs);
  robot.run_all();
  EXPECT_THAT(robot.model().application.callbacks[1].samples, ElementsAre("/images"));
}

TEST(TracedSamples, ACopyForASubscriptionWithRunsIsTakenByTheExecutorThatTheCallbackSpins) {
  Sampling robot;
  for (const std::uint64_t stamp : {1000U, 1001U}) {  // before the first run, and after it
    robot.start(21);
    robot.publish(10, stamp);
    robot.end(21, kMs);
    robot.start(41);
    robot.take(30, stamp);  // the executor drops it
    robot.end(41, kMs);
    robot.run();
    EXPECT_EQ(robot.system.instances().back().read_ns, 0);
  }
  const TracedModel made = robot.model();
  for (const model::Callback& each : made.application.callbacks) {
    EXPECT_THAT(each.samples, IsEmpty()) << each.id;
  }
}

TEST(TracedSamples, ATopicThatIsAlsoPublishedOutsideOfCallbacksIsNoted) {
  SamplingByTake robot;
  robot.tid = 105;  // a thread without callbacks
  robot.publish(10, 1000);
  robot.tid = 100;
  robot.run_all();
  const TracedModel made = robot.model();
  EXPECT_THAT(made.application.cause_effect_chains, IsEmpty());
  EXPECT_TRUE(has_note(made, "also messages from outside of callbacks have: no chain leads on"));
}

TEST(TracedSamples, ARunThatBeganBeforeTheTraceIsNotOutsideOfCallbacks) {
  SamplingByTake robot;
  robot.tid = 105;
  robot.publish(10, 1000);
  robot.end(21, kMs);
  robot.tid = 100;
  robot.run_all();
  EXPECT_EQ(robot.model().application.cause_effect_chains.size(), 1U);
}

TEST(TracedSamples, ASecondStageOfNewestMessagesIsNoChainOfItsOwn) {
  SamplingByTake robot;
  robot.node(5, "drive");
  robot.timer(60, 5, 20 * kMs, 61);
  robot.subscription(62, 5, "/path", 63);
  robot.now_ns += 200 * kMs;
  robot.run_all();
  robot.start(61);
  robot.take(62, 5);
  robot.end(61, kMs);
  const TracedModel made = robot.model();
  std::vector<std::string> begins;
  for (std::size_t i = 0; i < made.application.cause_effect_chains.size(); ++i) {
    begins.push_back(path_of(made.application, i).front());
  }
  EXPECT_THAT(begins, testing::Each("camera_timer_1"));
  EXPECT_FALSE(begins.empty());
}

TEST(TracedSamples, ProposalsKeepTheTopicsThatATimerReads) {
  SamplingByTake robot;
  robot.subscription(64, 2, "/images", 65);
  robot.run_all();
  robot.take(64, 10);
  robot.start(65);
  robot.end(65, kMs);
  const TracedModel made = robot.model();
  EXPECT_THAT(made.proposals,
              testing::Contains(HasSubstr("has 'reads: [{topic: /images}, planner_images")));
}

}  // namespace
}  // namespace rclrt::trace

// SPDX-License-Identifier: Apache-2.0
// Values that callbacks store and read, by rclrt's own events.
#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rclrt/recorder/results.hpp"
#include "sampling_robot.hpp"
#include "traced_results.hpp"

namespace rclrt::trace {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t kValue = 700;

/// The planner's subscription stores its image in a value, which the timer reads.
struct SamplingByValue : Sampling {
  std::uint64_t stored = 0;

  void send_image(std::uint64_t stamp) {
    start(21);
    publish(10, stamp);
    end(21, kMs);
    take(30, stamp);
    start(31);
    now_ns += kMs;
    store(kValue, ++stored);
    end(31, 0);
  }

  void send_path(std::uint64_t stamp) {
    start(41);
    read(kValue, stored);
    publish(11, stamp);
    end(41, 2 * kMs);
    take(50, stamp);
    start(51);
    end(51, kMs);
  }

  /// An image of 0 and 10 ms and a path, every 20 ms.
  void run_all() {
    run_with([this](std::uint64_t stamp) { send_image(stamp); },
             [this](std::uint64_t stamp) { send_path(stamp); });
  }
};

TEST(TracedValues, ReadsJoinTheSegmentsOfAChain) {
  SamplingByValue robot;
  robot.run_all();
  const TracedModel made = robot.model();
  const model::Application& application = made.application;
  ASSERT_EQ(application.callbacks.size(), 4U);
  EXPECT_THAT(application.callbacks[1].stores, ElementsAre("planner_images"));
  EXPECT_THAT(application.callbacks[2].reads, ElementsAre("planner_images"));
  ASSERT_EQ(application.cause_effect_chains.size(), 1U);
  EXPECT_THAT(path_of(application, 0),
              ElementsAre("camera_timer_1", "planner_images", "planner_timer_1", "motor_path"));
  EXPECT_THAT(made.proposals, IsEmpty());
  EXPECT_FALSE(has_note(made, "may publish"));
  EXPECT_FALSE(has_note(made, "reads are of values"));
}

TEST(TracedValues, ATimerThatDoesNotReadAKnownValueIsNotProposed) {
  SamplingByValue robot;
  robot.publisher(12, 2, "/alive");
  robot.timer(42, 2, 20 * kMs, 43);
  robot.subscription(60, 3, "/alive", 61);
  robot.run_all();
  robot.start(43);
  robot.publish(12, 1);
  robot.end(43, kMs);
  robot.take(60, 1);
  robot.start(61);
  robot.end(61, kMs);
  const TracedModel made = robot.model();
  ASSERT_EQ(made.application.cause_effect_chains.size(), 1U);
  EXPECT_THAT(made.proposals, Not(Contains(HasSubstr("planner_timer_2"))));
  EXPECT_FALSE(has_note(made, "planner_timer_2 may publish"));
}

TEST(TracedValues, AgesFollowTheValueThatWasReadNotTheEndOfItsCallback) {
  SamplingByValue robot;
  robot.run_all();
  // The subscription stores the image of 120 ms and is preempted before its end by the timer, which
  // reads this image. By the ends of the runs it would have read that of 110 ms.
  robot.now_ns = 121 * kMs;
  robot.start(21);
  robot.publish(10, 100);
  robot.end(21, kMs);
  robot.take(30, 100);
  robot.start(31);
  robot.now_ns += kMs;
  robot.store(kValue, ++robot.stored);
  robot.tid = 101;
  robot.start(41);
  robot.read(kValue, robot.stored);
  robot.publish(11, 100);
  robot.end(41, 2 * kMs);
  robot.take(50, 100);
  robot.start(51);
  robot.end(51, kMs);
  robot.tid = 100;
  robot.end(31, kMs);
  const auto outputs = outputs_of(robot);
  ASSERT_EQ(outputs.size(), 6U);
  EXPECT_EQ(outputs.back().age(), model::Nanoseconds(5 * kMs));
}

TEST(TracedValues, AReaderThatMissesAValueJustBeforeItsStoreReadTheOneBefore) {
  SamplingByValue robot;
  robot.run_all();
  // The timer on another thread comes between the event of the store and the store itself.
  robot.now_ns = 121 * kMs;
  robot.start(21);
  robot.publish(10, 100);
  robot.end(21, kMs);
  robot.take(30, 100);
  robot.start(31);
  robot.now_ns += kMs;
  robot.store(kValue, ++robot.stored);
  robot.now_ns += 100;
  robot.end(31, 0);  // has ended before the event of the read
  robot.tid = 101;
  robot.start(41);
  robot.read(kValue, robot.stored - 1);
  robot.publish(11, 100);
  robot.end(41, 2 * kMs);
  robot.take(50, 100);
  robot.start(51);
  robot.end(51, kMs);
  const auto outputs = outputs_of(robot);
  ASSERT_EQ(outputs.size(), 6U);
  // The image of 110 ms: 10 ms older.
  EXPECT_EQ(outputs.back().age(), model::Nanoseconds(15 * kMs + 100));
}

TEST(TracedValues, ALaterValueAtTheSameAddressIsAnother) {
  Sampling robot;
  robot.timer(42, 2, 20 * kMs, 43);
  robot.publisher(12, 2, "/alive");
  robot.subscription(60, 3, "/alive", 61);
  const auto each = [&](std::uint64_t timer, std::uint64_t publisher, std::uint64_t subscription,
                        std::uint64_t number) {
    robot.start(31);
    robot.store(kValue, number);
    robot.end(31, kMs);
    robot.start(timer);
    robot.read(kValue, number);
    robot.publish(publisher, number);
    robot.end(timer, kMs);
    robot.take(subscription, number);
    robot.start(subscription + 1);
    robot.end(subscription + 1, kMs);
  };
  robot.run();
  each(41, 11, 50, 1000);
  each(41, 11, 50, 1001);
  each(43, 12, 60, 1);
  EXPECT_EQ(robot.system.stored_values().size(), 2U);
  EXPECT_EQ(robot.system.stored_values()[0].readers.size(), 1U);
  EXPECT_NE(robot.system.stored_values()[0].readers, robot.system.stored_values()[1].readers);
}

TEST(TracedValues, ReadsOfValuesFromBeforeTheTraceAreNoted) {
  SamplingByValue robot;
  robot.start(41);
  robot.read(kValue, 7);
  robot.publish(11, 50);
  robot.end(41, kMs);
  robot.stored = 7;
  robot.run_all();
  const TracedModel made = robot.model();
  EXPECT_EQ(made.application.cause_effect_chains.size(), 1U);
  EXPECT_TRUE(has_note(made, "1 reads are of values that were stored before the trace"));
}

TEST(TracedValues, StoresOutsideOfCallbacksHaveNoWriter) {
  SamplingByValue robot;
  robot.store(kValue + 1, 1);
  robot.run_all();
  robot.start(41);
  robot.read(kValue + 1, 1);
  robot.end(41, kMs);
  const TracedModel made = robot.model();
  EXPECT_THAT(made.application.callbacks[2].reads, ElementsAre("planner_images"));
}

TEST(TracedValues, AReadOfAnOldNumberLongAfterAStoreIsOfAnotherValueAtTheAddress) {
  SamplingByValue robot;
  robot.run_all();
  robot.start(31);
  robot.store(kValue + 1, 1);
  robot.end(31, kMs);
  robot.now_ns += 20'000 * kMs;
  robot.start(41);
  robot.read(kValue + 1, 0);
  robot.end(41, kMs);
  const TracedInstance& run = robot.system.instances().back();
  EXPECT_EQ(run.read_ns, run.start_ns);
  EXPECT_EQ(robot.system.gaps().unknown_reads, 0U);
}

TEST(TracedValues, ValuesOfADamagedTraceAreBounded) {
  SamplingByValue robot;
  robot.run_all();
  robot.start(31);
  for (int i = 0; i < 30'000; ++i) {
    robot.store(kValue + 1, 1);  // stored only: one entry
  }
  EXPECT_EQ(robot.system.stored_values().size(), 2U);
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    robot.store(kValue + 2 + i, 1);
  }
  robot.end(31, kMs);
  EXPECT_EQ(robot.system.stored_values().size(), 10'000U);
  EXPECT_TRUE(has_note(robot.model(), "20002 events of stored values were left out"));
}

}  // namespace
}  // namespace rclrt::trace

// SPDX-License-Identifier: Apache-2.0
/// Bounds of chains that meet others in synchronisers, in which messages wait or are lost.
#include <gtest/gtest.h>

#include <string>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {
namespace {

model::Sync& sync_of(model::Application& application, std::size_t callback) {
  return std::get<model::Sync>(application.callbacks[callback].trigger);
}

/// a (0) is on a CPU of its own, with a latency of 50 ms to b (1) and the sync (2) of both.
model::Application far_apart(double period_of_b, double window, double period_of_a = 10) {
  model::Application application = Builder()
                                       .timer("a", period_of_a, 1)
                                       .timer("b", period_of_b, 1)
                                       .sync("s", "a", "b", 1, window)
                                       .chain("a", {"a", "s"}, 1)
                                       .chain("b", {"b", "s"}, 1)
                                       .done();
  application.executors.push_back({.name = "far", .cpus = {1}});
  application.nodes.push_back({.name = "far", .name_space = "/", .executor = 1});
  application.callbacks[0].node = 1;
  return application;
}

constexpr Overheads kFar{.far = {.min = 50'000'000, .max = 50'000'000}};

/// a moves its releases, so that the times between them are unknown.
model::Application far_apart_with_rebase(double period_of_b) {
  model::Application application = far_apart(period_of_b, 1000, 100);
  std::get<model::Timer>(application.callbacks[0].trigger).overrun = model::OverrunPolicy::kRebase;
  return application;
}

// The message of a release at 0 arrives at 51. b's earlier messages may have left with a's earlier
// ones, so it waits for a release of b at 51 + 20 at the latest: 2 for b behind an s, and 2 for s
// behind a b.
TEST(SyncBounds, AMessageThatWasLongOnItsWayMayWaitForALaterRelease) {
  const auto bounds = chain_bounds(far_apart_with_rebase(20), ExecutorKind::kPreemptive, kFar);
  EXPECT_EQ(bounds[0].bound, ms(51 + 20 + 2 + 2).count());
}

// If the next message of a, released at 10, has arrived at 61, a later b is nearer to that one.
TEST(SyncBounds, AMessageWaitsNoLongerThanUntilTheNextOneOfItsInputIsThere) {
  const auto bounds = chain_bounds(far_apart(200, 1000), ExecutorKind::kPreemptive, kFar);
  EXPECT_EQ(bounds[0].bound, ms(10 + 51 + 2 + 2).count());
}

// As above, with an event that comes at least every 30 in the place of b.
TEST(SyncBounds, AMessageMayWaitForTheLongestIntervalOfAnEvent) {
  auto application = far_apart_with_rebase(20);
  application.callbacks[1].trigger = model::Event{.min_interval = ms(20), .max_interval = ms(30)};
  const auto bounds = chain_bounds(application, ExecutorKind::kPreemptive, kFar);
  EXPECT_EQ(bounds[0].bound, ms(51 + 30 + 2 + 2).count());
}

// p pairs two messages of each release of b, so it publishes as often as b is released. The message
// of a waits for the next of these releases, less than 20 after its arrival, and not for 10 more
// messages of a.
TEST(SyncBounds, BehindASyncOfOneTimerAMessageWaitsForTheNextRelease) {
  const auto bounds = chain_bounds(Builder()
                                       .timer("a", 10, 1)
                                       .timer("b", 20, 1)
                                       .subscription("c", "b", 1)
                                       .subscription("d", "b", 1)
                                       .sync("p", "c", "d", 1)
                                       .sync("s", "a", "p", 1)
                                       .chain("a", {"a", "s"}, 1)
                                       .chain("b", {"b", "c", "p", "s"}, 1)
                                       .done());
  ASSERT_TRUE(bounds[0].bound);
  EXPECT_LT(*bounds[0].bound, ms(20 + 20).count());
}

// With stated offsets a and b are released together, and pairs are of one release, or there are
// none. While a's message takes its 50 ms, b's messages of six releases arrive, and the sync keeps
// `depth`.
TEST(SyncBounds, PartnersMustFitIntoTheSyncForAReactionToBeSure) {
  auto application = far_apart(10, 5);
  for (const std::size_t timer : {0U, 1U}) {
    std::get<model::Timer>(application.callbacks[timer].trigger).offset_stated = true;
  }
  sync_of(application, 2).depth = 6;
  const auto enough = chain_bounds(application, ExecutorKind::kPreemptive, kFar);
  EXPECT_EQ(enough[0].reaction, ms(10 + 51 + 2).count());
  EXPECT_TRUE(enough[0].assumptions.empty());
  sync_of(application, 2).depth = 5;
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kPreemptive, kFar)[0].assumptions,
            (std::vector<std::string>{"the queue of 's' (depth 5) does not overflow"}));
}

// A release of a at 0 may wait for the first one of b at 19: then 1 for b and 2 for s behind an a.
TEST(SyncBounds, BeforeItsFirstReleaseTheOtherTimerIsWaitedFor) {
  auto application = Builder()
                         .timer("a", 20, 1)
                         .timer("b", 4, 1)
                         .sync("s", "a", "b", 1)
                         .chain("a", {"a", "s"}, 1)
                         .done();
  auto& other = std::get<model::Timer>(application.callbacks[1].trigger);
  other.offset_stated = true;
  other.offset = ms(19);
  EXPECT_EQ(chain_bounds(application)[0].bound, ms(19 + 1 + 2).count());
}

/// a takes more than 10 to s1, where b arrives every 2; c arrives at s2 within 30 of the pair.
model::Application two_syncs() {
  return Builder()
      .timer("a", 100, 10)
      .timer("b", 2, 0.1)
      .priority(2)
      .timer("c", 500, 0.1)
      .priority(2)
      .sync("s1", "a", "b", 0.1, 15)
      .priority(2)
      .sync("s2", "s1", "c", 0.1, 30)
      .priority(2)
      .chain("a", {"a", "s1", "s2"}, 1)
      .done();
}

// The pair of s1 has the stamp of the first b after a, 2 after it, if s1 keeps that b until a
// arrives. If s1 keeps fewer, it may be any b that is released before a arrives: a takes 10, six b
// 0.6, and c and a set of each sync 0.3. From there it is 30 to c's
// release, and 0.1 for each of c, b, s1 and s2. An a that had just ended brings no second set.
TEST(SyncBounds, AStampIsAsLateAsTheOldestMessageThatASyncKeeps) {
  auto application = two_syncs();
  sync_of(application, 3).depth = 6;
  EXPECT_EQ(chain_bounds(application)[0].bound, ms(2 + 30 + 0.4).count() - 1);
  sync_of(application, 3).depth = 5;  // a may take 10 and some
  EXPECT_EQ(chain_bounds(application)[0].bound, ms(10.9 + 30 + 0.4).count());
}

/// A timer of 100 ms and a first sync: two publishers, or one, bring the timer's messages to each
/// input. The sync's messages meet u, every 10, in a second sync.
model::Application pairs_before_a_sync(bool several) {
  Builder builder;
  builder.timer("a", 100, 0.1);
  for (const char* const input : {"in1", "in2"}) {
    builder.subscription(input + std::string("_first"), "a", 0.1).publishes(input);
    if (several) {
      builder.subscription(input + std::string("_second"), "a", 0.1).publishes(input);
    }
  }
  return builder.sync("s1", "in1", "in2", 0.1, 1)
      .timer("u", 10, 0.1)
      .sync("s2", "s1", "u", 0.1, 90)
      .chain("one", {"a", "in1_first", "s1", "s2"}, 0)
      .done();
}

// One pair a period waits for the next u: less than 10 after the pair has arrived. Two pairs of one
// stamp may wait together, and a u takes either, so the other waits for a further u, and longer
// with more publishers. The only known bound is the window.
TEST(SyncBounds, BehindASyncAMessageWaitsForTheNextReleaseWhereStampsIncrease) {
  const auto one = chain_bounds(pairs_before_a_sync(false)).front();
  ASSERT_TRUE(one.bound);
  EXPECT_LT(*one.bound, ms(10 + 2).count());
  const auto two = chain_bounds(pairs_before_a_sync(true)).front();
  EXPECT_GE(two.bound, ms(90).count());
}

// v's message may have a long latency, and several of a burst trigger s1 within an instant. So
// several of s1's messages may be pending at s2, although t's own arrive there every 10.
TEST(SyncBounds, AQueueBehindASyncHoldsWhatABurstAtItsOtherInputBrings) {
  auto application = Builder()
                         .timer("t", 10, 0.1)
                         .timer("v", 30, 0.1)
                         .sync("s1", "t", "v", 0.1)
                         .timer("w", 10, 0.1)
                         .sync("s2", "s1", "w", 0.1)
                         .chain("one", {"t", "s1", "s2"}, 0)
                         .done();
  application.executors.push_back({.name = "far", .cpus = {1}});
  application.nodes.push_back({.name = "far", .name_space = "/", .executor = 1});
  application.callbacks[1].node = 1;
  const Overheads far{.far = {.min = 0, .max = ms(60).count()}};
  const auto queues = queue_bounds(application, ExecutorKind::kPreemptive, far);
  EXPECT_GE(queues[4].pending, 2);
}

/// A camera and an IMU of ten times its rate: every set has one image.
model::Application camera_and_imu() {
  return Builder()
      .timer("imu", 4, 0.25)
      .timer("camera", 40, 4)
      .sync("fuse", "imu", "camera", 5, 15)
      .subscription("control", "fuse", 0.5)
      .chain("see", {"camera", "fuse", "control"}, 1)
      .done();
}

// A set needs an image, so fuse runs once in a camera period, not once for each imu. The CPU is
// busy from an image on: 4, then 5.5 of the set, and 0.25 for each imu. An image that waits for an
// imu after that waits for less than 4, and no other image delays it.
TEST(SyncBounds, ASyncRunsNoMoreOftenThanItsRarestInput) {
  const model::Application application = camera_and_imu();
  ASSERT_LT(application.utilisation(), 0.4);
  EXPECT_EQ(chain_bounds(application)[0].bound, ms(4 + 5.5 + 3 * 0.25).count());
  for (const ExecutorKind kind : {ExecutorKind::kWaitSet, ExecutorKind::kEdf, ExecutorKind::kEvents,
                                  ExecutorKind::kPicas, ExecutorKind::kStaticOrder}) {
    const auto bounds = chain_bounds(application, kind);
    ASSERT_TRUE(bounds[0].bound) << static_cast<int>(kind) << ": " << bounds[0].note;
    EXPECT_LE(bounds[0].bound, ms(12).count()) << static_cast<int>(kind);
  }
}

// The rarest input of two syncs behind each other counts for the second one, too.
TEST(SyncBounds, ASyncBehindASyncRunsNoMoreOftenThanTheRarestInput) {
  const model::Application application = Builder()
                                             .timer("imu", 4, 0.25)
                                             .timer("camera", 40, 4)
                                             .sync("fuse", "imu", "camera", 5, 15)
                                             .timer("wheel", 10, 0.25)
                                             .sync("locate", "fuse", "wheel", 6, 15)
                                             .chain("see", {"camera", "fuse", "locate"}, 1)
                                             .done();
  ASSERT_LT(application.utilisation(), 0.6);
  EXPECT_TRUE(chain_bounds(application)[0].bound);
}

// Without a limit of the window, the images that wait are as many as the sync keeps.
TEST(SyncBounds, OnlyAsManyMessagesAsASyncKeepsMeetLaterOnes) {
  model::Application application = camera_and_imu();
  sync_of(application, 2).window = ms(100'000);
  sync_of(application, 2).depth = 1;
  const auto one = chain_bounds(application)[0].bound;
  sync_of(application, 2).depth = 3;
  const auto three = chain_bounds(application)[0].bound;
  ASSERT_TRUE(one);
  ASSERT_TRUE(three);
  EXPECT_GT(*three, *one);
}

// Two timers publish one input, so no timer brings all messages of the busiest one. A window in
// which ten messages wait does not bring ten sets at once: at most one for each message.
TEST(SyncBounds, SetsAreNoMoreThanTheMessagesThatMayCompleteThem) {
  const model::Application application = Builder()
                                             .timer("a", 100, 1)
                                             .timer("a2", 100, 1)
                                             .publishes("a")
                                             .timer("b", 100, 1)
                                             .sync("s", "a", "b", 20, 1000)
                                             .timer("other", 100, 1)
                                             .chain("other", {"other"}, 0)
                                             .done();
  // Three messages complete three sets, with 1 of each timer.
  EXPECT_EQ(chain_bounds(application)[0].bound, ms(3 * 20 + 4).count());
}

// x is silent for a long time, and completes two sets of s1 within 10 ms. The messages of s1 are
// then closer to each other than those of its rarest input, and one may wait behind another at s2.
TEST(SyncBounds, AQueueBehindASyncHoldsWhatWaitedInIt) {
  model::Application application = Builder()
                                       .timer("y", 1000, 1)
                                       .timer("x", 10, 1)
                                       .sync("s1", "y", "x", 1, 1000)
                                       .timer("z", 1000, 1)
                                       .sync("s2", "s1", "z", 15, 1000)
                                       .chain("one", {"y", "s1", "s2"}, 0)
                                       .done();
  application.callbacks[1].trigger =
      model::Event{.min_interval = ms(10), .max_interval = ms(5000), .depth = 10};
  for (const ExecutorKind kind : {ExecutorKind::kEdf, ExecutorKind::kWaitSet,
                                  ExecutorKind::kPreemptive, ExecutorKind::kEvents}) {
    const auto queues = queue_bounds(application, kind);
    EXPECT_TRUE(!queues[4].pending || *queues[4].pending >= 2) << static_cast<int>(kind);
  }
}

/// a (0), b (1) and c (2) at a sync (3) of the three, each with a chain.
model::Application three_inputs(double window) {
  return Builder()
      .timer("a", 10, 1)
      .timer("b", 20, 1)
      .timer("c", 40, 1)
      .sync("s", {"a", "b", "c"}, 1, window)
      .chain("a", {"a", "s"}, 1)
      .chain("b", {"b", "s"}, 1)
      .chain("c", {"c", "s"}, 1)
      .done();
}

// A c meets the next a and the next b, which is less than 20 later; then 1 for each of a, b and s,
// because c has run by then. For an a the window is longer than its period, and an earlier a may be
// as near to the others.
void state_offset(model::Application& application, std::size_t timer, double offset_ms) {
  auto& own = std::get<model::Timer>(application.callbacks[timer].trigger);
  own.offset = ms(offset_ms);
  own.offset_stated = true;
}

// a (0) and b (1) meet in s (2), and its sets meet c (3) in t (4). All have a period of 10.
model::Application in_step(double offset_of_b) {
  auto application = Builder()
                         .timer("a", 10, 0.25)
                         .timer("b", 10, 0.25)
                         .sync("s", "a", "b", 0.25, 1000)
                         .timer("c", 10, 0.25)
                         .sync("t", "s", "c", 0.25, 1000)
                         .chain("a", {"a", "s", "t"}, 3)
                         .chain("b", {"b", "s", "t"}, 2)
                         .chain("c", {"c", "t"}, 1)
                         .done();
  state_offset(application, 0, 1);
  state_offset(application, 1, offset_of_b);
  state_offset(application, 3, 2);
  return application;
}

// Set n has message n of each input: a waits 3 for b, and c, released at 2, waits 2 for it. b waits
// for none of the next period, although the window would allow it. A timer and both syncs
// take 0.75. Each message then waits for 0.25 of another one besides: c, or a set that c brings.
TEST(SyncBounds, MessagesOfOnePeriodMeetThoseOfTheSameNumber) {
  const auto bounds = chain_bounds(in_step(4));
  EXPECT_EQ(bounds[0].bound, ms(3 + 0.75 + 0.25).count());
  EXPECT_EQ(bounds[1].bound, ms(0.75 + 0.25).count());
  EXPECT_EQ(bounds[2].bound, ms(2 + 0.75 + 0.25).count());
  EXPECT_EQ(bounds[1].reaction, ms(10 + 0.75 + 0.25).count());
}

// A message of a may still wait for b when the next one of a arrives.
TEST(SyncBounds, MessagesOfTheSameNumberNeedRoomForOneMoreThanIsPending) {
  auto application = in_step(4);
  sync_of(application, 2).depth = 2;
  EXPECT_TRUE(chain_bounds(application)[0].assumptions.empty());
  sync_of(application, 2).depth = 1;
  for (const ChainBound& bound : chain_bounds(application)) {
    EXPECT_EQ(bound.assumptions,
              (std::vector<std::string>{"the queue of 's' (depth 1) does not overflow"}));
  }
}

// a waits 5 for b, or b waits 5 for the next a: which one it is depends on which arrives first.
TEST(SyncBounds, HalfAPeriodApartAMessageMayWaitForTheNextPeriod) {
  const auto bounds = chain_bounds(in_step(6));
  EXPECT_GE(*bounds[0].bound, ms(5 + 0.75).count());
  EXPECT_GE(*bounds[1].bound, ms(5 + 0.75).count());
}

TEST(SyncBounds, OfThreeInputsAMessageWaitsForTheNextOfEachOrAWindow) {
  const auto bounds = chain_bounds(three_inputs(30));
  EXPECT_EQ(bounds[2].bound, ms(20 + 3).count() - 1);
  EXPECT_EQ(bounds[0].bound, ms(30 + 4).count());
}

// For any window, the sync keeps two messages of each input. An a waits until the second later a
// has arrived, released 20 later and with a latency of 4 (a, b, c and s). If it is unmatched by
// then, it stays unmatched. A b waits 40 and 4.
TEST(SyncBounds, AMessageWaitsUntilLaterOnesPushItOut) {
  auto application = three_inputs(1000);
  std::get<model::Sync>(application.callbacks[3].trigger).depth = 2;
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].bound, ms(20 + 4 + 4).count());
  EXPECT_EQ(bounds[1].bound, ms(40 + 4 + 4).count());
  // The next releases of a timer that moves its releases are unknown. A c waits for no later b than
  // the next one after an a that has arrived.
  std::get<model::Timer>(application.callbacks[0].trigger).overrun = model::OverrunPolicy::kRebase;
  EXPECT_EQ(chain_bounds(application)[0].bound, ms(20 + 40 + 4 + 4).count());
}

TEST(SyncBounds, ThreeInputsOfOnePeriodAndOffsetMeetInEachRelease) {
  auto application = three_inputs(30);
  for (const std::size_t timer : {0U, 1U, 2U}) {
    auto& each = std::get<model::Timer>(application.callbacks[timer].trigger);
    each.period = ms(40);
    each.offset_stated = true;
  }
  for (const ChainBound& bound : chain_bounds(application)) {
    EXPECT_EQ(bound.bound, ms(4).count());
    EXPECT_EQ(bound.reaction, ms(44).count());
  }
}

}  // namespace
}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/sync_fates.hpp"

#include <gtest/gtest.h>

#include <string>

#include "rclrt/model/parse.hpp"

namespace rclrt::model {
namespace {

/// A synchroniser of a fast chain (every 10 ms) and a slow callback (every 40 ms) of no chain.
Application application(int depth, int window_ms) {
  const auto read = parse_application(
      "rclrt: 1\nname: fusion\nnodes: [{name: n}]\ncallbacks:\n"
      "  - {id: imu, node: n, timer: {period_ms: 10}, wcet_ms: 1, publishes: [imu]}\n"
      "  - {id: camera, node: n, timer: {period_ms: 40}, wcet_ms: 1, publishes: [image]}\n"
      "  - {id: fuse, node: n, sync: {topics: [imu, image], window_ms: " +
      std::to_string(window_ms) + ", depth: " + std::to_string(depth) +
      "}, wcet_ms: 1}\n"
      "chains: [{id: see, callbacks: [imu, fuse]}]\n");
  EXPECT_TRUE(read.application) << to_string(read.diagnostics.front(), "test");
  return *read.application;
}

constexpr std::int64_t kMs = 1'000'000;
constexpr std::size_t kFuse = 2;

/// A run written by hand; stamps and times are in ms.
class SyncRun {
 public:
  SyncRun(int depth, int window_ms) : fates_(application(depth, window_ms)) {}

  /// Adds a message of instance n of the chain that is kept.
  SyncRun& imu(std::int64_t stamp, std::int64_t time, std::uint64_t instance) {
    fates_.add(at(0, stamp, time));
    fates_.kept(at(0, stamp, time), 0, instance);
    return *this;
  }
  /// Adds an image that completes a set with instance n of the chain.
  SyncRun& set(std::int64_t stamp, std::int64_t time, std::uint64_t instance) {
    fates_.add(at(1, stamp, time));
    fates_.in_set(at(1, stamp, time), 0, instance);
    return *this;
  }
  SyncRun& image(std::int64_t stamp, std::int64_t time) {
    fates_.add(at(1, stamp, time));
    return *this;
  }
  SyncFates end(std::int64_t time) {
    fates_.finish(time * kMs);
    return fates_;
  }

 private:
  static SyncFates::Arrival at(std::size_t input, std::int64_t stamp, std::int64_t time) {
    return {.callback = kFuse, .input = input, .stamp_ns = stamp * kMs, .time_ns = time * kMs};
  }
  SyncFates fates_;
};

TEST(SyncFates, AMessageThatWaitedWhileASetTookANewerOneIsUnmatched) {
  const SyncFates fates = SyncRun(10, 20).imu(10, 11, 1).imu(20, 21, 2).set(22, 23, 2).end(30);
  EXPECT_EQ(fates.of(0, 1), SyncFate::kUnmatched);
  EXPECT_EQ(fates.of(0, 2), SyncFate::kOther) << "it was in the set";
}

TEST(SyncFates, AMessageThatReachedNoSynchroniserIsNoneOfThem) {
  const SyncFates fates = SyncRun(10, 20).imu(20, 21, 2).set(22, 23, 2).end(30);
  EXPECT_EQ(fates.of(0, 1), SyncFate::kOther);
}

TEST(SyncFates, AMessageThatMadeRoomIsUnmatchedWhereTheSetTookANearerOne) {
  // Depth 2: instance 1 makes room at 31; the image of 38 is nearer to 3.
  const SyncFates fates =
      SyncRun(2, 100).imu(10, 11, 1).imu(20, 21, 2).imu(30, 31, 3).set(38, 39, 3).end(50);
  EXPECT_EQ(fates.of(0, 1), SyncFate::kUnmatched);
  EXPECT_EQ(fates.of(0, 2), SyncFate::kUnmatched);
}

TEST(SyncFates, AMessageThatMadeRoomIsLostByDepthWhereItWasTheNearestToOneThatCameLater) {
  // An image of 11 that takes 30 ms: with a larger depth it would have been in a set with instance
  // 1.
  const SyncFates fates =
      SyncRun(2, 100).imu(10, 11, 1).imu(20, 21, 2).imu(30, 31, 3).set(11, 41, 2).end(50);
  EXPECT_EQ(fates.of(0, 1), SyncFate::kLostByDepth);
}

TEST(SyncFates, OfTwoEquallyNearTheOlderOneIsNeeded) {
  const SyncFates fates = SyncRun(1, 100).imu(10, 11, 1).imu(20, 21, 2).set(15, 22, 2).end(50);
  EXPECT_EQ(fates.of(0, 1), SyncFate::kLostByDepth);
}

TEST(SyncFates, AMessageThatMadeRoomIsUnmatchedWhereNothingCameWithinItsWindow) {
  // 33 images that are never within 1 ms of the IMU's, until one is.
  SyncRun run(3, 1);
  std::uint64_t instance = 0;
  for (int time = 0; time < 100; time += 10) {
    run.imu(time, time, instance++);
    run.image(time + 4, time + 5);
  }
  run.imu(100, 100, instance).set(101, 102, instance);
  const SyncFates fates = run.end(110);
  for (std::uint64_t n = 0; n < instance; ++n) {
    EXPECT_EQ(fates.of(0, n), SyncFate::kUnmatched) << n;
  }
}

TEST(SyncFates, AtTheEndAMessageWaitsTooLongOnceThatIsLongerThanUsual) {
  // Sets come every 40 ms; two periods of the slowest input are 80.
  SyncRun run(10, 20);
  run.imu(0, 0, 0).set(1, 1, 0).imu(40, 40, 4).set(41, 41, 4);
  run.imu(50, 50, 5).imu(130, 130, 13);
  EXPECT_EQ(SyncRun(run).end(130).of(0, 5), SyncFate::kWaiting);
  EXPECT_EQ(SyncRun(run).end(131).of(0, 5), SyncFate::kWaitsTooLong);
  EXPECT_EQ(run.end(131).of(0, 13), SyncFate::kWaiting);
}

TEST(SyncFates, WhatWaitedWhileAnInputWasSilentIsNotLeftOver) {
  SyncRun run(100, 20);
  std::uint64_t n = 0;
  for (std::int64_t ms = 0; ms <= 600; ms += 10, ++n) {
    run.imu(ms, ms, n);
    if (ms % 40 == 0 && (ms <= 120 || ms >= 480)) {  // no image from 160 to 440
      run.set(ms, ms, n);
    }
  }
  const SyncFates fates = run.end(600);
  EXPECT_EQ(fates.of(0, 1), SyncFate::kUnmatched) << "of 10 ms: there were images before and after";
  EXPECT_EQ(fates.of(0, 20), SyncFate::kWaitsTooLong) << "of 200 ms: the camera was silent";
  EXPECT_EQ(fates.of(0, 30), SyncFate::kWaitsTooLong) << "of 300 ms";
  EXPECT_EQ(fates.of(0, 47), SyncFate::kUnmatched) << "of 470 ms: the next image came soon";
}

TEST(SyncFates, ASynchroniserThatNeverMakesASetIsNoExcuse) {
  SyncRun run(10, 20);
  for (std::uint64_t n = 0; n < 100; ++n) {
    run.imu(static_cast<std::int64_t>(10 * n), static_cast<std::int64_t>(10 * n), n);
  }
  const SyncFates fates = run.end(1000);
  EXPECT_EQ(fates.of(0, 0), SyncFate::kWaitsTooLong);
  EXPECT_EQ(fates.of(0, 91), SyncFate::kWaitsTooLong);
  EXPECT_EQ(fates.of(0, 92), SyncFate::kWaiting) << "80 ms are two periods of the camera";
}

TEST(SyncFates, IgnoresWhatTheApplicationDoesNotHave) {
  SyncFates fates(application(1, 1));
  const SyncFates::Arrival unknown{.callback = 9, .input = 7, .stamp_ns = 0, .time_ns = 0};
  fates.add(unknown);
  fates.kept(unknown, 3, 0);
  fates.in_set(unknown, 3, 0);
  fates.kept({.callback = kFuse, .input = 7, .stamp_ns = 0, .time_ns = 0}, 0, 5);
  fates.finish(10);
  EXPECT_EQ(fates.of(0, 5), SyncFate::kWaiting);
}

}  // namespace
}  // namespace rclrt::model

// SPDX-License-Identifier: Apache-2.0
#include "exercise/results.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace rclrt::demos {
namespace {

using Json = nlohmann::json;

TEST(Slice, KeepsSpansInOrderAndCountsWhatDoesNotFit) {
  Slice slice("Loop", 2);
  slice.record(10, 13);
  slice.record(20, 27);
  slice.record(30, 31);
  ASSERT_EQ(slice.spans().size(), 2U);
  EXPECT_EQ(slice.spans()[0].end_ns, 13);
  EXPECT_EQ(slice.spans()[1].begin_ns, 20);
  EXPECT_EQ(slice.dropped(), 1U);
}

TEST(Slice, AMeasureLastsFromItsConstructionToItsDestruction) {
  Slice slice("Loop", 1);
  const std::int64_t before_ns = realtime::monotonic_now_ns();
  {
    const Measure measure(slice);
  }
  const std::int64_t after_ns = realtime::monotonic_now_ns();
  ASSERT_EQ(slice.spans().size(), 1U);
  EXPECT_LE(before_ns, slice.spans()[0].begin_ns);
  EXPECT_LE(slice.spans()[0].begin_ns, slice.spans()[0].end_ns);
  EXPECT_LE(slice.spans()[0].end_ns, after_ns);
}

Results results_of_two_threads() {
  Results results;
  results.exercise = "1";
  results.variant = "baseline";
  results.seconds = 0.5;
  for (const std::int64_t first : {100, 200}) {
    Track& track = results.tracks.emplace_back("RtThread");
    Slice& loop = track.add_slice("Loop", 4);
    loop.record(0, first);
    loop.record(0, first + 1);
    track.add_instants("LoopOverrun", 4).record(5, 5);
  }
  results.notes["overruns"] = 3;
  return results;
}

TEST(ExerciseResults, SlicesOfOneNameAreOneAndInstantsAreNone) {
  const Json json = Json::parse(to_json(results_of_two_threads()));
  ASSERT_EQ(json["slices"].size(), 1U);
  EXPECT_EQ(json["slices"][0]["name"], "Loop");
  EXPECT_EQ(json["slices"][0]["values_ns"], (Json{100, 101, 200, 201}));
  EXPECT_EQ(json["notes"], (Json{{"overruns", 3}}));
  EXPECT_EQ(json["exercise"], "1");
  EXPECT_EQ(json["variant"], "baseline");
  EXPECT_EQ(json["seconds"], 0.5);
  EXPECT_EQ(json["interrupted"], false);
  EXPECT_EQ(json["pid"], getpid());
  EXPECT_FALSE(json.contains("pendulum"));
}

TEST(ExerciseResults, WithoutPermissionForRealTimeTheReasonIsGiven) {
  Results results = results_of_two_threads();
  EXPECT_EQ(Json::parse(to_json(results))["real_time"], true);
  EXPECT_FALSE(Json::parse(to_json(results)).contains("reason"));
  results.no_realtime = "SCHED_FIFO denied";
  EXPECT_EQ(Json::parse(to_json(results))["real_time"], false);
  EXPECT_EQ(Json::parse(to_json(results))["reason"], "SCHED_FIFO denied");
}

TEST(ExerciseResults, ThePendulumIsAListOfTimePositionAndDesiredPosition) {
  Results results = results_of_two_threads();
  results.pendulum = {{0, 0.6, 0.1}, {0.01, 0.5999999999, 0.2}};
  EXPECT_EQ(Json::parse(to_json(results))["pendulum"], (Json{{0.0, 0.6, 0.1}, {0.01, 0.6, 0.2}}));
}

}  // namespace
}  // namespace rclrt::demos

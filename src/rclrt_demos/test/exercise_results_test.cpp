// SPDX-License-Identifier: Apache-2.0
#include "exercise/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace rclrt::demos {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

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

/// A directory that goes with the test.
class ExerciseFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "exercise_files_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  std::size_t count_files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory),
                                                  std::filesystem::directory_iterator()));
  }
  static std::string text_of(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::filesystem::path directory;
};

TEST_F(ExerciseFiles, AFileAppearsWhenItIsComplete) {
  const auto path = directory / "out.json";
  TextFile file(path);
  EXPECT_FALSE(std::filesystem::exists(path));
  file.commit("{}\n");
  EXPECT_EQ(text_of(path), "{}\n");
  EXPECT_EQ(count_files(), 1U);
}

TEST_F(ExerciseFiles, WithoutACommitNothingIsLeftAndTheOldFileStays) {
  const auto path = directory / "out.json";
  std::ofstream(path) << "old";
  {
    const TextFile file(path);
  }
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(count_files(), 1U);
}

TEST_F(ExerciseFiles, ADirectoryOrAMissingOneIsAnErrorAtOnce) {
  EXPECT_THAT(
      [&] { TextFile file(directory); },
      ThrowsMessage<std::runtime_error>(HasSubstr(directory.string() + ": is a directory")));
  EXPECT_THAT([&] { TextFile file(directory / "missing" / "out.json"); },
              ThrowsMessage<std::runtime_error>(
                  HasSubstr("out.json: cannot be written: No such file or directory")));
  EXPECT_EQ(count_files(), 0U);
}

}  // namespace
}  // namespace rclrt::demos

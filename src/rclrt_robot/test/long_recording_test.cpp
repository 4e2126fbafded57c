// SPDX-License-Identifier: Apache-2.0
// Recordings that stream, and what can be read of them meanwhile.
#include <gmock/gmock.h>

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "recorded_robot.hpp"

namespace {

std::atomic<bool> has_no_memory{false};  // for the thread that counts
std::atomic<int> failures{0};

bool counts_instances() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return std::string_view(name.data()) == "rclrt results";
}

}  // namespace

// Not inlined, because GCC would report malloc and free as a mismatch with new and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (has_no_memory && counts_instances()) {
    ++failures;
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace rclrt_robot::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::size_t kFew = 30;

class LongRecording : public Ros {
 protected:
  Json results() const { return Json::parse(text_of(folder_ / "out/results.json")); }

  /// Returns whether results so far have so many instances of the chain.
  bool has_written(int completed) const {
    try {
      const Json found = results();
      return found["ended"] == "running" && found["chains"].size() == 1 &&
             found["chains"][0]["completed"] >= completed;
    } catch (const Json::exception&) {  // there is no file
      return false;
    }
  }

  /// Makes a recording, and an executor with it.
  std::shared_ptr<Recording> record(RecordingOptions options) {
    options.directory = folder_ / "out";
    const auto recording = std::make_shared<Recording>(options);
    Options with = on_one_cpu();
    with.recording = recording;
    executor_ = std::make_unique<PreemptiveExecutor>(with);
    executor_->add_node(robot_.lidar);
    executor_->add_node(robot_.planner);
    return recording;
  }

  const Folder folder_;
  RecordedRobot robot_;
  std::unique_ptr<PreemptiveExecutor> executor_;
};

/// Returns the number of times of each callback in the histograms.
std::map<std::string, std::uint64_t> counted(const std::filesystem::path& histograms) {
  std::map<std::string, std::uint64_t> result;
  std::ifstream file(histograms);
  for (std::string line; std::getline(file, line);) {
    std::istringstream row(line);
    std::string kind, id, times, lowest, highest, count;
    std::getline(row, kind, ',');
    std::getline(row, id, ',');
    std::getline(row, times, ',');
    std::getline(row, lowest, ',');
    std::getline(row, highest, ',');
    std::getline(row, count, ',');
    if (kind == "callback" && times == "response") {
      result[id] += std::stoull(count);
    }
  }
  return result;
}

TEST_F(LongRecording, StreamsWhenItIsFull) {
  const auto recording = record({.max_instances = kFew});
  spin_until(*executor_, [&] { return robot_.braked >= 200; });
  EXPECT_EQ(recording->write(), std::vector<std::string>());
  const Json found = results();
  EXPECT_GE(found["streamed"]["instances"], 590);  // some were released before it began
  EXPECT_FALSE(found.contains("ended"));
  const Json& chain = found["chains"][0];
  EXPECT_EQ(chain["id"], "/lidar timer 0");
  EXPECT_EQ(chain["deadline_ms"], 10);
  EXPECT_GE(chain["completed"], 199);
  EXPECT_EQ(
      chain["released"].get<int>(),
      chain["completed"].get<int>() + chain["dropped"].get<int>() + chain["pending"].get<int>());
  auto times = counted(folder_ / "out/histograms.csv");
  for (const char* const id :
       {"/lidar timer 0", "/planner subscription /points", "/planner group 1 subscription /stop"}) {
    const auto completed = named(found["callbacks"], id)["completed"].get<std::uint64_t>();
    EXPECT_LE(times[id], completed) << id;
    EXPECT_GE(times[id] + 2, completed) << id;
  }
  EXPECT_GT(std::filesystem::file_size(folder_ / "out/trace.pftrace"), 1'000U);
}

TEST_F(LongRecording, FollowsTheChainsOfTheApplication) {
  const auto recording = record({.application = folder_.write("robot.yaml", R"(
rclrt: 1
name: small_robot
executors: [{name: main, cpus: [FIRST]}]
nodes: [{name: lidar, executor: main}, {name: planner, executor: main}]
callbacks:
  - {id: scan, node: lidar, timer: {period_ms: 10}, wcet_ms: 1, publishes: [points, lines]}
  - {id: filter, node: planner, subscription: {topic: points}, wcet_ms: 1, publishes: [stop]}
  - {id: brake, node: planner, subscription: {topic: stop}, wcet_ms: 1, group: brakes}
  - {id: fuse, node: planner, sync: {topics: [points, lines], window_ms: 5}, wcet_ms: 1}
chains:
  - {id: fused, callbacks: [scan, fuse], priority: 1, deadline_ms: 10}
  - {id: obstacle, callbacks: [scan, filter, brake], priority: 2, deadline_ms: 10}
)"),
                                 .max_instances = kFew});
  spin_until(*executor_, [&] { return robot_.braked >= 50; });
  const auto told = recording->write();
  EXPECT_THAT(
      told, testing::Contains("chain 'fused' goes through a synchronisation and is not measured"));
  const Json found = results();
  ASSERT_EQ(found["chains"].size(), 1U);
  EXPECT_EQ(found["chains"][0]["id"], "obstacle");
  EXPECT_GE(found["chains"][0]["completed"], 49);
  EXPECT_GT(found["chains"][0]["response_ms"]["best"].get<double>(), 0);
  EXPECT_TRUE(found.contains("streamed"));
}

TEST_F(LongRecording, IsReadableWhileTheRobotRunsAndWithoutAWrite) {
  auto recording = record({.write_every = 50ms});
  spin_until(*executor_, [&] { return has_written(20); });
  const int completed = results()["chains"][0]["completed"];
  executor_.reset();
  recording.reset();  // as if the process had ended
  EXPECT_GE(results()["chains"][0]["completed"], completed);
  EXPECT_EQ(results()["ended"], "running");
}

TEST_F(LongRecording, ARobotThatHangsIsShownAsHanging) {
  const auto recording = record({.write_every = 50ms});
  std::atomic<bool> hangs{false};
  std::atomic<bool> is_over{false};
  const auto stuck = robot_.lidar->create_wall_timer(100ms, [&] {
    while (hangs && !is_over) {
      std::this_thread::sleep_for(1ms);
    }
  });
  const Spinning spinning(*executor_);
  ASSERT_TRUE(eventually([&] { return robot_.braked >= 20; }));
  hangs = true;
  // Nothing runs any more, and still there are new results.
  EXPECT_TRUE(eventually([&] {
    try {
      const Json chain = results()["chains"][0];
      return chain["pending"].get<int>() + chain["dropped"].get<int>() >= 150;
    } catch (const Json::exception&) {  // there is no file
      return false;
    }
  }));
  is_over = true;
}

TEST_F(LongRecording, WithoutMemoryTheRobotGoesOnAndTheEarlierResultsStay) {
  const auto recording = record({.write_every = 50ms});
  {
    const Spinning spinning(*executor_);
    ASSERT_TRUE(eventually([&] { return has_written(20); }));
    has_no_memory = true;
    const int braked = robot_.braked;
    EXPECT_TRUE(eventually([&] { return failures > 0 && robot_.braked >= braked + 100; }));
    has_no_memory = false;
  }
  const Json before = results();
  EXPECT_GE(before["chains"][0]["completed"], 20);
  {
    const Spinning spinning(*executor_);  // with memory again
    const int braked = robot_.braked;
    EXPECT_TRUE(eventually([&] { return robot_.braked >= braked + 150; }));
  }
  EXPECT_EQ(results(), before);
  EXPECT_THAT([&] { recording->write(); },
              ThrowsMessage<std::runtime_error>(testing::AllOf(
                  HasSubstr("the recording failed, and "),
                  HasSubstr(" instances are not counted: std::bad_alloc; the results of the first"),
                  HasSubstr(" s are in "))));
  EXPECT_EQ(results(), before);
}

TEST_F(LongRecording, WhatAppearsLateIsAdded) {
  const auto recording = record({.max_instances = kFew});
  const Spinning spinning(*executor_);
  ASSERT_TRUE(eventually([&] { return robot_.braked >= 50; }));
  auto late = std::make_shared<rclcpp::Node>("late");
  std::atomic<int> ticks{0};
  const auto timer = late->create_wall_timer(5ms, [&] { ++ticks; });
  executor_->add_node(late);
  ASSERT_TRUE(eventually([&] { return ticks >= 50; }));
  executor_->cancel();
  ASSERT_TRUE(eventually([&] { return !executor_->is_spinning(); }));
  EXPECT_EQ(recording->write(), std::vector<std::string>());
  const Json found = results();
  ASSERT_EQ(found["chains"].size(), 2U);
  EXPECT_EQ(found["chains"][1]["id"], "/late timer 0");
  EXPECT_EQ(found["chains"][1]["deadline_ms"], 5);
  EXPECT_GE(found["chains"][1]["completed"], 49);
  // Not from the begin of the recording on: it appeared after half a second.
  EXPECT_LT(found["chains"][1]["released"].get<int>(),
            2 * found["chains"][0]["released"].get<int>() - 60);
}

TEST_F(LongRecording, KnowsWhatCallbacksPublishAndTheChainsToALargestAge) {
  const auto recording = record({.max_instances = kFew});
  executor_->set_timing(robot_.entities[1], {.max_age = 10ms});
  spin_until(*executor_, [&] { return robot_.braked >= 400; });
  EXPECT_EQ(recording->write(), std::vector<std::string>());
  const Json found = results();
  ASSERT_EQ(found["chains"].size(), 2U);
  EXPECT_EQ(found["chains"][1]["callbacks"],
            Json({"/lidar timer 0", "/planner subscription /points",
                  "/planner group 1 subscription /stop"}));
  EXPECT_GT(found["chains"][1]["completed"], 10);
  EXPECT_LT(found["chains"][1]["released"], found["chains"][0]["released"]);
}

TEST_F(LongRecording, WithTheLongestTimeNothingIsWrittenMeanwhile) {
  const auto recording = record({.write_every = std::chrono::milliseconds::max()});
  spin_until(*executor_, [&] { return robot_.braked >= 250; });  // results have a second less
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out/results.json"));
  recording->write();
  EXPECT_GE(results()["chains"][0]["completed"], 249);
}

TEST_F(LongRecording, ATimeBelowZeroIsRefused) {
  EXPECT_THAT([&] { record({.write_every = -1ms}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("RecordingOptions::write_every is -1 ms; expected at least 0")));
}

}  // namespace
}  // namespace rclrt_robot::test

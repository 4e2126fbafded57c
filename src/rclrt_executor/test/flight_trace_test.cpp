// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/flight_trace.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

class Directory {
 public:
  Directory()
      : path(std::filesystem::temp_directory_path() / ("flight" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path);
  }
  ~Directory() { std::filesystem::remove_all(path); }
  const std::filesystem::path path;
};

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Counting : InstanceSink, MissHandler {
  std::atomic<int> records{0};
  std::atomic<int> misses{0};
  void record(const InstanceRecord& /*record*/) noexcept RCLRT_NONBLOCKING override { ++records; }
  void missed(const DeadlineMiss& /*miss*/) noexcept RCLRT_NONBLOCKING override { ++misses; }
};

class Flight : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, Flight, ::testing::ValuesIn(executor_names()), kind_name);

TEST_P(Flight, AMissWritesTheLastSecondsWithWhatRanToAFileOfItsOwn) {
  const Directory directory;
  Counting next;
  FlightTrace trace({.recorder = {.directory = directory.path,
                                  .name = "miss",
                                  .after = std::chrono::milliseconds(20)},
                     .sink = &next,
                     .handler = &next});
  auto options = on_one_cpu();
  options.sink = &trace;
  options.on_miss = &trace;
  auto executor = make(GetParam(), options);
  CallbackOptions burner = timer_named("burner", 2);
  burner.deadline_ns = 0;  // a drop because the machine is late is then no miss
  executor->add(std::make_shared<TestTimer>(burner, TimerOptions{.period_ns = 5'000'000},
                                            [](const InstanceInfo&) { busy_for(2'000'000); }));
  CallbackOptions late = timer_named("hasty", 1);
  late.deadline_ns = 1;
  executor->add(std::make_shared<TestTimer>(
      late, TimerOptions{.period_ns = 3'600'000'000'000, .offset_ns = 20'000'000},
      [](const InstanceInfo&) {}));
  {
    Spinning spin(*executor);
    ASSERT_TRUE(eventually([&] { return trace.statistics().dumps == 1; }));
  }
  EXPECT_EQ(trace.statistics().last_file, directory.path / "miss-1.pftrace");
  const std::string file = content(trace.statistics().last_file);
  // Any thread of workshop's pool may have run it.
  const char* const track = GetParam() == "workshop" ? "L2 #" : "L2 #0";
  for (const char* expected : {"burner", "hasty", "deadline missed: hasty", track}) {
    EXPECT_NE(file.find(expected), std::string::npos) << expected;
  }
  EXPECT_EQ(trace.dropped(), 0U);
  EXPECT_EQ(next.misses, 1);
  EXPECT_GE(next.records, 3);
}

TEST(FlightTrace, WithoutAMissNothingIsWritten) {
  const Directory directory;
  {
    FlightTrace trace({.recorder = {.directory = directory.path}});
    auto options = on_one_cpu();
    options.sink = &trace;
    options.on_miss = &trace;
    PreemptiveExecutor executor(options);
    const auto callback = std::make_shared<TestCallback>(named("c"), [](const InstanceInfo&) {});
    executor.add(callback);
    executor.prepare();
    callback->release_now();
    executor.spin_some();
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path));
}

TEST(FlightTrace, WhatFindsNoRoomIsCounted) {
  const Directory directory;
  FlightTrace trace({.recorder = {.directory = directory.path}, .capacity = 2});
  const TestCallback callback(named("c"), {});
  InstanceRecord record;
  record.callback = &callback;
  while (trace.dropped() == 0) {  // the draining thread removes some
    trace.record(record);
  }
}

}  // namespace
}  // namespace rclrt::executor::test

// SPDX-License-Identifier: Apache-2.0
#include "instance_history.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace rclrt::executor::test {
namespace {

/// Outlives every history.
const std::string& name() {
  static const std::string kName = "callback";
  return kName;
}

ExecutionInterval starting(std::uint64_t id, std::int64_t at) { return {.id = id, .start_ns = at}; }

std::vector<ExecutionInterval> read(const InstanceHistory& history, std::int64_t from,
                                    std::int64_t until) {
  std::vector<ExecutionInterval> result(history.capacity());
  result.resize(history.copy(from, until, UINT64_MAX, result));
  return result;
}

TEST(InstanceHistory, RemembersAsManyAsItHasRoomForTheLatestOfThem) {
  InstanceHistory history(4);
  for (std::uint64_t id = 0; id < 10; ++id) {
    const auto time = static_cast<std::int64_t>(id);
    InstanceHistory::end(*history.begin(starting(id, time), name()), time + 1, 1);
  }
  std::uint64_t sum = 0;
  for (const ExecutionInterval& each : read(history, 0, 100)) {
    EXPECT_EQ(each.callback, "callback");
    sum += each.id;
  }
  EXPECT_EQ(sum, 6U + 7U + 8U + 9U);
}

TEST(InstanceHistory, OneThatStillRunsIsNotOverwrittenAndEndsNow) {
  InstanceHistory history(4);
  ASSERT_NE(history.begin(starting(77, 5), name()), nullptr);
  for (std::uint64_t id = 0; id < 10; ++id) {
    InstanceHistory::end(*history.begin(starting(id, 6), name()), 7, 1);
  }
  const auto found = read(history, 20, 30);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, 77U);
  EXPECT_EQ(found[0].end_ns, 30);
  EXPECT_EQ(found[0].cpu_ns, -1);
}

TEST(InstanceHistory, FullOfRunningOnesItRefusesFurtherOnes) {
  InstanceHistory history(2);
  EXPECT_NE(history.begin(starting(1, 0), name()), nullptr);
  EXPECT_NE(history.begin(starting(2, 0), name()), nullptr);
  EXPECT_EQ(history.begin(starting(3, 0), name()), nullptr);
}

TEST(InstanceHistory, ReadersSeeNoMixtureOfTwoInstances) {
  InstanceHistory history(1);  // each read happens during a write
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (std::uint64_t thread = 0; thread < 2; ++thread) {
    writers.emplace_back([&, thread] {
      for (std::uint64_t i = thread; !stop; i += 2) {
        // All fields are functions of the id.
        ExecutionInterval interval = starting(i, static_cast<std::int64_t>(10 * i));
        interval.level = static_cast<int>(i % 1000);
        if (auto* const place = history.begin(interval, name())) {
          InstanceHistory::end(*place, static_cast<std::int64_t>(10 * i + 5), 3);
        }
      }
    });
  }
  int seen = 0;
  while (seen < 1'000'000) {
    for (const ExecutionInterval& each : read(history, INT64_MIN, INT64_MAX)) {
      ++seen;
      ASSERT_EQ(each.start_ns, static_cast<std::int64_t>(10 * each.id));
      ASSERT_EQ(each.level, static_cast<int>(each.id % 1000));
      ASSERT_TRUE(each.end_ns == INT64_MAX || each.end_ns == each.start_ns + 5);
    }
  }
  stop = true;
  for (auto& writer : writers) {
    writer.join();
  }
}

}  // namespace
}  // namespace rclrt::executor::test

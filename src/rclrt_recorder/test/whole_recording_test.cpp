// SPDX-License-Identifier: Apache-2.0
// What a short recording keeps, and when it lets go of it.
#include "rclrt/recorder/whole_recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mapped_memory.hpp"

namespace rclrt::recorder {
namespace {

using testing::IsEmpty;

std::vector<HostStall> stalls_from(std::int64_t start_ns, std::size_t count, int cpu) {
  std::vector<HostStall> stalls(count);
  for (HostStall& each : stalls) {
    each.cpu = cpu;
    each.start_ns = start_ns;
    each.end_ns = start_ns + 300'000;
    start_ns += 1'000'000;
  }
  return stalls;
}

TEST(WholeRecording, KeepsAsManyInstancesAsItMay) {
  WholeRecording whole(100);
  const std::vector<LoggedInstance> portion(50);
  whole.add(portion);
  whole.add(portion);
  EXPECT_TRUE(whole.is_whole());
  WholeRecording more = whole;
  EXPECT_EQ(whole.take_instances().size(), 100U);
  more.add({portion.data(), 1});
  EXPECT_FALSE(more.is_whole());
  EXPECT_THAT(more.take_instances(), IsEmpty());
}

TEST(WholeRecording, LetsGoOfEverythingWhenThereAreTooManyStalls) {
  WholeRecording whole(100);
  whole.add(std::vector<LoggedInstance>(50));
  constexpr std::size_t kStalls = 1'024;
  for (std::size_t i = 0; i < WholeRecording::kMostStalls / kStalls; ++i) {
    whole.add_stalls(stalls_from(0, kStalls, 0));
    ASSERT_TRUE(whole.is_whole());
  }
  whole.add_stalls(stalls_from(0, 1, 0));
  EXPECT_FALSE(whole.is_whole());
  EXPECT_THAT(whole.take_stalls(), IsEmpty());
  EXPECT_THAT(whole.take_instances(), IsEmpty());
  whole.add(std::vector<LoggedInstance>(1));
  EXPECT_THAT(whole.take_instances(), IsEmpty()) << "it kept what came later";
}

TEST(WholeRecording, ReturnsItsMemoryWhenItLetsGo) {
  if (test::has_own_allocator()) {
    GTEST_SKIP() << "a sanitizer allocates";
  }
  const std::vector<LoggedInstance> many = test::many_instances();
  WholeRecording whole(many.size());
  const std::size_t before = test::mapped_bytes();
  whole.add(many);
  EXPECT_GT(test::mapped_bytes(), before);
  whole.add({many.data(), 1});
  EXPECT_FALSE(whole.is_whole());
  EXPECT_EQ(test::mapped_bytes(), before);
}

TEST(WholeRecording, TheStallsOfSeveralPortionsAscend) {
  WholeRecording whole(100);
  whole.add_stalls(stalls_from(5'000'000, 3, 0));
  whole.add_stalls(stalls_from(4'500'000, 3, 1));  // of another CPU: it ended later
  const std::vector<HostStall> stalls = whole.take_stalls();
  ASSERT_EQ(stalls.size(), 6U);
  for (std::size_t i = 1; i < stalls.size(); ++i) {
    EXPECT_LT(stalls[i - 1].start_ns, stalls[i].start_ns);
  }
}

}  // namespace
}  // namespace rclrt::recorder

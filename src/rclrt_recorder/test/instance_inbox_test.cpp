// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/instance_inbox.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "mapped_memory.hpp"

namespace rclrt::recorder {
namespace {

std::vector<LoggedInstance> instances(std::int64_t first, std::int64_t count) {
  std::vector<LoggedInstance> result(static_cast<std::size_t>(count));
  for (LoggedInstance& each : result) {
    each.record.release_ns = first++;
  }
  return result;
}

std::vector<std::int64_t> releases(const std::vector<LoggedInstance>& batch) {
  std::vector<std::int64_t> result;
  for (const LoggedInstance& each : batch) {
    result.push_back(each.record.release_ns);
  }
  return result;
}

TEST(InstanceInbox, GivesInOrderWhatHasComeSinceTheLastTime) {
  InstanceInbox inbox;
  inbox.open();
  inbox.add(instances(1, 2));
  inbox.add(instances(3, 1));
  std::vector<LoggedInstance> batch;
  EXPECT_TRUE(inbox.take(batch));
  EXPECT_EQ(releases(batch), (std::vector<std::int64_t>{1, 2, 3}));
  inbox.add(instances(4, 1));
  EXPECT_TRUE(inbox.take(batch));
  EXPECT_EQ(releases(batch), std::vector<std::int64_t>{4});
  EXPECT_TRUE(inbox.take(batch));
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(inbox.dropped(), 0U);
}

TEST(InstanceInbox, KeepsWhatComesBeforeItIsOpen) {
  InstanceInbox inbox;
  inbox.add(instances(1, 2));
  std::vector<LoggedInstance> batch = instances(9, 1);
  EXPECT_FALSE(inbox.is_open());
  EXPECT_FALSE(inbox.take(batch));
  EXPECT_TRUE(batch.empty());
  inbox.open();
  EXPECT_TRUE(inbox.is_open());
  EXPECT_TRUE(inbox.take(batch));
  EXPECT_EQ(releases(batch), (std::vector<std::int64_t>{1, 2}));
}

TEST(InstanceInbox, DropsAndCountsWhatHasNoRoom) {
  InstanceInbox inbox(3);
  inbox.open();
  inbox.add(instances(1, 2));
  inbox.add(instances(3, 4));
  inbox.add(instances(7, 1));
  EXPECT_EQ(inbox.dropped(), 4U);
  inbox.drop(10);
  EXPECT_EQ(inbox.dropped(), 14U);
  std::vector<LoggedInstance> batch;
  inbox.take(batch);
  EXPECT_EQ(releases(batch), (std::vector<std::int64_t>{1, 2, 3}));
  inbox.add(instances(8, 3));
  EXPECT_EQ(inbox.dropped(), 14U) << "there is room again";
}

TEST(InstanceInbox, DropsEverythingOnceItIsClosed) {
  InstanceInbox inbox;
  inbox.open();
  inbox.add(instances(1, 5));
  inbox.close();
  inbox.add(instances(6, 2));
  std::vector<LoggedInstance> batch;
  EXPECT_TRUE(inbox.take(batch));
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(inbox.dropped(), 7U);
}

TEST(InstanceInbox, ReturnsItsMemoryWhenItIsClosed) {
  if (test::has_own_allocator()) {
    GTEST_SKIP() << "a sanitizer allocates";
  }
  InstanceInbox inbox;
  const std::vector<LoggedInstance> many = test::many_instances();
  const std::size_t before = test::mapped_bytes();
  inbox.add(many);
  EXPECT_GT(test::mapped_bytes(), before);
  inbox.close();
  EXPECT_EQ(test::mapped_bytes(), before);
}

TEST(InstanceInbox, LosesNoneBetweenThreads) {
  constexpr std::int64_t kBatches = 2'000;
  constexpr std::int64_t kEach = 7;
  InstanceInbox inbox(64);
  inbox.open();
  const auto add = [&inbox] {
    for (std::int64_t i = 0; i < kBatches; ++i) {
      inbox.add(instances(i * kEach, kEach));
    }
  };
  std::thread one(add);
  std::thread other(add);
  constexpr std::uint64_t kAll = 2 * kBatches * kEach;
  std::vector<LoggedInstance> batch;
  std::uint64_t taken = 0;
  while (taken + inbox.dropped() < kAll) {
    inbox.take(batch);
    EXPECT_LE(batch.size(), 64U);
    taken += batch.size();
  }
  one.join();
  other.join();
  inbox.take(batch);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(taken + inbox.dropped(), kAll);
}

}  // namespace
}  // namespace rclrt::recorder

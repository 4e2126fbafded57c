// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/mutex.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {
namespace {

TEST(PiMutex, ExcludesOtherThreadsUntilItIsUnlocked) {
  PiMutex mutex;
  std::unique_lock lock(mutex);
  bool locked_elsewhere = true;
  std::thread([&] { locked_elsewhere = mutex.try_lock(); }).join();
  EXPECT_FALSE(locked_elsewhere);
  lock.unlock();
  std::thread([&] {
    locked_elsewhere = mutex.try_lock();
    if (locked_elsewhere) {
      mutex.unlock();
    }
  }).join();
  EXPECT_TRUE(locked_elsewhere);
}

TEST(CeilingMutex, RunsItsHolderAtTheCeilingAndGivesThePriorityBack) {
  constexpr int kPriority = 10;
  constexpr int kCeiling = 20;
  if (const auto reason = why_no_realtime(kCeiling)) {
    GTEST_SKIP() << *reason;
  }
  CeilingMutex mutex(kCeiling);
  int held = 0;
  int after = 0;
  Thread({.name = "ceiling", .scheduling = {Policy::kFifo, kPriority, {}}}, [&] {
    {
      const std::scoped_lock lock(mutex);
      held = read_scheduling(0)->priority;
    }
    after = read_scheduling(0)->priority;
  }).join();
  EXPECT_EQ(held, kCeiling);
  EXPECT_EQ(after, kPriority);
}

}  // namespace
}  // namespace rclrt::realtime

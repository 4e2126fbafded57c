// SPDX-License-Identifier: Apache-2.0
// Locks and sleeps in a guarded section.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "guarded_calls.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/rt_guard.hpp"
#include "rclrt/realtime/semaphore.hpp"

namespace rclrt::realtime {
namespace {

using test::GuardedCalls;
using test::kCount;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(GuardedCalls, AWaitForAMutexWithoutInheritanceIsCaught) {
  std::mutex plain;
  std::latch held(1);
  std::atomic<bool> waiting{false};
  std::thread holder([&] {
    const std::scoped_lock lock(plain);
    held.count_down();
    while (!waiting) {
      std::this_thread::yield();
    }
  });
  held.wait();
  {
    RtGuard guard(kCount);
    waiting = true;  // the holder may unlock before this thread locks: then there is no wait
    plain.lock();
    plain.unlock();
    const RtReport report = guard.report();
    EXPECT_EQ(report.lock_waits + report.free_locks, 1U);
  }
  holder.join();
}

TEST_F(GuardedCalls, AWaitIsToldFromTakingAFreeMutex) {
  pthread_mutex_t plain = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  RtGuard guard(kCount);
  pthread_mutex_lock(&plain);
  const RtReport first = guard.report();
  EXPECT_EQ(first.free_locks, 1U);
  EXPECT_TRUE(first.clean()) << "a free lock is only counted unless asked for";
  pthread_mutex_lock(&plain);  // an error-checking mutex: an error instead of a deadlock
  pthread_mutex_unlock(&plain);
  const RtReport report = guard.report();
  EXPECT_EQ(report.lock_waits, 1U);
  EXPECT_EQ(report.violations, 1U);
  ASSERT_THAT(report.calls, SizeIs(1));
  EXPECT_EQ(report.calls[0].what, "pthread_mutex_lock()");
  EXPECT_FALSE(report.calls[0].stack.empty());
}

TEST_F(GuardedCalls, AWaitForAMutexWithADeadlineIsCaughtToo) {
  std::timed_mutex plain;
  plain.lock();
  std::thread([&] {
    RtGuard guard(kCount);
    EXPECT_FALSE(plain.try_lock_for(std::chrono::milliseconds(1)));
    EXPECT_FALSE(plain.try_lock_until(std::chrono::system_clock::now()));
    const RtReport report = guard.report();
    EXPECT_EQ(report.lock_waits, 2U);
    ASSERT_THAT(report.calls, SizeIs(2));
    EXPECT_EQ(report.calls[0].what, "pthread_mutex_clocklock()");
    EXPECT_EQ(report.calls[1].what, "pthread_mutex_timedlock()");
  }).join();
  plain.unlock();
}

TEST_F(GuardedCalls, AWaitForALockOfReadersAndWritersIsCaughtInAllItsForms) {
  std::shared_timed_mutex plain;
  plain.lock();
  std::thread([&] {
    RtGuard guard(kCount);
    EXPECT_FALSE(plain.try_lock_for(std::chrono::milliseconds(1)));
    EXPECT_FALSE(plain.try_lock_until(std::chrono::system_clock::now()));
    EXPECT_FALSE(plain.try_lock_shared_for(std::chrono::milliseconds(1)));
    EXPECT_FALSE(plain.try_lock_shared_until(std::chrono::system_clock::now()));
    const RtReport report = guard.report();
    EXPECT_EQ(report.lock_waits, 4U) << report.text();
    ASSERT_THAT(report.calls, SizeIs(4));
    EXPECT_EQ(report.calls[0].what, "pthread_rwlock_clockwrlock()");
    EXPECT_EQ(report.calls[1].what, "pthread_rwlock_timedwrlock()");
    EXPECT_EQ(report.calls[2].what, "pthread_rwlock_clockrdlock()");
    EXPECT_EQ(report.calls[3].what, "pthread_rwlock_timedrdlock()");
  }).join();
  plain.unlock();
}

TEST_F(GuardedCalls, TakingAFreeMutexIsAViolationWhenAskedFor) {
  std::mutex plain;
  std::shared_mutex shared;
  RtGuard guard({.action = RtGuardAction::kCount, .free_locks = true, .page_faults = false});
  {
    const std::scoped_lock lock(plain);
  }
  {
    const std::shared_lock lock(shared);
  }
  {
    const std::scoped_lock lock(shared);
  }
  const RtReport report = guard.report();
  EXPECT_EQ(report.free_locks, 3U);
  EXPECT_EQ(report.violations, 3U) << report.text();
}

TEST_F(GuardedCalls, AMutexWithInheritanceIsNoViolation) {
  PiMutex inheriting;
  RtGuard guard({.action = RtGuardAction::kCount, .free_locks = true, .page_faults = false});
  inheriting.lock();
  inheriting.unlock();
  const RtReport report = guard.report();
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(report.free_locks, 0U);
}

TEST_F(GuardedCalls, SleepsAreCaught) {
  std::mutex mutex;
  std::condition_variable condition;
  RtGuard guard(kCount);
  {
    std::unique_lock lock(mutex);
    condition.wait_for(lock, std::chrono::nanoseconds(1), [] { return false; });
  }
  sleep_until_ns(monotonic_now_ns() + 1);
  std::this_thread::sleep_for(std::chrono::nanoseconds(1));
  const RtReport report = guard.report();
  EXPECT_EQ(report.sleeps, 3U) << report.text();
  ASSERT_THAT(report.calls, SizeIs(3));
  EXPECT_THAT(report.calls[0].what, HasSubstr("pthread_cond_"));
  EXPECT_EQ(report.calls[1].what, "clock_nanosleep()");
}

TEST_F(GuardedCalls, ASemaphoreIsASleepOnlyWhenItIsNotPosted) {
  Semaphore semaphore;
  semaphore.post();
  RtGuard guard(kCount);
  semaphore.wait();
  EXPECT_EQ(guard.report().sleeps, 0U);
  std::thread poster;
  {
    const RtGuard::Allow allow("starting a thread");
    poster = std::thread([&] { semaphore.post(); });
    poster.join();
  }
  semaphore.wait();
  EXPECT_EQ(guard.report().sleeps, 0U) << guard.report().text();
  EXPECT_EQ(guard.report().allocations, 0U);
}

TEST_F(GuardedCalls, ASemaphoreWithADeadlineIsASleepWhenItIsNotPosted) {
  sem_t semaphore;
  ASSERT_EQ(sem_init(&semaphore, 0, 2), 0);
  const timespec passed{};
  RtGuard guard(kCount);
  EXPECT_EQ(sem_timedwait(&semaphore, &passed), 0);
  EXPECT_EQ(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &passed), 0);
  EXPECT_EQ(guard.report().sleeps, 0U);
  EXPECT_EQ(sem_timedwait(&semaphore, &passed), -1);
  EXPECT_EQ(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &passed), -1);
  EXPECT_EQ(guard.report().sleeps, 2U) << guard.report().text();
}

}  // namespace
}  // namespace rclrt::realtime

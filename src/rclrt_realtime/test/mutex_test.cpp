// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/mutex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Locks and unlocks in a separate thread; returns the result of the lock.
template <typename TryLock>
bool elsewhere(PiMutex& mutex, TryLock try_lock) {
  bool locked = false;
  std::thread([&] {
    locked = try_lock();
    if (locked) {
      mutex.unlock();
    }
  }).join();
  return locked;
}

TEST(PiMutex, ExcludesOtherThreadsUntilItIsUnlocked) {
  PiMutex mutex;
  std::unique_lock lock(mutex);
  EXPECT_FALSE(elsewhere(mutex, [&] { return mutex.try_lock(); }));
  lock.unlock();
  EXPECT_TRUE(elsewhere(mutex, [&] { return mutex.try_lock(); }));
}

TEST(PiMutex, GivesUpAtItsDeadlineAndNotBefore) {
  PiMutex mutex;
  const std::scoped_lock lock(mutex);
  EXPECT_FALSE(elsewhere(mutex, [&] {
    const auto deadline = steady_clock::now() + milliseconds(5);
    const std::unique_lock timed(mutex, deadline);
    EXPECT_GE(steady_clock::now(), deadline);
    return timed.owns_lock();
  }));
  EXPECT_FALSE(elsewhere(mutex, [&] { return mutex.try_lock_for(milliseconds(0)); }));
  EXPECT_FALSE(elsewhere(mutex, [&] { return mutex.try_lock_until_ns(-1); }));
}

TEST(PiMutex, GetsAFreeLockEvenWhenTheDeadlineHasPassed) {
  PiMutex mutex;
  EXPECT_TRUE(elsewhere(
      mutex, [&] { return mutex.try_lock_until(steady_clock::now() - milliseconds(1)); }));
  EXPECT_TRUE(elsewhere(mutex, [&] { return mutex.try_lock_for(std::chrono::hours::max()); }));
}

TEST(PiMutex, GuardsACounterThatManyThreadsIncrement) {
  constexpr int kThreads = 4;
  constexpr int kIncrements = 5'000;
  PiMutex mutex;
  PiMutex other;
  int counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < kIncrements; ++n) {
        if (i % 2 == 0) {
          const std::scoped_lock both(mutex, other);  // std::lock's deadlock avoidance
          ++counter;
        } else if (const std::scoped_lock both(other, mutex); true) {
          ++counter;
        }
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(counter, kThreads * kIncrements);
}

TEST(PiMutex, TakingItTwiceEndsTheProcessInsteadOfHangingIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  PiMutex mutex;
  EXPECT_DEATH(
      {
        mutex.lock();
        mutex.lock();
      },
      "rclrt: locking a mutex: Resource deadlock avoided");
}

TEST(RobustPiMutex, TellsEveryOwnerThatOneDiedUntilTheDataIsConsistentAgain) {
  PiMutex mutex{kRobust};
  mutex.lock();
  EXPECT_FALSE(mutex.owner_died());
  mutex.unlock();
  std::thread([&] { mutex.lock(); }).join();  // ends without unlocking

  mutex.lock();
  EXPECT_TRUE(mutex.owner_died());
  mutex.unlock();
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_TRUE(mutex.owner_died());
  mutex.consistent();
  mutex.unlock();
  ASSERT_TRUE(mutex.try_lock_for(milliseconds(1)));  // free by now
  EXPECT_FALSE(mutex.owner_died());
  mutex.unlock();
}

TEST(RobustPiMutex, ReportsADeadOwnerFromEachWayToLock) {
#if defined(__SANITIZE_THREAD__)
  constexpr int kWays = 2;  // its pthread_mutex_timedlock treats EOWNERDEAD as a failure
#else
  constexpr int kWays = 3;
#endif
  PiMutex mutex{kRobust};
  for (int way = 0; way < kWays; ++way) {
    std::thread([&] { mutex.lock(); }).join();
    if (way == 0) {
      mutex.lock();
    } else {
      ASSERT_TRUE(way == 1 ? mutex.try_lock() : mutex.try_lock_for(milliseconds(1)));
    }
    EXPECT_TRUE(mutex.owner_died());
    mutex.consistent();
    mutex.unlock();
  }
}

/// Makes FUTEX_LOCK_PI2 fail in this process, as in kernels before Linux 5.14.
bool forbid_lock_pi2() {
  const auto without_private_flag = static_cast<__u32>(~FUTEX_PRIVATE_FLAG);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, without_private_flag),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_LOCK_PI2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(PiMutex, KeepsItsDeadlineOnAKernelThatCannotWaitOnTheMonotonicClock) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr int kNoSeccomp = 3;
  EXPECT_EXIT(
      {
        if (!forbid_lock_pi2()) {
          std::exit(kNoSeccomp);
        }
        PiMutex mutex;
        mutex.lock();
        int result = 1;
        std::thread([&] {
          const auto deadline = steady_clock::now() + milliseconds(5);
          const bool locked = mutex.try_lock_until(deadline);
          result = !locked && steady_clock::now() >= deadline ? 0 : 2;
        }).join();
        std::thread patient([&] {  // kNever: the clock never reaches it
          result = mutex.try_lock_for(std::chrono::hours::max()) ? result : 4;
        });
        std::this_thread::sleep_for(milliseconds(5));  // usually it waits then; correct if not
        mutex.unlock();
        patient.join();
        std::exit(result);
      },
      [](int status) {
        return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kNoSeccomp);
      },
      "");
}

TEST(CeilingMutex, RefusesACeilingThatIsNoPriority) {
  EXPECT_THAT([&] { CeilingMutex(0); },
              ThrowsMessage<std::system_error>(
                  HasSubstr("creating a mutex with a priority protocol: Invalid argument")));
  EXPECT_THAT([&] { CeilingMutex(100); },
              ThrowsMessage<std::system_error>(
                  HasSubstr("creating a mutex with a priority protocol: Invalid argument")));
}

TEST(CeilingMutex, RunsItsHolderAtTheCeilingAndGivesThePriorityBack) {
  constexpr int kPriority = 10;
  constexpr int kCeiling = 20;
  if (const auto reason = why_no_realtime(kCeiling)) {
    GTEST_SKIP() << *reason;
  }
  CeilingMutex mutex(kCeiling);
  std::vector<int> held;
  int after = 0;
  Thread({.name = "ceiling", .scheduling = {Policy::kFifo, kPriority, {}}}, [&] {
    const auto note_and_unlock = [&] {
      held.push_back(read_scheduling(0)->priority);
      mutex.unlock();
    };
    mutex.lock();
    note_and_unlock();
    if (mutex.try_lock()) {
      note_and_unlock();
    }
    if (mutex.try_lock_for(milliseconds(1))) {
      note_and_unlock();
    }
    after = read_scheduling(0)->priority;
  }).join();
  EXPECT_EQ(held, (std::vector<int>{kCeiling, kCeiling, kCeiling}));
  EXPECT_EQ(after, kPriority);
}

TEST(CeilingMutex, NestedOnesGiveThePrioritiesBackOneByOne) {
  if (const auto reason = why_no_realtime(30)) {
    GTEST_SKIP() << *reason;
  }
  CeilingMutex outer(20);
  CeilingMutex inner(30);
  std::vector<int> priorities;
  Thread({.name = "ceiling", .scheduling = {Policy::kFifo, 10, {}}}, [&] {
    const auto note = [&] { priorities.push_back(read_scheduling(0)->priority); };
    outer.lock();
    note();
    inner.lock();
    note();
    inner.unlock();
    note();
    outer.unlock();
    note();
  }).join();
  EXPECT_EQ(priorities, (std::vector<int>{20, 30, 20, 10}));
}

TEST(CeilingMutex, AThreadAboveTheCeilingEndsTheProcess) {
  if (const auto reason = why_no_realtime(30)) {
    GTEST_SKIP() << *reason;
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        CeilingMutex mutex(20);
        Thread({.name = "above", .scheduling = {Policy::kFifo, 30, {}}}, [&] {
          mutex.lock();
        }).join();
      },
      "rclrt: locking a mutex: Invalid argument");
  EXPECT_DEATH(
      {
        CeilingMutex mutex(20);
        Thread({.name = "above", .scheduling = {Policy::kFifo, 30, {}}}, [&] {
          mutex.try_lock();  // returning false would mean "it is held", for ever
        }).join();
      },
      "rclrt: trying to lock a mutex: Invalid argument");
}

}  // namespace
}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
#include "pi_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "rclrt/realtime/thread.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

TEST(PiLock, OneThreadHoldsItAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 50'000;
  PiLock lock;
  int count = 0;  // not atomic: the lock guards it
  {
    std::vector<realtime::Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back(realtime::ThreadOptions{.name = "counts"}, [&] {
        for (int k = 0; k < kTimes; ++k) {
          const std::scoped_lock held(lock);
          ++count;
        }
      });
    }
  }
  EXPECT_EQ(count, kThreads * kTimes);
}

TEST(PiLock, WhoHoldsItRunsAtThePriorityOfWhoWaits) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  const auto thread = [cpu = realtime::allowed_cpus().front()](const char* name, int priority) {
    realtime::ThreadOptions options{.name = name};
    options.scheduling.policy = realtime::Policy::kFifo;
    options.scheduling.priority = priority;
    options.scheduling.cpus = {cpu};
    return options;
  };
  PiLock lock;
  std::atomic<bool> passed{false};
  bool inherited = false;
  realtime::Thread(thread("low", 1), [&] {
    std::unique_lock held(lock);
    // It preempts this thread at once, and waits.
    realtime::Thread high(thread("high", 3), [&] {
      const std::scoped_lock waits(lock);
      passed.store(true);
    });
    // Without inheritance it would keep the CPU from the thread that holds the lock, and so from
    // `high`.
    realtime::Thread middle(thread("middle", 2),
                            [&] { inherited = busy_until([&] { return passed.load(); }); });
    held.unlock();
  }).join();
  EXPECT_TRUE(inherited);
}

TEST(PiLock, AChildProcessLocksUnderItsOwnNumber) {
  PiLock lock;
  lock.lock();  // the parent's thread ID is stored now
  lock.unlock();
  const pid_t child = fork();
  if (child == 0) {
    lock.lock();
    // The kernel would read this value as the owner.
    _exit(*reinterpret_cast<const pid_t*>(&lock) == getpid() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace rclrt::executor::test

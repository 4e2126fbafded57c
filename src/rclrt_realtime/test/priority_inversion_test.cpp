// SPDX-License-Identifier: Apache-2.0
// Unbounded priority inversion, and the protocols that prevent it. The order of events decides:
// three SCHED_FIFO threads share one CPU, so speed never determines which thread runs.
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {
namespace {

constexpr int kLow = 10;
constexpr int kMedium = 20;
constexpr int kHigh = 30;

/// Computes for a few hundred microseconds.
void burn() {
  for (int i = 0; i < 500'000; ++i) {
    asm volatile("");  // keeps the loop
  }
}

/// Low takes the lock. While it holds the lock, low releases high, which needs the lock, and then
/// medium, which needs only the CPU. Returns the events in their order.
template <typename Mutex>
std::vector<std::string> events_of(Mutex& mutex) {
  const std::vector<int> cpu{allowed_cpus().front()};
  Semaphore start_medium;
  Semaphore start_high;
  // Only one of the threads runs at a time, with a semaphore or the mutex between any two of them.
  // This lock is for the last events, when nothing orders the threads.
  PiMutex guard;
  std::vector<std::string> events;
  const auto record = [&](const char* event) {
    const std::scoped_lock lock(guard);
    events.emplace_back(event);
  };
  Thread high({.name = "high", .scheduling = {Policy::kFifo, kHigh, cpu}}, [&] {
    start_high.wait();
    record("high wants the lock");
    const std::scoped_lock lock(mutex);
    record("high has the lock");
  });
  Thread medium({.name = "medium", .scheduling = {Policy::kFifo, kMedium, cpu}}, [&] {
    start_medium.wait();
    record("medium starts");
    burn();
    record("medium ends");
  });
  Thread low({.name = "low", .scheduling = {Policy::kFifo, kLow, cpu}}, [&] {
    const std::scoped_lock lock(mutex);
    record("low has the lock");
    start_high.post();    // preempts low if it can, and reaches the lock
    start_medium.post();  // preempts low if it can
    burn();
    record("low leaves");
  });
  low.join();
  medium.join();
  high.join();
  return events;
}

class PriorityInversion : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = why_no_realtime(kHigh)) {
      GTEST_SKIP() << *reason;
    }
  }
  using Events = std::vector<std::string>;
};

TEST_F(PriorityInversion, WithStdMutexAMediumThreadDelaysTheHighOneThatItHasNothingToDoWith) {
  std::mutex mutex;
  EXPECT_EQ(events_of(mutex), (Events{"low has the lock", "high wants the lock", "medium starts",
                                      "medium ends", "low leaves", "high has the lock"}));
}

TEST_F(PriorityInversion, WithPiMutexHighWaitsForTheCriticalSectionOnly) {
  PiMutex mutex;
  EXPECT_EQ(events_of(mutex), (Events{"low has the lock", "high wants the lock", "low leaves",
                                      "high has the lock", "medium starts", "medium ends"}));
}

TEST_F(PriorityInversion, WithARobustPiMutexItIsTheSame) {
  PiMutex mutex{kRobust};
  EXPECT_EQ(events_of(mutex), (Events{"low has the lock", "high wants the lock", "low leaves",
                                      "high has the lock", "medium starts", "medium ends"}));
}

TEST_F(PriorityInversion, WithCeilingMutexNobodyUpToTheCeilingStartsBeforeLowLeaves) {
  CeilingMutex mutex(kHigh);
  EXPECT_EQ(events_of(mutex), (Events{"low has the lock", "low leaves", "high wants the lock",
                                      "high has the lock", "medium starts", "medium ends"}));
}

}  // namespace
}  // namespace rclrt::realtime

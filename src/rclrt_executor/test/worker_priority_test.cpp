// SPDX-License-Identifier: Apache-2.0
// The priority of a worker: that of its level, which other threads change, and the ceilings that it
// takes.
#include "worker_priority.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/thread.hpp"
#include "test_callback.hpp"

namespace rclrt::executor {
namespace {

/// A SCHED_FIFO thread that does one step after the other, each on request.
class Steps {
 public:
  explicit Steps(WorkerPriority& priority, int own)
      : priority_(priority),
        thread_(
            {.name = "worker", .scheduling = {.policy = realtime::Policy::kFifo, .priority = own}},
            [this] { run(); }) {}
  ~Steps() { take({}); }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  /// Runs `step` on the thread, and returns the thread's kernel priority after it.
  int take(std::function<void(WorkerPriority&)> step) {
    step_ = std::move(step);
    go_.post();
    done_.wait();
    return kernel_;
  }
  realtime::Thread& thread() { return thread_; }

 private:
  void run() {
    for (;;) {
      go_.wait();
      if (step_) {
        step_(priority_);
      }
      kernel_ = realtime::read_scheduling(0)->priority;
      const bool ends = !step_;
      done_.post();
      if (ends) {
        return;
      }
    }
  }

  WorkerPriority& priority_;
  std::function<void(WorkerPriority&)> step_;
  int kernel_ = 0;
  realtime::Semaphore go_;
  realtime::Semaphore done_;
  realtime::Thread thread_;
};

TEST(WorkerPriority, OfALevelThatMovesWhileTheWorkerIsRaisedChangesWhenItComesBack) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  WorkerPriority priority(10);
  Steps worker(priority, 10);
  EXPECT_EQ(worker.take([](WorkerPriority& own) { own.raise_to(12); }), 12);
  priority.move_to(9, worker.thread());
  EXPECT_EQ(worker.take([](WorkerPriority&) {}), 12);
  EXPECT_EQ(priority.now(), 12);
  EXPECT_EQ(worker.take([](WorkerPriority& own) { own.restore(); }), 9);
  EXPECT_EQ(priority.now(), 9);
}

TEST(WorkerPriority, IsComparedWithACeilingAsItIsAfterItsLevelHasMoved) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  WorkerPriority priority(10);
  Steps worker(priority, 10);
  priority.move_to(9, worker.thread());
  EXPECT_EQ(worker.take([](WorkerPriority&) {}), 9);
  EXPECT_EQ(worker.take([](WorkerPriority& own) { own.raise_to(10); }), 10);
  EXPECT_EQ(worker.take([](WorkerPriority& own) { own.restore(); }), 9);
}

TEST(WorkerPriority, MovesFromBestEffortToTheCeilingAndBack) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  WorkerPriority priority(0, true);
  Steps worker(priority, 10);
  priority.move_to(0, worker.thread());
  EXPECT_EQ(worker.take([](WorkerPriority& own) { own.raise_to(12); }), 12);
  EXPECT_EQ(worker.take([](WorkerPriority& own) { own.restore(); }), 0);
  EXPECT_EQ(worker.take([](WorkerPriority& own) { own.adopt(7); }), 7);
}

TEST(WorkerPriority, WithoutRealTimeIsNeverRaised) {
  WorkerPriority priority(0);
  priority.raise_to(12);
  EXPECT_EQ(priority.now(), 0);
}

}  // namespace
}  // namespace rclrt::executor

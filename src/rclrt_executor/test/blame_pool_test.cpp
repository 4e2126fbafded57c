// SPDX-License-Identifier: Apache-2.0
#include "blame_pool.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::executor::test {
namespace {

/// A worker that has locked a room until its end.
class Holder {
 public:
  Holder(BlamePool& pool, bool has_budget)
      : thread_({.name = "holder"}, [this, &pool, has_budget] {
          room_ = &pool.lock(has_budget);
          holds_.post();
          ends_.wait();
          room_->mutex.unlock();
        }) {
    holds_.wait();
  }
  ~Holder() { ends_.post(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  const BlamePool::Room* room() const { return room_; }

 private:
  BlamePool::Room* room_ = nullptr;
  realtime::Semaphore holds_;
  realtime::Semaphore ends_;
  realtime::Thread thread_;  // last: destroyed first
};

TEST(BlamePool, WorkersWithABudgetKeepNobodyElseWaiting) {
  BlamePool pool(4, 2);
  const Holder one(pool, true);  // its budget ends here, until the next period
  auto two = std::make_unique<Holder>(pool, true);
  const Holder other(pool, false);
  EXPECT_NE(one.room(), two->room());
  EXPECT_NE(other.room(), one.room());
  EXPECT_NE(other.room(), two->room());
  const BlamePool::Room* const freed = two->room();
  two.reset();
  EXPECT_EQ(Holder(pool, true).room(), freed);
}

TEST(BlamePool, WithoutBudgetsThereIsOneRoom) {
  BlamePool pool(4, 0);
  BlamePool::Room& room = pool.lock(true);
  room.mutex.unlock();
  EXPECT_EQ(&pool.lock(false), &room);
  room.mutex.unlock();
}

TEST(BlamePool, ARoomHasPlaceForWhatIsRemembered) {
  BlamePool pool(4, 1);
  BlamePool::Room& room = pool.lock(true);
  EXPECT_EQ(room.intervals.size(), 4U);
  EXPECT_EQ(room.scratch().active.size(), 5U);  // including the late one itself
  room.mutex.unlock();
}

}  // namespace
}  // namespace rclrt::executor::test

// SPDX-License-Identifier: Apache-2.0
// Which worker keeps a lane's time, on a simulated clock. Workers need time only for callbacks, and
// sleep until the times of LaneWatch.
#include "lane_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "access.hpp"
#include "test_callback.hpp"
#include "timer_heap.hpp"

namespace rclrt::executor::test {
namespace {

using Role = LaneWatch::Role;
constexpr std::int64_t kNever = TimerHeap::kNever;

/// Behaves as Lane::pop, with as many CPUs as workers.
class SimulatedLane {
 public:
  explicit SimulatedLane(std::size_t workers) : workers_(workers) {}

  void add_timer(std::int64_t first_ns, std::int64_t period_ns, std::int64_t execution_ns) {
    timers_.push_back(std::make_unique<TestTimer>(
        timer_named("t", 0, 1), TimerOptions{.period_ns = period_ns}, [](const InstanceInfo&) {}));
    schedule_of(*timers_.back()).start(first_ns, 0);
    executions_.push_back(execution_ns);
    heap_.add(timers_.back().get());
    wake(Role::kFollower, workers_.size());
    wake(Role::kBackup, workers_.size());
    wake(Role::kLeader, workers_.size());
  }
  void remove_timer(std::size_t index) { heap_.remove(timers_[index].get()); }
  /// Pushes a message with a callback that takes `execution_ns`.
  void push(std::int64_t execution_ns) {
    ready_.push_back({nullptr, now_ns_, execution_ns});
    wake_one();
  }

  void run_until(std::int64_t end_ns) {
    for (;;) {
      run_awake_workers();
      std::int64_t next_ns = kNever;
      for (const Worker& worker : workers_) {
        next_ns = std::min(next_ns, worker.until_ns);
      }
      if (next_ns > end_ns) {
        now_ns_ = end_ns;
        return;
      }
      now_ns_ = std::max(now_ns_, next_ns);
    }
  }

  std::int64_t now_ns() const { return now_ns_; }
  /// Returns the largest lateness, from the time at which a timer's release could run: a worker and
  /// the timer's callback are free.
  std::int64_t worst_lateness_ns() const { return worst_ns_; }
  std::size_t releases() const { return releases_; }
  /// Returns how often one worker woke another for a release.
  std::size_t hand_overs() const { return hand_overs_; }
  std::size_t wake_ups() const { return wake_ups_; }

 private:
  struct Job {
    const Callback* timer;
    std::int64_t release_ns;
    std::int64_t execution_ns;
  };
  struct Worker {
    bool sleeps = false;
    Role role = Role::kFollower;
    std::int64_t until_ns = 0;  // asleep: its wake-up time; otherwise: the end of its callback
    const Callback* runs = nullptr;
    bool woken = true;
  };

  void wake(Role role, std::size_t count) {
    for (Worker& worker : workers_) {
      if (count > 0 && worker.sleeps && worker.role == role && !worker.woken) {
        worker.woken = true;
        --count;
      }
    }
  }
  bool wake_one() {
    for (const Role role : {Role::kFollower, Role::kBackup, Role::kLeader}) {
      for (Worker& worker : workers_) {
        if (worker.sleeps && worker.role == role && !worker.woken) {
          return worker.woken = true;
        }
      }
    }
    return false;
  }

  bool runs(const Callback* timer) const {
    return std::any_of(workers_.begin(), workers_.end(), [&](const Worker& worker) {
      return timer != nullptr && worker.runs == timer;
    });
  }

  /// Runs every worker that is awake, or has slept until its time, until none is left.
  void run_awake_workers() {
    for (bool again = true; again;) {
      again = false;
      for (Worker& worker : workers_) {
        if (worker.woken || worker.until_ns <= now_ns_) {
          again = true;
          run_worker(worker);
        }
      }
    }
  }

  void run_worker(Worker& worker) {
    wake_ups_ += worker.sleeps && !worker.woken ? 1 : 0;
    if (worker.sleeps) {
      watch_.leave(worker.role);
    }
    worker = {.woken = false};
    while (heap_.next_ns() <= now_ns_) {
      Instance* const instance = heap_.expire_first(now_ns_);
      for (std::size_t i = 0; i < timers_.size(); ++i) {
        if (timers_[i].get() == instance->callback) {
          ready_.push_back({instance->callback, instance->release_ns, executions_[i]});
        }
      }
      state_of(*instance->callback).discard(instance);
    }
    for (auto job = ready_.begin(); job != ready_.end(); ++job) {
      if (runs(job->timer)) {
        continue;  // parked with its group
      }
      worker.runs = job->timer;
      worker.until_ns = now_ns_ + job->execution_ns;
      if (job->timer != nullptr) {
        ++releases_;
        const std::int64_t own_end_ns = std::exchange(ends_ns_[job->timer], worker.until_ns);
        const std::int64_t due_ns = all_busy_until(std::max(job->release_ns, own_end_ns));
        worst_ns_ = std::max(worst_ns_, now_ns_ - due_ns);
      }
      const Callback& running = job->timer != nullptr ? *job->timer : message_;
      ready_.erase(job);
      const bool more = std::any_of(ready_.begin(), ready_.end(),
                                    [&](const Job& each) { return !runs(each.timer); });
      if (more) {
        wake_one();
      } else if (watch_.lacks_leader(heap_.next_beside_ns(running))) {
        hand_overs_ += wake_one() ? 1 : 0;
      }
      note_when_all_are_busy();
      return;
    }
    heap_.update_order();
    const LaneWatch::Sleep sleep = watch_.take_role(heap_.next_ns(), heap_.following_ns());
    worker.sleeps = true;
    worker.role = sleep.role;
    worker.until_ns = sleep.until_ns;
  }

  void note_when_all_are_busy() {
    std::int64_t first_ns = kNever;
    for (const Worker& worker : workers_) {
      if (worker.sleeps || worker.woken) {
        return;
      }
      first_ns = std::min(first_ns, worker.until_ns);
    }
    all_busy_.emplace_back(now_ns_, first_ns);
  }
  /// Returns the first time from `time_ns` on at which a worker was free.
  std::int64_t all_busy_until(std::int64_t time_ns) const {
    for (const auto& [from_ns, until_ns] : all_busy_) {
      time_ns = from_ns <= time_ns ? std::max(time_ns, until_ns) : time_ns;
    }
    return time_ns;
  }

  std::vector<Worker> workers_;
  std::vector<std::unique_ptr<TestTimer>> timers_;
  std::vector<std::int64_t> executions_;
  TestCallback message_{named("message"), [](const InstanceInfo&) {}};
  std::map<const Callback*, std::int64_t> ends_ns_;  // of the last callback of each
  std::vector<std::pair<std::int64_t, std::int64_t>> all_busy_;
  TimerHeap heap_;
  LaneWatch watch_;
  std::deque<Job> ready_;
  std::int64_t now_ns_ = 0;
  std::int64_t worst_ns_ = 0;
  std::size_t releases_ = 0;
  std::size_t hand_overs_ = 0;
  std::size_t wake_ups_ = 0;
};

TEST(LaneWatch, OneTimerCostsOneWakeUpPerReleaseHoweverManyWorkersThereAre) {
  SimulatedLane lane(3);
  lane.add_timer(1000, 1000, 100);
  lane.run_until(100'500);
  EXPECT_EQ(lane.releases(), 100U);
  EXPECT_EQ(lane.wake_ups(), 100U);
  EXPECT_EQ(lane.hand_overs(), 0U);
}

TEST(LaneWatch, TwoTimersCostTwoWakeUpsPerReleaseAtMostAndNoHandOver) {
  SimulatedLane lane(2);
  lane.add_timer(1000, 1000, 100);
  lane.add_timer(1500, 1000, 100);
  lane.run_until(100'400);
  EXPECT_EQ(lane.releases(), 199U);
  EXPECT_LE(lane.wake_ups(), 400U);
  EXPECT_EQ(lane.hand_overs(), 0U);
}

TEST(LaneWatch, ALongCallbackDelaysNoOtherTimer) {
  SimulatedLane lane(2);
  lane.add_timer(1000, 1'000'000, 500'000);
  lane.add_timer(1500, 1000, 100);
  lane.run_until(400'000);
  EXPECT_EQ(lane.releases(), 1U + 399U);
  EXPECT_EQ(lane.worst_lateness_ns(), 0);
}

TEST(LaneWatch, ATimerThatComesWithAnEarlierReleaseIsOnTime) {
  SimulatedLane lane(2);
  lane.add_timer(1'000'000, 1'000'000, 100);
  lane.run_until(10);
  lane.add_timer(50, 1'000'000, 100);
  lane.run_until(1000);
  EXPECT_EQ(lane.releases(), 1U);
  EXPECT_EQ(lane.worst_lateness_ns(), 0);
}

TEST(LaneWatch, WhoeverRunsWhatNoReleaseIsLateWhileAWorkerSleeps) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto up_to = [&](int most) { return static_cast<std::int64_t>(random() % most) + 1; };
    SimulatedLane lane(1 + seed % 4);
    std::size_t timers = 0;
    for (int i = 0; i < 200; ++i) {
      switch (random() % 8) {
        case 0:
          lane.add_timer(lane.now_ns() + up_to(500), 20 + up_to(1000), up_to(300));
          ++timers;
          break;
        case 1:
          if (timers > 2) {
            lane.remove_timer(random() % timers);
          }
          break;
        case 2:
        case 3:
          lane.push(up_to(400));
          break;
        default:
          lane.run_until(lane.now_ns() + up_to(300));
      }
    }
    ASSERT_EQ(lane.worst_lateness_ns(), 0) << "seed " << seed;
    ASSERT_GT(lane.releases(), 0U);
  }
}

}  // namespace
}  // namespace rclrt::executor::test

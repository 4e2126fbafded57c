// SPDX-License-Identifier: Apache-2.0
// EDF's decisions without threads: the test plays the kernel, which runs the top of the stack.
#include "edf_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "access.hpp"
#include "edf_reference.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

/// The queue's schedule of `tasks`, a tick being a nanosecond.
class Kernel {
 public:
  explicit Kernel(const std::vector<Task>& tasks) : tasks_(tasks) {
    queue_.set_workers(EdfQueue::kMaxWorkers);
    std::map<int, std::shared_ptr<Group>> groups;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      auto& group = groups[tasks[i].group < 0 ? -1 - static_cast<int>(i) : tasks[i].group];
      if (!group) {
        group = std::make_shared<Group>();
      }
      detail::GroupState& state = Access::state(*group);
      state.set_deadline_ceiling(
          std::min<std::int64_t>(state.deadline_ceiling_ns(), tasks[i].deadline));
      CallbackOptions options = named(std::to_string(i), 0, 1'000, group);
      callbacks_.push_back(std::make_unique<TestCallback>(options, [](const InstanceInfo&) {}));
      number_[callbacks_.back().get()] = static_cast<int>(i);
      queue_.deadline_class(tasks[i].deadline);
    }
  }

  std::vector<int> run(int ticks) {
    std::vector<int> trace;
    for (int now = 0; now < ticks; ++now) {
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        if (now >= tasks_[i].offset && (now - tasks_[i].offset) % tasks_[i].period == 0) {
          queue_.deadline_class(tasks_[i].deadline).submit(callbacks_[i]->make_instance(now, now));
        }
      }
      // The worker that ended last asks first, then the one above the top.
      while (start(stack_.size())) {
      }
      trace.push_back(stack_.empty() ? kIdle : number_[stack_.back().instance->callback]);
      deepest_ = std::max(deepest_, stack_.size());
      if (!stack_.empty() && --stack_.back().left == 0) {
        Instance* const ended = stack_.back().instance;
        stack_.pop_back();
        group_of(*ended->callback).leave();
        state_of(*ended->callback).discard(ended);
      }
    }
    return trace;
  }
  std::size_t deepest() const { return deepest_; }

 private:
  struct Running {
    Instance* instance;
    int left;
  };

  bool start(std::size_t worker) {
    std::int64_t wake_up_ns = 0;
    Instance* const instance = queue_.try_pop(worker, true, wake_up_ns);
    if (instance != nullptr) {
      const auto task = static_cast<std::size_t>(number_[instance->callback]);
      stack_.push_back({instance, tasks_[task].work});
    }
    return instance != nullptr;
  }

  const std::vector<Task>& tasks_;
  std::vector<std::unique_ptr<TestCallback>> callbacks_;
  std::map<const Callback*, int> number_;
  std::vector<Running> stack_;
  std::size_t deepest_ = 0;
  realtime::EventCount outside_;
  EdfQueue queue_{outside_};
};

TEST(EdfQueue, MeetsTheDeadlinesThatRateMonotonicPrioritiesMiss) {
  // C/T 2/5 and 4/7, load 0.97: by rate-monotonic priorities the second ends at 8, after 7.
  const std::vector<Task> tasks = {{2, 5, 5}, {4, 7, 7}};
  EXPECT_EQ(Kernel(tasks).run(14), (std::vector<int>{0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0}));
  EXPECT_FALSE(reference_edf(tasks, 35).misses());
}

TEST(EdfQueue, MeetsAllDeadlinesAtAFullLoad) {
  // C/T 2/4 and 3/6: load 1. By rate-monotonic priorities the second ends at 7, after 6.
  const std::vector<Task> tasks = {{2, 4, 4}, {3, 6, 6}};
  EXPECT_EQ(Kernel(tasks).run(12), (std::vector<int>{0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0}));
  EXPECT_FALSE(reference_edf(tasks, 12).misses());
}

TEST(EdfQueue, AShorterRelativeDeadlineDoesNotPreemptAnEarlierAbsoluteOne) {
  // The first is due at 10, the second, released at 5, at 11.
  const std::vector<Task> tasks = {{8, 100, 10}, {1, 100, 6, 5}};
  EXPECT_EQ(Kernel(tasks).run(10), (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 1, kIdle}));
}

TEST(EdfQueue, AnEarlierDeadlinePreempts) {
  const std::vector<Task> tasks = {{4, 100, 10}, {1, 100, 4, 2}};
  EXPECT_EQ(Kernel(tasks).run(6), (std::vector<int>{0, 0, 1, 0, 0, kIdle}));
}

TEST(EdfQueue, EqualDeadlinesDoNotPreemptAndGoInOrderOfRelease) {
  // All are due at 10; released at 0, 2 and 1.
  const std::vector<Task> tasks = {{4, 100, 10}, {1, 100, 8, 2}, {1, 100, 9, 1}};
  EXPECT_EQ(Kernel(tasks).run(6), (std::vector<int>{0, 0, 0, 0, 2, 1}));
}

TEST(EdfQueue, NoMessageGoesBeforeAnEarlierTimerOfItsDeadline) {
  constexpr std::int64_t kDeadline = 1'000'000'000;
  TestCallback message(named("message", 0, 64), [](const InstanceInfo&) {});
  TestTimer timer(timer_named("timer", 0, 1000), TimerOptions{.period_ns = 500},
                  [](const InstanceInfo&) {});
  realtime::EventCount outside;
  EdfQueue queue(outside);
  queue.set_workers(1);
  detail::ReadySink& deadline_class = queue.deadline_class(kDeadline);
  schedule_of(timer).start(realtime::monotonic_now_ns(), 0);
  queue.add_timer(kDeadline, &timer);
  std::atomic<bool> stop{false};
  std::thread sender([&] {  // while the queue reads the clock
    while (!stop.load()) {
      const std::int64_t now = realtime::monotonic_now_ns();
      if (Instance* const instance = message.make_instance(now, now)) {
        deadline_class.submit(instance);
      }
    }
  });
  std::int64_t latest_message_ns = 0;
  int timers_after_later_messages = 0;
  int messages = 0;
  std::int64_t wake_up_ns = 0;
  for (int i = 0; i < 300'000 || messages < 1000; ++i) {
    Instance* const instance = queue.try_pop(0, true, wake_up_ns);
    if (instance == nullptr) {
      continue;
    }
    if (instance->callback == &message) {
      latest_message_ns = std::max(latest_message_ns, instance->release_ns);
      ++messages;
    } else if (instance->release_ns < latest_message_ns) {
      ++timers_after_later_messages;
    }
    group_of(*instance->callback).leave();
    state_of(*instance->callback).discard(instance);
  }
  stop.store(true);
  sender.join();
  EXPECT_EQ(timers_after_later_messages, 0);
  queue.remove_timer(&timer);
}

TEST(EdfQueue, WhatACeilingKeepsFromStartingKeepsLaterDeadlinesFromStartingToo) {
  // The second is earlier than the first and excludes it; the third is earlier than the first and
  // shorter than the ceiling, but later than the second.
  const std::vector<Task> tasks = {{5, 100, 50, 0, 0}, {2, 100, 10, 1, 0}, {1, 100, 9, 3}};
  EXPECT_EQ(Kernel(tasks).run(9), (std::vector<int>{0, 0, 0, 0, 0, 1, 1, 2, kIdle}));
}

class EdfProperty : public ::testing::TestWithParam<bool> {};

TEST_P(EdfProperty, TheScheduleIsThatOfTheTextbook) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same every time
  for (int round = 0; round < 2'000; ++round) {
    const auto tasks = random_tasks(random, GetParam());
    Kernel kernel(tasks);
    ASSERT_EQ(kernel.run(120), reference_edf(tasks, 120).trace) << "round " << round;
    std::vector<int> deadlines;
    for (const Task& task : tasks) {
      deadlines.push_back(task.deadline);
    }
    std::sort(deadlines.begin(), deadlines.end());
    deadlines.erase(std::unique(deadlines.begin(), deadlines.end()), deadlines.end());
    EXPECT_LE(kernel.deepest(), deadlines.size()) << "a worker for each relative deadline";
  }
}

TEST_P(EdfProperty, AnInstanceWaitsForAtMostOneWithALaterDeadline) {
  std::mt19937 random(8);  // NOLINT(cert-msc51-cpp)
  int most = 0;
  for (int round = 0; round < 500; ++round) {
    most = std::max(most, most_blocked(reference_edf(random_tasks(random, GetParam()), 120)));
  }
  EXPECT_EQ(most, GetParam() ? 1 : 0);
}

std::string groups_or_not(const ::testing::TestParamInfo<bool>& info) {
  return info.param ? "WithGroups" : "WithoutGroups";
}
INSTANTIATE_TEST_SUITE_P(All, EdfProperty, ::testing::Bool(), groups_or_not);

TEST(EdfQueue, DeadlinesThatArePeriodsAreMetUpToAFullLoad) {
  // Liu and Layland 1973, theorem 7.
  std::mt19937 random(9);  // NOLINT(cert-msc51-cpp)
  int full = 0;
  for (int round = 0; round < 2'000; ++round) {
    auto tasks = random_tasks(random, false);
    int hyperperiod = 1;
    for (Task& task : tasks) {
      const int periods[] = {4, 6, 8, 12, 24};
      task.period = periods[between(random, 0, 4)];
      task.work = between(random, 1, task.period / 2);
      task.deadline = task.period;
      task.offset = 0;
      hyperperiod = std::lcm(hyperperiod, task.period);
    }
    int demand = 0;
    for (const Task& task : tasks) {
      demand += hyperperiod / task.period * task.work;
    }
    if (demand <= hyperperiod) {
      full += demand == hyperperiod ? 1 : 0;
      EXPECT_FALSE(reference_edf(tasks, hyperperiod).misses());
      EXPECT_EQ(Kernel(tasks).run(hyperperiod), reference_edf(tasks, hyperperiod).trace);
    }
  }
  EXPECT_GT(full, 10);
}

TEST(EdfQueue, TheStandbySleepsUntilTheNextReleaseThatMayPreempt) {
  realtime::EventCount outside;
  EdfQueue queue(outside);
  queue.set_workers(2);
  const std::int64_t now = realtime::monotonic_now_ns();
  const std::int64_t hour = 3'600'000'000'000;
  const auto timer = [&](std::int64_t deadline, std::int64_t offset) {
    auto made = std::make_unique<TestTimer>(
        timer_named("t"), TimerOptions{.period_ns = 10 * hour, .offset_ns = offset},
        [](const InstanceInfo&) {});
    schedule_of(*made).start(now, offset);
    queue.deadline_class(deadline);
    queue.add_timer(deadline, made.get());
    return made;
  };
  TestCallback running(named("running"), [](const InstanceInfo&) {});
  detail::ReadySink& deadline_class = queue.deadline_class(5 * hour);
  const auto later = timer(6 * hour, 1 * hour);    // due after the running one
  const auto longer = timer(4 * hour, 2 * hour);   // shorter, but due after the running one
  const auto earlier = timer(1 * hour, 3 * hour);  // preempts it
  std::int64_t wake_up_ns = 0;
  ASSERT_EQ(queue.try_pop(0, true, wake_up_ns), nullptr);
  EXPECT_EQ(wake_up_ns, now + hour) << "nothing runs: the first of all";
  deadline_class.submit(running.make_instance(now, now));
  ASSERT_NE(queue.try_pop(0, true, wake_up_ns), nullptr);
  ASSERT_EQ(queue.try_pop(1, true, wake_up_ns), nullptr);
  EXPECT_EQ(wake_up_ns, now + 3 * hour);
}

}  // namespace
}  // namespace rclrt::executor::test

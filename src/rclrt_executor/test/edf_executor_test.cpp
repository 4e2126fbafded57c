// SPDX-License-Identifier: Apache-2.0
// EDF with its threads. The order of events decides.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "edf_reference.hpp"
#include "rclrt/executor/edf_executor.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "spinning.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

CallbackOptions due_within(std::string name, std::int64_t deadline_ns,
                           std::shared_ptr<Group> group = nullptr) {
  CallbackOptions options = named(std::move(name), 0, 100, std::move(group));
  options.deadline_ns = deadline_ns;
  return options;
}

auto callback_of(const CallbackOptions& options, TestCallback::Body body) {
  return std::make_shared<TestCallback>(options, std::move(body));
}

/// Tasks that work in ticks of a clock which only they advance. All releases of a tick are made
/// together, at a priority above all workers; then the kernel may preempt. So the schedule of real
/// threads can be compared, tick by tick, with the textbook's.
class VirtualTime {
 public:
  VirtualTime(const std::vector<Task>& tasks, int ticks)
      : tasks_(tasks), ticks_(ticks), executor_(on_one_cpu()) {
    std::vector<std::shared_ptr<Group>> groups = {std::make_shared<Group>(),
                                                  std::make_shared<Group>()};
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto group = tasks[i].group < 0 ? nullptr : groups.at(tasks[i].group);
      callbacks_.push_back(
          callback_of(due_within(std::to_string(i), tasks[i].deadline, group),
                      [this, i](const InstanceInfo&) { work(static_cast<int>(i)); }));
      executor_.add(callbacks_.back());
    }
    idle_ = callback_of(due_within("idle", 0), [this](const InstanceInfo&) { idle(); });
    executor_.add(idle_);
  }

  std::vector<int> run() {
    executor_.prepare();
    idle_->release(0, 0);
    executor_.spin();
    trace_.resize(static_cast<std::size_t>(ticks_));
    return trace_;
  }

 private:
  static constexpr int kAboveAll = 98;

  static void set_priority(int priority) {
    sched_param parameters{};
    parameters.sched_priority = priority;
    ASSERT_EQ(sched_setscheduler(0, SCHED_FIFO, &parameters), 0);
  }
  /// The worker's own priority, which it has when it runs its first instance.
  static int own_priority() {
    thread_local const int kOwn = realtime::read_scheduling(0)->priority;
    return kOwn;
  }

  void release_due() {
    for (std::size_t i = 0; i < tasks_.size() && now_ < ticks_; ++i) {
      if (now_ >= tasks_[i].offset && (now_ - tasks_[i].offset) % tasks_[i].period == 0) {
        callbacks_[i]->release(now_, now_);
      }
    }
  }

  void tick(int task) {
    trace_.push_back(task);
    ++now_;
    set_priority(kAboveAll);
    release_due();
  }

  void work(int task) {
    const int own = own_priority();
    for (int left = tasks_[static_cast<std::size_t>(task)].work; left > 0; --left) {
      set_priority(own);  // here it may be preempted
      tick(task);
    }
    // The priority stays above all workers until the worker has chosen its next instance: the end
    // takes no time.
  }

  void idle() {
    const int own = own_priority();
    set_priority(kAboveAll);
    release_due();
    set_priority(own);
    while (now_ < ticks_) {
      tick(kIdle);
      set_priority(own);
    }
    executor_.cancel();
  }

  const std::vector<Task>& tasks_;
  const int ticks_;
  int now_ = 0;  // only the thread that has the CPU uses this and trace_
  std::vector<int> trace_;
  EdfExecutor executor_;
  std::vector<std::shared_ptr<TestCallback>> callbacks_;
  std::shared_ptr<TestCallback> idle_;
};

TEST(Edf, MeetsAllDeadlinesAtAFullLoadThatRateMonotonicPrioritiesMiss) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  // C/T 2/4 and 3/6: load 1. By rate-monotonic priorities the second ends at 7, after 6.
  const std::vector<Task> tasks = {{2, 4, 4}, {3, 6, 6}};
  EXPECT_EQ(VirtualTime(tasks, 12).run(), (std::vector<int>{0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0}));
}

TEST(Edf, TheKernelRunsTheScheduleOfTheTextbook) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  std::mt19937 random(3);  // NOLINT(cert-msc51-cpp): the same every time
  for (int round = 0; round < 120; ++round) {
    const auto tasks = random_tasks(random, round % 2 == 0);
    ASSERT_EQ(VirtualTime(tasks, 60).run(), reference_edf(tasks, 60).trace) << "round " << round;
  }
}

TEST(Edf, AnEarlierDeadlinePreempts) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  EdfExecutor executor(on_one_cpu());
  std::atomic<bool> ran{false};
  bool preempted = false;
  const auto early =
      callback_of(due_within("early", 3 * kSecond_ns), [&](const InstanceInfo&) { ran = true; });
  const auto late = callback_of(due_within("late", 9 * kSecond_ns), [&](const InstanceInfo&) {
    early->release_now();
    preempted = ran;
    executor.cancel();
  });
  executor.add(early);
  executor.add(late);
  executor.prepare();
  late->release_now();
  executor.spin();
  EXPECT_TRUE(preempted);
}

TEST(Edf, AShorterRelativeDeadlineThatIsDueLaterWaits) {
  EdfExecutor executor(on_one_cpu());
  EventLog order;
  const auto shorter = callback_of(due_within("shorter", 3 * kSecond_ns), [&](const InstanceInfo&) {
    order.push_back("shorter");
    executor.cancel();
  });
  const auto longer = callback_of(due_within("longer", 9 * kSecond_ns), [&](const InstanceInfo&) {
    shorter->release_now();
    busy_for(2'000'000);
    order.push_back("longer");
  });
  executor.add(shorter);
  executor.add(longer);
  executor.prepare();
  const std::int64_t long_ago = realtime::monotonic_now_ns() - 8 * kSecond_ns;
  longer->release(long_ago, long_ago);  // due in one second
  executor.spin();
  EXPECT_EQ(order.events(), (std::vector<std::string>{"longer", "shorter"}));
}

TEST(Edf, WhatIsReadyStartsInOrderOfDeadlineAndWithoutOneInOrderOfReleaseAtTheEnd) {
  EdfExecutor executor(on_one_cpu());
  EventLog order;
  std::vector<std::shared_ptr<TestCallback>> callbacks;
  for (const auto& [name, deadline] :
       std::vector<std::pair<std::string, std::int64_t>>{{"none", 0},
                                                         {"9", 9 * kSecond_ns},
                                                         {"last", 0},
                                                         {"3", 3 * kSecond_ns},
                                                         {"6", 6 * kSecond_ns}}) {
    callbacks.push_back(
        callback_of(due_within(name, deadline), [&, name = name](const InstanceInfo&) {
          order.push_back(name);
          if (name == "last") {
            executor.cancel();
          }
        }));
    executor.add(callbacks.back());
  }
  executor.prepare();
  for (const auto& callback : callbacks) {
    callback->release_now();
  }
  executor.spin();
  EXPECT_EQ(order.events(), (std::vector<std::string>{"3", "6", "9", "none", "last"}));
}

TEST(Edf, ATimerHasItsPeriodForADeadlineUnlessItStatesOne) {
  EdfExecutor executor(on_one_cpu());
  EventLog order;
  const auto timer = [&](const std::string& name, std::int64_t period, std::int64_t deadline) {
    executor.add(std::make_shared<TestTimer>(due_within(name, deadline),
                                             TimerOptions{.period_ns = period},
                                             [&order, &executor, name](const InstanceInfo&) {
                                               order.push_back(name);
                                               if (name == "50") {
                                                 executor.cancel();
                                               }
                                             }));
  };
  timer("50", 50 * kSecond_ns, 0);
  timer("10, states 30", 10 * kSecond_ns, 30 * kSecond_ns);
  timer("40, states 5", 40 * kSecond_ns, 5 * kSecond_ns);
  timer("20", 20 * kSecond_ns, 0);
  executor.spin();
  EXPECT_EQ(order.events(),
            (std::vector<std::string>{"40, states 5", "20", "10, states 30", "50"}));
}

TEST(Edf, ATimerThatMayPreemptIsOnTimeHoweverLongTheOtherRuns) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  EdfExecutor executor(on_one_cpu());
  std::atomic<int> ticks{0};
  bool preempted = false;
  executor.add(every_millisecond([&](const InstanceInfo&) { ++ticks; }, 5));
  const auto background = callback_of(due_within("background", 0), [&](const InstanceInfo&) {
    preempted = busy_until([&, from = ticks.load()] { return ticks >= from + 5; });
    executor.cancel();
  });
  executor.add(background);
  executor.prepare();
  background->release_now();
  executor.spin();
  EXPECT_TRUE(preempted);
}

TEST(Edf, AnInstanceMayEndBeforeOneThatPreemptedIt) {
  // The upper one sleeps, so the lower one goes on and ends. No later one starts meanwhile.
  EdfExecutor executor(on_one_cpu());
  EventLog order;
  realtime::Semaphore lower_has_ended;
  const auto next = callback_of(due_within("next", 0), [&](const InstanceInfo&) {
    order.push_back("next");
    executor.cancel();
  });
  const auto upper = callback_of(due_within("upper", kSecond_ns), [&](const InstanceInfo&) {
    lower_has_ended.wait();
    busy_for(2'000'000);
    order.push_back("upper ends");
  });
  const auto lower = callback_of(due_within("lower", 9 * kSecond_ns), [&](const InstanceInfo&) {
    upper->release_now();
    next->release_now();
    while (upper->counters().pending() == 0) {
    }
    order.push_back("lower ends");
    lower_has_ended.post();
  });
  for (const auto& callback : {next, upper, lower}) {
    executor.add(callback);
  }
  executor.prepare();
  lower->release_now();
  executor.spin();
  EXPECT_EQ(order.events(), (std::vector<std::string>{"lower ends", "upper ends", "next"}));
}

TEST(Edf, MoreDeadlinesThanPrioritiesRunAndNestAsDeepAsThePrioritiesReach) {
  auto options = on_one_cpu();
  options.top_priority = 3;  // room for two workers
  EdfExecutor executor(options);
  EventLog order;
  std::vector<std::shared_ptr<TestCallback>> callbacks(4);
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    callbacks[i] =
        callback_of(due_within(std::to_string(i), static_cast<std::int64_t>(9 - i) * kSecond_ns),
                    [&, i](const InstanceInfo&) {
                      if (i + 1 < callbacks.size()) {
                        callbacks[i + 1]->release_now();
                      }
                      order.push_back(std::to_string(i) + " ends");
                      if (i == 0) {
                        executor.cancel();
                      }
                    });
    executor.add(callbacks[i]);
  }
  executor.prepare();
  EXPECT_EQ(executor.kernel_priority(0), executor.realtime() ? 1 : 0);
  callbacks[0]->release_now();
  executor.spin();
  if (executor.realtime()) {
    EXPECT_EQ(order.events(), (std::vector<std::string>{"1 ends", "2 ends", "3 ends", "0 ends"}));
  }
}

TEST(Edf, ADeadlineThatComesWhileItSpinsPreemptsWhatRuns) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  EdfExecutor executor(on_one_cpu());
  std::atomic<int> ran{0};
  int preempted = 0;
  std::vector<std::shared_ptr<TestCallback>> comers;
  const auto first = callback_of(due_within("first", 9 * kSecond_ns), [&](const InstanceInfo&) {
    for (int seconds = 8; seconds > 3; --seconds) {  // each is shorter than all earlier ones
      comers.push_back(callback_of(due_within("comer", seconds * kSecond_ns),
                                   [&](const InstanceInfo&) { ++ran; }));
      executor.add(comers.back());
      comers.back()->release_now();
      preempted += ran.load() == 9 - seconds ? 1 : 0;
    }
    executor.cancel();
  });
  executor.add(first);
  executor.prepare();
  first->release_now();
  executor.spin();
  EXPECT_EQ(preempted, 5);
}

TEST(Edf, RunsOnOneCpuAndSaysOnWhich) {
  ExecutorOptions options;
  EdfExecutor chosen(options);
  EXPECT_EQ(chosen.options().cpus, std::vector<int>{realtime::allowed_cpus().back()});
  EXPECT_EQ(chosen.cpu(), realtime::allowed_cpus().back());
  std::vector<int> cpus;
  const auto callback = callback_of(due_within("c", 0), [&](const InstanceInfo&) {
    cpus = realtime::read_scheduling(0)->cpus;
    chosen.cancel();
  });
  chosen.add(callback);
  chosen.prepare();
  callback->release_now();
  chosen.spin();
  EXPECT_EQ(cpus, std::vector<int>{chosen.cpu()});

  options.name = "control";
  options.cpus = {0, 1};
  try {
    const EdfExecutor refused(options);
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "executor \"control\": edf runs on one CPU, not on 2: state one CPU, and use an "
                 "executor for each further CPU");
  }
}

}  // namespace
}  // namespace rclrt::executor::test

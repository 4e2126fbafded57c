// SPDX-License-Identifier: Apache-2.0
// Priorities, preemption, order and overload. The order of events decides, not time.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "all_executors.hpp"

namespace rclrt::executor::test {
namespace {

class EventDriven : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, EventDriven, ::testing::ValuesIn(kEventDriven), kind_name);

TEST_P(EventDriven, AMoreUrgentCallbackPreemptsARunningOne) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto executor = make(GetParam(), on_one_cpu());
  std::atomic<bool> high_ran{false};
  bool preempted = false;
  const auto high = std::make_shared<TestCallback>(named("high", 2),
                                                   [&](const InstanceInfo&) { high_ran = true; });
  const auto low = std::make_shared<TestCallback>(named("low", 1), [&](const InstanceInfo&) {
    high->release_now();
    preempted = busy_until([&] { return high_ran.load(); });
    executor->cancel();
  });
  executor->add(low);
  executor->add(high);
  executor->prepare();
  low->release_now();
  executor->spin();
  EXPECT_TRUE(preempted);
}

TEST_P(EventDriven, ALessUrgentCallbackWaitsUntilTheMoreUrgentOneHasEnded) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto executor = make(GetParam(), on_one_cpu());
  EventLog order;
  const auto low = std::make_shared<TestCallback>(named("low", 1), [&](const InstanceInfo&) {
    order.push_back("low");
    executor->cancel();
  });
  const auto high = std::make_shared<TestCallback>(named("high", 2), [&](const InstanceInfo&) {
    low->release_now();
    busy_for(2'000'000);
    order.push_back("high");
  });
  executor->add(low);
  executor->add(high);
  executor->prepare();
  high->release_now();
  executor->spin();
  EXPECT_EQ(order.events(), (std::vector<std::string>{"high", "low"}));
}

TEST_P(EventDriven, OneLevelRunsInOrderOfReleaseNotOfRegistrationOrType) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto executor = make(GetParam(), on_one_cpu());
  EventLog order;
  const auto append = [&](const char* name) {
    return [&order, name](const InstanceInfo&) { order.push_back(name); };
  };
  const auto first_registered = std::make_shared<TestCallback>(named("a"), append("a"));
  CallbackOptions other_type = named("b");
  other_type.type = EntityType::kWaitable;
  const auto timer_type = std::make_shared<TestCallback>(other_type, append("b"));
  const auto last = std::make_shared<TestCallback>(
      named("end"), [&](const InstanceInfo&) { executor->cancel(); });
  executor->add(first_registered);
  executor->add(timer_type);
  executor->add(last);
  executor->prepare();
  timer_type->release_now();
  first_registered->release_now();
  timer_type->release_now();
  last->release_now();
  executor->spin();
  EXPECT_EQ(order.events(), (std::vector<std::string>{"b", "a", "b"}));
}

TEST_P(EventDriven, ACallbackEndsBeforeThoseOfItsLevelThatItReleasedStartInTheirOrder) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto executor = make(GetParam(), on_one_cpu());
  EventLog order;
  const auto second = std::make_shared<TestCallback>(
      named("second", 1), [&](const InstanceInfo&) { order.push_back("second"); });
  const auto third = std::make_shared<TestCallback>(named("third", 1), [&](const InstanceInfo&) {
    order.push_back("third");
    executor->cancel();
  });
  const auto first = std::make_shared<TestCallback>(named("first", 1), [&](const InstanceInfo&) {
    second->release_now();
    third->release_now();
    order.push_back("first ends");
  });
  for (const auto& callback : {third, second, first}) {
    executor->add(callback);
  }
  executor->prepare();
  first->release_now();
  executor->spin();
  EXPECT_EQ(order.events(), (std::vector<std::string>{"first ends", "second", "third"}));
}

TEST_P(EventDriven, EveryQueuedMessageIsAnInstance) {
  auto executor = make(GetParam(), on_one_cpu());
  int runs = 0;
  const auto callback = std::make_shared<TestCallback>(named("c", 0, 5), [&](const InstanceInfo&) {
    if (++runs == 5) {
      executor->cancel();
    }
  });
  executor->add(callback);
  executor->prepare();
  for (int i = 0; i < 5; ++i) {
    callback->release_now();
  }
  executor->spin();
  EXPECT_EQ(runs, 5);
  EXPECT_EQ(callback->counters().dropped, 0U);
}

TEST_P(EventDriven, ABurstBeyondTheDepthIsDroppedAndCounted) {
  auto executor = make(GetParam(), on_one_cpu());
  int runs = 0;
  const auto callback = std::make_shared<TestCallback>(named("c", 0, 4), [&](const InstanceInfo&) {
    if (++runs == 4) {
      executor->cancel();
    }
  });
  executor->add(callback);
  executor->prepare();
  for (int i = 0; i < 10; ++i) {
    callback->release_now();
  }
  executor->spin();
  EXPECT_EQ(callback->counters().released, 10U);
  EXPECT_EQ(callback->counters().completed, 4U);
  EXPECT_EQ(callback->counters().dropped, 6U);
  EXPECT_EQ(callback->counters().pending(), 0U);
}

TEST_P(EventDriven, AnInstanceThatFindsNothingToTakeIsADrop) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto empty = std::make_shared<TestCallback>(named("empty"), [](const InstanceInfo&) {});
  empty->outcome = Outcome::kEmpty;
  const auto last = std::make_shared<TestCallback>(
      named("end"), [&](const InstanceInfo&) { executor->cancel(); });
  executor->add(empty);
  executor->add(last);
  executor->prepare();
  empty->release_now();
  last->release_now();
  executor->spin();
  if (empty->counters().pending() == 0) {  // thread_dispatch without real time may reorder
    EXPECT_EQ(empty->counters().dropped, 1U);
  }
  EXPECT_EQ(empty->counters().completed, 0U);
}

TEST_P(EventDriven, InstancesStillWaitingAtACancelRunInTheNextSpin) {
  auto executor = make(GetParam(), on_one_cpu());
  int runs = 0;
  const auto callback = std::make_shared<TestCallback>(named("c"), [&](const InstanceInfo&) {
    ++runs;
    executor->cancel();
  });
  executor->add(callback);
  executor->prepare();
  for (int i = 0; i < 3; ++i) {
    callback->release_now();
  }
  int spins = 0;
  while (runs < 3) {
    executor->spin();
    ASSERT_LE(++spins, 3);
  }
  EXPECT_EQ(callback->counters().completed, 3U);
}

TEST_P(EventDriven, ReleasesFromManyThreadsDuringSpinAreAllAccountedFor) {
  auto options = on_one_cpu();
  options.cpus = {};
  auto executor = make(GetParam(), options);
  const auto callback =
      std::make_shared<TestCallback>(named("c", 1, 8), [](const InstanceInfo&) {});
  const auto last = std::make_shared<TestCallback>(
      named("end", 0), [&](const InstanceInfo&) { executor->cancel(); });
  executor->add(callback);
  executor->add(last);
  executor->prepare();
  std::thread driver([&] {
    std::vector<std::thread> producers;
    for (int i = 0; i < 3; ++i) {
      producers.emplace_back([&] {
        for (int release = 0; release < 500; ++release) {
          callback->release_now();
        }
      });
    }
    for (auto& producer : producers) {
      producer.join();
    }
    while (callback->counters().pending() != 0) {
      std::this_thread::yield();
    }
    last->release_now();
  });
  executor->spin();
  driver.join();
  const Counters counters = callback->counters();
  EXPECT_EQ(counters.released, 1500U);
  EXPECT_EQ(counters.completed + counters.dropped, 1500U);
}

TEST_P(EventDriven, EveryCallbackHasItsPriorityFromItsFirstInstruction) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto options = on_one_cpu();
  options.cpus = {};  // on several CPUs a new thread may run before its creator goes on
  auto executor = make(GetParam(), options);
  const auto group = std::make_shared<Group>();  // two levels: its ceiling refuses SCHED_OTHER
  std::atomic<int> wrong{0};
  std::atomic<int> left{400};
  const auto body = [&](const InstanceInfo&) {
    if (realtime::read_scheduling(0)->policy != realtime::Policy::kFifo) {
      ++wrong;
    }
    if (left.fetch_sub(1) == 1) {
      executor->cancel();
    }
  };
  std::vector<std::shared_ptr<TestCallback>> members;
  for (const int level : {1, 2}) {
    members.push_back(std::make_shared<TestCallback>(
        named("m" + std::to_string(level), level, 200, group), body));
    executor->add(members.back());
  }
  executor->prepare();
  for (int i = 0; i < 200; ++i) {
    members[0]->release_now();
    members[1]->release_now();
  }
  executor->spin();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Preemptive, TimersOfOneLevelThatAreDueTogetherWakeAsManyWorkers) {
  // Three timers are due at once and a fourth later; two of them keep their workers busy until the
  // other two have run, which needs the two remaining workers.
  auto options = on_one_cpu();
  options.cpus = {};
  options.realtime = Realtime::kOff;  // more workers than CPUs take turns
  options.workers_per_level = 4;
  PreemptiveExecutor executor(options);
  std::atomic<int> others{0};
  std::atomic<int> done{0};
  std::atomic<int> waited{0};
  const TimerOptions once{.period_ns = 3'600'000'000'000};
  for (int i = 0; i < 2; ++i) {
    executor.add(std::make_shared<TestTimer>(timer_named("waits"), once, [&](const InstanceInfo&) {
      waited += busy_until([&] { return others.load() == 2; }) ? 1 : 0;
      if (++done == 2) {
        executor.cancel();
      }
    }));
  }
  for (const std::int64_t offset : {0, 20'000'000}) {
    executor.add(std::make_shared<TestTimer>(
        timer_named("other"), TimerOptions{.period_ns = 3'600'000'000'000, .offset_ns = offset},
        [&](const InstanceInfo&) { ++others; }));
  }
  executor.spin();
  EXPECT_EQ(waited.load(), 2);
}

TEST(Preemptive, ACallbackThatRunsLongDelaysNoOtherTimerOfItsLevel) {
  // Both workers sleep between two releases, and the one that takes a release wakes no other for
  // the next.
  auto options = on_one_cpu();
  options.cpus = {};
  options.realtime = Realtime::kOff;  // two workers take turns where there is only one CPU
  options.workers_per_level = 2;
  PreemptiveExecutor executor(options);
  std::atomic<int> often{0};
  int waited = 0;
  int rounds = 0;
  executor.add(std::make_shared<TestTimer>(timer_named("often"),
                                           TimerOptions{.period_ns = 1'000'000},
                                           [&](const InstanceInfo&) { ++often; }));
  executor.add(std::make_shared<TestTimer>(
      timer_named("long"), TimerOptions{.period_ns = 7'000'000, .offset_ns = 500'000},
      [&](const InstanceInfo&) {
        waited += busy_until([&, until = often.load() + 10] { return often.load() >= until; });
        if (++rounds == 5) {
          executor.cancel();
        }
      }));
  executor.spin();
  EXPECT_EQ(waited, 5);
}

TEST_P(EventDriven, DestroyingAnExecutorWithWaitingInstancesGivesThemBack) {
  const auto callback =
      std::make_shared<TestCallback>(named("c", 0, 2), [](const InstanceInfo&) {});
  {
    auto executor = make(GetParam(), on_one_cpu());
    executor->add(callback);
    executor->prepare();
    callback->release_now();
    callback->release_now();
  }
  EXPECT_EQ(callback->counters().dropped, 2U);
  EXPECT_EQ(callback->counters().pending(), 0U);
}

}  // namespace
}  // namespace rclrt::executor::test

// SPDX-License-Identifier: Apache-2.0
// Callbacks that are added and removed while the executor spins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class Changes : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, Changes, ::testing::ValuesIn(executor_names()), kind_name);

TEST_P(Changes, ATimerAddedWhileSpinningRunsAndCountsFromThen) {
  auto executor = make(GetParam(), on_all_cpus());
  executor->prepare();
  const Spinning spinning(*executor);
  std::atomic<std::int64_t> first{0};
  const std::int64_t before = realtime::monotonic_now_ns();
  const auto timer = every_millisecond([&](const InstanceInfo& info) {
    if (first == 0) {
      first = info.release_ns;
    }
  });
  executor->add(timer);
  EXPECT_TRUE(eventually([&] { return first != 0; }));
  EXPECT_GE(first, before);
  EXPECT_TRUE(executor->remove(timer));  // it refers to objects that end here
}

TEST_P(Changes, ACallbackMayAddAnotherOneAtANewLevel) {
  auto executor = make(GetParam(), on_all_cpus());
  std::atomic<bool> added{false};
  bool ran = false;
  executor->add(every_millisecond([&](const InstanceInfo&) {
    if (!added.exchange(true)) {
      executor->add(every_millisecond(
          [&](const InstanceInfo&) {
            ran = true;
            executor->cancel();
          },
          7));
    }
  }));
  executor->spin();
  EXPECT_TRUE(ran);
}

TEST_P(Changes, OnceRemoveHasReturnedNothingOfTheCallbackRuns) {
  auto executor = make(GetParam(), on_all_cpus());
  executor->prepare();
  const Spinning spinning(*executor);
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> runs{0};
    std::atomic<bool> gone{false};
    std::atomic<bool> ran_when_gone{false};
    const auto timer = every_millisecond(
        [&](const InstanceInfo&) {
          busy_for(200'000);
          ran_when_gone = ran_when_gone || gone;
          ++runs;
        },
        round % 3);
    executor->add(timer);
    ASSERT_TRUE(eventually([&] { return runs > 0; }));
    EXPECT_TRUE(executor->remove(timer));
    gone = true;
    EXPECT_FALSE(executor->remove(timer)) << "it is not there any more";
    EXPECT_EQ(timer->counters().pending(), 0U);
    EXPECT_FALSE(ran_when_gone);
  }
}

TEST_P(Changes, ACallbackMayRemoveItself) {
  auto executor = make(GetParam(), on_all_cpus());
  std::shared_ptr<TestTimer> once;
  std::atomic<int> runs{0};
  once = every_millisecond([&](const InstanceInfo&) {
    ++runs;
    EXPECT_TRUE(executor->remove(once));
  });
  executor->add(once);
  int ticks = 0;
  executor->add(every_millisecond([&](const InstanceInfo&) {
    if (runs > 0 && ++ticks == 5) {
      executor->cancel();
    }
  }));
  executor->spin();
  EXPECT_EQ(runs, 1);
}

TEST_P(Changes, ARemovedCallbackMayJoinAnotherExecutor) {
  auto first = make(GetParam(), on_all_cpus());
  auto second = make(GetParam(), on_all_cpus());
  std::atomic<int> runs{0};
  const auto group = std::make_shared<Group>();
  const auto timer = every_millisecond([&](const InstanceInfo&) { ++runs; }, 1, group);
  const Spinning spinning_first(*first);
  const Spinning spinning_second(*second);
  for (int round = 0; round < 4; ++round) {
    auto& executor = round % 2 == 0 ? *first : *second;
    executor.add(timer);
    const int before = runs;
    EXPECT_TRUE(eventually([&] { return runs > before; }));
    EXPECT_TRUE(executor.remove(timer));
  }
}

TEST_P(Changes, ACallbackOfAnotherExecutorIsRefusedAndNothingIsChanged) {
  auto first = make(GetParam(), on_all_cpus());
  auto second = make(GetParam(), on_all_cpus());
  const auto timer = every_millisecond([](const InstanceInfo&) {});
  first->add(timer);
  first->prepare();
  second->prepare();
  EXPECT_THAT([&] { second->add(timer); },
              ThrowsMessage<std::logic_error>(HasSubstr("is already in executor \"test\"")));
  EXPECT_TRUE(second->callbacks().empty());
  EXPECT_TRUE(first->remove(timer));
  second->add(timer);
  EXPECT_EQ(second->callbacks().size(), 1U);
}

TEST_P(Changes, LevelsThatDoNotFitAreRefusedAndNothingIsChanged) {
  RCLRT_SKIP_WITHOUT_REALTIME();  // otherwise no level takes a priority
  if (!maps_levels(GetParam())) {
    GTEST_SKIP() << "no thread has the priority of a level";
  }
  auto options = on_all_cpus();
  options.top_priority = 3;  // room for two
  auto executor = make(GetParam(), options);
  std::atomic<int> runs{0};
  const auto timer = every_millisecond([&](const InstanceInfo&) { ++runs; }, 1);
  executor->add(timer);
  executor->add(every_millisecond([](const InstanceInfo&) {}, 2));
  executor->prepare();
  const Spinning spinning(*executor);
  EXPECT_THAT([&] { executor->add(every_millisecond([](const InstanceInfo&) {}, 3)); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "3 priority levels do not fit into the 2 SCHED_FIFO priorities below 3")));
  EXPECT_THAT([&] { executor->set_level(timer, 4); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "3 priority levels do not fit into the 2 SCHED_FIFO priorities below 3")));
  EXPECT_THAT([&] { executor->require_levels({1, 5}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr(
                  "3 priority levels do not fit into the 2 SCHED_FIFO priorities below 3")));
  executor->require_levels({2, 1, 2});
  EXPECT_EQ(timer->level(), 1);
  EXPECT_EQ(executor->callbacks().size(), 2U);
  const int before = runs;
  EXPECT_TRUE(eventually([&] { return runs > before; }));
}

TEST_P(Changes, ACancelWhileALevelComesInEndsSpin) {
  for (int round = 0; round < 100; ++round) {
    auto executor = make(GetParam(), on_all_cpus());
    executor->prepare();
    std::thread spinner([&] { executor->spin(); });
    std::atomic<int> added{0};
    std::thread adder([&] {
      for (int level = 0; level < 3; ++level) {
        executor->add(every_millisecond([](const InstanceInfo&) {}, level));
        ++added;
      }
    });
    while (added < round % 4) {
      std::this_thread::yield();
    }
    busy_for(round / 4 * 4'000);  // so that the cancel comes at every stage of adding the level
    executor->cancel();
    spinner.join();  // hangs when a new worker does not see the cancel
    adder.join();
  }
}

/// Adds, removes, changes the level or cancels, at random. Returns false when the executor did not
/// have the callback.
bool change_something(Executor& executor, const std::shared_ptr<Callback>& callback,
                      std::mt19937& random) {
  switch (random() % 4) {
    case 0:
    case 1:
      if (!executor.remove(callback)) {
        executor.add(callback);
      }
      return true;
    case 2:
      try {
        executor.set_level(callback, static_cast<int>(random() % 6));
      } catch (const std::logic_error&) {
        return false;
      }
      return true;
    default:
      executor.cancel();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      return true;
  }
}

/// Spins again whenever a callback has thrown.
void spin_until_stopped(Executor& executor, const std::atomic<bool>& stop,
                        std::atomic<int>& caught) {
  while (!stop) {
    try {
      executor.spin();
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
}

/// Checks the counters of all callbacks of each executor during all kinds of changes at once.
TEST_P(Changes, EverythingAtOnceKeepsTheAccounts) {
  auto executor = make(GetParam(), on_all_cpus());
  const std::vector<std::shared_ptr<Group>> groups = {
      std::make_shared<Group>(), std::make_shared<Group>(),
      std::make_shared<Group>(GroupType::kReentrant), nullptr};
  std::atomic<int> ran{0};
  std::atomic<int> caught{0};
  int refused = 0;
  std::vector<std::shared_ptr<TestCallback>> callbacks;
  std::vector<std::shared_ptr<TestTimer>> timers;
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same every time
  for (int i = 0; i < 12; ++i) {
    CallbackOptions options = named("c" + std::to_string(i), i % 4, 3 + i % 5, groups[i % 4]);
    options.overload = static_cast<Overload>(i % 3);
    const auto body = [&](const InstanceInfo&) {
      if (++ran % 97 == 0) {
        throw std::runtime_error("now and then");
      }
    };
    callbacks.push_back(std::make_shared<TestCallback>(options, body));
    timers.push_back(every_millisecond(body, i % 5, groups[i % 4]));
  }
  std::atomic<bool> stop{false};
  std::thread spinner([&] { spin_until_stopped(*executor, stop, caught); });
  std::vector<std::thread> threads;
  for (unsigned seed = 2; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {  // bursts, for callbacks that may be removed
      std::mt19937 own(seed);         // NOLINT(cert-msc51-cpp)
      while (!stop) {
        callbacks[own() % callbacks.size()]->burst(own() % 8);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  }
  // At least this number, and on a slow machine until enough has happened.
  const auto enough = [&] { return ran > 100 && caught > 0; };
  for (int change = 0; change < 1500 || (change < 100'000 && !enough()); ++change) {
    const std::size_t which = random() % callbacks.size();
    const std::shared_ptr<Callback> callback =
        random() % 2 == 0 ? std::shared_ptr<Callback>(callbacks[which]) : timers[which];
    refused += change_something(*executor, callback, random) ? 0 : 1;
  }
  stop = true;
  for (auto& thread : threads) {
    thread.join();
  }
  executor->close();
  spinner.join();
  executor.reset();
  EXPECT_GT(ran, 100);
  EXPECT_GT(caught, 0);
  EXPECT_GT(refused, 0);
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    EXPECT_EQ(callbacks[i]->counters().pending(), 0U) << "callback " << i;
    EXPECT_EQ(timers[i]->counters().pending(), 0U) << "timer " << i;
  }
}

}  // namespace
}  // namespace rclrt::executor::test

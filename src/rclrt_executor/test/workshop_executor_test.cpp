// SPDX-License-Identifier: Apache-2.0
// A pool in which idle threads are the most urgent. The order of events decides.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rclrt/executor/group.hpp"
#include "rclrt/executor/workshop_executor.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "spinning.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

using Events = std::vector<std::string>;

int own_priority() { return realtime::read_scheduling(0)->priority; }

/// Makes callbacks a, b and c ready while another one has the CPU. Returns the order in which they
/// ran.
Events order_of_three(WorkshopExecutor& executor, const std::array<int, 3>& levels) {
  EventLog log;
  std::vector<std::shared_ptr<TestCallback>> all;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    all.push_back(std::make_shared<TestCallback>(named(name, levels[i]), [&, name](const auto&) {
      log.push_back(name);
      busy_for(1'000'000);
      log.push_back(name + " ends");
      if (log.events().size() == 6) {
        executor.cancel();
      }
    }));
    executor.add(all.back());
  }
  const auto first = std::make_shared<TestCallback>(named("first", 9), [&](const InstanceInfo&) {
    for (const auto& each : all) {
      each->release_now();
    }
  });
  executor.add(first);
  executor.prepare();
  first->release_now();
  executor.spin();
  return log.events();
}

TEST(Workshop, AThreadHasThePriorityOfWhatItRuns) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  ExecutorOptions options = on_one_cpu();
  options.top_priority = 40;
  WorkshopExecutor executor(options);
  const auto group = std::make_shared<Group>();
  std::vector<int> priorities;
  const auto note = [&](const InstanceInfo&) { priorities.push_back(own_priority()); };
  const auto low = std::make_shared<TestCallback>(named("low", 1, 10, group), note);
  const auto alone = std::make_shared<TestCallback>(named("alone", 3), note);
  const auto high = std::make_shared<TestCallback>(named("high", 7, 10, group), note);
  for (const auto& each : {low, alone, high}) {
    executor.add(each);
  }
  executor.prepare();
  for (const auto& each : {low, alone, high}) {
    each->release_now();
    executor.spin_some();
  }
  EXPECT_EQ(executor.kernel_priority(7), 39);
  EXPECT_EQ(priorities, (std::vector<int>{39, 38, 39}));  // the group's highest, and its own
}

TEST(Workshop, TheMostUrgentRunsFirst) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  WorkshopExecutor executor(on_one_cpu());
  EXPECT_EQ(order_of_three(executor, {1, 3, 2}),
            (Events{"b", "b ends", "c", "c ends", "a", "a ends"}));
}

TEST(Workshop, OfOnePriorityTheFirstToBecomeReadyRunsFirstAndToItsEnd) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  WorkshopExecutor executor(on_one_cpu());
  EXPECT_EQ(order_of_three(executor, {1, 1, 1}),
            (Events{"a", "a ends", "b", "b ends", "c", "c ends"}));
}

TEST(Workshop, OneOfTheSamePriorityThatBecomesReadyDoesNotPreempt) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  WorkshopExecutor executor(on_one_cpu());
  EventLog log;
  const auto second = std::make_shared<TestCallback>(named("second", 1), [&](const InstanceInfo&) {
    log.push_back("second");
    executor.cancel();
  });
  const auto first = std::make_shared<TestCallback>(named("first", 1), [&](const InstanceInfo&) {
    second->release_now();
    busy_for(1'000'000);
    log.push_back("first ends");
  });
  executor.add(first);
  executor.add(second);
  executor.prepare();
  first->release_now();
  executor.spin();
  EXPECT_EQ(log.events(), (Events{"first ends", "second"}));
}

/// Two less urgent callbacks have all but `threads` - 2 of the threads when the urgent one becomes
/// ready. Returns whether it has run before one of them has ended.
bool runs_at_once(std::size_t threads) {
  WorkshopExecutor executor(on_one_cpu(), {.threads = threads});
  std::atomic<bool> ran{false};
  std::atomic<bool> at_once{false};
  const auto urgent =
      std::make_shared<TestCallback>(named("urgent", 9), [&](const InstanceInfo&) { ran = true; });
  const auto busy = std::make_shared<TestCallback>(named("busy", 2), [&](const InstanceInfo&) {
    urgent->release_now();
    busy_for(1'000'000);
    at_once = ran.load();
  });
  const auto last = std::make_shared<TestCallback>(named("last", 0),
                                                   [&](const InstanceInfo&) { executor.cancel(); });
  const auto low = std::make_shared<TestCallback>(named("low", 1), [&](const InstanceInfo&) {
    busy->release_now();  // on another thread, which preempts this one
    last->release_now();
  });
  for (const auto& each : {urgent, busy, low, last}) {
    executor.add(each);
  }
  executor.prepare();
  low->release_now();
  executor.spin();
  EXPECT_TRUE(ran);
  return at_once;
}

TEST(Workshop, ThreadsRunOutOnlyWhereTheirNumberIsStated) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  EXPECT_FALSE(runs_at_once(2));  // both are in less urgent callbacks: as in the workshop
  EXPECT_TRUE(runs_at_once(3));
  EXPECT_TRUE(runs_at_once(0));
}

TEST(Workshop, ThreadsComeWithTheLevelsThatNeedThem) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  WorkshopExecutor executor(on_one_cpu());
  executor.prepare();
  const Spinning spinning(executor);
  constexpr int kCount = 8;
  std::atomic<int> inside{0};
  std::atomic<bool> over{false};
  std::vector<std::shared_ptr<TestCallback>> all;
  for (int i = 0; i < kCount; ++i) {
    all.push_back(std::make_shared<TestCallback>(named("waits", i), [&](const InstanceInfo&) {
      ++inside;
      while (!over) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }));
    executor.add(all.back());
    all.back()->release_now();
  }
  EXPECT_TRUE(eventually([&] { return inside == kCount; }));
  over = true;
}

/// A burst of a callback of a reentrant group takes no thread that others need.
TEST(Workshop, ABurstOfOneLevelLeavesAThreadForTheUrgentOne) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  WorkshopExecutor executor(on_one_cpu());
  std::atomic<bool> ran{false};
  std::atomic<bool> at_once{false};
  const auto urgent =
      std::make_shared<TestCallback>(named("urgent", 9), [&](const InstanceInfo&) { ran = true; });
  int runs = 0;
  const auto burst = std::make_shared<TestCallback>(
      named("burst", 1, 10, std::make_shared<Group>(GroupType::kReentrant)),
      [&](const InstanceInfo&) {
        if (++runs == 1) {
          urgent->release_now();
          busy_for(1'000'000);
          at_once = ran.load();
        } else if (runs == 10) {
          executor.cancel();
        }
      });
  executor.add(urgent);
  executor.add(burst);
  executor.prepare();
  for (int i = 0; i < 10; ++i) {
    burst->release_now();
  }
  executor.spin();
  EXPECT_TRUE(at_once);
}

TEST(Workshop, AMemberOfAGroupStartsAtItsOwnPriority) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  WorkshopExecutor executor(on_one_cpu());
  const auto group = std::make_shared<Group>();
  EventLog log;
  const auto high =
      std::make_shared<TestCallback>(named("high", 7, 10, group), [](const InstanceInfo&) {});
  const auto low =
      std::make_shared<TestCallback>(named("low", 1, 10, group), [&](const InstanceInfo&) {
        log.push_back("low");
        executor.cancel();
      });
  const auto middle = std::make_shared<TestCallback>(named("middle", 5), [&](const InstanceInfo&) {
    low->release_now();
    busy_for(1'000'000);
    log.push_back("middle ends");
  });
  for (const auto& each : {high, low, middle}) {
    executor.add(each);
  }
  executor.prepare();
  middle->release_now();
  executor.spin();
  EXPECT_EQ(log.events(), (Events{"middle ends", "low"}));
}

}  // namespace
}  // namespace rclrt::executor::test

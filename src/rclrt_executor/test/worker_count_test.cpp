// SPDX-License-Identifier: Apache-2.0
// The number of threads of a level: as many as can have work at the same time, and no more.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

inline constexpr std::array<std::string_view, 2> kWithLevels{"preemptive", "producer_consumer"};

using Counts = std::map<std::string, int>;

class WorkerCount : public KindTest {
 protected:
  /// Returns options with a name of their own: threads of an ended executor may still be listed.
  static ExecutorOptions with_workers(std::size_t workers) {
    static int number = 0;
    auto options = on_one_cpu();
    options.name = "w" + std::to_string(++number);
    options.workers_per_level = workers;
    return options;
  }

  /// Returns whether, at last, each level has this number of threads. A thread sets its name when
  /// it has begun.
  static bool eventually_has(const Executor& executor, const Counts& expected) {
    const std::string prefix = executor.options().name + " L";
    Counts found;
    const bool has = eventually([&] {
      found.clear();
      for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(task.path() / "comm"), name);
        if (name.starts_with(prefix)) {
          ++found[name.substr(prefix.size() - 1)];
        }
      }
      return found == expected;
    });
    EXPECT_EQ(found, expected);
    return has;
  }

  std::shared_ptr<TestCallback> callback(const std::string& name, int level,
                                         std::shared_ptr<Group> group = nullptr,
                                         std::size_t credits = 10) const {
    return std::make_shared<TestCallback>(named(name, level, credits, std::move(group)),
                                          [](const InstanceInfo&) {});
  }
};
INSTANTIATE_TEST_SUITE_P(, WorkerCount, ::testing::ValuesIn(kWithLevels), kind_name);

TEST_P(WorkerCount, ALevelHasNoMoreWorkersThanInstancesThatCanRunAtOnce) {
  auto executor = make(GetParam(), with_workers(3));
  const auto group = std::make_shared<Group>();
  executor->add(callback("alone", 1));
  executor->add(callback("first", 2, group));
  executor->add(callback("second", 2, group));
  executor->add(callback("third", 3));
  executor->add(callback("fourth", 3, group));
  for (const char* const name : {"a", "b", "c", "d", "e"}) {
    executor->add(callback(name, 4));
  }
  // Its queue has room for one, which waits; any number may run.
  executor->add(callback("often", 5, std::make_shared<Group>(GroupType::kReentrant), 1));
  const Spinning spinning(*executor);
  EXPECT_TRUE(eventually_has(*executor, {{"L1", 1}, {"L2", 1}, {"L3", 2}, {"L4", 3}, {"L5", 3}}));
}

/// Two callbacks, each of which waits until the other runs, too.
struct Meeting {
  std::atomic<int> inside{0};
  std::shared_ptr<TestCallback> member(const std::string& name) {
    return std::make_shared<TestCallback>(named(name, 1), [this](const InstanceInfo&) {
      ++inside;
      EXPECT_TRUE(eventually([this] { return inside == 2; }));
    });
  }
};

TEST_P(WorkerCount, ACallbackThatCanRunBesideTheOthersBringsAWorker) {
  auto executor = make(GetParam(), with_workers(2));
  Meeting meeting;
  const auto first = meeting.member("first");
  const auto second = meeting.member("second");
  executor->add(first);
  executor->prepare();
  const Spinning spinning(*executor);
  EXPECT_TRUE(eventually_has(*executor, {{"L1", 1}}));
  first->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 1; }));
  executor->add(second);
  second->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 2; }));
  EXPECT_TRUE(eventually_has(*executor, {{"L1", 2}}));
}

TEST_P(WorkerCount, ACallbackRunsBesideOneThatHasLeftItsLevel) {
  auto executor = make(GetParam(), with_workers(2));
  Meeting meeting;
  const auto first = meeting.member("first");
  const auto second = meeting.member("second");
  executor->add(first);
  executor->prepare();
  const Spinning spinning(*executor);
  first->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 1; }));
  executor->set_level(first, 2);
  executor->add(second);
  second->release_now();
  EXPECT_TRUE(eventually([&] { return meeting.inside == 2; }));
}

TEST_P(WorkerCount, WhatWaitsAtALevelThatItsCallbackHasLeftRuns) {
  auto executor = make(GetParam(), with_workers(2));
  std::atomic<int> runs{0};
  const auto moved =
      std::make_shared<TestCallback>(named("moved", 1), [&](const InstanceInfo&) { ++runs; });
  executor->add(moved);
  executor->prepare();
  moved->release_now();
  executor->set_level(moved, 2);
  const Spinning spinning(*executor);
  EXPECT_TRUE(eventually([&] { return runs == 1; }));
}

}  // namespace
}  // namespace rclrt::executor::test

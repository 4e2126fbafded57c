// SPDX-License-Identifier: Apache-2.0
// The number of threads of a level: as many as can have work at the same time, and no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

inline constexpr std::array<std::string_view, 2> kWithLevels{"preemptive", "producer_consumer"};

/// Returns how many threads of the process have each name that begins with the executor's.
std::map<std::string, int> threads_by_name() {
  std::map<std::string, int> result;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name.starts_with("test L")) {
      ++result[name];
    }
  }
  return result;
}

class WorkerCount : public KindTest {
 protected:
  std::shared_ptr<TestCallback> callback(const std::string& name, int level,
                                         std::shared_ptr<Group> group = nullptr) const {
    return std::make_shared<TestCallback>(named(name, level, 10, std::move(group)),
                                          [](const InstanceInfo&) {});
  }
};
INSTANTIATE_TEST_SUITE_P(, WorkerCount, ::testing::ValuesIn(kWithLevels), kind_name);

TEST_P(WorkerCount, ALevelHasNoMoreWorkersThanInstancesThatCanRunAtOnce) {
  auto options = on_one_cpu();
  options.workers_per_level = 3;
  auto executor = make(GetParam(), options);
  const auto group = std::make_shared<Group>();
  executor->add(callback("alone", 1));
  executor->add(callback("first", 2, group));
  executor->add(callback("second", 2, group));
  executor->add(callback("third", 3));
  executor->add(callback("fourth", 3, group));
  for (const char* const name : {"a", "b", "c", "d", "e"}) {
    executor->add(callback(name, 4));
  }
  executor->add(callback("often", 5, std::make_shared<Group>(GroupType::kReentrant)));
  const Spinning spinning(*executor);
  EXPECT_TRUE(eventually([] {  // a thread sets its name when it has begun
    const auto threads = threads_by_name();
    return std::accumulate(threads.begin(), threads.end(), 0,
                           [](int sum, const auto& each) { return sum + each.second; }) == 10;
  }));
  EXPECT_THAT(threads_by_name(),
              ElementsAre(Pair("test L1", 1), Pair("test L2", 1), Pair("test L3", 2),
                          Pair("test L4", 3), Pair("test L5", 3)));
}

TEST_P(WorkerCount, ACallbackThatCanRunBesideTheOthersBringsAWorker) {
  auto options = on_one_cpu();
  options.workers_per_level = 2;
  auto executor = make(GetParam(), options);
  std::atomic<int> inside{0};
  // Each waits until the other runs, too.
  const auto meet = [&](const InstanceInfo&) {
    ++inside;
    EXPECT_TRUE(eventually([&] { return inside == 2; }));
  };
  const auto first = std::make_shared<TestCallback>(named("first", 1), meet);
  const auto second = std::make_shared<TestCallback>(named("second", 1), meet);
  executor->add(first);
  executor->prepare();
  const Spinning spinning(*executor);
  EXPECT_TRUE(eventually([] { return threads_by_name()["test L1"] == 1; }));
  first->release_now();
  EXPECT_TRUE(eventually([&] { return inside == 1; }));
  executor->add(second);
  EXPECT_TRUE(eventually([] { return threads_by_name()["test L1"] == 2; }));
  second->release_now();
  EXPECT_TRUE(eventually([&] { return inside == 2; }));
}

TEST_P(WorkerCount, ALevelWithoutCallbacksHasNone) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto gone = callback("gone", 1);
  std::atomic<bool> ran{false};
  executor->add(gone);
  executor->add(every_millisecond([&](const InstanceInfo&) { ran = true; }, 2));
  executor->prepare();
  EXPECT_TRUE(executor->remove(gone));
  const Spinning spinning(*executor);
  EXPECT_TRUE(eventually([&] { return ran.load(); }));
  EXPECT_THAT(threads_by_name(), ElementsAre(Pair("test L2", 1)));
  executor->add(gone);
  EXPECT_TRUE(eventually([] { return threads_by_name().size() == 2; }));
}

}  // namespace
}  // namespace rclrt::executor::test

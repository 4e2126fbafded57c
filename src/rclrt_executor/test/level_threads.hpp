// SPDX-License-Identifier: Apache-2.0
// The threads of an executor's levels, and callbacks that need two of them.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "spinning.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {

using Counts = std::map<std::string, int>;

/// Calls `visit` with the kernel's ID and the level's name of each of the executor's workers. A
/// thread sets its name when it has begun.
inline void for_each_thread(const Executor& executor,
                            const std::function<void(pid_t, const std::string&)>& visit) {
  const std::string prefix = executor.options().name + " L";
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name.starts_with(prefix)) {
      visit(std::stoi(task.path().filename()), name.substr(prefix.size() - 1));
    }
  }
}

inline Counts count_threads(const Executor& executor) {
  Counts found;
  for_each_thread(executor, [&](pid_t, const std::string& level) { ++found[level]; });
  return found;
}

/// Returns how many of its workers sleep.
inline int sleeping_threads(const Executor& executor) {
  int count = 0;
  for_each_thread(executor, [&](pid_t thread, const std::string&) {
    std::string stat;
    std::getline(std::ifstream("/proc/self/task/" + std::to_string(thread) + "/stat"), stat);
    const auto end = stat.rfind(") ");
    count += end != std::string::npos && stat[end + 2] == 'S' ? 1 : 0;
  });
  return count;
}

/// Returns whether, at last, each level has this number of threads.
inline bool eventually_has(const Executor& executor, const Counts& expected) {
  Counts found;
  const bool has = eventually([&] { return (found = count_threads(executor)) == expected; });
  EXPECT_EQ(found, expected);
  return has;
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

}  // namespace rclrt::executor::test

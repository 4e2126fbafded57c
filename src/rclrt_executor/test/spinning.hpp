// SPDX-License-Identifier: Apache-2.0
// An executor that spins beside the test.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "rclrt/executor/executor.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {

/// Runs `spin` on a thread of its own until the end of the scope.
class Spinning {
 public:
  explicit Spinning(Executor& executor)
      : executor_(executor), thread_([&executor] { executor.spin(); }) {}
  ~Spinning() {
    executor_.cancel();
    thread_.join();
  }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

 private:
  Executor& executor_;
  std::thread thread_;
};

inline bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Waits until the thread sleeps in the kernel.
inline bool eventually_sleeps(pid_t tid) {
  return eventually([tid] {
    std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
    std::string line;
    std::getline(file, line);
    return line.find(") S ") != std::string::npos;
  });
}

/// Returns the name of the calling thread.
inline std::string thread_name() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

inline auto every_millisecond(TestCallback::Body body, int level = 0,
                              std::shared_ptr<Group> group = nullptr) {
  CallbackOptions options = timer_named("tick", level);
  options.group = std::move(group);
  return std::make_shared<TestTimer>(options, TimerOptions{.period_ns = 1'000'000},
                                     std::move(body));
}

/// Returns the message with which `prepare` refuses the options of an executor.
inline std::string refusal(Executor& executor) {
  try {
    executor.prepare();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "not refused";
}

inline ExecutorOptions on_all_cpus() {
  auto options = on_one_cpu();
  options.cpus = {};
  return options;
}

}  // namespace rclrt::executor::test

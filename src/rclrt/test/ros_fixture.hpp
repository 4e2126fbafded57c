// SPDX-License-Identifier: Apache-2.0
// A context of its own for each test, on the loopback and in a domain of its own.
#pragma once

#include <gtest/gtest.h>
#include <rmw/rmw.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rclrt/rclrt.hpp"

namespace rclrt::test {

/// Returns a DDS domain that no other test program has while this process lives. It is reserved by
/// the name of a socket that only one process can bind. The name is released with the process and
/// is visible as far as its DDS traffic. ROS recommends to stay below 102; ctest gives the domains
/// above 80 to the tests in Python.
inline std::size_t domain_id() {
  static const std::size_t kDomain = [] {
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (std::size_t candidate = 1; candidate <= 80; ++candidate) {
      const std::string name = "rclrt test domain " + std::to_string(candidate);
      sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};  // path[0] stays 0: no file
      name.copy(address.sun_path + 1, name.size());
      const auto size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
      if (::bind(socket, reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(size)) == 0) {
        return candidate;
      }
    }
    throw std::runtime_error("no DDS domain is free: 80 test programs run at once");
  }();
  return kDomain;
}

inline std::shared_ptr<Context> make_context(std::vector<const char*> arguments = {},
                                             bool handle_signals = false) {
  arguments.insert(arguments.begin(), "test");
  return Context::make(static_cast<int>(arguments.size()), arguments.data(),
                       {.handle_signals = handle_signals, .domain_id = domain_id()});
}

/// Returns whether the middleware lends messages of a plain type, as docs/results/middlewares.md
/// shows it.
inline bool middleware_lends() {
  return std::string(rmw_get_implementation_identifier()).starts_with("rmw_fastrtps");
}

/// How long a test waits for a response, a goal or a server.
inline constexpr auto kLimit = std::chrono::seconds(20);

/// Polls a condition that only the middleware's own threads can make true.
inline bool eventually(const std::function<bool()>& condition,
                       std::chrono::seconds limit = std::chrono::seconds(120)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// Each executor by name.
class EveryExecutor : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Executor> executor(ExecutorOptions options = {}) {
    options.name = "test";
    return make_executor(GetParam(), context, std::move(options));
  }
  std::shared_ptr<Context> context = make_context();
};

/// The executors under which a more urgent callback preempts one on the same CPU.
inline std::vector<std::string> preempting_executors() {
  return {"producer_consumer", "thread_dispatch", "preemptive", "edf"};
}

/// A node, and an executor on one CPU that is made for it. Skips the test without permission for
/// real time.
class PreemptingExecutor : public EveryExecutor {
 protected:
  void SetUp() override {
    if (const auto reason = realtime::why_no_realtime(95)) {
      GTEST_SKIP() << *reason;
    }
    executor_ = executor({.cpus = {realtime::allowed_cpus().front()}});
  }
  /// Spins until the executor is cancelled, as soon as the condition holds.
  void spin_when(const std::function<bool()>& condition) {
    executor_->add_node(node_);
    executor_->prepare();
    ASSERT_TRUE(eventually(condition));
    executor_->spin();
  }

  Node node_{context, "node"};
  std::unique_ptr<Executor> executor_;
};

/// A fixture with an executor that spins throughout the test.
class EverySpinningExecutor : public EveryExecutor {
 protected:
  void SetUp() override {
    executor_ = executor();
    executor_->prepare();
    thread_ = std::thread([this] { executor_->spin(); });
  }
  void TearDown() override {
    executor_->cancel();
    thread_.join();
  }

  std::unique_ptr<Executor> executor_;
  std::thread thread_;
};

/// Adds, runs and removes executors while messages arrive for a callback of `node`.
inline void replace_executors_while_messages_arrive(
    Node& node, const std::function<std::unique_ptr<Executor>()>& make,
    const std::function<void()>& publish, const std::function<std::uint64_t()>& released) {
  std::atomic<bool> stop{false};
  std::thread source([&] {
    while (!stop) {
      publish();
    }
  });
  for (int i = 0; i < 20; ++i) {
    const auto spinning = make();
    spinning->add_node(node);
    std::thread spinner([&] { spinning->spin(); });
    const auto before = released();
    EXPECT_TRUE(eventually([&] { return released() > before; }));
    spinning->cancel();
    spinner.join();
  }
  stop = true;
  source.join();
}

inline std::string parameter_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace rclrt::test

// SPDX-License-Identifier: Apache-2.0
// The tests of this directory are the rows of docs/reference/capabilities.md, which capabilities.py
// makes from their results. To add a row, add a test: its suite is the section, its name the row,
// and each executor a column. If an executor does not offer the row's capability, the test ends
// with NOT_OFFERED and the reason.
#pragma once

#include <gtest/gtest.h>

#include <std_msgs/msg/int64.hpp>
#include <string>

#include "../ros_fixture.hpp"

/// `reason` completes "not offered, because ...".
#define RCLRT_NOT_OFFERED(reason) GTEST_SKIP() << "not offered, because " << (reason)

/// For effects that only real-time threads show: without permission the row is not changed.
#define RCLRT_NEEDS_REALTIME()                             \
  if (const auto denied = realtime::why_no_realtime(95)) { \
    GTEST_SKIP() << "cannot be shown here: " << *denied;   \
  }                                                        \
  static_assert(true)

namespace rclrt::test {

using std_msgs::msg::Int64;

class Capability : public EveryExecutor {
 protected:
  bool is(const std::string& name) const { return GetParam() == name; }
  static ExecutorOptions one_cpu() { return {.cpus = {realtime::allowed_cpus().front()}}; }

  /// Returns an executor with two threads for callbacks of one priority.
  std::unique_ptr<Executor> executor_with_two_threads() {
    if (is("wait_set")) {
      return std::make_unique<WaitSetExecutor>(context, ExecutorOptions{.name = "test"},
                                               WaitSetOptions{.threads = 2});
    }
    return executor({.workers_per_level = is("per_group") ? 0U : 2U});  // it has one for each group
  }
  /// Returns whether all its callbacks run on one thread.
  bool has_one_thread() const { return is("events") || is("static_order"); }

  /// Spins until one of the callbacks calls `done`.
  void spin(Executor& spinning) {
    running_ = &spinning;
    spinning.add_node(node);
    spinning.prepare();
    ready();
    spinning.spin();
  }
  void done() { running_->cancel(); }

  /// Called when the executor is prepared.
  std::function<void()> ready = [] {};
  Node node{context, "node"};

 private:
  Executor* running_ = nullptr;
};

}  // namespace rclrt::test

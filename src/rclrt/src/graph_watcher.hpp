// SPDX-License-Identifier: Apache-2.0
// Waits for changes of the ROS graph.
#pragma once

#include <rcl/guard_condition.h>
#include <rcl/wait.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "rclrt/realtime/thread.hpp"

namespace rclrt {

class Context;
class GuardCondition;
struct NodeHandle;

namespace detail {

/// A middleware announces graph changes by triggering a guard condition, and of those rcl tells no
/// listener: somebody has to wait in rcl_wait. That is one thread of normal priority for the whole
/// context, because who waits for such a guard condition also resets it. It exists from the first
/// graph callback on.
class GraphWatcher {
 public:
  /// The context must outlive it. Throws Error, std::system_error.
  RCLRT_SETUP explicit GraphWatcher(Context& context);
  ~GraphWatcher();
  GraphWatcher(const GraphWatcher&) = delete;
  GraphWatcher& operator=(const GraphWatcher&) = delete;

  /// From now on a change triggers `condition`; `node` is of the same context.
  void add(NodeHandle& node, GuardCondition& condition);
  /// Neither of them is used any more when it has returned.
  void remove(const GuardCondition& condition);

 private:
  struct Watch {
    NodeHandle* node;
    GuardCondition* condition;
  };

  void run();
  bool wait(const std::vector<Watch>& watches);  // true when the graph has changed
  void next_round(std::unique_lock<std::mutex>& lock);

  Context& context_;
  rcl_guard_condition_t wake_;
  std::mutex mutex_;  // guards all below; never on a callback's path
  std::vector<Watch> watches_;
  std::uint64_t round_ = 0;  // which copy of watches_ the thread uses
  std::condition_variable round_began_;
  bool ending_ = false;
  bool ended_ = false;
  realtime::Thread thread_;
};

}  // namespace detail

}  // namespace rclrt

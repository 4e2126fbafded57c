// SPDX-License-Identifier: Apache-2.0
// Waits for changes of the ROS graph and for QoS events.
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
class QosEventBase;
struct NodeHandle;

namespace detail {

/// Some events have no listener, or none that can be used: a thread must wait for them in rcl_wait.
/// It is one thread of normal priority for the whole context; it exists from the first graph
/// callback or QoS event on.
///
/// * Graph changes: a middleware announces them by triggering a guard condition, and rcl has no
///   listener for those. There is only one thread because the thread that waits for such a guard
///   condition also resets it.
/// * QoS events: rmw_fastrtps asks Fast DDS for an event's status while it holds a lock of its own,
///   and its listener takes that lock while Fast DDS holds the lock of the reader or writer. A
///   listener and a take can therefore deadlock, and with them the thread on which Fast DDS keeps
///   all its times. Without a listener there is no second lock order.
class EventWatcher {
 public:
  /// Makes the watcher. The context must outlive it. Throws Error, std::system_error.
  RCLRT_SETUP explicit EventWatcher(Context& context);
  ~EventWatcher();
  EventWatcher(const EventWatcher&) = delete;
  EventWatcher& operator=(const EventWatcher&) = delete;

  /// Makes each change trigger `condition` from now on; `node` is of the same context.
  void add(NodeHandle& node, GuardCondition& condition);
  /// Makes the thread collect the event from now on.
  void add(QosEventBase& event);
  /// Removes a watch. Neither it nor its node is used any more after these have returned.
  void remove(const GuardCondition& condition);
  void remove(const QosEventBase& event);

 private:
  struct Watches {
    struct Graph {
      NodeHandle* node;
      GuardCondition* condition;
    };
    std::vector<Graph> graph;
    std::vector<QosEventBase*> events;
  };
  struct News {
    bool graph_changed = false;
    std::vector<QosEventBase*> events;
  };

  void run();
  void notify(const News& news);
  News wait(const Watches& watches);
  void next_round(std::unique_lock<std::mutex>& lock);

  Context& context_;
  rcl_guard_condition_t wake_;
  std::mutex mutex_;  // guards all below; never on a callback's path
  Watches watches_;
  std::uint64_t round_ = 0;  // which copy of watches_ the thread uses
  std::condition_variable round_began_;
  bool ending_ = false;
  bool ended_ = false;
  realtime::Thread thread_;
};

}  // namespace detail

}  // namespace rclrt

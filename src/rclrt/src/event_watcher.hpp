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

/// Waits for events that have no rcl listener, or none that can be used. It does so in rcl_wait, on
/// one thread of normal priority for the whole context. The thread exists from the first graph
/// callback or QoS event on.
///
/// * Graph changes: a middleware announces them by triggering a guard condition, and rcl has no
///   listener for those. A thread that waits for such a guard condition also resets it, so there is
///   only one thread.
/// * QoS events: a listener could deadlock with a thread that takes the event's status.
///   rmw_fastrtps takes its own lock and then that of Fast DDS's reader or writer when a status is
///   taken, and in the other order in its listener. The thread on which Fast DDS keeps all its
///   times would then hang, too. Without a listener there is only one order of the locks.
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

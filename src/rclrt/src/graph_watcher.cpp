// SPDX-License-Identifier: Apache-2.0
#include "graph_watcher.hpp"

#include <rcl/error_handling.h>
#include <rcl/graph.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "rclrt/context.hpp"
#include "rclrt/error.hpp"
#include "rclrt/graph_callback.hpp"
#include "rclrt/node.hpp"

namespace rclrt::detail {

GraphWatcher::GraphWatcher(Context& context)
    : context_(context), wake_(rcl_get_zero_initialized_guard_condition()) {
  check(rcl_guard_condition_init(&wake_, context_.rcl(), rcl_guard_condition_get_default_options()),
        "creating a guard condition");
  thread_ = realtime::Thread({.name = "rclrt graph"}, [this] { run(); });
}

GraphWatcher::~GraphWatcher() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  report(rcl_trigger_guard_condition(&wake_), "waking the graph's thread");
  thread_.join();
  report(rcl_guard_condition_fini(&wake_), "ending a guard condition");
}

void GraphWatcher::add(NodeHandle& node, GuardCondition& condition) {
  std::unique_lock lock(mutex_);
  watches_.push_back({&node, &condition});
  next_round(lock);
}

void GraphWatcher::remove(const GuardCondition& condition) {
  std::unique_lock lock(mutex_);
  std::erase_if(watches_, [&](const Watch& each) { return each.condition == &condition; });
  next_round(lock);
}

/// Waits until the thread uses the new list.
void GraphWatcher::next_round(std::unique_lock<std::mutex>& lock) {
  report(rcl_trigger_guard_condition(&wake_), "waking the graph's thread");
  round_began_.wait(lock, [this, before = round_] { return ended_ || round_ != before; });
}

void GraphWatcher::run() {
  bool changed = false;
  bool going_on = true;
  while (going_on) {
    std::vector<Watch> watches;
    {
      const std::scoped_lock lock(mutex_);
      if (changed) {
        for (const Watch& each : watches_) {
          each.condition->trigger();
        }
      }
      watches = watches_;
      ++round_;
      going_on = !ending_ && context_.ok();
      ended_ = !going_on;
    }
    round_began_.notify_all();
    if (!going_on) {
      return;
    }
    try {
      changed = wait(watches);
    } catch (const std::exception& error) {
      if (context_.ok()) {  // otherwise it was shut down meanwhile
        std::fprintf(stderr, "rclrt: graph callbacks run no more: %s\n", error.what());
      }
      const std::scoped_lock lock(mutex_);
      ended_ = true;
      going_on = false;
    }
  }
  round_began_.notify_all();
}

bool GraphWatcher::wait(const std::vector<Watch>& watches) {
  struct WaitSet {
    rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
    ~WaitSet() { report(rcl_wait_set_fini(&set), "ending a wait set"); }
  } waiting;
  check(rcl_wait_set_init(&waiting.set, 0, watches.size() + 1, 0, 0, 0, 0, context_.rcl(),
                          rcl_get_default_allocator()),
        "creating a wait set");
  for (const Watch& each : watches) {
    check(rcl_wait_set_add_guard_condition(
              &waiting.set, rcl_node_get_graph_guard_condition(&each.node->node), nullptr),
          "adding to a wait set");
  }
  check(rcl_wait_set_add_guard_condition(&waiting.set, &wake_, nullptr), "adding to a wait set");
  const rcl_ret_t result = rcl_wait(&waiting.set, -1);
  if (result != RCL_RET_OK && !context_.ok()) {
    rcl_reset_error();
    return false;
  }
  check(result, "waiting for the graph to change");
  for (std::size_t i = 0; i < watches.size(); ++i) {
    if (waiting.set.guard_conditions[i] != nullptr) {
      return true;
    }
  }
  return false;
}

GraphWatch::GraphWatch(std::shared_ptr<NodeHandle> node, GuardCondition& condition)
    : node_(std::move(node)), condition_(condition), watcher_(node_->context->graph_watcher()) {
  watcher_.add(*node_, condition_);
}

GraphWatch::~GraphWatch() { watcher_.remove(condition_); }

}  // namespace rclrt::detail

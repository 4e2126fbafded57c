// SPDX-License-Identifier: Apache-2.0
#include "event_watcher.hpp"

#include <rcl/error_handling.h>
#include <rcl/graph.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "rclrt/context.hpp"
#include "rclrt/error.hpp"
#include "rclrt/graph_callback.hpp"
#include "rclrt/node.hpp"
#include "rclrt/qos_event.hpp"

namespace rclrt::detail {

EventWatcher::EventWatcher(Context& context)
    : context_(context), wake_(rcl_get_zero_initialized_guard_condition()) {
  check(rcl_guard_condition_init(&wake_, context_.rcl(), rcl_guard_condition_get_default_options()),
        "creating a guard condition");
  thread_ = realtime::Thread({.name = "rclrt events"}, [this] { run(); });
}

EventWatcher::~EventWatcher() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  report(rcl_trigger_guard_condition(&wake_), "waking the thread that waits for events");
  thread_.join();
  report(rcl_guard_condition_fini(&wake_), "ending a guard condition");
}

void EventWatcher::add(NodeHandle& node, GuardCondition& condition) {
  std::unique_lock lock(mutex_);
  watches_.graph.push_back({&node, &condition});
  next_round(lock);
}

void EventWatcher::add(QosEventBase& event) {
  std::unique_lock lock(mutex_);
  watches_.events.push_back(&event);
  next_round(lock);
}

void EventWatcher::remove(const GuardCondition& condition) {
  std::unique_lock lock(mutex_);
  std::erase_if(watches_.graph, [&](const auto& each) { return each.condition == &condition; });
  next_round(lock);
}

void EventWatcher::remove(const QosEventBase& event) {
  std::unique_lock lock(mutex_);
  std::erase(watches_.events, &event);
  next_round(lock);
}

/// Waits until the thread uses the new list.
void EventWatcher::next_round(std::unique_lock<std::mutex>& lock) {
  report(rcl_trigger_guard_condition(&wake_), "waking the thread that waits for events");
  round_began_.wait(lock, [this, before = round_] { return ended_ || round_ != before; });
}

/// Triggers and collects only for watches that were not removed meanwhile.
void EventWatcher::notify(const News& news) {
  for (std::size_t i = 0; news.graph_changed && i < watches_.graph.size(); ++i) {
    watches_.graph[i].condition->trigger();
  }
  for (QosEventBase* const event : news.events) {
    const auto place = std::ranges::find(watches_.events, event);
    if (place == watches_.events.end()) {
      continue;
    }
    try {
      event->collect();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rclrt: the event callback \"%s\" does not run any more: %s\n",
                   event->name().c_str(), error.what());
      watches_.events.erase(place);  // it would be ready for ever
    }
  }
}

void EventWatcher::run() {
  News news;
  bool going_on = true;
  while (going_on) {
    Watches watches;
    {
      const std::scoped_lock lock(mutex_);
      notify(news);
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
      news = wait(watches);
    } catch (const std::exception& error) {
      if (context_.ok()) {  // otherwise it was shut down meanwhile
        std::fprintf(stderr,
                     "rclrt: callbacks for graph changes and QoS events do not run any more: %s\n",
                     error.what());
      }
      const std::scoped_lock lock(mutex_);
      ended_ = true;
      going_on = false;
    }
  }
  round_began_.notify_all();
}

EventWatcher::News EventWatcher::wait(const Watches& watches) {
  struct WaitSet {
    rcl_wait_set_t set = rcl_get_zero_initialized_wait_set();
    ~WaitSet() { report(rcl_wait_set_fini(&set), "ending a wait set"); }
  } waiting;
  check(rcl_wait_set_init(&waiting.set, 0, watches.graph.size() + 1, 0, 0, 0, watches.events.size(),
                          context_.rcl(), rcl_get_default_allocator()),
        "creating a wait set");
  for (const auto& each : watches.graph) {
    check(rcl_wait_set_add_guard_condition(
              &waiting.set, rcl_node_get_graph_guard_condition(&each.node->node), nullptr),
          "adding to a wait set");
  }
  for (const QosEventBase* const event : watches.events) {
    check(rcl_wait_set_add_event(&waiting.set, &event->event_, nullptr), "adding to a wait set");
  }
  check(rcl_wait_set_add_guard_condition(&waiting.set, &wake_, nullptr), "adding to a wait set");
  const rcl_ret_t result = rcl_wait(&waiting.set, -1);
  if (result != RCL_RET_OK && !context_.ok()) {
    rcl_reset_error();
    return {};
  }
  check(result, "waiting for events");
  News news;
  for (std::size_t i = 0; i < watches.graph.size(); ++i) {
    news.graph_changed = news.graph_changed || waiting.set.guard_conditions[i] != nullptr;
  }
  for (std::size_t i = 0; i < watches.events.size(); ++i) {
    if (waiting.set.events[i] != nullptr) {
      news.events.push_back(watches.events[i]);
    }
  }
  return news;
}

GraphWatch::GraphWatch(std::shared_ptr<NodeHandle> node, GuardCondition& condition)
    : node_(std::move(node)), condition_(condition), watcher_(node_->context->event_watcher()) {
  watcher_.add(*node_, condition_);
}

GraphWatch::~GraphWatch() { watcher_.remove(condition_); }

EventWatch::EventWatch(QosEventBase& event)
    : event_(event), watcher_(event.context_->event_watcher()) {
  watcher_.add(event_);
}

EventWatch::~EventWatch() { watcher_.remove(event_); }

}  // namespace rclrt::detail

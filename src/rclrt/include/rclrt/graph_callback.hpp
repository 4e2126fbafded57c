// SPDX-License-Identifier: Apache-2.0
// Callbacks for changes of the ROS graph.
#pragma once

#include <memory>
#include <utility>

#include "rclrt/export.hpp"
#include "rclrt/guard_condition.hpp"
#include "rclrt/node.hpp"

namespace rclrt {

namespace detail {

class EventWatcher;

/// While it exists, each change of the ROS graph triggers `condition`.
class RCLRT_EXPORT GraphWatch {
 public:
  RCLRT_SETUP GraphWatch(std::shared_ptr<NodeHandle> node, GuardCondition& condition);
  ~GraphWatch();
  GraphWatch(const GraphWatch&) = delete;
  GraphWatch& operator=(const GraphWatch&) = delete;

 private:
  const std::shared_ptr<NodeHandle> node_;  // keeps the context, and so the watcher
  GuardCondition& condition_;
  EventWatcher& watcher_;
};

template <typename F>
class GraphCallbackOf final : public GuardConditionOf<F> {
 public:
  GraphCallbackOf(const std::shared_ptr<NodeHandle>& node, std::shared_ptr<Context> context,
                  const CallbackOptions& options, F function)
      : GuardConditionOf<F>(std::move(context), options, std::move(function)),
        watch_(node, *this) {}

 private:
  const GraphWatch watch_;  // ends before what it triggers
};

}  // namespace detail

/// Creates a callback of `node` for changes of the ROS graph. It runs after nodes, topics or
/// services have appeared or disappeared in any process; several changes may cause a single run.
/// `callback` takes nothing, or `const InstanceInfo&`. The first graph callback in a context starts
/// a thread of normal priority that waits for changes.
template <typename F>
RCLRT_SETUP std::shared_ptr<GuardCondition> create_graph_callback(
    Node& node, F callback, const CallbackOptions& options = {}) {
  auto created = std::make_shared<detail::GraphCallbackOf<F>>(node.handle(), node.handle()->context,
                                                              options, std::move(callback));
  node.add_callback(created);
  return created;
}

}  // namespace rclrt

// SPDX-License-Identifier: Apache-2.0
// Subscriptions of several topics as they run: one callback for each topic.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// Splits subscriptions of several topics, so that each callback of the resulting application has
/// at most one topic or is a sync. Such a subscription becomes one callback (a part) for each
/// topic, with the same id, priority, WCET and depth. A part publishes only the answers to its
/// topic, and all parts are in one group. This is how they run: each topic is a ROS subscription,
/// and the subscriptions of one callback exclude each other.
class InputCallbacks {
 public:
  /// The priority that a part states.
  enum class Priority {
    kEffective,  ///< that of the callback, whether stated or from its chains
    kStated      ///< only what the callback states
  };

  /// Keeps a reference to `application`.
  explicit InputCallbacks(const model::Application& application,
                          Priority priority = Priority::kEffective);
  explicit InputCallbacks(model::Application&&, Priority = Priority::kEffective) = delete;

  const model::Application& application() const { return parts_ ? *parts_ : application_; }

  /// Returns the callback of the given application to which this part belongs.
  std::size_t whole(std::size_t part) const { return parts_ ? whole_[part] : part; }

  /// Takes over the execution times, periods and intervals of the application after a change.
  void copy_times();

 private:
  void add(std::size_t callback, Priority priority);
  void add(const model::Chain& chain);

  const model::Application& application_;
  std::optional<model::Application> parts_;
  std::vector<std::size_t> whole_;
  std::vector<std::size_t> first_;  // part of each callback
};

/// Copies the execution time, and the period or intervals, to a copy of the callback.
void copy_times_of(const model::Callback& callback, model::Callback& copy);

/// Returns whether the instances of both callbacks wait in one queue of a wait set: they are the
/// same callback, or parts of one service (see InputCallbacks).
bool share_queue(const model::Callback& a, const model::Callback& b);

}  // namespace rclrt::analysis::detail

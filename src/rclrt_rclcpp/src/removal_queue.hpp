// SPDX-License-Identifier: Apache-2.0
// The removed entities of an executor, until their last callback has ended.
#pragma once

#include <functional>
#include <mutex>
#include <rclcpp/rclcpp.hpp>
#include <vector>

#include "entity_entry.hpp"
#include "rclrt/executor/executor.hpp"

namespace rclrt_rclcpp {

/// The part of a removal that a refresh waits for.
enum class Wait {
  kNo,
  kUntilNothingRuns,  ///< of the removed entities; but a callback of this executor waits for none
};

/// The queue of removed entities. An entity in the queue does not listen any more, and stays in it
/// until the engine has released its callback. So a thread that removes an entity also waits for
/// entities that other threads removed. Meanwhile the entity cannot be added again, because the new
/// callback would miss the work that the old one has not run.
///
/// The registry's `mutex` guards it. `finish` locks the mutex itself, and does not hold it while it
/// waits.
class RemovalQueue {
 public:
  RemovalQueue(std::mutex& mutex, engine::Executor& engine) : mutex_(mutex), engine_(engine) {}

  /// Stops the notifications of the entry, and queues it.
  void push(const Key& entity, const Entry& entry);
  bool contains(const Key& entity) const;
  /// Returns whether a member of the group is in the queue.
  bool has_member_of(const rclcpp::CallbackGroup::SharedPtr& group) const;

  /// Removes the queued entities from the engine. Then, with the mutex locked, stores the work that
  /// was announced and has not run for the next listener, calls `left` for each removed callback,
  /// and `finished` at the end. Returns false if a callback is still running.
  bool finish(Wait wait, const std::function<void(engine::Callback&)>& left,
              const std::function<void()>& finished);

 private:
  struct Leaving {
    Key entity;
    rclcpp::CallbackGroup::WeakPtr group;
    Bound bound;
  };

  std::mutex& mutex_;
  engine::Executor& engine_;
  std::vector<Leaving> leaving_;
};

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
// The entities that an executor has no more, until their last callback has ended.
#pragma once

#include <functional>
#include <mutex>
#include <rclcpp/rclcpp.hpp>
#include <vector>

#include "entity_entry.hpp"
#include "rclrt/executor/executor.hpp"

namespace rclrt_rclcpp {

/// What of a removal a refresh waits for.
enum class Wait {
  kNo,
  kUntilNothingRuns,  ///< of what has left; but a callback of this executor waits for none
};

/// An entity in the queue listens no more, and stays until the engine has let go of it: so that a
/// thread that removes waits for what another one removed. Until then the entity has no new entry:
/// that would not be told of what the old one leaves behind.
///
/// Guarded by `mutex`, the registry's. `finish` takes it itself, and waits without it.
class RemovalQueue {
 public:
  RemovalQueue(std::mutex& mutex, engine::Executor& engine) : mutex_(mutex), engine_(engine) {}

  /// Lets the entry listen no more and queues it.
  void push(const Key& entity, const Entry& entry);
  bool contains(const Key& entity) const;
  /// Returns whether a member of the group is in the queue.
  bool has_member_of(const rclcpp::CallbackGroup::SharedPtr& group) const;

  /// Removes from the engine what is queued. With the mutex locked it leaves what each was told of
  /// and has not run to the next listener, calls `left` for each that has left, and `settled` at
  /// the end. Returns false when some callback still runs.
  bool finish(Wait wait, const std::function<void(engine::Callback&)>& left,
              const std::function<void()>& settled);

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

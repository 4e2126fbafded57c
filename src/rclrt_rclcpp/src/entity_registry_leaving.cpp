// SPDX-License-Identifier: Apache-2.0
// What an executor has no more, until its last callback has ended.
#include <algorithm>

#include "entity_registry.hpp"

namespace rclrt_rclcpp {

void Executor::EntityRegistry::drop(const Key& key, Entry& entry) {
  suspects_.erase(entry.bound.listener.get());
  leaving_.push_back({key, entry.group, entry.bound});
  try {
    entry.bound.listener->unlisten();
  } catch (...) {
    // A user's waitable: what could not be begun cannot always be ended.
  }
}

bool Executor::EntityRegistry::is_leaving(const Key& entity) const {
  return std::any_of(leaving_.begin(), leaving_.end(), [&](const Leaving& each) {
    return !each.entity.owner_before(entity) && !entity.owner_before(each.entity);
  });
}

/// Without the lock. False: some callback of what leaves still runs.
bool Executor::EntityRegistry::finish_leaving(Wait wait) {
  std::vector<Leaving> leaving;
  {
    const std::scoped_lock lock(mutex_);
    leaving = leaving_;
  }
  if (leaving.empty()) {
    return true;  // and no group is closed
  }
  std::vector<bool> left;  // before what it has left behind is taken: nothing comes after
  for (const Leaving& each : leaving) {
    if (wait == Wait::kUntilNothingRuns) {
      engine_->remove(each.bound.callback);
    }
    left.push_back(engine_->start_removal(each.bound.callback));
  }
  const bool all_left = std::find(left.begin(), left.end(), false) == left.end();
  std::vector<rclcpp::CallbackGroup::SharedPtr> open;
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < leaving.size(); ++i) {
      const Leaving& each = leaving[i];
      each.bound.listener->leave_rest();
      if (!left[i]) {
        continue;
      }
      std::erase_if(leaving_, [&](const Leaving& other) {
        return other.bound.callback == each.bound.callback;
      });
      if (part_) {
        part_->retire(*each.bound.callback);
      }
    }
    open = close_groups();
  }
  for (const auto& group : open) {  // without the lock: who waited for them is told
    group->trigger_notify_guard_condition();
  }
  return all_left;
}

/// Closes those of which something that leaves still runs, and opens and returns those of which
/// nothing does any more.
std::vector<rclcpp::CallbackGroup::SharedPtr> Executor::EntityRegistry::close_groups() {
  std::vector<rclcpp::CallbackGroup::SharedPtr> open;
  for (auto& [key, entry] : groups_) {
    const auto group = std::static_pointer_cast<rclcpp::CallbackGroup>(key.lock());
    const bool runs =
        group && std::any_of(leaving_.begin(), leaving_.end(),
                             [&](const Leaving& each) { return each.group.lock() == group; });
    if (group && runs != entry.closed) {
      entry.closed = runs;
      group->can_be_taken_from().store(!runs);
      if (!runs) {
        open.push_back(group);
      }
    }
  }
  return open;
}

}  // namespace rclrt_rclcpp

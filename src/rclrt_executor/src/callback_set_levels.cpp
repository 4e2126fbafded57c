// SPDX-License-Identifier: Apache-2.0
// The priorities of a set's callbacks: levels, SCHED_FIFO priorities, and the ceilings of groups.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "callback_set.hpp"
#include "dispatcher.hpp"
#include "thread_settings.hpp"

namespace rclrt::executor {

void CallbackSet::set_level(const std::shared_ptr<Callback>& callback, int level) {
  const std::scoped_lock lock(mutex_);
  if (std::find(callbacks_.begin(), callbacks_.end(), callback) == callbacks_.end()) {
    throw std::logic_error("set_level: the callback is not in executor \"" + options_.name + "\"");
  }
  detail::CallbackState& state = state_of(*callback);
  const int before = state.level.exchange(level);
  if (!prepared_ || before == level) {
    return;
  }
  try {
    update_levels();
    dispatcher_->remove(*callback);
    dispatcher_->add(*callback);
  } catch (...) {
    state.level.store(before);
    dispatcher_->remove(*callback);
    dispatcher_->add(*callback);
    update_levels();
    throw;
  }
}

void CallbackSet::require_levels(std::vector<int> levels) const {
  const std::scoped_lock lock(mutex_);
  static_cast<void>(mapped_with(std::move(levels)));
}

int CallbackSet::kernel_priority(int level) const {
  const std::scoped_lock lock(mutex_);
  return dispatcher_->thread_priority(level);
}

int CallbackSet::kernel_priority(const Callback& callback) const {
  const std::scoped_lock lock(mutex_);
  return state_of(callback).kernel_priority.load();
}

PriorityMap CallbackSet::mapped_with(std::vector<int> levels) const {
  return threads_.mapped_with(std::move(levels), dispatcher_->traits().maps_levels);
}

/// Maps the levels of all callbacks to SCHED_FIFO priorities. Sets the priorities of the threads
/// first, then the ceilings of the groups.
void CallbackSet::update_levels() {
  require_groups_unreserved_or_whole();
  const std::vector<int> levels = dispatcher_->levels_of(callbacks_);
  threads_.set_priorities(mapped_with(levels));
  dispatcher_->apply_priorities();
  std::map<Group*, int> ceilings;
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    detail::CallbackState& state = state_of(*callbacks_[i]);
    const int kernel_priority = dispatcher_->thread_priority(levels[i]);
    state.kernel_priority.store(kernel_priority);
    int& ceiling = ceilings[&state.group];
    ceiling = std::max(ceiling, kernel_priority);
  }
  for (const auto& [group, ceiling] : ceilings) {
    Access::state(*group).set_ceiling(ceiling);
  }
}

/// Updates the priorities after a callback has left. If the levels do not fit into the SCHED_FIFO
/// priorities, the priorities stay as they are, and the levels of removed callbacks keep theirs.
void CallbackSet::update_levels_after_removal() noexcept {
  try {
    update_levels();
  } catch (const std::exception& error) {
    std::fprintf(stderr,
                 "rclrt: executor \"%s\": the priorities were not updated after a callback was "
                 "removed: %s\n",
                 options_.name.c_str(), error.what());
  }
}

void CallbackSet::update_ceiling(Group& group) noexcept {
  int ceiling = 0;
  for (const auto& callback : callbacks_) {
    const detail::CallbackState& state = state_of(*callback);
    if (&state.group == &group) {
      ceiling = std::max(ceiling, state.kernel_priority.load());
    }
  }
  Access::state(group).set_ceiling(ceiling);
}

/// Throws std::invalid_argument if a mutually exclusive group has members at a reserved level and
/// at another one. Such a group would need a ceiling above SCHED_DEADLINE, but a ceiling is a
/// SCHED_FIFO priority. And a reserved thread that has used up its budget inside the group would
/// block the other members for the rest of its period.
void CallbackSet::require_groups_unreserved_or_whole() const {
  if (options_.reservations.empty()) {
    return;
  }
  std::map<const Group*, int> first;  // the level of each group's first member
  for (const auto& callback : callbacks_) {
    const auto& group = callback->shared_group();
    if (!group || group->type() == GroupType::kReentrant) {
      continue;
    }
    const int level = callback->level();
    const int other = first.try_emplace(group.get(), level).first->second;
    if (level != other && (threads_.is_reserved(level) || threads_.is_reserved(other))) {
      const int reserved = threads_.is_reserved(level) ? level : other;
      throw std::invalid_argument(
          "executor \"" + options_.name + "\": the group of callback \"" + callback->name() +
          "\" has members at level " + std::to_string(reserved) +
          ", which has a reservation, and at level " +
          std::to_string(reserved == level ? other : level) +
          ": a priority ceiling cannot cover both; keep all callbacks of the group in one reserved "
          "level, or in levels without a reservation");
    }
  }
}

}  // namespace rclrt::executor

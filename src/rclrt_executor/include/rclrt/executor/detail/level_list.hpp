// SPDX-License-Identifier: Apache-2.0
// Instances that wait, the most urgent first.
#pragma once

#include <cstdint>
#include <utility>

#include "rclrt/executor/detail/instance.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor::detail {

/// Holds instances sorted by level, the most urgent level first, and by `order` within a level. The
/// first instances of all levels are linked by `below`, the instances of one level by `next`. So
/// the time of a function depends on the number of levels, not on the number of instances.
/// (Functions that search for the instances of a callback are the exception.) The list does not own
/// the instances. An instance is in one list at a time. Not thread-safe.
class RCLRT_EXECUTOR_EXPORT LevelList {
 public:
  bool empty() const noexcept RCLRT_NONBLOCKING { return first_ == nullptr; }
  /// Returns the first of the most urgent level; nullptr when it is empty.
  Instance* first() const noexcept RCLRT_NONBLOCKING { return first_; }
  /// Looks at the first instance of each level. Returns the most urgent one of them that became
  /// ready by `ready_by_ns`; nullptr: none.
  Instance* first_ready_by(std::int64_t ready_by_ns) const noexcept RCLRT_NONBLOCKING {
    Instance* first = first_;
    while (first != nullptr && first->ready_ns > ready_by_ns) {
      first = first->below;
    }
    return first;
  }

  /// Inserts an instance at the place given by `level` and its `order`, which is set.
  void insert(Instance* instance, int level) noexcept RCLRT_NONBLOCKING;
  /// Takes out the first instance of a level.
  void remove_first(const Instance* instance) noexcept RCLRT_NONBLOCKING {
    Instance** link = &first_;
    while (*link != instance) {
      link = &(*link)->below;
    }
    unlink(link, nullptr, instance);
  }
  /// Takes out one instance of `callback`, the most urgent; nullptr when there is none.
  Instance* remove_one(const Callback& callback) noexcept RCLRT_NONBLOCKING;
  /// Moves all instances of `callback` to the list `taken`.
  void remove_all(const Callback& callback, Instance*& taken) noexcept RCLRT_NONBLOCKING;

 private:
  /// Removes `instance` from its level. `*first` is the first instance of that level, `before` the
  /// one before `instance`; nullptr if `instance` is the first.
  static void unlink(Instance** first, Instance* before,
                     const Instance* instance) noexcept RCLRT_NONBLOCKING;

  Instance* first_ = nullptr;
};

inline void LevelList::unlink(Instance** first, Instance* before,
                              const Instance* instance) noexcept RCLRT_NONBLOCKING {
  Instance* const rest = instance->next;
  if (before != nullptr) {
    before->next = rest;
    if (rest == nullptr) {
      (*first)->last = before;
    }
  } else if (rest != nullptr) {
    rest->last = instance->last;
    rest->below = instance->below;
    *first = rest;
  } else {
    *first = instance->below;
  }
}

inline void LevelList::insert(Instance* instance, int level) noexcept RCLRT_NONBLOCKING {
  instance->queued_level = level;  // a change of the callback's level does not change the order
  Instance** link = &first_;
  while (*link != nullptr && (*link)->queued_level > level) {
    link = &(*link)->below;
  }
  Instance* const first = *link;
  instance->next = nullptr;
  if (first == nullptr || first->queued_level < level) {
    instance->last = instance;
    instance->below = std::exchange(*link, instance);
  } else if (first->last->order <= instance->order) {
    first->last = first->last->next = instance;
  } else if (instance->order < first->order) {
    instance->next = std::exchange(*link, instance);
    instance->last = first->last;
    instance->below = first->below;
  } else {  // it returns to its old place
    Instance* before = first;
    while (before->next->order < instance->order) {
      before = before->next;
    }
    instance->next = std::exchange(before->next, instance);
  }
}

}  // namespace rclrt::executor::detail

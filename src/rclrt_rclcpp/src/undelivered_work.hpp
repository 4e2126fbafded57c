// SPDX-License-Identifier: Apache-2.0
// Work that was announced to one listener and waits for the next one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace rclrt_rclcpp {

/// A middleware announces a message once, a waitable an event. When an entity moves from one
/// executor to another, the work that was announced to the first and has not run still waits, and
/// the second would not be notified of it. The number is kept here between the two. Thread-safe.
class UndeliveredWork {
 public:
  /// Numbers, by the entity within a waitable; other entities have keys of their own.
  using Counts = std::map<int, std::size_t>;

  static UndeliveredWork& instance() {
    // Never destroyed: an executor may be a global object that ends later.
    static UndeliveredWork& result = *new UndeliveredWork;
    return result;
  }

  void keep(const std::weak_ptr<void>& entity, int key, std::size_t count) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(counts_, [](const auto& each) { return each.first.expired(); });
    if (count != 0) {
      counts_[entity][key] += count;
    }
  }
  Counts take(const std::weak_ptr<void>& entity) {
    const std::scoped_lock lock(mutex_);
    const auto found = counts_.find(entity);
    if (found == counts_.end()) {
      return {};
    }
    Counts result = std::move(found->second);
    counts_.erase(found);
    return result;
  }

 private:
  UndeliveredWork() = default;

  std::mutex mutex_;
  std::map<std::weak_ptr<void>, Counts, std::owner_less<std::weak_ptr<void>>> counts_;
};

}  // namespace rclrt_rclcpp

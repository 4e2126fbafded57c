// SPDX-License-Identifier: Apache-2.0
// Work that was announced to one listener and waits for the next one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace rclrt_rclcpp {

/// Keeps the number of announced messages and events that an entity's last executor has not run,
/// for the entity's next executor. A middleware announces a message only once, and a waitable an
/// event. So when an entity moves to another executor, that executor is not notified of work that
/// still waits. Thread-safe.
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

// SPDX-License-Identifier: Apache-2.0
// Messages that an entity told one listener of and that wait for the next.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace rclrt_rclcpp {

/// A middleware tells of a message once. When an entity moves from one executor to another, what
/// the first has been told of and has not run waits in the middleware, and the second would never
/// hear of it. Here the number is kept between the two. Thread-safe.
class LeftBehind {
 public:
  static LeftBehind& instance() {
    static LeftBehind result;
    return result;
  }

  void keep(const std::weak_ptr<void>& entity, std::size_t count) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(counts_, [](const auto& each) { return each.first.expired(); });
    if (count != 0) {
      counts_[entity] += count;
    }
  }
  std::size_t take(const std::weak_ptr<void>& entity) {
    const std::scoped_lock lock(mutex_);
    const auto found = counts_.find(entity);
    if (found == counts_.end()) {
      return 0;
    }
    const std::size_t count = found->second;
    counts_.erase(found);
    return count;
  }

 private:
  std::mutex mutex_;
  std::map<std::weak_ptr<void>, std::size_t, std::owner_less<std::weak_ptr<void>>> counts_;
};

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
// Who waits for itself.
#include <utility>

#include "book.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt_rclcpp {

/// A response that waits for a callback which waits for the response is never taken. What is seen
/// from outside: a client's instance is pending, and the same callback of its exclusive group has
/// been running for a second and more.
void Executor::Book::warn_of_deadlocks() {
  const std::scoped_lock lock(mutex_);
  const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
  for (const auto& [key, client] : entries_) {
    const auto group = client.group.lock();
    if (client.place.kind != "client" || !group ||
        group->type() != rclcpp::CallbackGroupType::MutuallyExclusive ||
        client.bound.callback->counters().pending() == 0) {
      continue;
    }
    for (const auto& [other_key, other] : entries_) {
      const std::int64_t since_ns = other.bound.listener->running_since_ns();
      if (other.group.lock() != group || since_ns == 0 || now_ns - since_ns < kSecond_ns ||
          std::exchange(suspects_[other.bound.listener.get()], since_ns) == since_ns) {
        continue;
      }
      RCLCPP_WARN(rclcpp::get_logger("rclrt_rclcpp"),
                  "the response for '%s' waits for '%s', which has been running for %.1f s and is "
                  "in the same mutually exclusive callback group. If it waits for that response, "
                  "it waits for ever: put the client into a callback group of its own.",
                  to_string(client.place).c_str(), to_string(other.place).c_str(),
                  static_cast<double>(now_ns - since_ns) / 1e9);
    }
  }
}

}  // namespace rclrt_rclcpp

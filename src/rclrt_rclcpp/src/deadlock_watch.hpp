// SPDX-License-Identifier: Apache-2.0
// Warns of responses that wait for callbacks which wait for them.
#pragma once

#include <cstdint>
#include <map>

#include "entity_entry.hpp"

namespace rclrt_rclcpp {

/// A response that waits for a callback which waits for the response is never taken. What is seen
/// from outside: a client's instance is pending, and the same callback of its exclusive group, or
/// of its level, has been running for a second and more; where callbacks run to completion, one of
/// any level while no worker takes the client's instance. Guarded by the registry's lock.
class DeadlockWatch {
 public:
  /// Warns, once for each run of a callback. To be called once a second.
  void look(const Entries& entries, const engine::Executor& engine);
  void forget(const Listener* listener) {
    suspects_.erase(listener);
    waiting_.erase(listener);
  }

 private:
  bool waits(const Entry& client);

  std::map<const Listener*, std::int64_t> suspects_;  // since when it has been running
  // How many responses of a client had been taken when the last look found one that waits.
  std::map<const Listener*, std::uint64_t> waiting_;
};

}  // namespace rclrt_rclcpp

// SPDX-License-Identifier: Apache-2.0
// Values that callbacks of a trace store and read, and what nodes state about theirs.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

namespace rclrt::trace {

/// A value of one process that callbacks store and read: a SampledValue of rclrt_realtime.
struct StoredValue {
  std::int64_t process = 0;
  std::set<std::uint32_t> writers{};  ///< callbacks
  std::set<std::uint32_t> readers{};
};

/// A statement of a node about itself: the messages on the topics use those that the callbacks took
/// before, although other callbacks publish them.
struct MessageLink {
  std::int64_t process = 0;
  std::set<std::uint32_t> callbacks{};  ///< of the subscriptions
  /// Of the publishers: the node, or kNone if it is not known, and the topic.
  std::set<std::pair<std::uint32_t, std::uint32_t>> outputs{};

  bool operator==(const MessageLink&) const = default;
};

}  // namespace rclrt::trace

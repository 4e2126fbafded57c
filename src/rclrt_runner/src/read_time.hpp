// SPDX-License-Identifier: Apache-2.0
// The time that says which values and messages a run read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace rclrt::runner {

/// The time at which a run counts as having read what it read: when the message that it took was
/// sent, which identifies the message. The earliest time counts if there are several messages, or
/// variables besides. So no age is too small, but that of the newer ones may be too large: a later
/// time could include a message that was still on its way.
class ReadTime {
 public:
  /// `variables_ns`: when the run read its variables, if it has some.
  explicit ReadTime(std::optional<std::int64_t> variables_ns)
      : ns_(variables_ns.value_or(std::numeric_limits<std::int64_t>::max())) {}

  /// Adds the newest message of a topic. `sent_ns`: when it was sent; 0: none has come yet.
  void add_message(std::int64_t sent_ns) { ns_ = std::min(ns_, sent_ns != 0 ? sent_ns : kBefore); }

  std::int64_t ns() const { return ns_; }

 private:
  static constexpr std::int64_t kBefore = 1;  // before each message; 0 stands for "not known"

  std::int64_t ns_;
};

}  // namespace rclrt::runner

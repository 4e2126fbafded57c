// SPDX-License-Identifier: Apache-2.0
// The time that messages take from one callback to the next.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/statistics.hpp"

namespace rclrt::recorder {

/// The messages from one callback to another, both as indices into Application::callbacks. If the
/// second one is a sync, only the messages that complete a set.
struct HopResult {
  std::size_t from{};
  std::size_t to{};
  Summary time;  ///< from publication until the executor knew of the message

  bool operator==(const HopResult&) const = default;
};

/// Returns the hops of the instances with a known publisher and time of publication, ascending by
/// `from`, then `to`. Skips an instance that took a later message than the one that made it ready,
/// because the latter was dropped: nothing can be measured there.
RCLRT_RECORDER_EXPORT std::vector<HopResult> account_hops(
    std::span<const LoggedInstance> instances);

}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
// How long messages take from one callback to the next.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/statistics.hpp"

namespace rclrt::recorder {

/// The messages from one callback to another, both as indices into Application::callbacks. Of a
/// sync only those that complete a set.
struct HopResult {
  std::size_t from{};
  std::size_t to{};
  Summary time;  ///< from publication to when the executor knew of the message

  bool operator==(const HopResult&) const = default;
};

/// Returns the hops of the instances whose publisher and time of publication are known, ascending
/// by `from`, then `to`. Where an instance took a message that came after it was ready, because
/// another one was dropped, there is nothing to measure.
RCLRT_RECORDER_EXPORT std::vector<HopResult> account_hops(
    std::span<const LoggedInstance> instances);

}  // namespace rclrt::recorder

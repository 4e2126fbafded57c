// SPDX-License-Identifier: Apache-2.0
// The time that messages take from one callback to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/host_times.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/statistics.hpp"

namespace rclrt::recorder {

/// The times of the messages from one callback to another. `from` and `to` are indices into
/// Application::callbacks. If the second callback is a synchroniser, only messages that complete a
/// set are counted.
struct HopResult {
  std::size_t from{};
  std::size_t to{};
  Summary time;  ///< from publication until the executor knew of the message
  /// How far a time may be from the truth, in either direction: between hosts.
  std::int64_t error_ns = 0;
  /// Messages between hosts that came out as received before they were sent, within the error. Each
  /// counts with a time of 0, because leaving out the fastest ones would make the others' look
  /// long.
  std::uint64_t early = 0;

  bool operator==(const HopResult&) const = default;
};

/// Returns the time of the message that released the instance, in nanoseconds. std::nullopt: its
/// publisher or its time is not known, or the instance took a later message, see account_hops().
RCLRT_RECORDER_EXPORT std::optional<std::int64_t> hop_ns(const LoggedInstance& instance);

/// Returns the hops between callbacks, sorted by `from`, then `to`. Uses the instances of which the
/// publisher and the time of publication are known. Skips an instance that took a later message
/// than the one that made it ready (which was dropped), because its times do not belong together.
/// `hosts`: of a run over several hosts.
RCLRT_RECORDER_EXPORT std::vector<HopResult> account_hops(std::span<const LoggedInstance> instances,
                                                          const HostTable& hosts = {});

}  // namespace rclrt::recorder

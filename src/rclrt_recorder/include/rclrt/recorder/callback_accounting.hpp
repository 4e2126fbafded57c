// SPDX-License-Identifier: Apache-2.0
// The results of every callback.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/statistics.hpp"

namespace rclrt::recorder {

/// Times of the instances of one callback that ran user code.
struct CallbackResult {
  std::optional<Summary> response;   ///< nominal release or ready, to end
  std::optional<Summary> dispatch;   ///< ready to first user instruction
  std::optional<Summary> execution;  ///< thread CPU time
  std::uint64_t preemptions = 0;
  std::optional<std::uint64_t> migrations{};  ///< see migrations_of(); none: no CPU is known
  /// Of a run over several hosts: how far a response or a dispatch may be from the truth, in either
  /// direction. They begin on another host if that one published the message.
  std::int64_t error_ns = 0;

  bool operator==(const CallbackResult&) const = default;
};

/// Returns one result for each callback of an application that has `callbacks` callbacks. Records
/// of callbacks with a higher index are ignored. `parts`: RunResults::cpu_parts.
RCLRT_RECORDER_EXPORT std::vector<CallbackResult> account_callbacks(
    std::size_t callbacks, std::span<const InstanceRecord> records,
    std::span<const CpuPart> parts = {});

}  // namespace rclrt::recorder

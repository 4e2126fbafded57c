// SPDX-License-Identifier: Apache-2.0
// One run of a callback in a trace.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::trace {

/// Stands for "no index".
inline constexpr std::uint32_t kNone = UINT32_MAX;

/// One run of a callback. Times are CLOCK_MONOTONIC.
struct TracedInstance {
  std::uint32_t callback = 0;
  std::uint32_t thread = 0;
  std::uint32_t input = kNone;      ///< the input of the callback that received its message
  std::uint32_t publisher = kNone;  ///< the callback that published it
  std::int64_t published_ns = 0;    ///< 0: not known
  std::int64_t sent_ns = 0;         ///< the time of day at which its message was sent; 0: not known
  std::int64_t stamp_ns = 0;        ///< the header.stamp of its message; 0: not known
  std::int64_t release_ns = 0;      ///< 0: not known
  std::int64_t ready_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  /// A time at which all that it read was the newest: the first values, and the last messages that
  /// it took itself. If there is no such time, the oldest of them was. 0: it read nothing.
  std::int64_t read_ns = 0;
  std::int64_t stored_ns = 0;  ///< when it last stored a value; 0: it did not
  /// The only message that it took itself, if it read no value: its publisher, which callback and
  /// thread identify with the time. kNone: none.
  std::uint32_t sampled_from = kNone;
  std::uint32_t sampled_thread = kNone;
  std::int64_t sampled_ns = 0;
  std::int64_t first_publication_ns = 0;  ///< 0: it published nothing
  bool scheduled = false;  ///< the trace has its thread's switches: the three below are known
  std::int64_t preempted_ns = 0;  ///< the thread could run, but another one ran
  std::int64_t waited_ns = 0;     ///< the thread slept or waited
  std::uint32_t preemptions = 0;
  /// The CPUs of its thread at its start and its end; recorder::kUnknownCpu: not in the trace.
  std::int32_t first_cpu = recorder::kUnknownCpu;
  std::int32_t last_cpu = recorder::kUnknownCpu;
  /// Its parts in TracedSystem::cpu_parts(), if `scheduled`; none: it was not interrupted.
  std::uint32_t part_count = 0;
  std::uint64_t first_part = 0;

  /// Returns the CPU time if it is in the trace, else the time from start to end.
  std::int64_t cpu_ns() const {
    const std::int64_t whole = end_ns - start_ns;
    return scheduled ? std::max<std::int64_t>(whole - preempted_ns - waited_ns, 0) : whole;
  }
};

}  // namespace rclrt::trace

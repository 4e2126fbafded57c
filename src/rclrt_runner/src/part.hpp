// SPDX-License-Identifier: Apache-2.0
// What one process of a run states beside its instances, and its transfer to the process that
// collects it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/recorder/results.hpp"
#include "rclrt/recorder/run_accounting.hpp"

namespace rclrt::runner {

/// The state of the executors of one process: that of their threads, known before the run, and the
/// counts and the time of the end, known after it.
struct Part {
  std::int64_t ended_ns = 0;  ///< CLOCK_MONOTONIC: when the run was to end, or was stopped
  std::uint64_t records_dropped = 0;
  std::uint64_t foreign_messages = 0;
  std::vector<recorder::CallbackCounts> counts;  ///< one per callback; zero for others' callbacks
  std::vector<std::optional<int>>
      kernel_priorities;                          ///< one per callback; none for others' callbacks
  std::vector<recorder::RealtimeState> realtime;  ///< one per executor
  std::vector<recorder::ThreadResult> threads;
  bool memory_locked = false;
  std::string rmw;
};

/// Writes the part to the file, from its start. The values are written as
/// they are in memory, so a process of the same program must read them. Throws std::system_error.
void write_part(int file, const Part& part);

/// Reads what write_part() has written. Throws std::system_error, and std::runtime_error if the
/// file ends too early.
Part read_part(int file);

}  // namespace rclrt::runner

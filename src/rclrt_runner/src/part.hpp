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
  std::int64_t ended_ns = 0;  ///< time of the run: when it was to end, or was stopped
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

/// Reads or writes all members of a part (byte_stream.hpp).
template <typename Stream, typename Contents>
void pass_part(Stream& stream, Contents& part) {
  stream(part.ended_ns);
  stream(part.records_dropped);
  stream(part.foreign_messages);
  stream(part.counts, [&](auto& counts) {
    stream(counts.released);
    stream(counts.completed);
    stream(counts.dropped);
    stream(counts.missed);
  });
  stream(part.kernel_priorities);
  stream(part.realtime, [&](auto& state) {
    stream(state.granted);
    stream(state.reason);
    stream(state.runs_to_completion);
  });
  stream(part.threads, [&](auto& thread) {
    stream(thread.name);
    stream(thread.tid);
    stream(thread.scheduling.policy, realtime::Policy::kDeadline);
    stream(thread.scheduling.priority);
    stream(thread.scheduling.cpus);
    stream(thread.process);
  });
  stream(part.memory_locked);
  stream(part.rmw);
}

/// Writes the part to the file, from its start. Throws std::system_error.
void write_part(int file, const Part& part);

/// Reads what write_part() has written. Throws std::system_error, and std::runtime_error if the
/// file ends too early.
Part read_part(int file);

}  // namespace rclrt::runner

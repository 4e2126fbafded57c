// SPDX-License-Identifier: Apache-2.0
// Who had the CPUs while somebody waited for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// One instance as an interval of time, CLOCK_MONOTONIC.
struct ExecutionInterval {
  std::uint64_t id = 0;
  std::string_view callback;  ///< its name
  int level = 0;              ///< its callback's priority; higher is more urgent
  /// Absolute, where deadlines say who goes first, and priorities do not.
  std::int64_t deadline_ns = INT64_MAX;
  int priority = 0;  ///< at which it runs: with the ceiling of its group
  /// What excludes others; nullptr: nothing.
  const void* group = nullptr;
  std::int64_t ready_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;   ///< of one that still runs: now
  std::int64_t cpu_ns = -1;  ///< CPU time it took; -1: not known
};

/// Why an instance was in the way.
enum class Reason : std::uint8_t {
  kMoreUrgent,  ///< it goes first
  kSameLevel,   ///< as urgent, and it was there before
  kGroup,       ///< not more urgent, but inside the group: blocking
  kLessUrgent,  ///< a priority inversion: nothing preempts it, or not yet
};

/// Returns "more urgent", "same level", "group" or "less urgent".
RCLRT_EXECUTOR_EXPORT const char* to_string(Reason reason) noexcept RCLRT_NONBLOCKING;

/// An instance that was in the way.
struct Culprit {
  std::uint64_t id = 0;
  std::string_view callback;
  int level = 0;
  Reason reason = Reason::kMoreUrgent;
  std::int64_t time_ns = 0;  ///< how long
  std::int64_t cpu_ns = -1;  ///< how much of that it computed, at most; -1: not known
};

/// Where a response time went: `execution + delayed + transit + unexplained` make it up.
struct Blame {
  static constexpr std::size_t kCulprits = 8;

  std::int64_t waiting_ns = 0;      ///< ready, before the start
  std::int64_t preempted_ns = 0;    ///< between start and end, while others had the CPUs
  std::int64_t execution_ns = 0;    ///< own CPU time
  std::int64_t transit_ns = 0;      ///< on its way: released, not ready
  std::int64_t delayed_ns = 0;      ///< of waiting and preemption: while culprits were in the way
  std::int64_t unexplained_ns = 0;  ///< neither: the kernel, other threads, the host, own sleep
  std::array<Culprit, kCulprits> worst;  ///< those longest in the way, in that order
  std::size_t culprits = 0;              ///< how many there were; may be more than `worst` has

  /// Returns those of `worst` that are filled in.
  std::span<const Culprit> listed() const noexcept RCLRT_NONBLOCKING {
    return {worst.data(), culprits < kCulprits ? culprits : kCulprits};
  }
};

/// What `explain` works in: as many as there are intervals, own and others; three times as many
/// events.
struct BlameScratch {
  /// A moment at which something changes.
  struct Event {
    std::int64_t time_ns;
    std::uint32_t interval;
    std::uint8_t what;
  };
  /// How long one was in the way, and why at last.
  struct Tally {
    std::int64_t time_ns;
    Reason reason;
  };
  std::span<Event> events;
  std::span<std::uint32_t> active;
  std::span<Tally> tallies;
};

/// Explains the time from `from_ns` to `until_ns` of the work `own`: one instance, or the stages of
/// a chain in order of their start; one that never started starts at `until_ns`. `others` are
/// instances on the same `cpus` CPUs, in any order.
///
/// At every moment the most urgent of those that have started and not ended have the CPUs, at equal
/// priority the earliest; without real time that is an estimate. While own work waits for a CPU,
/// all who have one are in its way; and with a CPU free, those of its group or its level.
/// Looks at no more than the scratch has room for.
RCLRT_EXECUTOR_EXPORT Blame explain(std::int64_t from_ns, std::int64_t until_ns,
                                    std::span<const ExecutionInterval> own,
                                    std::span<const ExecutionInterval> others, std::size_t cpus,
                                    const BlameScratch& scratch) noexcept RCLRT_NONBLOCKING;

}  // namespace rclrt::executor

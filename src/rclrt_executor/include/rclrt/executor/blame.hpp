// SPDX-License-Identifier: Apache-2.0
// Which instances had the CPUs while an instance waited for one.
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
  /// Absolute. Set where deadlines order instances and priorities do not.
  std::int64_t deadline_ns = INT64_MAX;
  int priority = 0;  ///< at which it runs, the ceiling of its group included
  /// Instances of different executors compare by `kernel_priority` instead of `level`.
  std::size_t executor = 0;
  int kernel_priority = 0;  ///< of its callback, without the ceiling of its group
  /// Instances with the same group exclude each other; nullptr: no exclusion.
  const void* group = nullptr;
  std::int64_t ready_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;   ///< now, if the instance still runs
  std::int64_t cpu_ns = -1;  ///< CPU time it took; -1: not known
};

/// Why an instance was in the way.
enum class Reason : std::uint8_t {
  kMoreUrgent,          ///< it goes first
  kSameLevel,           ///< as urgent, and it came first
  kGroup,               ///< not more urgent, but in the same group: blocking
  kLessUrgent,          ///< a priority inversion: it is not preempted, or not yet
  kSameKernelPriority,  ///< of another executor, and the kernel preempts neither for the other
};

/// Returns "more urgent", "same level", "group", "less urgent" or "same kernel priority".
RCLRT_EXECUTOR_EXPORT const char* to_string(Reason reason) noexcept RCLRT_NONBLOCKING;

/// An instance that delayed the explained one.
struct Culprit {
  std::uint64_t id = 0;
  std::string_view callback;
  int level = 0;
  Reason reason = Reason::kMoreUrgent;
  std::int64_t time_ns = 0;  ///< how long
  std::int64_t cpu_ns = -1;  ///< CPU time within `time_ns`, at most; -1: not known
};

/// The parts of a response time: the sum of `execution`, `delayed`, `transit` and `unexplained`.
struct Blame {
  static constexpr std::size_t kCulprits = 8;

  std::int64_t waiting_ns = 0;      ///< from ready to the start
  std::int64_t preempted_ns = 0;    ///< between start and end, while others had the CPUs
  std::int64_t execution_ns = 0;    ///< own CPU time
  std::int64_t transit_ns = 0;      ///< released, not yet ready
  std::int64_t delayed_ns = 0;      ///< part of waiting and preemption that culprits caused
  std::int64_t unexplained_ns = 0;  ///< the rest: the kernel, other threads, the host, own sleep
  std::array<Culprit, kCulprits> worst;  ///< the longest delays, longest first
  std::size_t culprits = 0;              ///< number of culprits; may exceed the size of `worst`

  /// Returns the elements of `worst` that are filled in.
  std::span<const Culprit> listed() const noexcept RCLRT_NONBLOCKING {
    return {worst.data(), culprits < kCulprits ? culprits : kCulprits};
  }
};

/// Working memory that the caller of `explain` provides. To explain with n intervals (own and
/// others together), `active` and `tallies` need n elements each, and `events` needs 3 n.
struct BlameScratch {
  /// A moment at which something changes.
  struct Event {
    std::int64_t time_ns;
    std::uint32_t interval;
    std::uint8_t what;
  };
  /// How long one instance was in the way, and the latest reason.
  struct Tally {
    std::int64_t time_ns;
    Reason reason;
  };
  std::span<Event> events;
  std::span<std::uint32_t> active;
  std::span<Tally> tallies;
};

/// Explains how the time from `from_ns` to `until_ns` was spent: on own work, or on waiting for
/// which other instances. `own` is the work that was late: one instance, or the stages of a chain
/// in order of their start. A stage that never started has `until_ns` as its start. `others` are
/// the other instances on the same `cpus` CPUs, in any order.
///
/// Assumes that at every moment the most urgent started instances have the CPUs, and at equal
/// priority those that started first. Without real-time scheduling the result is an estimate. While
/// own work waits for a CPU, every instance that has a CPU is a culprit. If a CPU is free although
/// own work waits, the culprits are the running instances of its group or level. If `scratch` is
/// too small for all intervals, the remaining ones are ignored.
RCLRT_EXECUTOR_EXPORT Blame explain(std::int64_t from_ns, std::int64_t until_ns,
                                    std::span<const ExecutionInterval> own,
                                    std::span<const ExecutionInterval> others, std::size_t cpus,
                                    const BlameScratch& scratch) noexcept RCLRT_NONBLOCKING;

}  // namespace rclrt::executor

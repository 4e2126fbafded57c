// SPDX-License-Identifier: Apache-2.0
// What a trace lacks: when, and how often.
#pragma once

#include <cstdint>

namespace rclrt::trace {

/// A time for which events may be missing in the trace.
struct LostTime {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;  ///< INT64_MAX: the end of the trace
};

/// Counts of what could not be followed.
struct Gaps {
  std::uint64_t unknown_callbacks = 0;  ///< runs of callbacks without their creation in the trace
  std::uint64_t unfinished = 0;         ///< runs without an end
  std::uint64_t unmatched_ends = 0;     ///< ends without a start
  std::uint64_t losses = 0;  ///< places where the tracer lost events or kept only the newest
  std::uint64_t unknown_sources = 0;    ///< messages without their publication in the trace
  std::uint64_t incomplete_events = 0;  ///< events of another version: fields are missing
  std::uint64_t forgotten = 0;          ///< publications dropped to bound the memory
  std::uint64_t switches_lost = 0;      ///< places where switches of threads are missing
  std::uint64_t publications = 0;       ///< publications in the trace
  std::uint64_t unknown_links = 0;  ///< ends of message links without their creation in the trace
  std::uint64_t unknown_reads = 0;  ///< reads of values without their store in the trace
  std::uint64_t mixed_reads = 0;    ///< runs that read values which at no time were all the newest
  std::uint64_t values_left_out = 0;  ///< events of values left out to bound the memory
  std::uint64_t timeless = 0;  ///< publications found by time, because the trace has no stamp
};

}  // namespace rclrt::trace

// SPDX-License-Identifier: Apache-2.0
// Reads LTTng traces, event by event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "event_kinds.hpp"

namespace rclrt::trace {

/// Says where a trace cannot be read, and why.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One event of kEventTypes. Texts end with the call that gets them.
struct TraceEvent {
  EventKind kind{};
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC of the traced machine
  std::uint32_t space = 0;   ///< where the process id is unique: a machine, or a container on it
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int64_t clock_offset_ns = 0;                   ///< the time of day at time 0; 0: not known
  std::string_view thread;                            ///< its name; empty: the trace does not say
  std::array<std::uint64_t, kMostNumbers> numbers{};  ///< 0 where the event lacks the field
  std::array<std::string_view, kMostTexts> texts{};
  bool complete = true;  ///< it has every field
};

/// What reading found besides the events.
struct ReadCounts {
  std::uint64_t events = 0;  ///< all
  std::uint64_t known = 0;   ///< of kEventTypes
  std::uint64_t lost = 0;    ///< that the tracer had no room for
  std::uint64_t lost_packets = 0;
  std::uint64_t early = 0;  ///< left out: from a time of which other streams keep nothing any more
  std::uint64_t duplicates = 0;       ///< left out: another session has recorded them, too
  std::size_t traces = 0;             ///< directories with a trace of their own
  std::size_t cpus = 0;               ///< on which nodes had events; 0: the trace does not say
  std::vector<std::string> damage{};  ///< where streams could not be read, and what follows it
};

/// Calls `handle` for each event below `directory`, in order of time, of all the traces in it.
/// Keeps one packet of each stream in memory. What is damaged is left out and stands in the counts.
/// Throws TraceError when there is no trace, its metadata is damaged, or its events do not say
/// which process and thread they are of.
ReadCounts read_trace(const std::filesystem::path& directory,
                      const std::function<void(const TraceEvent&)>& handle);

}  // namespace rclrt::trace

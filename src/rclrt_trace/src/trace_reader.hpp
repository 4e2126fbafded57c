// SPDX-License-Identifier: Apache-2.0
// Reads LTTng traces, event by event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "event_kinds.hpp"

namespace rclrt::trace {

/// An error in a trace, with its place and reason.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A traced machine: one boot of it, with one clock. Its containers belong to it.
struct TracedHost {
  std::string name;  ///< that of the machine, or of one of its containers; unique among the hosts
  std::string boot;  ///< the kernel's boot_id; empty: its traces do not state it
  /// The time of day minus CLOCK_MONOTONIC when its sessions began: the smallest and the largest
  /// that its traces state. 0: they state none.
  std::int64_t least_clock_offset_ns = 0;
  std::int64_t most_clock_offset_ns = 0;
};

/// One event of kEventTypes. Its texts and lists are valid only during the call that gets the
/// event.
struct TraceEvent {
  EventKind kind{};
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC of the reference host; without one, of its host
  std::uint32_t host = 0;    ///< number of its host
  std::uint32_t space = 0;   ///< space in which the process id is unique: a machine or a container
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int32_t cpu = -1;                              ///< that recorded it; -1: not in the trace
  std::int64_t clock_offset_ns = 0;                   ///< the time of day at time 0; 0: not known
  std::string_view thread;                            ///< its name; empty: not in the trace
  std::array<std::uint64_t, kMostNumbers> numbers{};  ///< 0 where the event lacks the field
  std::array<std::string_view, kMostTexts> texts{};
  std::array<std::span<const std::uint64_t>, kMostLists> lists{};
  bool complete = true;  ///< it has every field
};

/// Counts of events, losses and damage in the traces that were read.
struct ReadCounts {
  std::uint64_t events = 0;  ///< all events
  std::uint64_t known = 0;   ///< events of kEventTypes
  std::uint64_t lost = 0;    ///< events that the tracer had no room for
  std::uint64_t lost_packets = 0;
  std::uint64_t early = 0;       ///< left out: other streams have overwritten events of that time
  std::uint64_t duplicates = 0;  ///< left out: also recorded by another session
  std::size_t traces = 0;        ///< directories that have a trace
  std::size_t cpus = 0;          ///< CPUs with events of nodes; 0: not in the trace
  std::vector<std::size_t> cpus_of{};  ///< the same for each host
  std::vector<TracedHost> hosts{};
  std::vector<std::string> damage{};  ///< places where a stream is damaged, and the consequence
};

class HostClocks;

/// Returns the hosts of all traces below the directories. The first one is the reference: that of
/// the first trace. Throws TraceError if there is no trace, if a trace's metadata is damaged, or if
/// a trace does not state of which of several hosts it is.
std::vector<TracedHost> find_hosts(std::span<const std::filesystem::path> directories);

/// Calls `handle` for each event of all traces below the directories. Keeps only one packet of each
/// stream in memory. Leaves out damaged parts and lists them in the result. Throws TraceError if
/// there is no trace, if its metadata is damaged, or if its events do not have the process id and
/// the thread id.
///
/// Events come in order of time: with `clocks`, of the reference host's time. With nullptr each
/// host's events come in order of its own time, in any order among the hosts.
ReadCounts read_traces(std::span<const std::filesystem::path> directories, const HostClocks* clocks,
                       const std::function<void(const TraceEvent&)>& handle);

/// Does the same for the traces of one host below one directory.
inline ReadCounts read_trace(const std::filesystem::path& directory,
                             const std::function<void(const TraceEvent&)>& handle) {
  return read_traces({&directory, 1}, nullptr, handle);
}

}  // namespace rclrt::trace

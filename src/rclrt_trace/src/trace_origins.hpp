// SPDX-License-Identifier: Apache-2.0
// The origins of the traces below a directory: which traces can be read together, which of them
// share process ids, and which events are in several of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ctf_types.hpp"
#include "trace_reader.hpp"

namespace rclrt::trace {

/// Finds out for which traces below one directory the same process id means the same process: a
/// space of process ids is a host, a container or a process id namespace. Not thread-safe.
class TraceOrigins {
 public:
  /// Adds the next trace. `metadata` must outlive this object.
  void add(const std::filesystem::path& trace, const ctf::Metadata& metadata);
  /// Finds the hosts. Throws TraceError if a trace does not state of which of several hosts it is.
  /// Call it once, after the last add().
  void check();

  /// Returns the hosts: one for each clock, in the order of their first traces.
  const std::vector<TracedHost>& hosts() const { return hosts_; }
  std::uint32_t host_of(std::size_t trace) const { return traces_[trace].host; }

  /// Returns whether the trace has events of the kernel, or events made from the kernel's records.
  bool is_of_kernel(std::size_t trace) const;
  /// Returns the number of the space to which the process id of an event belongs. `trace` is the
  /// number of the event's trace. `pid_namespace` is a field of the event; 0: the event does not
  /// have it.
  std::uint32_t space_of(std::size_t trace, std::uint64_t pid_namespace);
  /// Returns a text that identifies the session of a trace. A session has one limit on disk space
  /// for all of its streams.
  const std::string& session_of(std::size_t trace) const { return traces_[trace].session; }

 private:
  struct Trace {
    std::filesystem::path directory;
    const ctf::Metadata* metadata = nullptr;
    std::string session;
    std::uint32_t host = 0;
    bool has_namespaces = false;                    // its events have the pid namespace
    std::map<std::uint64_t, std::uint32_t> spaces;  // by pid namespace
  };
  void find_hosts();
  std::uint32_t host_without_clock(const Trace& trace);
  void name_hosts();

  std::vector<Trace> traces_;
  std::vector<TracedHost> hosts_;
  // Whether all traces of a host state these. A value that only some of them state is ignored,
  // because it would split one process into two.
  struct Stated {
    bool names = true;
    bool processes = true;
    bool namespaces = true;
  };
  std::vector<Stated> stated_;  // by host
  // By machine, name of the machine or container, process (with per-pid buffers) and pid namespace.
  std::map<std::tuple<std::uint32_t, std::string, std::string, std::uint64_t>, std::uint32_t>
      spaces_;
};

/// Finds copies of events that several sessions recorded. A tracepoint writes an event to all
/// sessions before its thread continues. So the copies follow each other in the traces, with no
/// other event of this thread between them. Not thread-safe.
class DuplicateFilter {
 public:
  /// Returns whether the last event of this thread was the same one, in another trace.
  bool is_duplicate(const TraceEvent& event, std::size_t trace);

 private:
  struct Thread {
    std::uint32_t space = 0;
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    bool of_scheduling = false;
    bool operator==(const Thread&) const = default;
  };
  struct ThreadHash {
    std::size_t operator()(const Thread& thread) const {
      const auto number = static_cast<std::uint64_t>(thread.pid) << 32U ^
                          static_cast<std::uint64_t>(thread.tid) << 2U ^
                          std::uint64_t{thread.space} << 48U ^ (thread.of_scheduling ? 1U : 0U);
      return std::hash<std::uint64_t>()(number * 0x9E3779B97F4A7C15U);
    }
  };
  struct Last {
    EventKind kind{};
    std::array<std::uint64_t, kMostNumbers> numbers{};
    std::array<std::string, kMostTexts> texts{};
    std::vector<std::size_t> traces;  // traces that have it; empty: no event yet
  };
  std::unordered_map<Thread, Last, ThreadHash> last_;
};

}  // namespace rclrt::trace

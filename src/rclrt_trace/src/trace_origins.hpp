// SPDX-License-Identifier: Apache-2.0
// Where the traces below a directory come from: which of them can be read together, whose process
// ids are the same, and which events are in several of them.
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

/// Says of the traces below one directory where their process ids are valid. Not thread-safe.
class TraceOrigins {
 public:
  /// Adds the next trace. `metadata` must live as long.
  void add(const std::filesystem::path& trace, const ctf::Metadata& metadata);
  /// Throws TraceError when the traces have no common clock. Called once, after the last add().
  void check();

  /// Returns whether events of this name are of the kernel, or of what the kernel told.
  bool is_of_kernel(std::size_t trace) const;
  /// Returns the number of the space in which the process ids of an event are unique.
  /// `pid_namespace`: of the event; 0: it does not say.
  std::uint32_t space_of(std::size_t trace, std::uint64_t pid_namespace);
  /// Returns what tells the session of a trace from others: all its streams were bounded together.
  const std::string& session_of(std::size_t trace) const { return traces_[trace].session; }

 private:
  struct Trace {
    std::filesystem::path directory;
    const ctf::Metadata* metadata = nullptr;
    std::string session;
    bool has_namespaces = false;                    // its events say the pid namespace
    std::map<std::uint64_t, std::uint32_t> spaces;  // by pid namespace
  };
  void require_one_clock() const;
  void require_one_machine() const;

  std::vector<Trace> traces_;
  // What all traces say; what only some say would make two processes of one.
  bool say_hosts_ = false;
  bool say_processes_ = false;
  bool say_namespaces_ = false;
  // Host, process (of per-pid buffers) and pid namespace.
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::uint32_t> spaces_;
};

/// Finds events that several sessions recorded. A tracepoint tells all sessions before its thread
/// goes on: so the same event is in their traces one after the other, with nothing else of this
/// thread between. Not thread-safe.
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
    std::vector<std::size_t> traces;  // that have it; none: there was no event
  };
  std::unordered_map<Thread, Last, ThreadHash> last_;
};

}  // namespace rclrt::trace

// SPDX-License-Identifier: Apache-2.0
// Writer of thread switches as a trace beside LTTng's, in the same format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "thread_switches.hpp"

namespace rclrt::trace {

/// Writes the scheduling events as a separate trace with a limit on its disk space. It has one
/// stream for each CPU, and two files for each stream; when one file is full, the older one is
/// overwritten. A file has at least 8 KiB. Not thread-safe.
class SchedulingTrace {
 public:
  /// Creates the directory and its metadata. Throws std::system_error if this fails.
  SchedulingTrace(std::filesystem::path directory, std::size_t cpus, std::uint64_t most_bytes);

  /// Adds a switch. Those of one CPU must come in order of time.
  void add(std::size_t cpu, const ThreadSwitch& change);

  /// Writes what was added. Throws std::system_error if this fails.
  void flush();

 private:
  struct Stream {
    std::string events;  // not yet written
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  // size of the current file
    std::size_t file = 0;
    std::ofstream out;
  };

  void write_metadata() const;
  void write_packet(std::size_t cpu);
  void open(std::size_t cpu);
  std::filesystem::path file_of(std::size_t cpu) const;

  const std::filesystem::path directory_;
  const std::uint64_t most_bytes_of_file_;
  const std::size_t packet_bytes_;
  std::array<unsigned char, 16> uuid_{};
  std::vector<Stream> streams_;
};

/// Records the thread switches of all processes that `pid` starts from now on. Ends when the file
/// descriptor `stop` is readable. Prints "ready" when recording has begun. Throws
/// std::system_error. If the kernel refuses to record, nothing has been created.
void record_scheduling(pid_t pid, const std::filesystem::path& directory, std::uint64_t most_bytes,
                       int stop);

}  // namespace rclrt::trace

// SPDX-License-Identifier: Apache-2.0
// Writes switches of threads as a trace, beside those of LTTng and in the same format.
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

/// A trace of its own, of one stream for each CPU, bounded on disk: each stream has two files, and
/// the older one is written anew when the other is full; a file has 8 KiB at least. Not
/// thread-safe.
class SchedulingTrace {
 public:
  /// Makes the directory, and the metadata in it. Throws std::system_error where it cannot.
  SchedulingTrace(std::filesystem::path directory, std::size_t cpus, std::uint64_t most_bytes);

  /// Those of one CPU in order of time.
  void add(std::size_t cpu, const ThreadSwitch& change);

  /// Writes what was added. Throws std::system_error where it cannot.
  void flush();

 private:
  struct Stream {
    std::string events;  // not yet written
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  // of the file that is written to
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

/// Records the switches of what the process `pid` starts from now on, until `stop` can be read.
/// Prints "ready" when it has begun. Throws std::system_error, before it has made anything where
/// the kernel refuses.
void record_scheduling(pid_t pid, const std::filesystem::path& directory, std::uint64_t most_bytes,
                       int stop);

}  // namespace rclrt::trace

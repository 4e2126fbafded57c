// SPDX-License-Identifier: Apache-2.0
// The file of `rclrt clock --out`: offsets of other hosts' clocks as intervals over time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rclrt::trace {

/// The interval of an offset at a time of the host that measured it.
struct ClockSample {
  std::int64_t monotonic_ns = 0;  ///< of the host that measured
  std::int64_t realtime_ns = 0;   ///< ditto, at the same time
  std::int64_t low_ns = 0;        ///< CLOCK_REALTIME of the peer less that of the host, at least
  std::int64_t high_ns = 0;       ///< at most
};

struct ClockPeer {
  std::string host;
  std::string boot;         ///< number of its boot, 16 hexadecimal digits
  std::uint64_t steps = 0;  ///< how often one of the two clocks was set meanwhile
  std::vector<ClockSample> samples;
};

struct ClockFile {
  std::filesystem::path path;
  std::string host;
  std::string boot;
  std::vector<ClockPeer> peers;
};

/// Reads the file. Throws TraceError with the file, the place in it and what was expected if it is
/// not one of `rclrt clock`, or if a clock was made wrong for a test.
ClockFile read_clock_file(const std::filesystem::path& path);

/// Returns the number of a boot as the file has it. `boot_id`: the kernel's.
std::string boot_text(const std::string& boot_id);

}  // namespace rclrt::trace

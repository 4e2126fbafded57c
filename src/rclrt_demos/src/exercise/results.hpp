// SPDX-License-Identifier: Apache-2.0
// The measurements of an exercise, and its files.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "exercise/track.hpp"

namespace rclrt::demos {

/// All results of an exercise.
struct Results {
  std::string exercise;
  std::string variant;  ///< "baseline" or "solution"
  double seconds = 0;   ///< the requested duration
  bool interrupted = false;
  std::string no_realtime;  ///< why SCHED_FIFO is not permitted, and the fix; empty if it is
  std::deque<Track> tracks;
  std::map<std::string, std::uint64_t> notes;
  /// Time in s since the start, position and desired position in rad.
  std::vector<std::array<double, 3>> pendulum;
};

/// Returns the results as JSON. Slices of one name are one, track after track.
std::string to_json(const Results& results);

/// Writes the tracks as a trace for Perfetto. Replaces the file only when the whole trace is
/// written. Throws std::system_error with the file's name.
void write_trace(const std::filesystem::path& path, const Results& results);

}  // namespace rclrt::demos

// SPDX-License-Identifier: Apache-2.0
// The measurements of an exercise, and its files.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exercise/track.hpp"
#include "rclrt/realtime/replacing_file.hpp"

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

/// Writes the tracks as a trace for Perfetto, replacing the file as a whole. Throws
/// std::system_error naming the file.
void write_trace(const std::filesystem::path& path, const Results& results);

/// A text file that appears under its name only when it is complete.
class TextFile {
 public:
  /// Opens a file beside `path`. Throws std::runtime_error that names it.
  explicit TextFile(const std::filesystem::path& path);
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  /// Writes `text` and gives the file its name. Throws std::runtime_error.
  void commit(const std::string& text);

 private:
  std::optional<realtime::ReplacingFile> file_;  // removes the file without `commit`
};

}  // namespace rclrt::demos

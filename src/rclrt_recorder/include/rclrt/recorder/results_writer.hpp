// SPDX-License-Identifier: Apache-2.0
// The files of a run: results.json, chains.csv, instances.csv and stalls.csv.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

inline constexpr const char* kResultsFile = "results.json";
inline constexpr const char* kChainsFile = "chains.csv";
inline constexpr const char* kInstancesFile = "instances.csv";
inline constexpr const char* kStallsFile = "stalls.csv";
inline constexpr const char* kTraceFile = "trace.pftrace";

/// Writes the four files into an existing directory. Throws std::system_error, naming the file,
/// when one cannot be written, and what require_consistent() throws.
RCLRT_RECORDER_EXPORT void write_results(const std::filesystem::path& directory,
                                         const RunResults& results);

/// Returns the text of results.json. Bytes that are not UTF-8 become U+FFFD.
RCLRT_RECORDER_EXPORT std::string results_json(const RunResults& results);

/// Writes times relative to the start of the window; empty cells where there is no time.
RCLRT_RECORDER_EXPORT void write_chains_csv(std::ostream& out, const RunResults& results);
RCLRT_RECORDER_EXPORT void write_instances_csv(std::ostream& out, const RunResults& results);
/// Writes the moments in which the host did not run a CPU, as far as they are known to be the
/// host's.
RCLRT_RECORDER_EXPORT void write_stalls_csv(std::ostream& out, const RunResults& results);

}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
// The files of a run: results.json, chains.csv, outputs.csv, instances.csv, histograms.csv,
// stalls.csv and observed.yaml.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

// The files of a results directory.

/// The application, the circumstances of the run, and the figures of each chain and callback.
inline constexpr const char* kResultsFile = "results.json";
/// One row for each instance of a chain, or for those that a run that streamed has kept.
inline constexpr const char* kChainsFile = "chains.csv";
/// One row for each output of a cause-effect chain; only if the application has such chains.
inline constexpr const char* kOutputsFile = "outputs.csv";
/// One row for each instance of a callback, or for those that a run that streamed has kept.
inline constexpr const char* kInstancesFile = "instances.csv";
/// How many instances took how long; only of a run that streamed.
inline constexpr const char* kHistogramsFile = "histograms.csv";
/// One row for each moment in which the host did not run a CPU.
inline constexpr const char* kStallsFile = "stalls.csv";
/// The application with the observed execution times; not for a simulation.
inline constexpr const char* kModelFile = "observed.yaml";
/// The trace, for Perfetto.
inline constexpr const char* kTraceFile = "trace.pftrace";

/// Writes the files of a run, except the trace, into an existing directory. Throws
/// std::system_error with the file's name if a file cannot be written, and the exceptions of
/// require_consistent().
RCLRT_RECORDER_EXPORT void write_results(const std::filesystem::path& directory,
                                         const RunResults& results);

/// Returns the text of results.json. Bytes that are not UTF-8 become U+FFFD.
RCLRT_RECORDER_EXPORT std::string results_json(const RunResults& results);

/// Writes times relative to the start of the window; empty cells where there is no time.
RCLRT_RECORDER_EXPORT void write_chains_csv(std::ostream& out, const RunResults& results);
/// Writes one row for each output of a cause-effect chain, with times as in write_chains_csv.
RCLRT_RECORDER_EXPORT void write_outputs_csv(std::ostream& out, const RunResults& results);
/// Writes one row for each instance of a callback, with times as in write_chains_csv.
RCLRT_RECORDER_EXPORT void write_instances_csv(std::ostream& out, const RunResults& results);
/// Writes histograms.csv: a row for each range of response times of a chain, of response, dispatch
/// and execution times of a callback, and of reaction times and data ages of a cause-effect chain,
/// with the number of instances in it. `results` is of a run that streamed.
RCLRT_RECORDER_EXPORT void write_histograms_csv(std::ostream& out, const RunResults& results);
/// Writes stalls.csv: the times in which the host did not run a CPU. Leaves out stalls that the
/// host may not have caused.
RCLRT_RECORDER_EXPORT void write_stalls_csv(std::ostream& out, const RunResults& results);

}  // namespace rclrt::recorder

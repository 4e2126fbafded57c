// SPDX-License-Identifier: Apache-2.0
// A run as a Perfetto trace.
#pragma once

#include <filesystem>

#include "rclrt/realtime/perfetto_writer.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Adds the run to `writer`; the caller then calls `finish`. The trace has these tracks:
/// - "Chains": for each chain its releases, its missed deadlines, and how many of its instances are
///   released and not completed; for each cause-effect chain the age of the data that its last
///   callback used, at the end of each run
/// - "Host stalls": for each CPU the times in which the host did not run it
/// - "Threads": for each display track a slice for each callback instance
/// A flow leads from each chain release over the callbacks that ran for it, and one from each run
/// that stores a value of a cause-effect chain to each run that reads it. Throws the exceptions of
/// require_consistent() and of the writer.
RCLRT_RECORDER_EXPORT void export_trace(realtime::PerfettoWriter& writer,
                                        const RunResults& results);

/// Writes the trace of a run of this process, as the file kTraceFile in an existing directory.
/// Throws the exceptions of export_trace().
RCLRT_RECORDER_EXPORT void write_trace(const std::filesystem::path& directory,
                                       const RunResults& results);

}  // namespace rclrt::recorder

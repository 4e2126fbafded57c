// SPDX-License-Identifier: Apache-2.0
// A run as a Perfetto trace.
#pragma once

#include <filesystem>

#include "rclrt/realtime/perfetto_writer.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Adds the run to `writer`, which the caller finishes:
///  - "Chains": per chain its releases and missed deadlines, and how many instances are in flight
///  - "Host stalls": per CPU the times in which the host did not run us
///  - "Threads": per display track a slice for each callback instance
/// A flow leads from each chain release over the callbacks of the chain that ran for it.
/// Throws what require_consistent() and the writer throw.
RCLRT_RECORDER_EXPORT void export_trace(realtime::PerfettoWriter& writer,
                                        const RunResults& results);

/// Writes the trace of a run of this process, as the file kTraceFile in an existing directory.
/// Throws the exceptions of export_trace().
RCLRT_RECORDER_EXPORT void write_trace(const std::filesystem::path& directory,
                                       const RunResults& results);

}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
// The files of traces: directories with a trace, their metadata, their streams.
#pragma once

#include <filesystem>
#include <vector>

#include "ctf_types.hpp"

namespace rclrt::trace {

/// Returns every directory that has a trace: `directory` itself and all directories below it,
/// sorted. Throws TraceError if there is none, or if a trace has no metadata.
std::vector<std::filesystem::path> find_traces(const std::filesystem::path& directory);

/// Returns the stream files of a trace, sorted. Throws TraceError if the directory cannot be read.
std::vector<std::filesystem::path> find_streams(const std::filesystem::path& trace);

/// Reads the metadata of a trace. If `trace` has streams, the metadata must declare them. Throws
/// TraceError with the file and the place in it if the metadata is empty, cut off, damaged or of
/// another version of the format.
ctf::Metadata read_metadata(const std::filesystem::path& trace,
                            const std::vector<std::filesystem::path>& streams);

}  // namespace rclrt::trace

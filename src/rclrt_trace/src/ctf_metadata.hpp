// SPDX-License-Identifier: Apache-2.0
// Reads the metadata of a trace.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ctf_types.hpp"

namespace rclrt::trace::ctf {

/// An error in the metadata, with its place and reason: "line 12: ...".
class MetadataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the text of a metadata file: plain text, or text in packets. Throws MetadataError.
std::string metadata_text(std::string_view content);

/// Returns whether the file may be cut off in a way that its content does not show. Metadata in
/// plain text has no end mark. Metadata in packets may be cut off if the file ends with a full
/// packet: the tracer fills all packets but the last, which it pads. Throws MetadataError.
bool may_be_cut(std::string_view content);

/// Reads the text. Throws MetadataError if the text is not valid metadata.
Metadata parse_metadata(std::string_view text);

}  // namespace rclrt::trace::ctf

// SPDX-License-Identifier: Apache-2.0
// Reads the metadata of a trace.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ctf_types.hpp"

namespace rclrt::trace::ctf {

/// Says where the metadata cannot be read, and why: "line 12: ...".
class MetadataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the text of a metadata file, which is text or packets of it. Throws MetadataError.
std::string metadata_text(std::string_view content);

/// Returns whether the file may lack its end without a trace of it: text has no mark of its end; a
/// tracer's last packet is padded, but all before it are full. Throws MetadataError.
bool may_be_cut(std::string_view content);

/// Reads the text. Throws MetadataError, for any input that is not what it should be.
Metadata parse_metadata(std::string_view text);

}  // namespace rclrt::trace::ctf

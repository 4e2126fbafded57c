// SPDX-License-Identifier: Apache-2.0
// Names of a trace's fields, and references from one field to another.
#pragma once

#include <string>

#include "ctf_lexer.hpp"
#include "ctf_types.hpp"

namespace rclrt::trace::ctf {

/// Returns the name without the underscore that LTTng adds before user-defined names.
std::string plain(std::string name);

/// Reads a reference to a field: "name" or "structure.name", either with a scope before it, such as
/// "event.fields.name". Throws MetadataError if anything else follows.
Reference parse_reference(Lexer& lexer);

}  // namespace rclrt::trace::ctf

// SPDX-License-Identifier: Apache-2.0
// How fields of a trace are named, and how one field refers to another.
#pragma once

#include <string>

#include "ctf_lexer.hpp"
#include "ctf_types.hpp"

namespace rclrt::trace::ctf {

/// Returns the name without the underscore that LTTng puts before the names of users.
std::string plain(std::string name);

/// Reads "name", "structure.name", or either behind the name of a scope: "event.fields.name".
/// Throws MetadataError if something else is next.
Reference parse_reference(Lexer& lexer);

}  // namespace rclrt::trace::ctf

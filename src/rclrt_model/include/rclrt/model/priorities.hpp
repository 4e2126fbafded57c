// SPDX-License-Identifier: Apache-2.0
// Callback priorities in a file beside app.yaml. `rclrt synthesize -o` writes it; it may be edited
// by hand. Input is untrusted. All functions may be called from several threads at once.
//
//   rclrt: 1
//   application: robot     # optional; must be the application's name
//   priorities:            # callback: priority; a callback that is not listed keeps its own
//     scan: 3
//     brake: 2
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"
#include "rclrt/model/parse.hpp"

namespace rclrt::model {

/// Either the priorities, or at least one diagnostic in the order of the lines.
struct PrioritiesResult {
  /// Callbacks (indices into the application) and their priorities, in the order of the file, each
  /// once.
  std::optional<std::vector<std::pair<std::size_t, int>>> priorities;
  std::vector<Diagnostic> diagnostics;
};

/// Reads a priorities file. Refuses callbacks that the application does not have. Never throws on
/// bad input (only std::bad_alloc when memory runs out).
RCLRT_MODEL_EXPORT PrioritiesResult parse_priorities(std::string_view text,
                                                     const Application& application);

/// Returns the application with the priorities of the second file instead of its own; an empty path
/// leaves its own. Throws ModelError as load_application(file) does, for either file.
RCLRT_MODEL_EXPORT Application load_application(const std::filesystem::path& file,
                                                const std::filesystem::path& priorities);

}  // namespace rclrt::model

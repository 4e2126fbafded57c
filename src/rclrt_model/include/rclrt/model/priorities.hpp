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
  /// Pairs of a callback (an index into Application::callbacks) and its priority, in the order of
  /// the file, each callback once. nullopt: the text is invalid, see `diagnostics`.
  std::optional<std::vector<std::pair<std::size_t, int>>> priorities;
  std::vector<Diagnostic> diagnostics;
};

/// Reads the text of a priorities file, which replaces priorities of `application`. Refuses
/// callbacks that the application does not have. Never throws on bad input (only std::bad_alloc
/// when memory runs out).
RCLRT_MODEL_EXPORT PrioritiesResult parse_priorities(std::string_view text,
                                                     const Application& application);

/// Loads an application from `file` and replaces its callbacks' priorities by those of the file
/// `priorities`; an empty path replaces none. Throws ModelError as load_application(file) does, for
/// either file.
RCLRT_MODEL_EXPORT Application load_application(const std::filesystem::path& file,
                                                const std::filesystem::path& priorities);

}  // namespace rclrt::model

// SPDX-License-Identifier: Apache-2.0
// Counter-examples as files: written by `rclrt analyze --counter-example`, run again by
// `rclrt simulate --replay`. Input is untrusted. All functions may be called from several threads.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/analysis/counter_example.hpp"
#include "rclrt/analysis/export.hpp"
#include "rclrt/yaml/diagnostics.hpp"

namespace rclrt::analysis {

/// Returns the counter-example as the text of a YAML file, exact to the nanosecond. Throws
/// std::invalid_argument if the counter-example is of another application.
RCLRT_ANALYSIS_EXPORT std::string to_text(const CounterExample& example,
                                          const model::Application& application);

/// A counter-example, or the errors in its file.
struct CounterExampleResult {
  std::optional<CounterExample> example;
  std::vector<yaml::Diagnostic> diagnostics;
};

/// Reads the text of a counter-example file for this application. Timers that are not listed keep
/// their offsets, and callbacks that are not listed keep their priorities. Never throws on bad
/// input (only std::bad_alloc when memory runs out).
RCLRT_ANALYSIS_EXPORT CounterExampleResult
parse_counter_example(std::string_view text, const model::Application& application);

/// Loads a counter-example from a file. Throws yaml::FileError if the file cannot be read or has no
/// counter-example of this application; what() has one "file:line:column: message" per mistake.
RCLRT_ANALYSIS_EXPORT CounterExample load_counter_example(const std::filesystem::path& file,
                                                          const model::Application& application);

}  // namespace rclrt::analysis

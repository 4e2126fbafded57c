// SPDX-License-Identifier: Apache-2.0
// Task sets from files: YAML, of which JSON is a part. Input is untrusted: any bytes give either a
// task set or located errors.
//
//   rclrt: 1
//   policy: fp_preemptive
//   tasks:
//     - {id: control, c: 2.5, t: 10}
//     - {id: log, c: 3, t: 40, d: 30, j: 1, b: 0.5, suspension: 2, region: 1}
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "rclrt/yaml/diagnostics.hpp"

namespace rclrt::analysis {

/// The content of a task set file. The times in the file are decimal numbers of an arbitrary unit
/// with up to `decimals` places; a tick is the unit divided by 10 to the power of `decimals`.
struct TaskFile {
  std::vector<Task> tasks;
  Policy policy{Policy::kFpPreemptive};
  int decimals{};              ///< 0 to 9: ticks per unit are 10 to that power
  bool rounded{};              ///< times had more decimals: c, j, b, suspension and region were
                               ///< rounded up, t and d down
  bool priorities_by_place{};  ///< no task has a priority: the first is the most urgent
};

/// A task set, or the errors in its file.
struct TaskFileResult {
  std::optional<TaskFile> file;
  std::vector<yaml::Diagnostic> diagnostics;
};

/// Reads the text of a task set file. Never throws on bad input (only std::bad_alloc when memory
/// runs out). May be called from several threads.
RCLRT_ANALYSIS_EXPORT TaskFileResult parse_task_set(std::string_view text);

/// Loads a task set from a file. Throws yaml::FileError if the file cannot be read or is not a
/// valid task set; what() has one "file:line:column: message" per mistake.
RCLRT_ANALYSIS_EXPORT TaskFile load_task_set(const std::filesystem::path& file);

/// Returns the time as a decimal number of the file's unit, exact and without trailing zeros, such
/// as "2.5". `decimals` is TaskFile::decimals.
RCLRT_ANALYSIS_EXPORT std::string in_units(Ticks ticks, int decimals);

}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
// A directory that appears only when all its files are complete.
#pragma once

#include <filesystem>

#include "rclrt/recorder/export.hpp"

namespace rclrt::recorder {

/// Writes a directory of results so that it is complete or does not appear. Files are written into
/// staging(), a new directory beside the target with a name that cannot be predicted; commit()
/// renames it to the target. An existing target must be empty or have only files of an earlier run
/// and its report, which are then replaced. Make this object before the run, because the
/// constructor fails if nothing can be written. Errors are realtime::WriteError with the target's
/// name and the fix.
class RCLRT_RECORDER_EXPORT ResultsDirectory {
 public:
  /// Makes the staging directory and missing parents.
  explicit ResultsDirectory(const std::filesystem::path& target);

  /// Removes the staged files if commit() was not called; the target stays as it was.
  ~ResultsDirectory();

  ResultsDirectory(const ResultsDirectory&) = delete;
  ResultsDirectory& operator=(const ResultsDirectory&) = delete;

  const std::filesystem::path& staging() const { return staging_; }

  /// Replaces the target by staging(), in one step if the file system can do so. If the target has
  /// other files by now, throws an error: those files stay, and so does staging(), which the error
  /// names. Call it once.
  void commit();

  /// Replaces the target as commit() does. If the target has other files by now, the destructor
  /// removes staging(): such results are written again later.
  void replace();

 private:
  std::filesystem::path target_;
  std::filesystem::path staging_;
};

}  // namespace rclrt::recorder

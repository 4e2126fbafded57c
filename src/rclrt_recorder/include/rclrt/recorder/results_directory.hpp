// SPDX-License-Identifier: Apache-2.0
// A directory that appears only when all its files are complete.
#pragma once

#include <filesystem>

#include "rclrt/recorder/export.hpp"

namespace rclrt::recorder {

/// Files are written into staging(), a new directory beside the target; commit() puts it in the
/// target's place. An existing target must be empty or have only files of a run and of its report,
/// which are then replaced. Make it before the run: it fails early if nothing can be written.
/// Its name cannot be predicted. Errors are realtime::WriteError with the target's name and the
/// fix.
class RCLRT_RECORDER_EXPORT ResultsDirectory {
 public:
  /// Makes the staging directory and missing parents.
  explicit ResultsDirectory(const std::filesystem::path& target);

  /// Removes the staged files if commit() was not called; the target stays as it was.
  ~ResultsDirectory();

  ResultsDirectory(const ResultsDirectory&) = delete;
  ResultsDirectory& operator=(const ResultsDirectory&) = delete;

  const std::filesystem::path& staging() const { return staging_; }

  /// Replaces the target in one step if the file system can do so. If the target has other files by
  /// now, they stay and so does staging(), which the error names. Call it once.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path staging_;
};

}  // namespace rclrt::recorder

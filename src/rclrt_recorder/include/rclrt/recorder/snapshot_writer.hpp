// SPDX-License-Identifier: Apache-2.0
// Writes the results of a run that goes on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Replaces the results of a run in a directory while the run goes on. The directory has complete
/// results at any time: those of the last write that succeeded, whatever ends the process. On a
/// file system without RENAME_EXCHANGE (NFS, vfat, 9p), a process that is killed between the two
/// renames of a replacement leaves them beside the directory, in `target.N.partial`. Nothing is
/// forced to the disk: a power cut may leave files empty. Not thread-safe.
class RCLRT_RECORDER_EXPORT SnapshotWriter {
 public:
  /// Makes a writer, and no file; `target` is as for ResultsDirectory.
  explicit SnapshotWriter(std::filesystem::path target) : target_(std::move(target)) {}

  /// Writes the results, without a trace. Returns the reason if it fails, such as a full disk, and
  /// the write before did not: the run goes on, and the earlier results stay.
  std::optional<std::string> write(const RunResults& results) noexcept;

  /// Returns "; the results of the first 12 s are in out"; an empty text if nothing was written.
  std::string written() const;

 private:
  const std::filesystem::path target_;
  std::optional<std::int64_t> written_s_;
  bool failed_ = false;
};

}  // namespace rclrt::recorder

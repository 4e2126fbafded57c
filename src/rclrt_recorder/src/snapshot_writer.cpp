// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/snapshot_writer.hpp"

#include <exception>
#include <new>
#include <utility>

#include "rclrt/recorder/results_directory.hpp"
#include "rclrt/recorder/results_writer.hpp"

namespace rclrt::recorder {

namespace {

/// Returns the reason; a short one if there is no memory for the text.
std::string reason_of(const std::exception& error) noexcept {
  try {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "no memory";
  }
}

}  // namespace

std::optional<std::string> SnapshotWriter::write(const RunResults& results) noexcept {
  try {
    ResultsDirectory directory(target_);
    write_results(directory.staging(), results);
    directory.replace();
    written_s_ = (results.window.end_ns - results.window.start_ns) / 1'000'000'000;
    failed_ = false;
  } catch (const std::exception& error) {
    if (!std::exchange(failed_, true)) {
      return reason_of(error);
    }
  }
  return std::nullopt;
}

std::string SnapshotWriter::written() const {
  return written_s_ ? "; the results of the first " + std::to_string(*written_s_) + " s are in " +
                          target_.string()
                    : "";
}

}  // namespace rclrt::recorder

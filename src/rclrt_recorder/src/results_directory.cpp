// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/results_directory.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "rclrt/realtime/replacing_file.hpp"
#include "rclrt/recorder/results_writer.hpp"

namespace rclrt::recorder {

namespace {

[[noreturn]] void fail(const std::filesystem::path& target, std::error_code error) {
  throw realtime::WriteError(error, "cannot write results to " + target.string() + ": " +
                                        error.message() +
                                        "; expected a directory that can be written");
}

void require(const std::filesystem::path& target, const std::error_code& error) {
  if (error) {
    fail(target, error);
  }
}

/// Returns whether it is a file of a run, or one that `rclrt report` writes beside it.
bool is_run_file(const std::filesystem::path& path) {
  constexpr std::array kFiles{kResultsFile,    kChainsFile,        kOutputsFile,  kInstancesFile,
                              kHistogramsFile, kStallsFile,        kModelFile,    kTraceFile,
                              "report.html",   "application.json", "bounds.json", "excesses.csv"};
  return std::find(kFiles.begin(), kFiles.end(), path.filename()) != kFiles.end();
}

void require_replaceable(const std::filesystem::path& target) {
  std::error_code error;
  if (!std::filesystem::exists(target, error)) {
    return;
  }
  auto entries = std::filesystem::directory_iterator(target, error);
  require(target, error);
  for (const auto& entry : entries) {
    if (!is_run_file(entry.path())) {
      throw realtime::WriteError(
          std::make_error_code(std::errc::file_exists),
          "cannot write results to " + target.string() + ", which has \"" +
              entry.path().filename().string() +
              "\", not a file of a run; name another directory, or remove this one");
    }
  }
}

}  // namespace

ResultsDirectory::ResultsDirectory(const std::filesystem::path& target) {
  std::error_code error;
  target_ = std::filesystem::weakly_canonical(std::filesystem::absolute(target), error);
  require(target, error);
  if (!target_.has_filename()) {
    target_ = target_.parent_path();  // there was a slash at the end
  }
  require_replaceable(target_);
  std::filesystem::create_directories(target_.parent_path(), error);
  require(target_, error);
  std::filesystem::path staging = realtime::partial_name(target_);
  while (!std::filesystem::create_directory(staging, error)) {  // the name exists, or an error
    require(target_, error);
    staging = realtime::partial_name(target_);
  }
  staging_ = staging;
}

ResultsDirectory::~ResultsDirectory() {
  if (!staging_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(staging_, ignored);
  }
}

void ResultsDirectory::commit() {
  try {
    require_replaceable(target_);  // the run may have taken hours
  } catch (const std::system_error& error) {
    const std::filesystem::path kept = std::exchange(staging_, {});
    throw realtime::WriteError(error.code(),
                               "the results are in " + kept.string() + ": " + error.what());
  }
  replace();
}

void ResultsDirectory::replace() {
  require_replaceable(target_);
  if (std::rename(staging_.c_str(), target_.c_str()) == 0) {  // the target is absent or empty
    staging_.clear();
    return;
  }
  if (errno != ENOTEMPTY && errno != EEXIST) {
    fail(target_, {errno, std::generic_category()});
  }
  if (renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
    // A file system that cannot exchange: for a moment there is no target.
    const std::string old = staging_.string() + ".old";
    if (std::rename(target_.c_str(), old.c_str()) != 0) {
      fail(target_, {errno, std::generic_category()});
    }
    if (std::rename(staging_.c_str(), target_.c_str()) != 0) {
      const std::error_code error(errno, std::generic_category());
      std::rename(old.c_str(), target_.c_str());
      fail(target_, error);
    }
    staging_ = old;
  }
  // The replaced files are now in the staging directory, and the destructor removes them.
}

}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
#include "replacing_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace rclrt::realtime {

namespace {

constexpr mode_t kMode = 0666;  // less the umask, as for any new file

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
}

/// Returns what `path` is if it exists and is not a regular file: renaming a file to it would
/// destroy it. Follows links.
std::optional<std::string> describe_non_file(const std::filesystem::path& path) {
  std::error_code ignored;  // what cannot be examined cannot be opened either
  switch (std::filesystem::status(path, ignored).type()) {
    case std::filesystem::file_type::none:
    case std::filesystem::file_type::not_found:
    case std::filesystem::file_type::regular:
      return std::nullopt;
    case std::filesystem::file_type::directory:
      return "a directory";
    case std::filesystem::file_type::fifo:
      return "a FIFO";
    case std::filesystem::file_type::socket:
      return "a socket";
    case std::filesystem::file_type::block:
    case std::filesystem::file_type::character:
      return "a device";
    default:
      return "not a regular file";
  }
}

/// Returns `path`. Throws std::system_error if it exists and is not a regular file.
std::filesystem::path require_replaceable(std::filesystem::path path) {
  if (const auto kind = describe_non_file(path)) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "cannot write " + path.string() + ": is " + *kind +
                                "; expected a regular file or a new name");
  }
  return path;
}

}  // namespace

ReplacingFile::ReplacingFile(std::filesystem::path path)
    : path_(require_replaceable(std::move(path))) {
  const std::string prefix = path_.string() + "." + std::to_string(getpid()) + ".";
  for (int attempt = 0; descriptor_ < 0; ++attempt) {
    partial_ = prefix + std::to_string(attempt) + ".partial";
    descriptor_ = open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (descriptor_ < 0 && errno != EEXIST) {
      fail(path_);
    }
  }
}

ReplacingFile::~ReplacingFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
  if (!partial_.empty()) {
    unlink(partial_.c_str());
  }
}

void ReplacingFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      fail(path_);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void ReplacingFile::commit() {
  // Some file systems report a failed write only here.
  if (close(std::exchange(descriptor_, -1)) != 0) {
    fail(path_);
  }
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
    fail(path_);
  }
  partial_.clear();
}

}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/replacing_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "rclrt/realtime/output_path.hpp"

namespace rclrt::realtime {

namespace {

constexpr mode_t kMode = 0666;  // less the umask, as for any new file

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
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
  while (descriptor_ < 0) {
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) {
      fail(path_);
    }
    partial_ = path_.string() + "." + std::to_string(number) + ".partial";
    descriptor_ =
        open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
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

void ReplacingFile::commit(bool to_disk) {
  // Some file systems report a failed write only here. EINVAL: a file system that cannot
  // synchronise.
  if (to_disk && fsync(descriptor_) != 0 && errno != EINVAL) {
    fail(path_);
  }
  if (close(std::exchange(descriptor_, -1)) != 0) {
    fail(path_);
  }
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
    fail(path_);
  }
  partial_.clear();
}

}  // namespace rclrt::realtime

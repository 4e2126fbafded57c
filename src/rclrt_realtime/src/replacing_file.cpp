// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/replacing_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <streambuf>
#include <utility>

#include "rclrt/realtime/output_path.hpp"

namespace rclrt::realtime {

namespace {

constexpr mode_t kMode = 0666;  // less the umask, as for any new file
constexpr std::size_t kStreamBytes = 16 * std::size_t{1024};

/// Returns what a user can do about the error; empty if that is not known.
std::string fix_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EPERM:
    case EROFS:
      return "; expected a file in a directory that exists and may be written";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "; make room on its disk, or name a file on another one";
    default:
      return {};
  }
}

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  const std::error_code code(error, std::generic_category());
  throw WriteError(code, "cannot write " + path.string() + ": " + code.message() + fix_of(error));
}

/// Returns `path`. Throws WriteError if it exists and is not a regular file.
std::filesystem::path require_replaceable(std::filesystem::path path) {
  if (const auto kind = describe_non_file(path)) {
    throw WriteError(std::make_error_code(std::errc::invalid_argument),
                     "cannot write " + path.string() + ": is " + *kind +
                         "; expected a regular file or a new name");
  }
  return path;
}

/// Returns 0, or the error of the system call.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

WriteError::WriteError(std::error_code code, std::string text)
    : std::system_error(code), text_(std::make_shared<const std::string>(std::move(text))) {}

const char* WriteError::what() const noexcept { return text_->c_str(); }

/// Writes to the descriptor in blocks.
class ReplacingFile::Stream : public std::streambuf {
 public:
  explicit Stream(int descriptor) : descriptor_(descriptor) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }

  std::ostream& out() { return out_; }

  /// Returns the first error of a system call; 0: there was none.
  int error() const { return error_; }

 private:
  int sync() override {
    if (error_ == 0) {
      error_ = write_all(descriptor_, {pbase(), static_cast<std::size_t>(pptr() - pbase())});
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return error_ == 0 ? 0 : -1;
  }

  int_type overflow(int_type character) override {
    if (sync() != 0) {
      return traits_type::eof();
    }
    if (!traits_type::eq_int_type(character, traits_type::eof())) {
      *pptr() = traits_type::to_char_type(character);
      pbump(1);
    }
    return traits_type::not_eof(character);
  }

  const int descriptor_;
  int error_ = 0;
  std::array<char, kStreamBytes> buffer_{};
  std::ostream out_{this};
};

std::filesystem::path partial_name(const std::filesystem::path& path) {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    fail(path, errno);
  }
  return path.string() + "." + std::to_string(number) + ".partial";
}

ReplacingFile::ReplacingFile(std::filesystem::path path)
    : path_(require_replaceable(std::move(path))) {
  while (descriptor_ < 0) {
    partial_ = partial_name(path_);
    descriptor_ =
        open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
    if (descriptor_ < 0 && errno != EEXIST) {
      fail(path_, errno);
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
  if (const int error = write_all(descriptor_, bytes)) {
    fail(path_, error);
  }
}

std::ostream& ReplacingFile::stream() {
  if (!stream_) {
    stream_ = std::make_unique<Stream>(descriptor_);
  }
  return stream_->out();
}

void ReplacingFile::commit(bool to_disk) {
  if (stream_) {
    stream_->out().flush();
    if (!stream_->out()) {
      fail(path_, stream_->error() != 0 ? stream_->error() : EIO);
    }
  }
  // fsync, because some file systems report a failed write only here. EINVAL means that the file
  // system cannot synchronise, which is no error.
  if (to_disk && fsync(descriptor_) != 0 && errno != EINVAL) {
    fail(path_, errno);
  }
  if (close(std::exchange(descriptor_, -1)) != 0) {
    fail(path_, errno);
  }
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
    fail(path_, errno);
  }
  partial_.clear();
}

}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <rclrt/text/options.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "rclrt/realtime/output_path.hpp"

namespace rclrt::timer_study {

OutputFile::OutputFile(const std::string& option, std::string path) : path_(std::move(path)) {
  if (const auto kind = realtime::describe_non_file(path_)) {
    throw text::UsageError(option + " " + path_ + ": is " + *kind +
                           "; expected a regular file or a new name");
  }
  int error = 0;
  try {
    file_.emplace(path_);
    const int own = fcntl(file_->descriptor(), F_DUPFD_CLOEXEC, 0);
    stream_ = own >= 0 ? fdopen(own, "w") : nullptr;
    error = stream_ == nullptr ? errno : 0;
    if (stream_ == nullptr && own >= 0) {
      close(own);
    }
  } catch (const std::system_error& refused) {
    error = refused.code().value();
  }
  if (stream_ == nullptr) {
    throw text::UsageError(option + " " + path_ + ": cannot be written: " + std::strerror(error) +
                           "; expected a file in a directory that "
                           "exists and may be written");
  }
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr) {
    std::fclose(stream_);
  }
}

void OutputFile::complete() {
  const bool written = std::ferror(stream_) == 0;
  const bool closed = std::fclose(std::exchange(stream_, nullptr)) == 0;
  if (!written || !closed) {
    const std::string reason = std::strerror(errno);
    file_.reset();
    throw std::runtime_error(path_ + ": could not be written: " + reason);
  }
  file_->commit();
}

}  // namespace rclrt::timer_study

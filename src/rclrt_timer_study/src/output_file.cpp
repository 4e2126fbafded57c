// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "rclrt/realtime/output_path.hpp"

namespace rclrt::timer_study {

OutputFile::OutputFile(const std::string& option, std::string path)
    : path_(std::move(path)),
      partial_(path_ + ".partial-" + std::to_string(getpid())),
      stream_(nullptr) {
  if (const auto kind = realtime::describe_non_file(path_)) {
    throw std::invalid_argument(option + " " + path_ + ": is " + *kind +
                                "; expected a regular file or a new name");
  }
  stream_ = std::fopen(partial_.c_str(), "we");
  if (stream_ == nullptr) {
    throw std::invalid_argument(option + " " + path_ +
                                ": cannot be written: " + std::strerror(errno) +
                                "; expected a file in a directory that "
                                "exists and may be written");
  }
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr) {
    std::fclose(stream_);
    std::remove(partial_.c_str());
  }
}

void OutputFile::complete() {
  const bool written = std::ferror(stream_) == 0;
  const bool closed = std::fclose(std::exchange(stream_, nullptr)) == 0;
  if (!written || !closed || std::rename(partial_.c_str(), path_.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(partial_.c_str());
    throw std::runtime_error(path_ + ": could not be written: " + reason);
  }
}

}  // namespace rclrt::timer_study

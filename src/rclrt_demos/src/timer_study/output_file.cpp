// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <rclrt/text/options.hpp>
#include <system_error>
#include <utility>

namespace rclrt::timer_study {

OutputFile::OutputFile(const std::string& option, std::string path) try
    : path_(std::move(path)), file_(path_) {
  const int own = fcntl(file_.descriptor(), F_DUPFD_CLOEXEC, 0);
  stream_ = own >= 0 ? fdopen(own, "w") : nullptr;
  if (stream_ == nullptr) {
    const int error = errno;
    if (own >= 0) {
      close(own);
    }
    throw realtime::WriteError({error, std::generic_category()},
                               "cannot write " + path_ + ": " + std::strerror(error));
  }
} catch (const realtime::WriteError& error) {
  throw text::UsageError(option + ": " + error.what());
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
    throw realtime::WriteError({errno, std::generic_category()},
                               "cannot write " + path_ + ": " + std::strerror(errno));
  }
  file_.commit();
}

}  // namespace rclrt::timer_study

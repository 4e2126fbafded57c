// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/log_sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <utility>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::realtime {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;
constexpr mode_t kMode = 0666;  // less the umask, as for any new file

[[noreturn]] void throw_cannot_write(const std::string& what) {
  throw_errno("cannot write " + what);
}

int open_to_append(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode);
  if (descriptor < 0) {
    throw_cannot_write(path.string());
  }
  return descriptor;
}

}  // namespace

const char* to_string(LogLevel level) noexcept RCLRT_NONBLOCKING {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarn:
      return "WARN";
    case LogLevel::kError:
      return "ERROR";
    case LogLevel::kFatal:
      return "FATAL";
    case LogLevel::kOff:
      break;
  }
  return "OFF";
}

TextLog::TextLog(int descriptor, bool owned, std::string what)
    : descriptor_(descriptor), owned_(owned), what_(std::move(what)) {
  buffer_.reserve(2 * kBufferBytes);
}

TextLog::~TextLog() {
  if (owned_) {
    close(descriptor_);
  }
}

void TextLog::write(const LogLine& line) {
  const std::int64_t seconds = line.wall_ns / kNanosecondsPerSecond;
  const std::int64_t nanoseconds = line.wall_ns % kNanosecondsPerSecond;
  fmt::format_to(std::back_inserter(buffer_), "[{}] [{}.{:09}] [{}]: {}\n", to_string(line.level),
                 seconds, nanoseconds, line.thread, line.message);
  if (buffer_.size() >= kBufferBytes) {
    flush();
  }
}

void TextLog::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      buffer_.clear();
      throw_cannot_write(what_);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

StderrLog::StderrLog() : TextLog(STDERR_FILENO, false, "standard error") {}

FileLog::FileLog(const std::filesystem::path& path)
    : TextLog(open_to_append(path), true, path.string()) {}

}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
#include "line_writer.hpp"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace rclrt::clock {

namespace {

constexpr int kLook_ms = 100;
constexpr int kPatience_ms = 1'000;  // at the end

}  // namespace

LineWriter::LineWriter(int file, std::function<void()> failed)
    : file_(file), failed_(std::move(failed)), thread_([this] { run(); }) {}

LineWriter::~LineWriter() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

bool LineWriter::write(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  if (lines_.size() >= kMostLines) {
    return false;
  }
  lines_.push_back(line + "\n");
  changed_.notify_all();
  return true;
}

bool LineWriter::has_failed() {
  const std::scoped_lock lock(mutex_);
  return has_failed_;
}

void LineWriter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !lines_.empty(); });
    if (lines_.empty()) {
      return;
    }
    const std::string line = std::move(lines_.front());
    lines_.pop_front();
    lock.unlock();
    const bool is_written = write_all(line);
    lock.lock();
    if (!is_written) {
      const bool is_news = !std::exchange(has_failed_, true) && !ends_;
      lock.unlock();
      if (is_news) {
        failed_();
      }
      return;
    }
  }
}

/// Returns false if the reader is gone, or does not read at the end.
bool LineWriter::write_all(std::string_view text) {
  int waited_ms = 0;  // since the end
  while (!text.empty()) {
    pollfd event{file_, POLLOUT, 0};
    if (::poll(&event, 1, kLook_ms) <= 0) {
      const std::scoped_lock lock(mutex_);
      waited_ms += ends_ ? kLook_ms : 0;
      if (waited_ms >= kPatience_ms) {
        return false;
      }
      continue;
    }
    // A pipe that can be written takes so many bytes at once, and does not block.
    const ssize_t written =
        ::write(file_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return true;
}

}  // namespace rclrt::clock

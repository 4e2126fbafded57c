// SPDX-License-Identifier: Apache-2.0
// Writes lines to a pipe with a reader that may be slow.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace rclrt::clock {

/// Writes lines on a thread of its own, so that a reader that does not read delays nothing else.
class LineWriter {
 public:
  static constexpr std::size_t kMostLines = 10'000;

  /// Writes to `file`. `failed` is called, by the thread of this object, if the reader is gone.
  LineWriter(int file, std::function<void()> failed);
  /// Waits until all lines are written; if the reader does not read, for a second.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// Adds a line. Returns false if too many wait. Never waits for the reader. Thread-safe.
  bool write(const std::string& line);

  /// Returns whether the reader is gone. Thread-safe.
  bool has_failed();

 private:
  void run();
  bool write_all(std::string_view text);

  const int file_;
  const std::function<void()> failed_;
  std::mutex mutex_;  // guards the four below
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  bool ends_ = false;
  bool has_failed_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace rclrt::clock

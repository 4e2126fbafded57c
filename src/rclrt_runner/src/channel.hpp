// SPDX-License-Identifier: Apache-2.0
// Messages between the host that coordinates a run and another one, over a pipe or a socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rclrt::runner {

/// The kinds of messages. "Agent" is the process on the other host.
enum class MessageKind : std::uint8_t {
  kRequest,     ///< to the agent: what it is to run
  kPing,        ///< to the agent: the clocks, see HostPing
  kDifference,  ///< to the agent: the time of the run less its CLOCK_MONOTONIC
  kBegin,       ///< to the agent: the same, and the epoch
  kEnd,         ///< to the agent: end the run now
  kPong,        ///< from the agent: the answer to a ping
  kPrepared,    ///< from the agent: the states of its processes; they wait for the epoch
  kInstances,   ///< from the agent: instances that ended
  kDone,        ///< from the agent: the states at the end
  kNotBegun,    ///< from the agent: it was stopped before the epoch
  kFailed,      ///< from the agent: the cause
};

/// A message. Its content is not trusted.
struct Message {
  MessageKind kind{};
  std::vector<std::byte> body;
};

/// One end of a connection. A line of text in each direction is first, so that programs of any
/// version understand each other's refusal; messages follow.
class Channel {
 public:
  static constexpr std::size_t kLongestLine = 200;
  static constexpr std::size_t kLargestMessage = std::size_t{32} << 20;

  /// Uses two files, which may be the same one. Does not close them.
  Channel(int in, int out) : in_(in), out_(out) {}

  int in() const { return in_; }

  /// Sends a line, or a message. Returns false if the other end is gone, or has not read for 15 s;
  /// from then on nothing is sent. Thread-safe.
  bool send_line(const std::string& line) noexcept;
  bool send(MessageKind kind, std::span<const std::byte> body = {}) noexcept;

  /// Returns the first line, without its end. std::nullopt: none comes within the limit. Throws
  /// std::runtime_error if the other end sends something else, or is gone.
  std::optional<std::string> receive_line(std::chrono::milliseconds limit);

  /// Waits until something can be read, at most for the limit, and reads it. Returns false if the
  /// other end is gone. One thread at a time calls it, and next().
  bool read(std::chrono::milliseconds limit);
  /// Returns how many bytes were read: a sign of life also while a message is not complete.
  std::uint64_t bytes_read() const { return bytes_read_; }
  /// Returns the next message that was read. Throws std::runtime_error if it is too large.
  std::optional<Message> next();

 private:
  bool write(std::span<const std::byte> bytes) noexcept;  // with mutex_ held

  const int in_;
  const int out_;
  std::mutex mutex_;        // of writing
  bool is_broken_ = false;  // guarded by mutex_
  std::vector<std::byte> received_;
  std::size_t taken_ = 0;  // of `received_`
  std::uint64_t bytes_read_ = 0;
};

}  // namespace rclrt::runner

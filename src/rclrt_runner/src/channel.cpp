// SPDX-License-Identifier: Apache-2.0
#include "channel.hpp"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace rclrt::runner {

namespace {

constexpr int kPatience_ms = 15'000;
constexpr std::size_t kChunk = std::size_t{1} << 16;
constexpr std::size_t kHeader = sizeof(std::uint32_t) + 1;

}  // namespace

bool Channel::write(std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty() && !is_broken_) {
    pollfd event{out_, POLLOUT, 0};
    const int ready = ::poll(&event, 1, kPatience_ms);
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    // A pipe that can be written takes so many bytes at once, and does not block.
    const ssize_t written =
        ready <= 0 ? 0 : ::write(out_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    is_broken_ = ready <= 0 || (written < 0 && errno != EINTR && errno != EAGAIN);
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return !is_broken_;
}

bool Channel::send_line(const std::string& line) noexcept {
  const std::scoped_lock lock(mutex_);
  constexpr std::array<char, 1> kEnd{'\n'};
  return write(std::as_bytes(std::span(line))) && write(std::as_bytes(std::span(kEnd)));
}

bool Channel::send(MessageKind kind, std::span<const std::byte> body) noexcept {
  std::array<std::byte, kHeader> header{};
  const auto size = static_cast<std::uint32_t>(body.size());
  std::memcpy(header.data(), &size, sizeof size);
  header.back() = static_cast<std::byte>(kind);
  const std::scoped_lock lock(mutex_);
  return write(header) && write(body);
}

bool Channel::read(std::chrono::milliseconds limit) {
  pollfd event{in_, POLLIN, 0};
  if (::poll(&event, 1, static_cast<int>(limit.count())) <= 0) {
    return true;
  }
  received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  const std::size_t before = received_.size();
  received_.resize(before + kChunk);
  const ssize_t size = ::read(in_, received_.data() + before, kChunk);
  const bool is_gone = size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN);
  received_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  bytes_read_ += received_.size() - before;
  return !is_gone;
}

std::optional<std::string> Channel::receive_line(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto line_end = std::ranges::find(received_, std::byte{'\n'});
    std::string text(reinterpret_cast<const char*>(received_.data()),
                     static_cast<std::size_t>(line_end - received_.begin()));
    if (text.size() > kLongestLine) {
      throw std::runtime_error("sends '" + text.substr(0, kLongestLine / 2) + "...'");
    }
    if (line_end != received_.end()) {
      taken_ = text.size() + 1;
      return text;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return std::nullopt;
    }
    if (!read(left)) {
      throw std::runtime_error(text.empty() ? "ended before it sent anything"
                                            : "ended after '" + text + "'");
    }
  }
}

std::optional<Message> Channel::next() {
  const auto rest = std::span(received_).subspan(taken_);
  std::uint32_t size = 0;
  if (rest.size() < kHeader) {
    return std::nullopt;
  }
  std::memcpy(&size, rest.data(), sizeof size);
  if (size > kLargestMessage) {
    throw std::runtime_error("sends a message of " + std::to_string(size) + " bytes");
  }
  if (rest.size() - kHeader < size) {
    return std::nullopt;
  }
  Message message{.kind = static_cast<MessageKind>(rest[kHeader - 1]), .body = {}};
  const auto body = rest.subspan(kHeader, size);
  message.body.assign(body.begin(), body.end());
  taken_ += kHeader + size;
  return message;
}

}  // namespace rclrt::runner

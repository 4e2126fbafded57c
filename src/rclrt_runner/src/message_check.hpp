// SPDX-License-Identifier: Apache-2.0
// Checks whether a message that a callback took comes from this application.
#pragma once

#include <cstddef>
#include <cstdint>
#include <rclrt/model/application.hpp>
#include <rclrt_msgs/msg/chain_message.hpp>
#include <string>
#include <vector>

namespace rclrt::runner {

/// The number of bytes that a message has on the wire in addition to tokens and padding: header,
/// stamp, sender and the lengths of sequences.
inline constexpr std::size_t kFixedBytes = 32;

/// Returns how many bytes of padding the messages of a topic have.
std::size_t padding_of(const model::Application& application, const std::string& topic);

/// Checks every field of the messages that one callback receives. Any program may publish on a
/// topic, and a message of another program must not be counted as one of the run or be used as an
/// index. Immutable after construction.
class MessageCheck {
 public:
  /// `application` must outlive it. `tolerance_ns`: by how much times of two hosts may contradict
  /// each other.
  MessageCheck(const model::Application& application, std::size_t callback,
               std::int64_t tolerance_ns = 0);

  /// Returns whether a callback of the application could have sent this message before `now_ns`.
  /// `input` is the index in model::inputs() at which the message arrived. Allocates nothing.
  bool is_own(const rclrt_msgs::msg::ChainMessage& message, std::size_t input,
              std::int64_t now_ns) const noexcept;

  /// Returns the same for a message of the topic model::Callback::samples[sample].
  bool is_own_sample(const rclrt_msgs::msg::ChainMessage& message, std::size_t sample,
                     std::int64_t now_ns) const noexcept;

  /// Returns whether the message is a release of the callback, which is an event.
  bool is_own_release(const rclrt_msgs::msg::ChainMessage& message,
                      std::int64_t now_ns) const noexcept;

 private:
  struct Input {
    std::vector<std::uint32_t> senders;
    std::size_t padding;
  };
  void add_input(const std::string& topic);
  bool is_token_of(std::uint32_t chain, std::uint32_t position,
                   std::uint32_t sender) const noexcept;

  const model::Application& application_;
  const std::uint32_t callback_;
  const std::int64_t tolerance_ns_;
  std::vector<Input> inputs_;  // and then the topics that it samples
  std::size_t samples_ = 0;    // index of their first one
};

}  // namespace rclrt::runner

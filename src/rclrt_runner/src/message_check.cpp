// SPDX-License-Identifier: Apache-2.0
#include "message_check.hpp"

#include <algorithm>
#include <rclrt/model/services.hpp>
#include <string>
#include <utility>

#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::runner {

using rclrt_msgs::msg::ChainMessage;

std::size_t padding_of(const model::Application& application, const std::string& topic) {
  const auto stated = std::ranges::find(application.topics, topic, &model::Topic::name);
  const bool is_padded = !model::is_service_topic(topic) && stated != application.topics.end() &&
                         stated->size_bytes > kFixedBytes;
  return is_padded ? stated->size_bytes - kFixedBytes : 0;
}

MessageCheck::MessageCheck(const model::Application& application, std::size_t callback,
                           std::int64_t tolerance_ns)
    : application_(application),
      callback_(static_cast<std::uint32_t>(callback)),
      tolerance_ns_(tolerance_ns) {
  const model::Callback& own = application.callbacks[callback];
  for (const std::string& topic : model::inputs(own)) {
    add_input(topic);
  }
  samples_ = inputs_.size();
  for (const std::string& topic : own.samples) {
    add_input(topic);
  }
}

void MessageCheck::add_input(const std::string& topic) {
  Input input{{}, padding_of(application_, topic)};
  for (std::size_t i = 0; i < application_.callbacks.size(); ++i) {
    const auto& publishes = application_.callbacks[i].publishes;
    if (std::ranges::find(publishes, topic) != publishes.end()) {
      input.senders.push_back(static_cast<std::uint32_t>(i));
    }
  }
  inputs_.push_back(std::move(input));
}

bool MessageCheck::is_own_sample(const ChainMessage& message, std::size_t sample,
                                 std::int64_t now_ns) const noexcept {
  return is_own(message, samples_ + sample, now_ns);
}

bool MessageCheck::is_own(const ChainMessage& message, std::size_t input,
                          std::int64_t now_ns) const noexcept {
  if (input >= inputs_.size() || message.padding.size() != inputs_[input].padding ||
      message.tokens.size() > recorder::ChainTokens::kCapacity) {
    return false;
  }
  const auto& senders = inputs_[input].senders;
  if (message.sent_ns <= 0 || message.sent_ns > now_ns + tolerance_ns_) {
    return false;
  }
  const std::int64_t latest_ns = message.sent_ns + tolerance_ns_;
  return std::ranges::find(senders, message.sender) != senders.end() && message.stamp_ns >= 0 &&
         message.stamp_ns <= latest_ns &&
         std::ranges::all_of(message.tokens, [&](const auto& token) {
           return is_token_of(token.chain, token.position, message.sender) &&
                  token.release_ns >= 0 && token.release_ns <= latest_ns;
         });
}

bool MessageCheck::is_own_release(const ChainMessage& message, std::int64_t now_ns) const noexcept {
  return message.tokens.size() == 1 && message.padding.empty() && message.sender == callback_ &&
         message.tokens.front().chain == 0 && message.tokens.front().position == 0 &&
         message.sent_ns == 0 && message.stamp_ns >= 0 && message.stamp_ns <= now_ns &&
         message.tokens.front().release_ns == message.stamp_ns;
}

/// Returns whether the chain has the sender at that position.
bool MessageCheck::is_token_of(std::uint32_t chain, std::uint32_t position,
                               std::uint32_t sender) const noexcept {
  if (chain >= application_.chains.size()) {
    return false;
  }
  const auto& path = application_.chains[chain].callbacks;
  return position < path.size() && path[position] == sender;
}

}  // namespace rclrt::runner

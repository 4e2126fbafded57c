// SPDX-License-Identifier: Apache-2.0
#include "message_check.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <functional>
#include <rclrt/model/parse.hpp>
#include <string>

#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::runner {
namespace {

using rclrt_msgs::msg::ChainMessage;

constexpr std::int64_t kNow_ns = 1'000'000;

/// 0 take, 1 find, 2 bumper, 3 halt; chains 0 see: take, find and 1 contact: bumper, halt.
model::Application application() {
  return model::parse_application(
             "rclrt: 1\nname: small\nnodes: [{name: node}]\n"
             "callbacks:\n"
             "  - {id: take, node: node, timer: {period_ms: 10}, wcet_ms: 1, publishes: [image]}\n"
             "  - {id: find, node: node, subscription: {topic: image}, wcet_ms: 1}\n"
             "  - {id: bumper, node: node, event: {min_interval_ms: 20}, wcet_ms: 1,\n"
             "     publishes: [hit]}\n"
             "  - {id: halt, node: node, subscription: {topic: hit}, wcet_ms: 1}\n"
             "chains:\n"
             "  - {id: see, callbacks: [take, find], priority: 1}\n"
             "  - {id: contact, callbacks: [bumper, halt], priority: 2}\n"
             "topics: [{name: image, size_bytes: 100}]\n")
      .application.value();
}

ChainMessage image() {
  ChainMessage message;
  message.stamp_ns = 500;
  message.sent_ns = 700;
  message.sender = 0;
  message.padding.resize(100 - kFixedBytes);
  auto& token = message.tokens.emplace_back();
  token.chain = 0;
  token.position = 0;
  token.instance = 7;
  token.release_ns = 500;
  return message;
}

ChainMessage release() {
  ChainMessage message;
  message.stamp_ns = 500;
  message.sender = 2;
  auto& token = message.tokens.emplace_back();
  token.instance = 3;
  token.release_ns = 500;
  return message;
}

using Change = std::function<void(ChainMessage&)>;

TEST(MessageCheck, KnowsTheApplicationsOwnMessages) {
  const auto made = application();
  EXPECT_TRUE(MessageCheck(made, 1).is_own(image(), 0, kNow_ns));
  auto without_tokens = image();
  without_tokens.tokens.clear();
  EXPECT_TRUE(MessageCheck(made, 1).is_own(without_tokens, 0, kNow_ns));
  EXPECT_TRUE(MessageCheck(made, 2).is_own_release(release(), kNow_ns));
}

TEST(MessageCheck, FindsEveryFieldThatCannotBe) {
  const auto made = application();
  const MessageCheck check(made, 1);
  const std::vector<Change> changes = {
      [](ChainMessage& m) { m.sender = 1; },  // publishes nothing
      [](ChainMessage& m) { m.sender = 2; },  // publishes on another topic
      [](ChainMessage& m) { m.sender = 4; },  // one beyond the last
      [](ChainMessage& m) { m.sender = UINT32_MAX; },
      [](ChainMessage& m) { m.stamp_ns = -1; },
      [](ChainMessage& m) { m.stamp_ns = INT64_MIN; },
      [](ChainMessage& m) { m.stamp_ns = 701; },         // after it was sent
      [](ChainMessage& m) { m.sent_ns = kNow_ns + 1; },  // in the future
      [](ChainMessage& m) { m.sent_ns = INT64_MAX; },
      [](ChainMessage& m) { m.sent_ns = INT64_MIN; },
      [](ChainMessage& m) {  // as made by a default constructor, except for the size
        m.stamp_ns = m.sent_ns = 0;
        m.tokens.clear();
      },
      [](ChainMessage& m) { m.padding.clear(); },
      [](ChainMessage& m) { m.padding.push_back(0); },
      [](ChainMessage& m) { m.tokens.front().chain = 1; },  // the sender is not on it
      [](ChainMessage& m) { m.tokens.front().chain = 2; },
      [](ChainMessage& m) { m.tokens.front().chain = UINT32_MAX; },
      [](ChainMessage& m) { m.tokens.front().position = 1; },
      [](ChainMessage& m) { m.tokens.front().position = UINT32_MAX; },
      [](ChainMessage& m) { m.tokens.front().release_ns = -1; },
      [](ChainMessage& m) { m.tokens.front().release_ns = INT64_MAX; },
      [](ChainMessage& m) {
        m.tokens.resize(recorder::ChainTokens::kCapacity + 1, m.tokens.front());
      },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    auto message = image();
    changes[i](message);
    EXPECT_FALSE(check.is_own(message, 0, kNow_ns)) << "change " << i;
  }
  EXPECT_FALSE(check.is_own(image(), 1, kNow_ns)) << "no such input";
  EXPECT_FALSE(check.is_own(ChainMessage(), 0, kNow_ns));
}

TEST(MessageCheck, TakesNoReleaseThatItsOwnSourceCannotHaveMade) {
  const auto made = application();
  const MessageCheck check(made, 2);
  const std::vector<Change> changes = {
      [](ChainMessage& m) { m.tokens.clear(); },
      [](ChainMessage& m) { m.tokens.push_back(m.tokens.front()); },
      [](ChainMessage& m) { m.sender = 0; },
      [](ChainMessage& m) { m.padding.resize(1); },
      [](ChainMessage& m) { m.sent_ns = 1; },
      [](ChainMessage& m) { m.stamp_ns = 501; },
      [](ChainMessage& m) { m.stamp_ns = m.tokens.front().release_ns = -1; },
      [](ChainMessage& m) { m.stamp_ns = m.tokens.front().release_ns = INT64_MAX; },
      [](ChainMessage& m) { m.tokens.front().chain = 1; },
      [](ChainMessage& m) { m.tokens.front().position = 1; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    auto message = release();
    changes[i](message);
    EXPECT_FALSE(check.is_own_release(message, kNow_ns)) << "change " << i;
  }
}

TEST(MessageCheck, ASampledMessageIsFromThePublisherOfItsTopic) {
  const model::Application sampling =
      model::parse_application(
          "rclrt: 1\nname: small\nnodes: [{name: node}]\n"
          "callbacks:\n"
          "  - {id: take, node: node, timer: {period_ms: 10}, wcet_ms: 1, publishes: [image]}\n"
          "  - {id: tick, node: node, timer: {period_ms: 10}, wcet_ms: 1, publishes: [ticks]}\n"
          "  - {id: find, node: node, subscription: {topic: ticks}, wcet_ms: 1,\n"
          "     reads: [{topic: image}]}\n"
          "chains: [{id: see, callbacks: [take], priority: 1}]\n"
          "topics: [{name: image, size_bytes: 100}]\n")
          .application.value();
  const MessageCheck check(sampling, 2);
  EXPECT_TRUE(check.is_own_sample(image(), 0, kNow_ns));
  EXPECT_FALSE(check.is_own(image(), 0, kNow_ns));  // of the topic that triggers it
  EXPECT_FALSE(check.is_own_sample(image(), 1, kNow_ns));
  ChainMessage other = image();
  other.sender = 1;
  EXPECT_FALSE(check.is_own_sample(other, 0, kNow_ns));
}

}  // namespace
}  // namespace rclrt::runner

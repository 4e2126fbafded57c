// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/mailbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

bool readable(int fd, int timeout_ms = 0) {
  pollfd poll_fd{fd, POLLIN, 0};
  return poll(&poll_fd, 1, timeout_ms) == 1;
}

TEST(Mailbox, RefusesACapacityOfZero) {
  EXPECT_THAT([&] { Mailbox<int>(0); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("capacity must be at least 1")));
}

TEST(Mailbox, GivesValuesInOrderAndCountsWhatDidNotFit) {
  Mailbox<int> mailbox(2);
  EXPECT_TRUE(mailbox.post(1));
  EXPECT_TRUE(mailbox.post(2));
  EXPECT_FALSE(mailbox.post(3));
  EXPECT_EQ(mailbox.dropped(), 1U);
  int value = 0;
  EXPECT_TRUE(mailbox.try_take(value));
  EXPECT_EQ(value, 1);
  EXPECT_TRUE(mailbox.wait(value));
  EXPECT_EQ(value, 2);
  EXPECT_FALSE(mailbox.try_take(value));
  EXPECT_EQ(mailbox.dropped(), 1U);
}

TEST(Mailbox, AWaitEndsAtItsDeadlineAndNotBefore) {
  Mailbox<int> mailbox(2);
  int value = 7;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  EXPECT_FALSE(mailbox.wait_until(value, deadline));
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  EXPECT_EQ(value, 7);
  EXPECT_FALSE(mailbox.wait_for(value, std::chrono::milliseconds(0)));
  mailbox.post(8);
  EXPECT_TRUE(mailbox.wait_until_ns(value, -1));  // takes an existing value, however late
  EXPECT_EQ(value, 8);
}

TEST(Mailbox, ItsDescriptorIsReadableFromAPostToTheDrain) {
  Mailbox<int> mailbox(8);
  EXPECT_FALSE(readable(mailbox.fd()));
  for (int round = 0; round < 3; ++round) {
    mailbox.post(10 * round);
    mailbox.post(10 * round + 1);
    EXPECT_TRUE(readable(mailbox.fd()));
    std::vector<int> values;
    EXPECT_EQ(mailbox.drain([&](int value) { values.push_back(value); }), 2U);
    EXPECT_EQ(values, (std::vector<int>{10 * round, 10 * round + 1}));
    EXPECT_FALSE(readable(mailbox.fd()));
  }
}

TEST(Mailbox, ADrainEndsWhileValuesKeepComingAndTheDescriptorStaysReadable) {
  Mailbox<int> mailbox(4);
  mailbox.post(0);
  int handled = 0;
  EXPECT_EQ(mailbox.drain([&](int value) {
    ++handled;
    mailbox.post(value + 1);  // always one more
  }),
            4U);
  EXPECT_EQ(handled, 4);
  EXPECT_TRUE(readable(mailbox.fd()));
}

TEST(Mailbox, WhatAHandlerThatThrowsLeavesBehindKeepsTheDescriptorReadable) {
  Mailbox<int> mailbox(4);
  mailbox.post(1);
  mailbox.post(2);
  EXPECT_THAT([&] { mailbox.drain([](int) { throw std::runtime_error("cannot handle it"); }); },
              ThrowsMessage<std::runtime_error>("cannot handle it"));
  EXPECT_TRUE(readable(mailbox.fd()));
  EXPECT_EQ(mailbox.drain([](int value) { EXPECT_EQ(value, 2); }), 1U);
  EXPECT_FALSE(readable(mailbox.fd()));
}

TEST(Mailbox, AWaitingReceiverMissesNothingFromManyThreads) {
  constexpr int kSenders = 3;
  constexpr int kValues = 10'000;
  Mailbox<std::array<int, 2>> mailbox(16);
  std::vector<std::thread> senders;
  for (int sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&mailbox, sender] {
      for (int value = 0; value < kValues; ++value) {
        while (!mailbox.post({sender, value})) {
          std::this_thread::yield();
        }
      }
    });
  }
  std::array<int, kSenders> next{};
  for (int i = 0; i < kSenders * kValues; ++i) {
    std::array<int, 2> received{};
    ASSERT_TRUE(mailbox.wait(received));  // hangs when a wake-up is lost
    ASSERT_EQ(received[1], next[static_cast<std::size_t>(received[0])]++);
  }
  for (auto& sender : senders) {
    sender.join();
  }
}

TEST(Mailbox, AnEventLoopMissesNothing) {
  constexpr int kValues = 20'000;
  Mailbox<int> mailbox(256);  // full 80 times: each costs a time slice on a busy machine
  std::thread sender([&] {
    for (int value = 0; value < kValues; ++value) {
      while (!mailbox.post(value)) {
        std::this_thread::yield();
      }
    }
  });
  int next = 0;
  while (next < kValues) {
    ASSERT_TRUE(readable(mailbox.fd(), 60'000)) << "after " << next << " values";
    mailbox.drain([&](int value) { EXPECT_EQ(value, next++); });
  }
  sender.join();
}

}  // namespace
}  // namespace rclrt::realtime

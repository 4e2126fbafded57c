// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/detail/credits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace rclrt::executor {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Credits, AreAsManyAsAskedForAndDistinct) {
  for (const std::size_t count : {1U, 63U, 64U, 65U, 200U}) {
    detail::Credits credits(nullptr, count);
    std::set<Instance*> taken;
    while (Instance* instance = credits.take()) {
      EXPECT_TRUE(taken.insert(instance).second);
    }
    EXPECT_EQ(taken.size(), count);
  }
}

TEST(Credits, CanBeTakenAgainAfterTheyWereGivenBack) {
  detail::Credits credits(nullptr, 1);
  Instance* const instance = credits.take();
  EXPECT_EQ(credits.take(), nullptr);
  credits.give_back(instance);
  EXPECT_EQ(credits.take(), instance);
}

TEST(Credits, RefuseACountOfZero) {
  EXPECT_THAT(
      [&] { detail::Credits(nullptr, 0); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("a callback needs at least one credit")));
}

TEST(Credits, NoTwoThreadsHoldTheSameInstance) {
  detail::Credits credits(nullptr, 3);
  std::atomic<int> violations{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20'000; ++round) {
        if (Instance* const instance = credits.take()) {
          instance->ready_ns = i;  // a plain write: TSan sees a second owner
          instance->release_ns = round;
          if (instance->ready_ns != i || instance->release_ns != round) {
            ++violations;
          }
          credits.give_back(instance);
        }
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(violations.load(), 0);
}

}  // namespace
}  // namespace rclrt::executor

// SPDX-License-Identifier: Apache-2.0
// Values that are replaced while others read them.
#include "reader_counted_value.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace rclrt_robot::test {
namespace {

TEST(ReaderCountedValue, WhatIsReadStaysWhileItIsRead) {
  ReaderCountedValue<std::shared_ptr<int>> value;
  const auto first = std::make_shared<int>(1);
  value.replace(first);
  {
    const ReaderCountedValue<std::shared_ptr<int>>::Reading reading(value);
    value.replace(std::make_shared<int>(2));
    value.replace(std::make_shared<int>(3));
    EXPECT_EQ(**reading, 1);
    EXPECT_EQ(first.use_count(), 2) << "the replaced value has the other one";
    EXPECT_EQ(*value.current(), 3);
    EXPECT_EQ(**ReaderCountedValue<std::shared_ptr<int>>::Reading(value), 3);
  }
  value.replace(std::make_shared<int>(4));
  EXPECT_EQ(first.use_count(), 1) << "no thread reads any more";
}

TEST(ReaderCountedValue, ManyReadWhileOneReplaces) {
  ReaderCountedValue<std::vector<int>> value;
  value.replace({0, 0});
  std::atomic<int> reads{0};
  std::atomic<bool> wrong{false};
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const ReaderCountedValue<std::vector<int>>::Reading reading(value);
        wrong = wrong || (*reading).size() != 2 || (*reading)[0] != (*reading)[1];
        ++reads;
      }
    });
  }
  for (int i = 1; reads < 20'000; ++i) {
    value.replace({i, i});
  }
  stop = true;
  for (std::thread& each : readers) {
    each.join();
  }
  EXPECT_FALSE(wrong);
}

}  // namespace
}  // namespace rclrt_robot::test

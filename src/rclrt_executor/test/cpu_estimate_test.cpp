// SPDX-License-Identifier: Apache-2.0
#include "cpu_estimate.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::executor {
namespace {

constexpr std::int64_t kShort = CpuEstimate::kShort_ns - 1;
constexpr std::int64_t kLong = 1'000'000'000'000;  // longer than any test computes

/// Computes until the thread's CPU clock has advanced by `time_ns`.
void compute(std::int64_t time_ns) {
  const std::int64_t end_ns = realtime::thread_cpu_now_ns() + time_ns;
  while (realtime::thread_cpu_now_ns() < end_ns) {
  }
}

TEST(CpuEstimate, AShortInstanceIsTakenToHaveComputedAllTheTime) {
  CpuEstimate cpu;
  EXPECT_EQ(cpu.took(cpu.begin(false), kShort, false), kShort);
}

TEST(CpuEstimate, ALongOneIsReadOnceInAnUnbrokenRow) {
  CpuEstimate cpu;
  cpu.took(cpu.begin(false), kLong, false);
  const std::int64_t begin_ns = cpu.begin(false);
  compute(5'000'000);
  const std::int64_t took_ns = cpu.took(begin_ns, kLong, false);
  EXPECT_GE(took_ns, 5'000'000);
  EXPECT_EQ(cpu.begin(false), begin_ns + took_ns) << "the next one begins where this one ended";
}

TEST(CpuEstimate, WhatSleepsHasNotComputed) {
  CpuEstimate cpu;
  const std::int64_t begin_ns = cpu.begin(false);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::int64_t before_ns = realtime::thread_cpu_now_ns();
  const std::int64_t took_ns = cpu.took(begin_ns, kLong, false);
  EXPECT_GE(took_ns, before_ns - begin_ns);
  EXPECT_LE(took_ns, realtime::thread_cpu_now_ns() - begin_ns);
}

TEST(CpuEstimate, IsNeverMoreThanTheDuration) {
  CpuEstimate cpu;
  cpu.took(cpu.begin(false), kLong, false);
  compute(5'000'000);  // between two instances
  EXPECT_EQ(cpu.took(cpu.begin(false), 1'000'000, false), 1'000'000);
}

TEST(CpuEstimate, SoManyShortOnesInARowAreReadAgain) {
  CpuEstimate cpu;
  const std::int64_t begin_ns = cpu.begin(false);
  compute(5'000'000);  // between instances: not read yet
  for (int i = 1; i < CpuEstimate::kMostUnread; ++i) {
    EXPECT_EQ(cpu.took(begin_ns, 1'000, false), 1'000);
    EXPECT_EQ(cpu.begin(false), begin_ns) << "not read";
  }
  cpu.took(begin_ns, 1'000, false);
  EXPECT_GE(cpu.begin(false), begin_ns + 4'000'000) << "the clock has been read";
}

// The CPU time of short instances that were preempted or slept is less than their duration.
TEST(CpuEstimate, IsNeverLessThanTheTruth) {
  CpuEstimate cpu;
  for (int i = 1; i < CpuEstimate::kMostUnread; ++i) {
    cpu.took(cpu.begin(false), kShort, false);
  }
  const std::int64_t begin_ns = cpu.begin(false);
  compute(50'000);
  EXPECT_GE(cpu.took(begin_ns, kLong, false), 50'000);
}

TEST(CpuEstimate, ExactIsWhatTheClockSays) {
  CpuEstimate cpu;
  cpu.took(cpu.begin(true), kLong, true);
  compute(5'000'000);  // between two instances: not part of the next one
  const std::int64_t before_ns = realtime::thread_cpu_now_ns();
  const std::int64_t begin_ns = cpu.begin(true);
  EXPECT_GE(begin_ns, before_ns);
  compute(1'000'000);
  const std::int64_t took_ns = cpu.took(begin_ns, 1'000, true);
  EXPECT_GE(took_ns, 1'000'000);
}

}  // namespace
}  // namespace rclrt::executor

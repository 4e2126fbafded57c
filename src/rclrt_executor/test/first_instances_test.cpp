// SPDX-License-Identifier: Apache-2.0
// The first instances find the stack and the heap of their thread in memory. A page fault would
// cost microseconds, on a virtual machine up to half a millisecond.
#include <alloca.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "all_executors.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/process.hpp"

namespace rclrt::executor::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kOwnAllocator = true;
#else
constexpr bool kOwnAllocator = false;
#endif

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStack = 64 << 10;
constexpr std::size_t kBlock = 16 << 10;

long faults_of_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/// Writes 64 KiB of stack and of heap. Returns the number of page faults.
[[gnu::noinline]] long faults_of_work() {
  const long before = faults_of_thread();
  auto* const stack = static_cast<volatile char*>(alloca(kStack));
  for (std::size_t at = kStack; at > 0; at -= kPage) {
    stack[at - 1] = 1;
  }
  std::array<void*, 4> blocks{};
  for (void*& block : blocks) {
    block = std::malloc(kBlock);
    for (std::size_t at = 0; at < kBlock; at += kPage) {
      static_cast<volatile char*>(block)[at] = 1;
    }
  }
  const long faults = faults_of_thread() - before;
  for (void* const block : blocks) {
    std::free(block);
  }
  return faults;
}

class FirstInstances : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, FirstInstances, ::testing::ValuesIn(executor_names()), kind_name);

TEST_P(FirstInstances, OfEveryLevelMeetNoPageFaultOnTheirStackAndHeap) {
  if (kOwnAllocator) {
    GTEST_SKIP() << "a sanitizer's build has an allocator of its own";
  }
  constexpr int kLevels = 3;
  constexpr std::size_t kEach = 5;
  realtime::prefault_libraries();
  if (GetParam() == "thread_dispatch") {
    // The C library gives the pages of a stack back when its thread ends, unless they are locked.
    if (const auto problem = realtime::lock_memory()) {
      GTEST_SKIP() << *problem;
    }
  }
  auto options = on_one_cpu(nullptr);
  options.workers_per_level = 1;
  auto executor = make(GetParam(), options);
  realtime::PiMutex mutex;
  std::vector<std::vector<long>> faults(kLevels);
  for (int level = 0; level < kLevels; ++level) {
    faults[static_cast<std::size_t>(level)].reserve(kEach + 100);
    executor->add(std::make_shared<TestTimer>(
        timer_named("t" + std::to_string(level), level), TimerOptions{.period_ns = 1'000'000},
        [&, level](const InstanceInfo&) {
          const long here = faults_of_work();
          const std::scoped_lock lock(mutex);
          faults[static_cast<std::size_t>(level)].push_back(here);
          if (std::ranges::all_of(faults, [](const auto& own) { return own.size() >= kEach; })) {
            executor->cancel();
          }
        }));
  }
  executor->prepare();
  if (!executor->realtime()) {
    GTEST_SKIP() << "memory is touched before it is used only with real time: "
                 << executor->realtime_reason();
  }
  executor->spin();
  for (int level = 0; level < kLevels; ++level) {
    const auto& own = faults[static_cast<std::size_t>(level)];
    ASSERT_GE(own.size(), kEach);
    for (std::size_t i = 0; i < kEach; ++i) {
      // 32 pages are written; one or two of data may be written for the first time here.
      EXPECT_LE(own[i], 2) << "instance " << i << " of level " << level;
    }
  }
}

}  // namespace
}  // namespace rclrt::executor::test

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/rt_guard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "guarded_calls.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/semaphore.hpp"

namespace rclrt::realtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

using test::GuardedCalls;
using test::kCount;

/// Uses the block in a way that the compiler cannot remove.
void use(void* block) { asm volatile("" : : "g"(block) : "memory"); }

TEST_F(GuardedCalls, ASectionThatOnlyComputesIsClean) {
  RtGuard guard(kCount);
  int sum = 0;
  for (int i = 0; i < 1000; ++i) {
    sum += i;
  }
  use(&sum);
  const RtReport report = guard.report();
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(report.allocations + report.deallocations + report.sleeps + report.lock_waits, 0U);
}

TEST_F(GuardedCalls, AnAllocationIsCaughtWithItsSizeAndItsStack) {
  RtGuard guard(kCount);
  void* const block = std::malloc(1234);
  use(block);
  std::free(block);
  const RtReport report = guard.report();
  EXPECT_EQ(report.allocations, 1U);
  EXPECT_EQ(report.deallocations, 1U);
  ASSERT_THAT(report.calls, SizeIs(2));
  EXPECT_EQ(report.calls[0].what, "malloc(1234)");
  EXPECT_EQ(report.calls[1].what, "free()");
  ASSERT_FALSE(report.calls[0].stack.empty());
  EXPECT_THAT(report.calls[0].stack[0], HasSubstr(program_invocation_short_name))
      << "the caller comes first";
  EXPECT_THAT(report.text(), AllOf(HasSubstr("1 allocation(s)"), HasSubstr("malloc(1234)")));
}

TEST_F(GuardedCalls, OperatorNewAndTheContainersOfTheLibraryAreCaught) {
  RtGuard guard(kCount);
  {
    std::vector<int> values(100);
    use(values.data());
    const std::shared_ptr<int> shared = std::make_shared<int>(1);
    use(shared.get());
  }
  const RtReport report = guard.report();
  EXPECT_EQ(report.allocations, 2U);
  EXPECT_EQ(report.deallocations, 2U);
}

TEST_F(GuardedCalls, AllocationsOfOtherFormsAreCaught) {
  std::vector<void*> blocks(5);
  RtGuard guard(kCount);
  blocks[0] = std::calloc(3, 7);
  blocks[1] = std::realloc(std::malloc(1), 100);
  blocks[2] = std::aligned_alloc(64, 128);
  ASSERT_EQ(posix_memalign(&blocks[3], 64, 100), 0);
  for (void* block : blocks) {
    std::free(block);
  }
  const RtReport report = guard.report();
  EXPECT_EQ(report.allocations, 5U);
  EXPECT_EQ(report.deallocations, 4U) << "free(nullptr) is nothing";
}

TEST_F(GuardedCalls, MemoryAllocatedBeforeTheSectionMayBeUsedInIt) {
  std::vector<int> values;
  values.reserve(100);
  RtGuard guard(kCount);
  values.resize(100);
  EXPECT_TRUE(guard.report().clean()) << guard.report().text();
}

TEST_F(GuardedCalls, OtherThreadsAreNotGuarded) {
  std::latch begin(1);
  std::thread other([&] {
    begin.wait();
    use(std::make_unique<int>(1).get());
  });
  {
    RtGuard guard({.action = RtGuardAction::kCount, .sleeps = false, .page_faults = false});
    begin.count_down();
    while (other.joinable()) {
      other.join();
    }
    // Joining frees memory of the joined thread; the guarded thread itself does that.
    EXPECT_EQ(guard.report().allocations, 0U) << guard.report().text();
  }
}

TEST_F(GuardedCalls, WhatIsAllowedDoesNotCount) {
  RtGuard guard(kCount);
  {
    const RtGuard::Allow allow("an example");
    use(std::make_unique<int>(1).get());
    {
      const RtGuard::Allow again("nested");
      use(std::make_unique<int>(1).get());
    }
    use(std::make_unique<int>(1).get());
  }
  EXPECT_TRUE(guard.report().clean()) << guard.report().text();
  use(std::make_unique<int>(1).get());
  EXPECT_EQ(guard.report().allocations, 1U) << "the exemption has ended";
}

TEST_F(GuardedCalls, AnOuterGuardSeesWhatAnInnerOneSees) {
  RtReport inside;
  RtGuard outer(kCount);
  use(std::make_unique<int>(1).get());
  {
    RtGuard inner({.action = RtGuardAction::kCount, .allocations = false, .page_faults = false});
    use(std::make_unique<int>(1).get());
    inside = inner.report();
  }
  use(std::make_unique<int>(1).get());
  const RtReport report = outer.report();
  EXPECT_EQ(inside.allocations, 1U);
  EXPECT_TRUE(inside.clean()) << "the inner guard ignores allocations";
  EXPECT_EQ(report.allocations, 3U);
  EXPECT_EQ(report.violations, 6U) << report.text();
}

TEST_F(GuardedCalls, TheFirstCallsKeepTheirStacksAndAllAreCounted) {
  RtGuard guard(kCount);
  void* volatile block = nullptr;
  for (int i = 0; i < 100; ++i) {
    block = std::malloc(10);
    std::free(block);
  }
  const RtReport report = guard.report();
  EXPECT_EQ(report.allocations, 100U);
  EXPECT_EQ(report.violations, 200U);
  EXPECT_THAT(report.calls, SizeIs(RtGuard::kMaxCalls));
}

TEST_F(GuardedCalls, ThePrintedReportNamesTheCallAtTheEndOfTheSection) {
  testing::internal::CaptureStderr();
  {
    RtGuard guard;
    void* volatile block = std::malloc(4321);
    std::free(block);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("malloc(4321)"));
}

using GuardedCallsDeathTest = GuardedCalls;

TEST_F(GuardedCallsDeathTest, TheProcessEndsAtTheCallWhenAskedTo) {
  const auto body = [] {
    RtGuard guard({.action = RtGuardAction::kAbort});
    void* volatile block = std::malloc(777);
    std::free(block);
    std::fputs("went on\n", stderr);
  };
  EXPECT_DEATH(body(), "1 allocation\\(s\\)\n.*malloc\\(777\\)");
}

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

/// Pages that no thread has touched.
class FreshPages {
 public:
  explicit FreshPages(std::size_t count)
      : bytes_(count * page_size()),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    madvise(memory_, bytes_, MADV_NOHUGEPAGE);
  }
  ~FreshPages() { munmap(memory_, bytes_); }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;

  void touch() const {
    for (std::size_t i = 0; i < bytes_; i += page_size()) {
      static_cast<volatile char*>(memory_)[i] = 1;
    }
  }

 private:
  const std::size_t bytes_;
  void* const memory_;
};

TEST(RtGuard, TheFirstTouchOfEachPageIsAFaultAndTheSecondIsNot) {
  const FreshPages pages(50);
  const RtGuardOptions options{.action = RtGuardAction::kCount};
  {
    RtGuard guard(options);
    pages.touch();
    EXPECT_GE(guard.report().minor_faults, 50U);
    EXPECT_FALSE(guard.report().clean());
  }
  RtGuard guard(options);
  pages.touch();
  EXPECT_LT(guard.report().minor_faults, 25U) << "but for what the kernel took back meanwhile";
}

TEST(RtGuard, FaultsOfAnExemptedPieceDoNotCount) {
  const FreshPages pages(50);
  RtGuard guard(kCount);
  {
    const RtGuard::Allow allow("an example");
    pages.touch();
  }
  EXPECT_LT(guard.report().minor_faults, 50U);
}

TEST(RtGuard, GivingTheCpuAwayIsAVoluntarySwitch) {
  RtGuard guard({.action = RtGuardAction::kCount, .sleeps = false, .voluntary_switches = true});
  sleep_until_ns(monotonic_now_ns() + 1'000'000);
  EXPECT_GE(guard.report().voluntary_switches, 1U);
  EXPECT_FALSE(guard.report().clean());
}

TEST(RtGuard, BeingPreemptedIsCountedAndNoViolationUnlessAskedFor) {
  // Two threads that never yield share one CPU, so the kernel switches between them.
  cpu_set_t cpu;
  CPU_ZERO(&cpu);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &cpu);
  std::atomic<bool> stop{false};
  std::thread rival([&] {
    pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
    while (!stop) {
    }
  });
  std::thread guarded([&] {
    pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
    // Reports are allocated and freed all the time.
    RtGuard lenient({.action = RtGuardAction::kCount, .allocations = false, .page_faults = false});
    RtGuard strict({.action = RtGuardAction::kCount,
                    .allocations = false,
                    .page_faults = false,
                    .involuntary_switches = true});
    while (strict.report().involuntary_switches == 0) {
      const std::int64_t end_ns = monotonic_now_ns() + 1'000'000;
      while (monotonic_now_ns() < end_ns) {
      }
    }
    EXPECT_FALSE(strict.report().clean());
    EXPECT_TRUE(lenient.report().clean()) << lenient.report().text();
  });
  guarded.join();
  stop = true;
  rival.join();
}

}  // namespace
}  // namespace rclrt::realtime

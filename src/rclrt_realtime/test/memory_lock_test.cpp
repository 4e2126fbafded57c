// SPDX-License-Identifier: Apache-2.0
// Checks which memory is locked under which limit. This program replaces the limit and mlockall, so
// that it can test any limit; unprivileged_test.cpp tests the real ones.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/thread.hpp"

namespace {

rlim_t memlock_soft = 0;
rlim_t memlock_hard = 0;
rlim_t stack_limit = 0;
int locked_with = 0;  // the flags of mlockall; 0: not called

}  // namespace

// Not in a sanitizer's build, because its run-time library calls getrlimit before the program is
// ready.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" __attribute__((visibility("default"))) int getrlimit(__rlimit_resource_t resource,
                                                                rlimit* limit) noexcept {
  static const auto kReal =
      reinterpret_cast<int (*)(__rlimit_resource_t, rlimit*)>(dlsym(RTLD_NEXT, "getrlimit"));
  if (resource == RLIMIT_MEMLOCK) {
    *limit = {memlock_soft, memlock_hard};
    return 0;
  }
  if (resource == RLIMIT_STACK && stack_limit != 0) {
    *limit = {stack_limit, stack_limit};
    return 0;
  }
  return kReal(resource, limit);
}

extern "C" __attribute__((visibility("default"))) int mlockall(int flags) noexcept {
  locked_with = flags;
  return 0;
}
#endif

namespace rclrt::realtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitizer = true;
#else
constexpr bool kSanitizer = false;
#endif

constexpr rlim_t kMib = rlim_t{1} << 20;

std::uint64_t mapped() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Sets the effective CAP_IPC_LOCK of the calling thread; returns whether that was possible.
bool set_capability(bool wanted) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (syscall(SYS_capget, &header, data) != 0) {
    return false;
  }
  constexpr std::uint32_t kBit = 1U << CAP_IPC_LOCK;
  data[0].effective = wanted ? data[0].effective | kBit : data[0].effective & ~kBit;
  return syscall(SYS_capset, &header, data) == 0;
}

/// Returns the result of locking under a limit, in a thread with or without the capability.
std::string lock_under(rlim_t soft, rlim_t hard, bool capability = false) {
  memlock_soft = soft;
  memlock_hard = hard;
  locked_with = 0;
  std::string text = "this capability cannot be had";
  Thread({.name = "locks", .stack_size = kMib}, [&] {
    if (set_capability(capability)) {
      text = lock_memory().value_or("all");
    }
  }).join();
  return text;
}

/// Allocates memory, as `lock_under` does in its thread.
void lock_nothing() { EXPECT_FALSE(std::string(1000, 'x').empty()); }

class MemoryLock : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitizer) {
      GTEST_SKIP() << "a sanitizer's build locks no memory, and says it did";
    }
    stack_limit = 8 * kMib;
    // The first thread adds the address space of a heap, which later ones take over.
    Thread({.name = "first", .stack_size = kMib}, [] { lock_nothing(); }).join();
  }
  void TearDown() override { stack_limit = 0; }
};

TEST_F(MemoryLock, WithoutALimitIsOfPresentAndFutureMemory) {
  EXPECT_EQ(lock_under(RLIM_INFINITY, RLIM_INFINITY), "all");
  EXPECT_EQ(locked_with, MCL_CURRENT | MCL_FUTURE);
}

TEST_F(MemoryLock, BelowWhatIsMappedIsNotTriedAndNamesTheLimitAndItsFix) {
  for (const rlim_t limit : {rlim_t{0}, rlim_t{65536}, kMib, rlim_t{mapped() / 2}}) {
    const std::string text = lock_under(limit, limit);
    EXPECT_EQ(locked_with, 0) << limit;
    EXPECT_THAT(text, AllOf(StartsWith("memory is not locked: the limit of locked memory is "),
                            HasSubstr("are mapped"), HasSubstr("\"memlock unlimited\""),
                            HasSubstr("LimitMEMLOCK=infinity"), HasSubstr("--ulimit memlock=-1"),
                            HasSubstr("CAP_IPC_LOCK")));
  }
}

TEST_F(MemoryLock, ThatLeavesTheStackNoRoomToGrowIsNotTried) {
  const rlim_t limit = mapped() + 4 * kMib;
  EXPECT_THAT(lock_under(limit, limit), HasSubstr("more once the stack has grown"));
  EXPECT_EQ(locked_with, 0);
}

TEST_F(MemoryLock, ThatTheLimitHoldsIsOfPresentMemoryOnlyAndSaysSo) {
  for (const rlim_t more : {64 * kMib, 1024 * kMib, 1024 * 1024 * kMib}) {
    const rlim_t limit = mapped() + more;
    EXPECT_THAT(lock_under(limit, limit),
                AllOf(StartsWith("memory is locked as far as it is mapped now"),
                      HasSubstr("none that is mapped later"), HasSubstr("\"memlock unlimited\"")));
    EXPECT_EQ(locked_with, MCL_CURRENT) << "with MCL_FUTURE, mappings beyond the limit fail";
  }
}

TEST_F(MemoryLock, BelowAnUnlimitedHardLimitNamesUlimit) {
  EXPECT_THAT(lock_under(kMib, RLIM_INFINITY),
              AllOf(HasSubstr("ulimit -l unlimited"), Not(HasSubstr("limits.d"))));
}

TEST_F(MemoryLock, WithTheCapabilityIsOfAllMemoryWhateverTheLimit) {
  const std::string text = lock_under(65536, 65536, true);
  if (text == "this capability cannot be had") {
    GTEST_SKIP() << text;
  }
  EXPECT_EQ(text, "all");
  EXPECT_EQ(locked_with, MCL_CURRENT | MCL_FUTURE);
}

}  // namespace
}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;

// The changes to a process are permanent, so each of these tests runs in its own child process.
template <typename Body>
int exit_code_of_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    int code = 99;
    try {
      code = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/// Returns the page faults while 8 MiB are allocated in small and large blocks, written, and freed.
long faults_of_allocations() {
  constexpr std::size_t kBlock = 1 << 20;
  const long before = page_faults();
  for (int round = 0; round < 3; ++round) {
    std::unique_ptr<char[]> blocks[8];
    for (auto& block : blocks) {
      block = std::make_unique<char[]>(kBlock);  // zeroes it
    }
  }
  return page_faults() - before;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kOwnAllocator = true;
#else
constexpr bool kOwnAllocator = false;
#endif

TEST(PrefaultedHeap, ServesLaterAllocationsOfEveryThreadWithoutAPageFault) {
  if (kOwnAllocator) {
    GTEST_SKIP() << "a sanitizer's build has an allocator of its own";
  }
  EXPECT_EQ(exit_code_of_child([] {
              if (prefault_heap(16 << 20)) {
                return 3;
              }
              const long here = faults_of_allocations();
              long there = -1;
              Thread({.name = "other"}, [&] { there = faults_of_allocations(); }).join();
              std::fprintf(stderr, "page faults: %ld here, %ld in another thread\n", here, there);
              // The first run of code and the first use of data cause a few page faults in this
              // process. The 8 MiB would cause 2048 if they were not prefaulted.
              return here < 64 && there < 64 ? 0 : 4;
            }),
            0);
}

TEST(PrefaultedHeap, OfAThreadServesItsAllocationsWithoutAPageFault) {
  if (kOwnAllocator) {
    GTEST_SKIP() << "a sanitizer's build has an allocator of its own";
  }
  EXPECT_EQ(exit_code_of_child([] {
              keep_heap();
              long cold = -1;
              long warm = -1;
              Thread({.name = "cold"}, [&] { cold = faults_of_allocations(); }).join();
              // A second thread beside a third, which keeps the heap that "cold" has left behind.
              Thread holder({.name = "holder"}, [](const StopFlag& stop) {
                static_cast<void>(std::make_unique<char[]>(100));
                stop.wait();
              });
              Thread({.name = "warm", .heap_prefault = 16 << 20}, [&] {
                warm = faults_of_allocations();
              }).join();
              std::fprintf(stderr, "page faults: %ld without, %ld with\n", cold, warm);
              return cold > 1000 && warm < 64 ? 0 : 4;
            }),
            0);
}

/// Returns how many heaps the C library has.
int heaps() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const file = open_memstream(&text, &size);
  malloc_info(0, file);
  std::fclose(file);
  int count = 0;
  for (const char* at = text; (at = std::strstr(at, "<heap nr=")) != nullptr; ++at) {
    ++count;
  }
  std::free(text);
  return count;
}

TEST(LimitedHeaps, AreNoMoreHoweverManyThreadsAllocate) {
  if (kOwnAllocator) {
    GTEST_SKIP() << "a sanitizer's build has an allocator of its own";
  }
  EXPECT_EQ(exit_code_of_child([] {
              limit_heaps(3);
              const int most = std::max(3, heaps());  // an earlier test may have made more
              std::vector<Thread> threads;
              for (int i = 0; i < 7; ++i) {
                threads.emplace_back(ThreadOptions{.name = "heap"}, [](const StopFlag& stop) {
                  static_cast<void>(std::make_unique<char[]>(100));
                  stop.wait();
                });
              }
              const std::int64_t limit_ns = monotonic_now_ns() + 60'000'000'000;
              while (heaps() < most && monotonic_now_ns() < limit_ns) {
                sleep_until_ns(monotonic_now_ns() + 1'000'000);
              }
              for (Thread& each : threads) {
                each.stop();
              }
              return heaps() == most ? 0 : 4;
            }),
            0);
}

TEST(DefaultStackSize, IsThatOfAThreadThatStatesNone) {
  EXPECT_EQ(exit_code_of_child([] {
              constexpr std::size_t kStack = std::size_t{256} << 10;
              set_default_stack_size(kStack);
              std::size_t size = 0;
              Thread({.name = "default"}, [&size] {
                pthread_attr_t attributes;
                pthread_getattr_np(pthread_self(), &attributes);
                pthread_attr_getstacksize(&attributes, &size);
                pthread_attr_destroy(&attributes);
              }).join();
              std::fprintf(stderr, "%zu bytes\n", size);
              return size <= kStack && size > kStack / 2 ? 0 : 4;
            }),
            0);
}

TEST(DefaultStackSize, BelowTheLeastIsRefusedWithTheFix) {
  try {
    set_default_stack_size(1);
    FAIL() << "not refused";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("ask for at least"));
  }
}

TEST(PrefaultedLibraries, AreInMemoryThen) {
  EXPECT_EQ(exit_code_of_child([] {
              // More than this program and the C library; a second call finds them all.
              const std::size_t bytes = prefault_libraries();
              const long before = page_faults();
              const std::size_t again = prefault_libraries();
              const long faults = page_faults() - before;
              std::fprintf(stderr, "%zu bytes, then %zu with %ld faults\n", bytes, again, faults);
              return bytes > (2U << 20) && again == bytes && faults < 16 ? 0 : 4;
            }),
            0);
}

TEST(PrefaultedHeap, ThatTheSystemDoesNotGrantIsReportedWithItsLimit) {
  if (kOwnAllocator) {
    GTEST_SKIP() << "a sanitizer's build reserves more address space than any limit";
  }
  EXPECT_EQ(exit_code_of_child([] {
              const rlimit limit{256 << 20, 256 << 20};
              setrlimit(RLIMIT_AS, &limit);
              const auto problem = prefault_heap(std::size_t{1} << 30);
              return problem && problem->find("address space: 268435456 bytes") != std::string::npos
                         ? 0
                         : 1;
            }),
            0);
}

TEST(PreparedProcess, ListsEachStepThatWasAskedFor) {
  EXPECT_EQ(exit_code_of_child([] {
              const auto process = prepare_process({.lock_memory = false,
                                                    .heap_prefault = 1 << 20,
                                                    .stack_prefault = 64 << 10,
                                                    .cpu_wake_up = std::nullopt});
              const bool listed = process.steps.size() == 3 &&
                                  process.steps[0].what == "keep the heap" &&
                                  process.steps[1].what == "prefault 1048576 bytes of heap" &&
                                  process.steps[2].what == "prefault 65536 bytes of stack";
              return listed && process.ok() ? 0 : 1;
            }),
            0);
}

TEST(PreparedProcess, DoesNotPrefaultMoreStackThanItMayHave) {
  EXPECT_EQ(exit_code_of_child([] {
              const rlimit limit{1 << 20, 1 << 20};
              setrlimit(RLIMIT_STACK, &limit);
              const auto process = prepare_process(
                  {.lock_memory = false, .stack_prefault = 4 << 20, .cpu_wake_up = std::nullopt});
              const auto problems = process.problems();
              return problems.size() == 1 &&
                             problems[0].find("its limit is 1048576 bytes") != std::string::npos
                         ? 0
                         : 1;
            }),
            0);
}

TEST(PreparedProcess, LocksItsMemoryWhereThatIsPermitted) {
  if (kOwnAllocator) {
    GTEST_SKIP() << "a sanitizer's shadow memory is too large to lock";
  }
  const int code = exit_code_of_child([] {
    const auto process = prepare_process({.cpu_wake_up = std::nullopt});
    if (!process.ok()) {
      return 77;
    }
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmLck:")) {
        return std::strtol(line.c_str() + 6, nullptr, 10) > 1000 ? 0 : 1;  // kB
      }
    }
    return 2;
  });
  if (code == 77) {
    GTEST_SKIP() << "this user may not lock memory";
  }
  EXPECT_EQ(code, 0);
}

TEST(CpuWakeUpLimit, IsWrittenAsTheKernelTakesItAndHeldOpen) {
  const std::string file = testing::TempDir() + "rclrt_cpu_dma_latency";
  std::ofstream(file).close();
  CpuWakeUpLimit limit(std::chrono::microseconds(20), file);
  EXPECT_TRUE(limit.active());
  std::int32_t value = -1;
  std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&value), sizeof value);
  EXPECT_EQ(value, 20);
  const CpuWakeUpLimit moved(std::move(limit));
  EXPECT_TRUE(moved.active());
  std::remove(file.c_str());
}

TEST(CpuWakeUpLimit, WithoutADeviceIsRefusedWithTheFix) {
  try {
    const CpuWakeUpLimit limit(std::chrono::microseconds(0), "/no/such/device");
    FAIL() << "no exception";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("writing /no/such/device"));
    EXPECT_THAT(error.what(), HasSubstr("a container must be given the device"));
    EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  }
}

TEST(StrictPreparation, ThrowsWithEveryFix) {
  EXPECT_EQ(exit_code_of_child([] {
              const rlimit limit{1 << 20, 1 << 20};
              setrlimit(RLIMIT_STACK, &limit);
              try {
                const auto process = prepare_process({.lock_memory = false,
                                                      .stack_prefault = 4 << 20,
                                                      .cpu_wake_up = std::nullopt,
                                                      .strict = true});
              } catch (const std::runtime_error& error) {
                const std::string text = error.what();
                return text.find("cannot be prepared") != std::string::npos &&
                               text.find("its limit is 1048576 bytes") != std::string::npos
                           ? 0
                           : 1;
              }
              return 2;
            }),
            0);
}

}  // namespace
}  // namespace rclrt::realtime

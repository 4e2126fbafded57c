// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread_origin.hpp"

#include <gmock/gmock.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "raw_thread.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread_plan.hpp"
#include "thread_starter.hpp"

namespace rclrt::realtime {

void* wait_for_end(void* end) {
  static_cast<std::shared_future<void>*>(end)->wait();
  return nullptr;
}

namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Returns the file of this program: `as_unprivileged` runs it under another name.
std::string program_file() {
  return std::filesystem::read_symlink("/proc/self/exe").filename().string();
}
constexpr const char* kLibrary = "libthread_starter.so";

class ThreadOrigins : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer starts every thread by a function of its own";
#endif
  }
  ~ThreadOrigins() override { release(); }

  void release() {
    if (!released_) {
      released_ = true;
      end_.set_value();
    }
  }

  /// Returns the threads that exist now and did not when the test began.
  std::vector<ThreadOrigin> origins_of_new() const {
    std::vector<ThreadOrigin> result;
    for (const auto& [tid, origin] : thread_origins()) {
      if (before_.count(tid) == 0) {
        result.push_back(origin);
      }
    }
    return result;
  }

  std::promise<void> end_;
  std::shared_future<void> until_end_ = end_.get_future().share();
  bool released_ = false;
  const std::map<pid_t, ThreadOrigin> before_ = thread_origins();
};

TEST_F(ThreadOrigins, OfTheFirstThreadIsTheProgram) {
  EXPECT_EQ(thread_origins().at(getpid()), (ThreadOrigin{program_file(), "main"}));
}

TEST_F(ThreadOrigins, OfAPosixThreadIsItsFunction) {
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, nullptr, &wait_for_end, &until_end_), 0);
  const auto origins = origins_of_new();
  ASSERT_EQ(origins.size(), 1U);
  EXPECT_EQ(origins[0].library, program_file());
  release();
  pthread_join(thread, nullptr);
}

TEST_F(ThreadOrigins, OfAStandardThreadIsTheLibraryThatHasItsCode) {
  std::thread thread = test::start_standard(until_end_);
  const auto origins = origins_of_new();
  release();
  thread.join();
  ASSERT_EQ(origins.size(), 1U);
  EXPECT_EQ(origins[0].library, kLibrary);
  EXPECT_THAT(origins[0].function, HasSubstr("HiddenLoop"));
}

TEST_F(ThreadOrigins, OfAnAsynchronousCallIsTheLibraryThatHasItsCode) {
  const std::future<void> done = test::start_async(until_end_);
  const auto origins = origins_of_new();
  ASSERT_EQ(origins.size(), 1U);
  EXPECT_EQ(origins[0].library, kLibrary);
  EXPECT_THAT(origins[0].function, HasSubstr("start_async"));
  release();
  done.wait();
}

TEST_F(ThreadOrigins, OfAThreadOfOursIsWhatHasItsCode) {
  const Thread thread({.name = "ours"}, [this] { until_end_.wait(); });
  const auto origins = origins_of_new();
  ASSERT_EQ(origins.size(), 1U);
  EXPECT_EQ(origins[0].library, program_file());
  EXPECT_THAT(origins[0].function, StartsWith("rclrt::realtime::Thread::RunOf<rclrt::realtime::"));
  release();
}

TEST_F(ThreadOrigins, AreFoundWhileTheThreadRuns) {
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    while (!stop) {
    }
  });
  const auto origins = origins_of_new();
  stop = true;
  thread.join();
  ASSERT_EQ(origins.size(), 1U);
  EXPECT_EQ(origins[0].library, program_file());
  EXPECT_THAT(origins[0].function, StartsWith("std::thread::_State_impl<"));
}

TEST_F(ThreadOrigins, OfThreadsThatStayAreTheSameWhileOthersComeAndGo) {
  std::thread stays = test::start_standard(until_end_);
  const std::map<pid_t, ThreadOrigin> all = thread_origins();
  std::atomic<bool> stop{false};
  std::vector<std::thread> restless;
  for (int i = 0; i < 3; ++i) {
    restless.emplace_back([&] {
      while (!stop) {
        std::array<std::thread, 4> threads;
        for (std::thread& each : threads) {
          each = std::thread([] {});
        }
        for (std::thread& each : threads) {
          each.join();
        }
      }
    });
  }
  std::size_t seen = 0;
  for (int look = 0; look < 500; ++look) {
    const std::map<pid_t, ThreadOrigin> now = thread_origins();
    for (const auto& [tid, origin] : all) {
      if (const auto found = now.find(tid); found != now.end()) {
        ++seen;
        EXPECT_TRUE(found->second == origin) << found->second.library << found->second.function;
      }
    }
  }
  stop = true;
  for (std::thread& each : restless) {
    each.join();
  }
  release();
  stays.join();
  // If the list changed all the time while it was read, only the first thread is known.
  EXPECT_GT(seen, 500U);
}

TEST_F(ThreadOrigins, ArePartsOfTheRulesOfAPlan) {
  const Thread ours = test::start_ours(until_end_);
  std::thread standard = test::start_standard(until_end_);
  const ThreadPlan plan{
      {{.scheduling = {.nice = 3}, .library = "libthread_starter.so*", .function = "*HiddenLoop*"},
       {.name = "o*", .scheduling = {.nice = 4}, .library = "libthread_st*"},
       {.name = "ours", .scheduling = {.nice = 5}},
       {.library = "libnobody.so"}}};
  const ThreadPlanReport report = plan.apply();
  release();
  standard.join();
  ASSERT_EQ(report.threads.size(), 2U);
  for (const PlannedThread& thread : report.threads) {
    EXPECT_EQ(thread.problem, "");
    EXPECT_EQ(thread.rule, thread.name == "ours" ? 1U : 0U);
    EXPECT_EQ(thread.found.nice, thread.rule == 1 ? 4 : 3);
    EXPECT_EQ(thread.origin.library, kLibrary);
  }
  EXPECT_THAT(report.unused_rules, testing::ElementsAre("ours", "library libnobody.so"));
}

TEST(ThreadOrigin, ThatIsNotKnownGetsNoRuleThatMayNotBeMeant) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const test::RawThread thread;
  ASSERT_GT(thread.tid(), 0);
  const ThreadPlanReport keeps =
      ThreadPlan{{{.library = "libnobody.so", .keep = true}, {"*", {.nice = 4}}}}.apply(
          {thread.tid()});
  const ThreadPlanReport by_name = ThreadPlan{{{"*", {.nice = 5}}}}.apply({thread.tid()});
  ASSERT_EQ(keeps.unplanned.size(), 1U);
  EXPECT_NE(keeps.unplanned[0].found.nice, 4);
  EXPECT_EQ(keeps.unplanned[0].origin, ThreadOrigin());
  ASSERT_EQ(by_name.threads.size(), 1U);
  EXPECT_EQ(by_name.threads[0].found.nice, 5);
#endif
}

TEST(ThreadOrigin, OfAThreadThatHasEndedIsNotThere) {
  std::atomic<pid_t> tid{0};
  std::thread([&] { tid = gettid(); }).join();
  EXPECT_EQ(thread_origins().count(tid), 0U);
}

}  // namespace
}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread_watch.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "raw_thread.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr std::chrono::milliseconds kNever = std::chrono::hours(1);

/// A waiting thread with a name. Its rule in these tests is a nice value, which every user may
/// raise.
class Waiting {
 public:
  explicit Waiting(const char* name)
      : thread_({.name = name}, [this](const StopFlag& stop) {
          tid_ = gettid();
          named_.post();
          stop.wait();
        }) {
    named_.wait();
  }
  pid_t tid() const { return tid_; }
  int nice() const { return read_scheduling(tid_)->nice.value_or(0); }

 private:
  Semaphore named_;
  pid_t tid_ = 0;
  Thread thread_;
};

/// Collects the reports of a watch.
class News {
 public:
  std::function<void(const ThreadPlanReport&)> listener() {
    return [this](const ThreadPlanReport& news) {
      const std::scoped_lock lock(mutex_);
      for (const PlannedThread& each : news.threads) {
        planned_.push_back(each.name);
      }
      for (const UnplannedThread& each : news.unplanned) {
        unplanned_.push_back(each.name);
      }
    };
  }
  long planned(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return std::count(planned_.begin(), planned_.end(), name);
  }
  long unplanned(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return std::count(unplanned_.begin(), unplanned_.end(), name);
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::vector<std::string> planned_;
  std::vector<std::string> unplanned_;
};

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 20'000; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

ThreadPlan nice_plan() { return {{{"nice-5", {.nice = 5}}, {"nice-9", {.nice = 9}}}}; }

TEST(ThreadWatch, GivesThreadsThatExistWhatThePlanStates) {
  const Waiting thread("nice-5");
  const ThreadWatch watch({.plan = nice_plan(), .period = kNever});
  EXPECT_EQ(thread.nice(), 5);
}

TEST(ThreadWatch, CatchesAThreadThatAppearsLater) {
  News news;
  const ThreadWatch watch(
      {.plan = nice_plan(), .period = std::chrono::milliseconds(5), .on_news = news.listener()});
  const Waiting thread("nice-5");
  EXPECT_TRUE(eventually([&] { return thread.nice() == 5; }));
  EXPECT_TRUE(eventually([&] { return news.planned("nice-5") > 0; }));
}

TEST(ThreadWatch, TellsOfAThreadOnce) {
  News news;
  ThreadWatch watch({.plan = nice_plan(), .period = kNever, .on_news = news.listener()});
  const Waiting planned("nice-5");
  const Waiting unplanned("other");
  watch.check();
  watch.check();
  EXPECT_EQ(news.planned("nice-5"), 1);
  EXPECT_EQ(news.unplanned("other"), 1);
}

TEST(ThreadWatch, PutsAThreadRightThatWasChanged) {
  const Waiting thread("nice-5");
  News news;
  ThreadWatch watch({.plan = nice_plan(), .period = kNever, .on_news = news.listener()});
  apply_scheduling(thread.tid(), {.nice = 7});
  if (const auto reason = why_refused({.nice = -1})) {
    GTEST_SKIP() << "a nice value may only be raised: " << *reason;
  }
  watch.check();
  EXPECT_EQ(thread.nice(), 5);
}

TEST(ThreadWatch, FollowsANameThatChanges) {
  const Waiting thread("other");
  News news;
  ThreadWatch watch({.plan = nice_plan(), .period = kNever, .on_news = news.listener()});
  EXPECT_EQ(thread.nice(), 0);
  std::ofstream("/proc/self/task/" + std::to_string(thread.tid()) + "/comm") << "nice-9";
  watch.check();
  EXPECT_EQ(thread.nice(), 9);
  EXPECT_EQ(news.planned("nice-9"), 1);
}

TEST(ThreadWatch, LeavesAThreadAsItIsWhereTheRuleKeepsIt) {
  const Waiting thread("keep-me");
  apply_scheduling(thread.tid(), {.nice = 3});
  const ThreadWatch watch(
      {.plan = {{{.name = "keep-*", .keep = true}, {"*", {.nice = 8}}}}, .period = kNever});
  EXPECT_EQ(thread.nice(), 3);
  const ThreadPlanReport report = watch.report();
  EXPECT_THAT(report.unplanned, IsEmpty());
  EXPECT_TRUE(report.ok()) << testing::PrintToString(report.problems());
}

TEST(ThreadWatch, TellsOfAThreadOfUnknownOriginWhenItIsNotKnownTwice) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const test::RawThread thread;
  ASSERT_GT(thread.tid(), 0);
  ASSERT_TRUE(std::ofstream("/proc/self/task/" + std::to_string(thread.tid()) + "/comm") << "raw");
  News news;
  ThreadWatch watch({.plan = {{{.library = "libnobody.so", .keep = true}, {"*", {.nice = 15}}}},
                     .period = kNever,
                     .on_news = news.listener()});
  EXPECT_EQ(news.unplanned("raw"), 0);
  watch.check();
  EXPECT_EQ(news.unplanned("raw"), 1);
  watch.check();
  EXPECT_EQ(news.unplanned("raw"), 1);
  EXPECT_NE(read_scheduling(thread.tid())->nice, 15);
#endif
}

TEST(ThreadWatch, RefusesAPeriodBelowAMillisecond) {
  EXPECT_THAT([&] { ThreadWatch({.period = std::chrono::milliseconds(0)}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("ThreadWatch: the period must be at least 1 ms")));
}

TEST(ThreadWatch, EndsWhileThreadsComeAndGo) {
  std::atomic<bool> stop{false};
  Thread restless({.name = "restless"}, [&] {
    while (!stop) {
      Thread({.name = "nice-5"}, [] {}).join();
    }
  });
  for (int round = 0; round < 20; ++round) {
    ThreadWatch watch({.plan = nice_plan(), .period = std::chrono::milliseconds(1)});
    watch.check();
  }
  stop = true;
}

}  // namespace
}  // namespace rclrt::realtime

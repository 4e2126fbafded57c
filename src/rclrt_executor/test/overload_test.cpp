// SPDX-License-Identifier: Apache-2.0
// The treatment of releases while earlier ones have not run.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "all_executors.hpp"

namespace rclrt::executor::test {
namespace {

class OverloadPolicy : public KindTest {
 protected:
  /// Makes a callback with this policy, which adds the release time of each instance to
  /// `releases_`, and an executor that ends after `count` instances.
  void make_callback(Overload overload, std::size_t count, TestCallback::Body during = {}) {
    executor_ = make(GetParam(), on_one_cpu());
    CallbackOptions options = named("c", 1, 10);
    options.overload = overload;
    callback_ = std::make_shared<TestCallback>(options, [=, this](const InstanceInfo& info) {
      releases_.push_back(info.release_ns);
      if (during) {
        during(info);
      }
      if (releases_.size() == count) {
        executor_->cancel();
      }
    });
    executor_->add(callback_);
    executor_->prepare();
  }

  void expect_counters(std::uint64_t released, std::uint64_t completed) {
    EXPECT_EQ(callback_->counters().released, released);
    EXPECT_EQ(callback_->counters().completed, completed);
    EXPECT_EQ(callback_->counters().dropped, released - completed);
  }

  std::unique_ptr<Executor> executor_;
  std::shared_ptr<TestCallback> callback_;
  std::vector<std::int64_t> releases_;
};
INSTANTIATE_TEST_SUITE_P(, OverloadPolicy, ::testing::ValuesIn(kEventDriven), kind_name);

TEST_P(OverloadPolicy, KeepLastRunsOnceForABurstWithItsNewestRelease) {
  make_callback(Overload::kKeepLast, 1);
  for (std::int64_t release = 1; release <= 5; ++release) {
    callback_->release(release, release);
  }
  executor_->spin();
  EXPECT_EQ(releases_, (std::vector<std::int64_t>{5}));
  expect_counters(5, 1);
}

TEST_P(OverloadPolicy, KeepLastRunsOnceMoreForWhatCameWhileItRan) {
  make_callback(Overload::kKeepLast, 2, [&](const InstanceInfo& info) {
    if (info.release_ns == 1) {
      for (std::int64_t release = 2; release <= 4; ++release) {
        callback_->release(release, release);
      }
    }
  });
  callback_->release(1, 1);
  executor_->spin();
  EXPECT_EQ(releases_, (std::vector<std::int64_t>{1, 4}));
  expect_counters(4, 2);
}

TEST_P(OverloadPolicy, SkipIfRunningDropsWhatComesWhileItWaitsOrRuns) {
  make_callback(Overload::kSkipIfRunning, 2, [&](const InstanceInfo& info) {
    if (info.release_ns == 1) {
      callback_->release(3, 3);
    }
  });
  callback_->release(1, 1);
  callback_->release(2, 2);
  // The next one after the first has ended.
  std::thread later([&] {
    while (callback_->counters().completed == 0) {
      std::this_thread::yield();
    }
    while (callback_->counters().completed < 2) {
      callback_->release(4, 4);  // refused until the credit is back
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  executor_->spin();
  later.join();
  EXPECT_EQ(releases_, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(callback_->counters().completed, 2U);
  EXPECT_GE(callback_->counters().dropped, 2U);
}

TEST_P(OverloadPolicy, KeepLastNeverRunsForAnOlderReleaseThanBefore) {
  auto options = on_one_cpu();
  options.cpus = {};
  auto executor = make(GetParam(), options);
  CallbackOptions kept = named("c", 1);
  kept.overload = Overload::kKeepLast;
  std::int64_t latest = 0;
  int backwards = 0;
  std::atomic<int> runs{0};
  const auto callback = std::make_shared<TestCallback>(kept, [&](const InstanceInfo& info) {
    backwards += info.release_ns <= latest ? 1 : 0;
    latest = info.release_ns;
    ++runs;
  });
  executor->add(callback);
  executor->prepare();
  std::thread releaser([&] {
    for (std::int64_t release = 1; runs < 5'000; ++release) {
      callback->release(release, release);
    }
    executor->cancel();
  });
  executor->spin();
  releaser.join();
  EXPECT_EQ(backwards, 0);
}

TEST_P(OverloadPolicy, QueueRunsEachReleaseInOrder) {
  make_callback(Overload::kQueue, 4);
  for (std::int64_t release = 1; release <= 4; ++release) {
    callback_->release(release, release);
  }
  executor_->spin();
  const bool starts_threads = GetParam() == "thread_dispatch";
  if (starts_threads && !executor_->realtime() && !executor_->runs_to_completion()) {
    // This executor gives each instance a thread: at normal priority the kernel chooses which
    // starts first.
    std::sort(releases_.begin(), releases_.end());
  }
  EXPECT_EQ(releases_, (std::vector<std::int64_t>{1, 2, 3, 4}));
  expect_counters(4, 4);
}

TEST_P(OverloadPolicy, ATimerThatKeepsTheLastRunsForTheNewestReleaseAfterALongCallback) {
  auto executor = make(GetParam(), on_one_cpu());
  CallbackOptions options = timer_named("t", 1);
  options.overload = Overload::kKeepLast;
  std::vector<std::int64_t> releases;
  const auto timer = std::make_shared<TestTimer>(options, TimerOptions{.period_ns = 1'000'000},
                                                 [&](const InstanceInfo& info) {
                                                   releases.push_back(info.release_ns);
                                                   if (releases.size() == 1) {
                                                     busy_for(10'000'000);
                                                   } else {
                                                     executor->cancel();
                                                   }
                                                 });
  executor->add(timer);
  executor->spin();
  ASSERT_GE(releases.size(), 2U);
  EXPECT_GE(releases[1] - releases[0], 9'000'000);
  const Counters counters = timer->counters();
  EXPECT_GE(counters.dropped, 8U);
  EXPECT_EQ((releases[1] - releases[0]) % 1'000'000, 0) << "it is a release of the grid";
}

}  // namespace
}  // namespace rclrt::executor::test

// SPDX-License-Identifier: Apache-2.0
// Stalls are reported under every executor: instances that wait for threads which wait themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

using namespace std::chrono_literals;

class Told : public StallHandler {
 public:
  void stalled(const Stall& stall) noexcept override {
    const std::scoped_lock lock(mutex_);
    stalls_.push_back(stall);
  }
  std::vector<Stall> all() const {
    const std::scoped_lock lock(mutex_);
    return stalls_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Stall> stalls_;
};

/// One thread, or one for each level, without spare threads.
ExecutorOptions without_a_free_worker(std::string_view kind, Told& told) {
  ExecutorOptions options = on_one_cpu();
  options.on_stall = &told;
  options.stall_period = 20ms;
  options.workers_per_level = kind == "per_group" ? 0 : 1;
  options.spare_workers = 0;
  if (kind == "thread_dispatch") {
    options.preemption = Preemption::kNever;  // otherwise each instance has a thread
  }
  return options;
}

CallbackOptions of_type(EntityType type, CallbackOptions options) {
  options.type = type;
  return options;
}

class Stalls : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, Stalls, ::testing::ValuesIn(executor_names()), kind_name);

/// The callback of `service` waits for `inner`, in steps of `wait`. The request of `inner` is
/// queued behind it.
void expect_told(std::string_view kind, std::chrono::milliseconds wait) {
  Told told;
  const auto options = without_a_free_worker(kind, told);
  FakeReadiness* readiness = nullptr;
  const auto executor = make(kind, options, &readiness);
  const auto group = std::make_shared<Group>(GroupType::kReentrant);
  const auto inner = std::make_shared<TestCallback>(
      of_type(EntityType::kService, named("inner", 0, 10, group)), [](const InstanceInfo&) {});
  std::shared_ptr<TestCallback> outer;
  const auto arrive = [&](TestCallback& callback) {
    readiness != nullptr ? readiness->add_message(callback) : callback.release_now();
  };
  outer = std::make_shared<TestCallback>(
      of_type(EntityType::kService, named("outer", 0, 10, group)), [&](const InstanceInfo&) {
        if (readiness != nullptr) {
          readiness->take_message(*outer);
        }
        arrive(*inner);
        const auto until = std::chrono::steady_clock::now() + wait;
        while (told.all().empty() && std::chrono::steady_clock::now() < until) {
          std::this_thread::sleep_for(5ms);  // as a thread that polls a future
        }
        if (told.all().empty()) {
          arrive(*outer);
        } else {
          executor->cancel();
        }
      });
  executor->add(outer);
  executor->add(inner);
  executor->prepare();
  arrive(*outer);
  executor->spin();
  const auto stalls = told.all();
  ASSERT_EQ(stalls.size(), 1U) << "once";
  EXPECT_EQ(stalls[0].cause, Stall::Cause::kWorkers);
  EXPECT_EQ(stalls[0].waiting, std::vector<std::string>{"outer"});
  if (readiness == nullptr) {  // wait_set, to which waiting instances are not announced
    EXPECT_NE(std::ranges::find(stalls[0].queued, "inner"), stalls[0].queued.end())
        << explanation(stalls[0]);
    EXPECT_NE(summary(stalls[0]).find(": every worker waits, "), std::string::npos)
        << summary(stalls[0]);
  }
}

TEST_P(Stalls, ARequestThatWaitsBehindTheCallbackThatWaitsForItIsTold) {
  expect_told(GetParam(), 60s);
}

TEST_P(Stalls, SoAreShortWaitsThatComeAgainAndAgain) { expect_told(GetParam(), 40ms); }

TEST(StallsOfGroups, AResponseThatWaitsForAMemberOfItsExclusiveGroupIsTold) {
  Told told;
  ExecutorOptions options;
  options.name = "robot";
  options.on_stall = &told;
  options.stall_period = 20ms;
  PreemptiveExecutor executor(options);
  const auto group = std::make_shared<Group>();
  const auto response = std::make_shared<TestCallback>(
      of_type(EntityType::kClient, named("client", 3, 10, group)), [](const InstanceInfo&) {});
  const auto waits =
      std::make_shared<TestCallback>(named("waits", 1, 10, group), [&](const InstanceInfo&) {
        response->release_now();
        eventually([&] { return !told.all().empty(); });
        executor.cancel();
      });
  executor.add(response);
  executor.add(waits);
  executor.prepare();
  waits->release_now();
  executor.spin();
  ASSERT_EQ(told.all().size(), 1U);
  const Stall stall = told.all()[0];
  EXPECT_EQ(stall.cause, Stall::Cause::kGroup);
  EXPECT_EQ(explanation(stall).substr(0, 52),
            "executor \"robot\": 'client' waits for 'waits', which ");
  EXPECT_NE(explanation(stall).find("put the client into a callback group of its own"),
            std::string::npos);
}

TEST(StallsOfGroups, NeitherACallbackThatComputesNorOneWithAFreeWorkerIsTold) {
  Told told;
  ExecutorOptions options = on_one_cpu();
  options.on_stall = &told;
  options.workers_per_level = 2;
  options.stall_period = 10ms;
  PreemptiveExecutor executor(options);
  std::atomic<bool> stop{false};
  const auto sleeps = std::make_shared<TestCallback>(named("sleeps", 1), [&](const InstanceInfo&) {
    while (!stop) {
      std::this_thread::sleep_for(1ms);
    }
    executor.cancel();
  });
  const auto computes = std::make_shared<TestCallback>(
      named("computes", 1, 100), [](const InstanceInfo&) { busy_for(5'000'000); });
  executor.add(sleeps);
  executor.add(computes);
  executor.prepare();
  sleeps->release_now();
  for (int i = 0; i < 100; ++i) {
    computes->release_now();
  }
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return computes->counters().completed == 100; }));
  EXPECT_TRUE(told.all().empty());
  EXPECT_TRUE(executor.stalls().empty());
  stop = true;
}

}  // namespace
}  // namespace rclrt::executor::test

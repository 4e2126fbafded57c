// SPDX-License-Identifier: Apache-2.0
// Deadlines of callbacks: the counters, the handler's reports, and the culprits that they name.
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

constexpr std::int64_t kHour_ns = 3'600'000'000'000;

class Misses : public MissHandler {
 public:
  void missed(const DeadlineMiss& miss) noexcept RCLRT_NONBLOCKING override {
    RCLRT_TRUST("what a test keeps may allocate", keep(miss));
  }
  std::vector<DeadlineMiss> all() const {
    const std::scoped_lock lock(mutex_);
    return all_;
  }
  std::thread::id thread() const { return thread_; }

 private:
  void keep(const DeadlineMiss& miss) {
    const std::scoped_lock lock(mutex_);
    all_.push_back(miss);
    thread_ = std::this_thread::get_id();
  }

  mutable realtime::PiMutex mutex_;
  std::vector<DeadlineMiss> all_;
  std::thread::id thread_;
};

CallbackOptions with_deadline(CallbackOptions options, std::int64_t deadline_ns) {
  options.deadline_ns = deadline_ns;
  return options;
}

CallbackOptions once(std::string name, int level) { return timer_named(std::move(name), level); }

std::string names(const DeadlineMiss& miss) {
  std::string result;
  for (const Culprit& one : miss.blame.listed()) {
    result += std::string(one.callback) + ":" + to_string(one.reason) + " ";
  }
  return result;
}

const Culprit* find(const DeadlineMiss& miss, std::string_view callback) {
  for (const Culprit& one : miss.blame.listed()) {
    if (one.callback == callback) {
      return &one;
    }
  }
  return nullptr;
}

/// One release in an hour, `offset_ns` after the start.
auto timer(CallbackOptions options, std::int64_t offset_ns, TestCallback::Body body) {
  return std::make_shared<TestTimer>(std::move(options),
                                     TimerOptions{.period_ns = kHour_ns, .offset_ns = offset_ns},
                                     std::move(body));
}

class Deadlines : public KindTest {
 protected:
  ExecutorOptions with_handler() {
    auto options = on_one_cpu();
    options.on_miss = &misses;
    return options;
  }
  Misses misses;
};
INSTANTIATE_TEST_SUITE_P(, Deadlines, ::testing::ValuesIn(executor_names()), kind_name);

TEST_P(Deadlines, AnInstanceThatEndsAfterItsDeadlineIsAMissAndTheHandlerIsToldOnItsThread) {
  auto executor = make(GetParam(), with_handler());
  std::thread::id ran_on;
  const auto late =
      timer(with_deadline(once("late", 1), 100'000), 0, [&](const InstanceInfo& info) {
        ran_on = std::this_thread::get_id();
        busy_until([&] { return realtime::monotonic_now_ns() > info.release_ns + 200'000; });
        executor->cancel();
      });
  executor->add(late);
  executor->spin();
  EXPECT_EQ(late->counters().missed, 1U);
  const auto all = misses.all();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(misses.thread(), ran_on);
  EXPECT_EQ(all[0].callback, late.get());
  EXPECT_EQ(all[0].deadline_ns, 100'000);
  EXPECT_GT(all[0].late_ns(), 100'000);
  EXPECT_EQ(all[0].dropped, 0U);
  const Blame& blame = all[0].blame;
  EXPECT_EQ(blame.execution_ns + blame.delayed_ns + blame.transit_ns + blame.unexplained_ns,
            all[0].end_ns - all[0].info.release_ns);
}

/// A timer with data that is an hour old when it begins, like a message that was sent an hour ago.
class OldData final : public TestTimer {
 public:
  using TestTimer::TestTimer;

 private:
  Outcome run(InstanceInfo& info) override {
    info.since_ns = info.release_ns - kHour_ns;
    return TestTimer::run(info);
  }
};

TEST_P(Deadlines, CountFromWhatTheEntitySays) {
  auto executor = make(GetParam(), with_handler());
  int ended = 0;
  const auto count = [&](const InstanceInfo&) {
    if (++ended == 2) {
      executor->cancel();
    }
  };
  const TimerOptions once_an_hour{.period_ns = kHour_ns};
  const auto late =
      std::make_shared<OldData>(with_deadline(once("late", 2), kHour_ns), once_an_hour, count);
  const auto in_time = std::make_shared<OldData>(with_deadline(once("in time", 1), 2 * kHour_ns),
                                                 once_an_hour, count);
  executor->add(late);
  executor->add(in_time);
  executor->spin();
  EXPECT_EQ(late->counters().missed, 1U);
  EXPECT_EQ(in_time->counters().missed, 0U);
  const auto all = misses.all();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].late_ns(), all[0].end_ns - all[0].info.release_ns);
  const Blame& blame = all[0].blame;
  EXPECT_EQ(blame.transit_ns, kHour_ns);
  EXPECT_EQ(blame.execution_ns + blame.delayed_ns + blame.transit_ns + blame.unexplained_ns,
            all[0].end_ns - all[0].info.since_ns);
}

TEST_P(Deadlines, AnInstanceInTimeAndOneWithoutADeadlineAreNoMisses) {
  auto executor = make(GetParam(), with_handler());
  const auto in_time = timer(with_deadline(once("in time", 2), kHour_ns), 0,
                             [](const InstanceInfo&) { busy_for(100'000); });
  const auto without = timer(once("without", 1), 1'000'000, [&](const InstanceInfo&) {
    busy_for(100'000);
    executor->cancel();
  });
  executor->add(in_time);
  executor->add(without);
  executor->spin();
  EXPECT_EQ(in_time->counters().missed + without->counters().missed, 0U);
  EXPECT_EQ(misses.all().size(), 0U);
}

TEST_P(Deadlines, MissesAreCountedWithoutAHandler) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto late =
      timer(with_deadline(once("late", 1), 1), 0, [&](const InstanceInfo&) { executor->cancel(); });
  executor->add(late);
  executor->spin();
  EXPECT_EQ(late->counters().missed, 1U);
}

TEST_P(Deadlines, WhoRanBeforeTheLateOneIsNamed) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  if (!has_levels(GetParam())) {
    GTEST_SKIP() << "what is due first goes first, whatever its level";
  }
  auto executor = make(GetParam(), with_handler());
  // The more urgent one is released first and is busy past the release and deadline of the other.
  executor->add(timer(once("burner", 9), 0, [&](const InstanceInfo& info) {
    busy_until([&] { return realtime::monotonic_now_ns() > info.release_ns + 4'000'000; });
  }));
  executor->add(timer(with_deadline(once("late", 5), 1'000'000), 1'000'000,
                      [&](const InstanceInfo&) { executor->cancel(); }));
  executor->spin();
  const auto all = misses.all();
  ASSERT_EQ(all.size(), 1U);
  const Culprit* const burner = find(all[0], "burner");
  ASSERT_NE(burner, nullptr) << names(all[0]);
  EXPECT_EQ(burner->reason, Reason::kMoreUrgent);
  EXPECT_EQ(burner->level, 9);
  EXPECT_GE(all[0].blame.waiting_ns, burner->time_ns);
  EXPECT_EQ(all[0].blame.preempted_ns, 0);
}

/// The executors to which ready work is announced. wait_set is not one of them: it would release
/// only the timers.
class PreemptiveDeadlines : public Deadlines {};
INSTANTIATE_TEST_SUITE_P(, PreemptiveDeadlines, ::testing::ValuesIn(kEventDriven), kind_name);

TEST_P(PreemptiveDeadlines, WhoPreemptedTheLateOneIsNamedAndWhoWasPreemptedByItIsNot) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  if (!has_levels(GetParam())) {
    GTEST_SKIP() << "what is due first goes first, whatever its level";
  }
  auto executor = make(GetParam(), with_handler());
  std::shared_ptr<TestCallback> late;
  const auto preempts = std::make_shared<TestCallback>(
      named("preempts", 9), [](const InstanceInfo&) { busy_for(3'000'000); });
  const auto low = std::make_shared<TestCallback>(named("low", 1), [&](const InstanceInfo&) {
    late->release_now();
    executor->cancel();
  });
  late = std::make_shared<TestCallback>(with_deadline(named("late", 5), 2'000'000),
                                        [&](const InstanceInfo&) { preempts->release_now(); });
  for (const auto& each : {late, low, preempts}) {
    executor->add(each);
  }
  executor->prepare();
  low->release_now();
  executor->spin();
  const auto all = misses.all();
  ASSERT_EQ(all.size(), 1U);
  const Culprit* const culprit = find(all[0], "preempts");
  ASSERT_NE(culprit, nullptr) << names(all[0]);
  EXPECT_GE(culprit->time_ns, 2'000'000);
  EXPECT_GE(all[0].blame.preempted_ns, culprit->time_ns);
}

TEST(EdfDeadlines, WhoPreemptedTheLateOneIsNamedAndWhoWasPreemptedByItIsNot) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  // If the machine takes the CPU away between the two releases, the second one may be less urgent.
  // There is no preemption to report then, so the test repeats.
  for (bool preempted = false; !preempted;) {
    Misses misses;
    auto options = on_one_cpu();
    options.on_miss = &misses;
    EdfExecutor executor(options);
    std::shared_ptr<TestCallback> late;
    std::int64_t late_until_ns = 0;
    std::int64_t preempts_until_ns = 0;
    const auto preempts = std::make_shared<TestCallback>(
        with_deadline(named("preempts"), 1'000'000), [&](const InstanceInfo& info) {
          preempts_until_ns = info.release_ns + 1'000'000;
          busy_for(15'000'000);
        });
    const auto low = std::make_shared<TestCallback>(named("low"), [&](const InstanceInfo&) {
      late->release_now();
      executor.cancel();
    });
    late = std::make_shared<TestCallback>(with_deadline(named("late"), 10'000'000),
                                          [&](const InstanceInfo& info) {
                                            late_until_ns = info.release_ns + 10'000'000;
                                            preempts->release_now();
                                          });
    for (const auto& each : {late, low, preempts}) {
      executor.add(each);
    }
    executor.prepare();
    low->release_now();
    executor.spin();
    preempted = preempts_until_ns != 0 && preempts_until_ns < late_until_ns;
    if (!preempted) {
      continue;
    }
    const auto all = misses.all();
    ASSERT_EQ(all.size(), 2U) << "the other is late, too, and ends first";
    const Culprit* const culprit = find(all[1], "preempts");
    ASSERT_NE(culprit, nullptr) << names(all[1]);
    EXPECT_GE(culprit->time_ns, 10'000'000);
    EXPECT_GE(all[1].blame.preempted_ns, culprit->time_ns);
  }
}

TEST_P(PreemptiveDeadlines, ALessUrgentMemberOfItsGroupIsMarkedAsBlocking) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto executor = make(GetParam(), with_handler());
  const auto group = std::make_shared<Group>();
  const auto late =
      std::make_shared<TestCallback>(with_deadline(named("late", 5, 10, group), 1'000'000),
                                     [&](const InstanceInfo&) { executor->cancel(); });
  const auto member =
      std::make_shared<TestCallback>(named("member", 1, 10, group), [&](const InstanceInfo&) {
        late->release_now();
        busy_for(3'000'000);
      });
  executor->add(late);
  executor->add(member);
  executor->prepare();
  member->release_now();
  executor->spin();
  const auto all = misses.all();
  ASSERT_EQ(all.size(), 1U);
  const Culprit* const culprit = find(all[0], "member");
  ASSERT_NE(culprit, nullptr) << names(all[0]);
  EXPECT_EQ(culprit->reason, Reason::kGroup);
}

TEST(WaitSetDeadlines, ALessUrgentCallbackThatNothingPreemptsIsAnInversion) {
  Misses misses;
  auto options = on_one_cpu();
  options.on_miss = &misses;
  WaitSetExecutor executor(options, std::make_unique<FakeReadiness>());
  executor.add(timer(once("low", 1), 0, [](const InstanceInfo& info) {
    busy_until([&] { return realtime::monotonic_now_ns() > info.release_ns + 4'000'000; });
  }));
  executor.add(timer(with_deadline(once("late", 5), 1'000'000), 1'000'000,
                     [&](const InstanceInfo&) { executor.cancel(); }));
  executor.spin();
  const auto all = misses.all();
  ASSERT_EQ(all.size(), 1U);
  ASSERT_NE(find(all[0], "low"), nullptr) << names(all[0]);
  EXPECT_EQ(find(all[0], "low")->reason, Reason::kLessUrgent);
}

TEST_P(PreemptiveDeadlines, ADroppedReleaseIsAMissThatTheNextInstanceTellsOf) {
  auto executor = make(GetParam(), with_handler());
  const auto callback = std::make_shared<TestCallback>(with_deadline(named("c", 1, 2), kHour_ns),
                                                       [&](const InstanceInfo&) {});
  const auto last = std::make_shared<TestCallback>(
      named("last", 0), [&](const InstanceInfo&) { executor->cancel(); });
  executor->add(callback);
  executor->add(last);
  executor->prepare();
  for (int i = 0; i < 5; ++i) {
    callback->release_now();
  }
  Spinning spin(*executor);
  ASSERT_TRUE(eventually([&] { return callback->counters().completed == 2; }));
  EXPECT_EQ(callback->counters().missed, 3U);
  const auto all = misses.all();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].dropped, 3U);
  EXPECT_LE(all[0].late_ns(), 0);
}

TEST_P(PreemptiveDeadlines, MissesOnAllThreadsAtOnceAreAllTold) {
  auto options = with_handler();
  options.cpus = {};
  options.workers_per_level = 2;
  auto executor = make(GetParam(), options);
  constexpr std::uint64_t kEach = 200;
  std::vector<std::shared_ptr<TestCallback>> all;
  for (int level = 0; level < 4; ++level) {
    all.push_back(std::make_shared<TestCallback>(
        with_deadline(named("c" + std::to_string(level), level, kEach), 1),
        [](const InstanceInfo&) {}));
    executor->add(all.back());
  }
  executor->prepare();
  Spinning spin(*executor);
  std::uint64_t released = 0;
  while (released < kEach) {
    for (const auto& each : all) {
      each->release_now();
    }
    ++released;
  }
  ASSERT_TRUE(eventually([&] {
    std::uint64_t completed = 0;
    for (const auto& each : all) {
      completed += each->counters().completed + each->counters().dropped;
    }
    return completed == 4 * kEach;
  }));
  for (const auto& each : all) {
    EXPECT_EQ(each->counters().missed, kEach);
  }
  EXPECT_EQ(misses.all().size(), 4 * kEach)
      << "a miss is reported before its instance counts as completed";
}

}  // namespace
}  // namespace rclrt::executor::test

// SPDX-License-Identifier: Apache-2.0
// The contract of every executor on preparing, spinning, cancelling and failing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "all_executors.hpp"
#include "rclrt/realtime/thread_plan.hpp"

namespace rclrt::executor::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class LifeCycle : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, LifeCycle, ::testing::ValuesIn(executor_names()), kind_name);

/// Releases every 0.1 ms, so that each kind of executor gets work.
auto ticking(TestCallback::Body body) {
  return std::make_shared<TestTimer>(timer_named("tick"), TimerOptions{.period_ns = 100'000},
                                     std::move(body));
}

TEST_P(LifeCycle, SpinReturnsWhenACallbackCancels) {
  auto executor = make(GetParam(), on_one_cpu());
  int runs = 0;
  executor->add(ticking([&](const InstanceInfo&) {
    if (++runs == 3) {
      executor->cancel();
    }
  }));
  executor->spin();
  EXPECT_GE(runs, 3);
}

TEST_P(LifeCycle, ACancelFromAnotherThreadEndsSpin) {
  auto executor = make(GetParam(), on_one_cpu());
  std::atomic<bool> ran{false};
  executor->add(ticking([&](const InstanceInfo&) { ran = true; }));
  std::thread canceller([&] {
    while (!ran) {
      std::this_thread::yield();
    }
    executor->cancel();
  });
  executor->spin();
  canceller.join();
}

TEST_P(LifeCycle, ACancelBeforeSpinIsNotLost) {
  auto executor = make(GetParam(), on_one_cpu());
  executor->add(ticking([](const InstanceInfo&) {}));
  executor->cancel();
  executor->spin();  // hangs when the cancel is lost
}

TEST_P(LifeCycle, SpinWorksAgainAfterACancel) {
  auto executor = make(GetParam(), on_one_cpu());
  int runs = 0;
  executor->add(ticking([&](const InstanceInfo&) {
    ++runs;
    executor->cancel();
  }));
  executor->spin();
  const int first = runs;
  executor->spin();
  EXPECT_GT(runs, first);
}

TEST_P(LifeCycle, AnExceptionInACallbackStopsSpinAndIsRethrown) {
  auto executor = make(GetParam(), on_one_cpu());
  executor->add(ticking([](const InstanceInfo&) { throw std::runtime_error("from user code"); }));
  try {
    executor->spin();
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "from user code");
  }
}

TEST_P(LifeCycle, AnExecutorWithoutCallbacksSpinsUntilCancelled) {
  auto executor = make(GetParam(), on_one_cpu());
  executor->prepare();
  std::thread canceller([&] { executor->cancel(); });
  executor->spin();
  canceller.join();
}

TEST_P(LifeCycle, ACallbackInTwoExecutorsIsRefused) {
  auto first = make(GetParam(), on_one_cpu());
  auto second = make(GetParam(), on_one_cpu());
  const auto callback = ticking({});
  first->add(callback);
  EXPECT_THAT([&] { first->add(callback); },
              ThrowsMessage<std::logic_error>(HasSubstr("is already in executor \"test\"")));
  second->add(callback);
  first->prepare();
  EXPECT_THAT([&] { second->prepare(); },
              ThrowsMessage<std::logic_error>(HasSubstr("is already in executor \"test\"")));
}

TEST_P(LifeCycle, ASpinWithinASpinIsRefused) {
  auto executor = make(GetParam(), on_one_cpu());
  executor->add(ticking([&](const InstanceInfo&) { executor->spin(); }));
  EXPECT_THAT([&] { executor->spin(); },
              ThrowsMessage<std::logic_error>(HasSubstr("executor \"test\" is spinning already")));
}

TEST_P(LifeCycle, AClosedExecutorNeverSpinsAgain) {
  auto executor = make(GetParam(), on_one_cpu());
  executor->add(ticking([&](const InstanceInfo&) { executor->close(); }));
  executor->spin();
  executor->spin();  // hangs when it spins
}

TEST_P(LifeCycle, AGroupServesOneExecutorAfterAnotherButNotTwoAtOnce) {
  const auto group = std::make_shared<Group>();
  std::vector<std::shared_ptr<TestTimer>> members;
  std::unique_ptr<Executor> executor;
  for (const int level : {0, 3}) {
    auto options = timer_named("t" + std::to_string(level), level);
    options.group = group;
    members.push_back(
        std::make_shared<TestTimer>(options, TimerOptions{.period_ns = 100'000},
                                    [&](const InstanceInfo&) { executor->cancel(); }));
  }
  for (const Realtime realtime : {Realtime::kTry, Realtime::kOff, Realtime::kTry}) {
    auto options = on_one_cpu();
    options.realtime = realtime;
    executor = make(GetParam(), options);
    for (const auto& member : members) {
      executor->add(member);
    }
    executor->spin();
    auto other = make(GetParam(), options);
    auto third = timer_named("third");
    third.group = group;
    other->add(std::make_shared<TestTimer>(third, TimerOptions{.period_ns = 100'000},
                                           [](const InstanceInfo&) {}));
    EXPECT_THAT([&] { other->prepare(); },
                ThrowsMessage<std::logic_error>(
                    HasSubstr("the group of callback \"third\" is used in another executor")));
    executor.reset();
  }
}

TEST_P(LifeCycle, ACpuThatDoesNotExistIsRefusedInPrepare) {
  auto options = on_one_cpu();
  options.cpus = {100'000};
  auto executor = make(GetParam(), options);
  EXPECT_THAT(
      [&] { executor->prepare(); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("CPU 100000 cannot be used by this process")));
}

TEST_P(LifeCycle, AGroupBelowTheMostUrgentLevelRuns) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto group = std::make_shared<Group>();
  std::atomic<int> members{0};
  for (const int level : {0, 1, 5}) {
    auto options = timer_named("t" + std::to_string(level), level);
    options.group = level < 5 ? group : nullptr;
    executor->add(std::make_shared<TestTimer>(options, TimerOptions{.period_ns = 500'000},
                                              [&, level](const InstanceInfo&) {
                                                if (level < 5 && ++members == 4) {
                                                  executor->cancel();
                                                }
                                              }));
  }
  executor->spin();
  EXPECT_GE(members.load(), 4);
}

TEST_P(LifeCycle, RealTimeSwitchedOffRunsAtNormalPriorityAndSaysSo) {
  auto options = on_one_cpu();
  options.realtime = Realtime::kOff;
  auto executor = make(GetParam(), options);
  realtime::Scheduling scheduling{realtime::Policy::kFifo, 1, {}};
  executor->add(ticking([&](const InstanceInfo&) {
    scheduling = *realtime::read_scheduling(0);
    executor->cancel();
  }));
  executor->spin();
  EXPECT_FALSE(executor->realtime());
  EXPECT_EQ(executor->realtime_reason(), "switched off");
  EXPECT_EQ(scheduling.policy, realtime::Policy::kOther);
}

TEST_P(LifeCycle, TimersReleaseOnTheGridOfTheEpoch) {
  auto options = on_one_cpu();
  const std::int64_t epoch_ns = realtime::monotonic_now_ns() + 1'000'000;
  options.epoch = [epoch_ns] { return epoch_ns; };
  auto executor = make(GetParam(), options);
  std::vector<std::int64_t> releases;
  executor->add(std::make_shared<TestTimer>(timer_named("t"),
                                            TimerOptions{.period_ns = 200'000, .offset_ns = 50'000},
                                            [&](const InstanceInfo& info) {
                                              EXPECT_GE(info.start_ns, info.release_ns);
                                              releases.push_back(info.release_ns - epoch_ns);
                                              if (releases.size() == 5) {
                                                executor->cancel();
                                              }
                                            }));
  executor->spin();
  for (const std::int64_t release : releases) {
    EXPECT_GE(release, 50'000);
    EXPECT_EQ((release - 50'000) % 200'000, 0);
  }
}

TEST_P(LifeCycle, TheEpochIsAskedForOnceItsThreadsExistAndBeforeAnyWorkIsTaken) {
  auto options = on_one_cpu();
  std::size_t threads = 0;
  std::atomic<int> runs{0};
  int runs_before = -1;
  int calls = 0;
  std::int64_t epoch_ns = 0;
  const realtime::ThreadsBefore before;
  options.epoch = [&] {
    ++calls;
    threads = before.new_threads().size();
    runs_before = runs.load();
    return epoch_ns = realtime::monotonic_now_ns();
  };
  auto executor = make(GetParam(), options);
  const auto timer = ticking([&](const InstanceInfo&) {
    ++runs;
    executor->cancel();
  });
  executor->add(timer);
  executor->spin();
  EXPECT_GE(threads, 1U);
  EXPECT_EQ(runs_before, 0);
  EXPECT_EQ(executor->epoch_ns(), epoch_ns);
  executor->spin();
  EXPECT_EQ(calls, 1);
}

TEST_P(LifeCycle, ACancelWhileTheEpochIsAwaitedEndsSpinBeforeAnythingRan) {
  auto options = on_one_cpu();
  std::unique_ptr<Executor> executor;
  options.epoch = [&] {
    executor->cancel();
    return realtime::monotonic_now_ns() + 1'000'000'000'000;
  };
  executor = make(GetParam(), options);
  int runs = 0;
  executor->add(ticking([&](const InstanceInfo&) { ++runs; }));
  executor->spin();
  EXPECT_EQ(runs, 0);
}

TEST_P(LifeCycle, AnEpochThatThrowsEndsSpinAndIsAskedForAgain) {
  auto options = on_one_cpu();
  int calls = 0;
  options.epoch = [&] {
    if (++calls == 1) {
      throw std::runtime_error("not yet");
    }
    return realtime::monotonic_now_ns();
  };
  auto executor = make(GetParam(), options);
  int runs = 0;
  executor->add(ticking([&](const InstanceInfo&) {
    ++runs;
    executor->cancel();
  }));
  EXPECT_THAT([&] { executor->spin(); }, ThrowsMessage<std::runtime_error>("not yet"));
  EXPECT_EQ(runs, 0);
  executor->spin();
  EXPECT_GE(runs, 1);
}

TEST_P(LifeCycle, TimersCountFromTheFirstSpinHoweverLongAgoPrepareWas) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto timer =
      std::make_shared<TestTimer>(timer_named("t"), TimerOptions{.period_ns = 100'000},
                                  [&](const InstanceInfo&) { executor->cancel(); });
  executor->add(timer);
  executor->prepare();
  const std::int64_t prepared = realtime::monotonic_now_ns();
  while (realtime::monotonic_now_ns() < prepared + 5'000'000) {  // 50 periods
  }
  const std::int64_t before_spin = realtime::monotonic_now_ns();
  executor->spin();
  EXPECT_GE(executor->epoch_ns(), before_spin);
}

TEST_P(LifeCycle, ItsThreadsHaveTheStatedCpuAndPriority) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto executor = make(GetParam(), on_one_cpu());
  realtime::Scheduling found;
  executor->add(ticking([&](const InstanceInfo&) {
    found = *realtime::read_scheduling(0);
    executor->cancel();
  }));
  executor->spin();
  EXPECT_EQ(found, (realtime::Scheduling{
                       realtime::Policy::kFifo, 94, {realtime::allowed_cpus().front()}}));
}

TEST_P(LifeCycle, TheSinkReceivesEveryInstanceWithItsTimes) {
  struct Sink : InstanceSink {
    std::vector<InstanceRecord> records = std::vector<InstanceRecord>(100);
    std::size_t count = 0;
    void record(const InstanceRecord& record) noexcept RCLRT_NONBLOCKING override {
      if (count < records.size()) {
        records[count] = record;
      }
      ++count;
    }
  } sink;
  auto executor = make(GetParam(), on_one_cpu(&sink));
  int runs = 0;
  const auto timer = ticking([&](const InstanceInfo& info) {
    EXPECT_EQ(current_instance(), &info);
    if (++runs == 5) {
      executor->cancel();
    }
  });
  executor->add(timer);
  executor->spin();
  EXPECT_EQ(current_instance(), nullptr);
  ASSERT_EQ(sink.count, timer->counters().completed);
  ASSERT_LE(sink.count, sink.records.size());
  sink.records.resize(sink.count);
  for (const InstanceRecord& record : sink.records) {
    EXPECT_EQ(record.callback, timer.get());
    EXPECT_EQ(record.outcome, Outcome::kRan);
    EXPECT_LE(record.info.ready_ns, record.info.start_ns);
    EXPECT_LE(record.info.start_ns, record.end_ns);
    EXPECT_GT(record.cpu_ns, 0);
  }
}

TEST_P(LifeCycle, TheSinkReceivesTheCpusOnWhichAnInstanceBeganAndEnded) {
  const std::vector<int> allowed = realtime::allowed_cpus();
  if (allowed.size() < 2) {
    GTEST_SKIP() << "needs two CPUs";
  }
  struct Sink : InstanceSink {
    InstanceRecord first;
    int count = 0;
    void record(const InstanceRecord& record) noexcept RCLRT_NONBLOCKING override {
      first = count++ == 0 ? record : first;
    }
  } sink;
  const auto move_to = [](int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(static_cast<std::size_t>(cpu), &cpus);
    return sched_setaffinity(0, sizeof cpus, &cpus);
  };
  auto executor = make(GetParam(), on_one_cpu(&sink));
  int before = -1;
  executor->add(ticking([&](const InstanceInfo&) {
    before = sched_getcpu();
    EXPECT_EQ(move_to(before == allowed[0] ? allowed[1] : allowed[0]), 0);
    executor->cancel();
  }));
  std::thread([&] { executor->spin(); }).join();  // the mask of the test's own thread stays
  ASSERT_GE(sink.count, 1);
  EXPECT_EQ(sink.first.start_cpu, before);
  EXPECT_EQ(sink.first.end_cpu, before == allowed[0] ? allowed[1] : allowed[0]);
}

}  // namespace
}  // namespace rclrt::executor::test

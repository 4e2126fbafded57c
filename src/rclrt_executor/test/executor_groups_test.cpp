// SPDX-License-Identifier: Apache-2.0
// Callbacks that exclude each other, under every executor to which ready work is announced.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "all_executors.hpp"

namespace rclrt::executor::test {
namespace {

class Groups : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, Groups, ::testing::ValuesIn(kEventDriven), kind_name);

TEST_P(Groups, MembersOfAGroupNeverOverlapAcrossLevelsAndCpus) {
  auto options = on_one_cpu();
  options.cpus = {};  // all of them
  options.workers_per_level = 2;
  auto executor = make(GetParam(), options);
  const auto group = std::make_shared<Group>();
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> left{300};
  const auto body = [&](const InstanceInfo&) {
    if (inside.fetch_add(1) != 0) {
      ++overlaps;
    }
    busy_for(20'000);
    inside.fetch_sub(1);
    if (left.fetch_sub(1) == 1) {
      executor->cancel();
    }
  };
  std::vector<std::shared_ptr<TestCallback>> members;
  for (int level = 0; level < 3; ++level) {
    members.push_back(std::make_shared<TestCallback>(
        named("m" + std::to_string(level), level, 100, group), body));
    executor->add(members.back());
  }
  executor->prepare();
  for (int i = 0; i < 100; ++i) {
    for (const auto& member : members) {
      member->release_now();
    }
  }
  executor->spin();
  EXPECT_EQ(overlaps.load(), 0);
  EXPECT_LE(left.load(), 0);
}

TEST_P(Groups, AGroupMemberRunsAtTheCeilingSoAMiddleLevelDoesNotDelayTheHighMember) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  auto executor = make(GetParam(), on_one_cpu());
  const auto group = std::make_shared<Group>();
  EventLog order;
  std::shared_ptr<TestCallback> high;
  std::shared_ptr<TestCallback> middle;
  const auto low =
      std::make_shared<TestCallback>(named("low", 1, 10, group), [&](const InstanceInfo&) {
        middle->release_now();
        high->release_now();
        busy_for(2'000'000);
        order.push_back("low ends");
      });
  middle = std::make_shared<TestCallback>(named("middle", 2), [&](const InstanceInfo&) {
    order.push_back("middle");
    executor->cancel();
  });
  high = std::make_shared<TestCallback>(named("high", 3, 10, group),
                                        [&](const InstanceInfo&) { order.push_back("high"); });
  for (const auto& callback : {low, middle, high}) {
    executor->add(callback);
  }
  executor->prepare();
  low->release_now();
  executor->spin();
  EXPECT_EQ(order.events(), (std::vector<std::string>{"low ends", "high", "middle"}));
}

TEST_P(Groups, ACallbackWithoutAGroupNeverOverlapsWithItself) {
  auto options = on_one_cpu();
  options.cpus = {};
  options.workers_per_level = 4;
  auto executor = make(GetParam(), options);
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  int runs = 0;
  const auto callback =
      std::make_shared<TestCallback>(named("c", 0, 200), [&](const InstanceInfo&) {
        if (inside.fetch_add(1) != 0) {
          ++overlaps;
        }
        if (++runs == 200) {
          executor->cancel();
        }
        inside.fetch_sub(1);
      });
  executor->add(callback);
  executor->prepare();
  for (int i = 0; i < 200; ++i) {
    callback->release_now();
  }
  executor->spin();
  EXPECT_EQ(overlaps.load(), 0);
  EXPECT_EQ(runs, 200);
}

TEST_P(Groups, AWorkerTakesOtherWorkOfItsLevelWhileAGroupIsBusy) {
  if (!overlaps_within_a_level(GetParam())) {
    GTEST_SKIP() << "one callback runs, or is preempted by one with a shorter deadline";
  }
  auto options = on_one_cpu();
  options.cpus = {};
  options.realtime = Realtime::kOff;  // the two workers take turns where there is only one CPU
  options.workers_per_level = 2;
  auto executor = make(GetParam(), options);
  std::atomic<bool> other_ran{false};
  std::atomic<int> saw_other{0};
  const auto busy = std::make_shared<TestCallback>(named("busy"), [&](const InstanceInfo&) {
    saw_other += busy_until([&] { return other_ran.load(); }) ? 1 : 0;
    if (saw_other == 2) {
      executor->cancel();
    }
  });
  const auto other = std::make_shared<TestCallback>(named("other"),
                                                    [&](const InstanceInfo&) { other_ran = true; });
  executor->add(busy);
  executor->add(other);
  executor->prepare();
  busy->release_now();
  busy->release_now();  // must wait for the first, and `other` must not wait for it
  other->release_now();
  executor->spin();
  EXPECT_EQ(saw_other.load(), 2);
}

TEST_P(Groups, ReentrantMembersOverlapEvenWithThemselves) {
  if (!overlaps_within_a_level(GetParam())) {
    GTEST_SKIP() << "one callback runs, or is preempted by one with a shorter deadline";
  }
  auto options = on_one_cpu();
  options.cpus = {};
  options.realtime = Realtime::kOff;
  options.workers_per_level = 2;
  auto executor = make(GetParam(), options);
  std::atomic<int> inside{0};
  std::atomic<int> met{0};
  const auto callback = std::make_shared<TestCallback>(
      named("c", 0, 10, std::make_shared<Group>(GroupType::kReentrant)), [&](const InstanceInfo&) {
        ++inside;
        met += busy_until([&] { return inside.load() == 2; }) ? 1 : 0;
        if (met == 2) {
          executor->cancel();
        }
      });
  executor->add(callback);
  executor->prepare();
  callback->release_now();
  callback->release_now();
  executor->spin();
  EXPECT_EQ(met.load(), 2);
}

TEST(Preemptive, InstancesOfOneCallbackRunInOrderOfReleaseWithManyWorkers) {
  auto options = on_one_cpu();
  options.cpus = {};
  options.workers_per_level = 4;
  PreemptiveExecutor executor(options);
  const auto group = std::make_shared<Group>();
  std::vector<std::int64_t> releases;
  const auto callback =
      std::make_shared<TestCallback>(named("c", 1, 500, group), [&](const InstanceInfo& info) {
        releases.push_back(info.release_ns);
        if (releases.size() == 500) {
          executor.cancel();
        }
      });
  const auto partner =
      std::make_shared<TestCallback>(named("partner", 2, 500, group), [](const InstanceInfo&) {});
  executor.add(callback);
  executor.add(partner);
  executor.prepare();
  for (std::int64_t i = 0; i < 500; ++i) {
    callback->release(i, i);
    partner->release(i, i);
  }
  executor.spin();
  EXPECT_TRUE(std::is_sorted(releases.begin(), releases.end()));
}

/// Keeps all records in memory.
class Records : public InstanceSink {
 public:
  void record(const InstanceRecord& record) noexcept RCLRT_NONBLOCKING override {
    const std::size_t place = count_.fetch_add(1);
    if (place < records_.size()) {
      records_[place] = record;
    }
  }
  std::vector<InstanceRecord> all() const {
    return {records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(count_.load())};
  }

 private:
  std::vector<InstanceRecord> records_{100'000};
  std::atomic<std::size_t> count_{0};
};

/// Returns the largest number of less urgent instances that started or ended between the time at
/// which an instance became ready and its start. If an instance had to wait for an earlier one of
/// its own level or for a more urgent one, its time counts from the end of that one.
int most_blocked(const std::vector<InstanceRecord>& records) {
  int most = 0;
  for (const auto& each : records) {
    std::int64_t from = each.info.ready_ns;
    for (const auto& other : records) {
      if (&other != &each && other.info.level >= each.info.level &&
          other.end_ns <= each.info.start_ns) {
        from = std::max(from, other.end_ns);
      }
    }
    const auto within = [&](std::int64_t time) { return time > from && time < each.info.start_ns; };
    most = std::max(most, static_cast<int>(std::count_if(
                              records.begin(), records.end(), [&](const InstanceRecord& other) {
                                return other.info.level < each.info.level &&
                                       (within(other.info.start_ns) || within(other.end_ns));
                              })));
  }
  return most;
}

/// Releases members at random from the thread that calls it, so that this CPU wakes them. A timer's
/// interrupt may be late, and less urgent ones run meanwhile.
class RandomReleases {
 public:
  std::vector<std::shared_ptr<TestCallback>> members;

  /// Releases one of the members with a probability of 1 in `in`.
  void release_one(std::uint64_t in) {
    std::mt19937_64 random(number_.fetch_add(1));
    if (random() % in == 0) {
      members[random() % members.size()]->release_now();
    }
  }

 private:
  std::atomic<std::uint64_t> number_{1};
};

TEST_P(Groups, AnInstanceIsBlockedByAtMostOneLessUrgentOneOnOneCpu) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  Records records;
  auto executor = make(GetParam(), on_one_cpu(&records));
  // Two groups across four levels, one callback in none.
  const auto first = std::make_shared<Group>();
  const auto second = std::make_shared<Group>();
  const std::vector<std::shared_ptr<Group>> groups = {first, second, nullptr, second, first};
  RandomReleases releases;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    releases.members.push_back(std::make_shared<TestCallback>(
        named("m" + std::to_string(i), static_cast<int>(i), 10, groups[i]),
        [&](const InstanceInfo&) {
          for (int part = 0; part < 3; ++part) {
            busy_for(20'000);
            releases.release_one(5);
          }
        }));
    executor->add(releases.members.back());
  }
  const auto driver = std::make_shared<TestCallback>(named("driver", -1), [&](const InstanceInfo&) {
    for (int i = 0; i < 1000; ++i) {
      releases.release_one(1);
    }
    executor->cancel();
  });
  executor->add(driver);
  executor->prepare();
  driver->release_now();
  executor->spin();
  const auto all = records.all();
  ASSERT_GT(all.size(), 1000U);
  EXPECT_EQ(most_blocked(all), 1);
}

TEST_P(Groups, MembersLeftParkedByACancelRunInTheNextSpin) {
  auto options = on_one_cpu();
  options.cpus = {};
  options.workers_per_level = 3;
  auto executor = make(GetParam(), options);
  int runs = 0;
  const auto callback = std::make_shared<TestCallback>(named("c"), [&](const InstanceInfo&) {
    busy_for(200'000);  // meanwhile the other workers find the group busy
    ++runs;
    executor->cancel();
  });
  executor->add(callback);
  executor->prepare();
  for (int i = 0; i < 6; ++i) {
    callback->release_now();
  }
  int spins = 0;
  while (runs < 6) {
    executor->spin();
    ASSERT_LE(++spins, 6);
  }
  EXPECT_EQ(callback->counters().completed, 6U);
  EXPECT_EQ(callback->counters().pending(), 0U);
}

TEST_P(Groups, MembersLeftParkedByACancelAreCountedDropsWhenTheExecutorEnds) {
  std::shared_ptr<TestCallback> callback;
  {
    auto options = on_one_cpu();
    options.cpus = {};
    options.workers_per_level = 3;
    auto executor = make(GetParam(), options);
    callback = std::make_shared<TestCallback>(named("c"), [&](const InstanceInfo&) {
      busy_for(200'000);
      executor->cancel();
    });
    executor->add(callback);
    executor->prepare();
    for (int i = 0; i < 6; ++i) {
      callback->release_now();
    }
    executor->spin();
  }
  const Counters counters = callback->counters();
  EXPECT_GE(counters.completed, 1U);
  EXPECT_EQ(counters.completed + counters.dropped, 6U);
  EXPECT_EQ(counters.pending(), 0U);
}

}  // namespace
}  // namespace rclrt::executor::test

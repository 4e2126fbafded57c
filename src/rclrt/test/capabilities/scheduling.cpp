// SPDX-License-Identifier: Apache-2.0
// The order in which callbacks run.
#include <algorithm>
#include <atomic>

#include "capability.hpp"

namespace rclrt::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kNoPriorities = "it ignores priorities: type and registration decide";
constexpr const char* kByRelease = "it ignores priorities: the order of release decides";
constexpr const char* kFinishes = "it finishes what it has started";
constexpr const char* kOneThread = "it has one thread";
constexpr const char* kDeadlinesDecide = "deadlines decide what runs, not priorities";

class Scheduling : public Capability {
 protected:
  /// Returns the order in which two callbacks run that become ready while a third one has the CPU,
  /// the less urgent one first.
  std::vector<std::string> order_of_two() {
    std::vector<std::string> order;
    const auto ran = [&](const char* name) {
      order.emplace_back(name);
      if (order.size() == 2) {
        done();
      }
    };
    const auto low = node.create_guard_condition([&] { ran("low"); }, {.priority = 1});
    const auto high = node.create_guard_condition([&] { ran("high"); }, {.priority = 2});
    const auto both = node.create_guard_condition(
        [&] {
          low->trigger();
          high->trigger();
        },
        {.priority = 3});
    ready = [&] { both->trigger(); };
    auto options = one_cpu();
    options.workers_per_level = 1;
    spin(*executor(options));
    return order;
  }
};
INSTANTIATE_TEST_SUITE_P(Every, Scheduling, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(Scheduling, TheMostUrgentCallbackRunsFirst) {
  if (is("wait_set")) {
    EXPECT_EQ(order_of_two().front(), "low");
    RCLRT_NOT_OFFERED(kNoPriorities);
  }
  if (is("events")) {
    EXPECT_EQ(order_of_two().front(), "low");
    RCLRT_NOT_OFFERED(kByRelease);
  }
  if (is("edf")) {
    RCLRT_NOT_OFFERED(kDeadlinesDecide);
  }
  RCLRT_NEEDS_REALTIME();
  EXPECT_EQ(order_of_two().front(), "high");
}

TEST_P(Scheduling, AMoreUrgentCallbackPreempts) {
  RCLRT_NEEDS_REALTIME();
  std::atomic<int> runs{0};
  bool preempted = false;
  std::shared_ptr<GuardCondition> slow;
  // A callback that is urgent for every executor: by priority and by deadline. Its first run makes
  // its thread ready for the second one: a starting thread may still wait for its stack.
  const auto urgent = node.create_guard_condition(
      [&] {
        if (++runs == 1) {
          slow->trigger();
        }
      },
      {.priority = 2, .deadline = 1ms});
  slow = node.create_guard_condition(
      [&] {
        urgent->trigger();
        preempted = runs == 2;  // one CPU: only preemption can have let it run by now
        done();
      },
      {.priority = 1, .deadline = 1h});
  ready = [&] { urgent->trigger(); };
  spin(*executor(one_cpu()));
  if (is("wait_set")) {
    EXPECT_FALSE(preempted);
    RCLRT_NOT_OFFERED("its threads have one priority");
  }
  if (is("events") || is("picas") || is("static_order")) {
    EXPECT_FALSE(preempted);
    RCLRT_NOT_OFFERED(kFinishes);
  }
  EXPECT_TRUE(preempted);
}

TEST_P(Scheduling, TheEarliestDeadlineRunsFirst) {
  std::vector<std::string> order;
  const auto ran = [&](const char* name) {
    order.emplace_back(name);
    if (order.size() == 2) {
      done();
    }
  };
  const auto group = node.create_callback_group();
  const auto late =
      node.create_guard_condition([&] { ran("late"); }, {.group = group, .deadline = 2h});
  const auto early =
      node.create_guard_condition([&] { ran("early"); }, {.group = group, .deadline = 1h});
  ready = [&] {
    late->trigger();
    early->trigger();
  };
  auto options = one_cpu();
  options.workers_per_level = 1;
  spin(*executor(options));
  if (!is("edf")) {
    RCLRT_NOT_OFFERED(is("wait_set") ? kNoPriorities
                      : is("events") ? kByRelease
                                     : "priorities decide what runs: see edf");
  }
  EXPECT_EQ(order.front(), "early");
}

TEST_P(Scheduling, TwoCallbacksRunAtOnceOnTwoCpus) {
  if (realtime::allowed_cpus().size() < 2) {
    GTEST_SKIP() << "cannot be shown here: one CPU";
  }
  if (is("edf")) {
    RCLRT_NOT_OFFERED("it schedules one CPU");
  }
  if (has_one_thread()) {
    RCLRT_NOT_OFFERED(kOneThread);
  }
  std::atomic<int> inside{0};
  const auto both = [&] {
    ++inside;
    if (eventually([&] { return inside == 2; })) {
      done();
    }
  };
  const auto one = node.create_guard_condition(both, {.priority = 1});
  const auto two = node.create_guard_condition(both, {.priority = 2});
  ready = [&] {
    one->trigger();
    two->trigger();
  };
  spin(*executor_with_two_threads());
  EXPECT_EQ(inside, 2);
}

TEST_P(Scheduling, MembersOfAnExclusiveGroupNeverOverlap) {
  const auto group = node.create_callback_group();
  std::atomic<int> inside{0};
  std::atomic<int> ran{0};
  for (int i = 0; i < 3; ++i) {
    node.create_wall_timer(1ms,
                           [&] {
                             EXPECT_EQ(inside.fetch_add(1), 0);
                             realtime::sleep_until_ns(realtime::monotonic_now_ns() + 100'000);
                             --inside;
                             if (++ran == 100) {
                               done();
                             }
                           },
                           {.priority = i, .group = group});
  }
  spin(*executor());
}

TEST_P(Scheduling, ACallbackOfAReentrantGroupOverlapsItself) {
  if (realtime::allowed_cpus().size() < 2) {
    GTEST_SKIP() << "cannot be shown here: one CPU";
  }
  if (is("edf")) {
    RCLRT_NOT_OFFERED("it schedules one CPU");
  }
  if (has_one_thread()) {
    RCLRT_NOT_OFFERED(kOneThread);
  }
  if (is("per_group")) {
    RCLRT_NOT_OFFERED("a group has one thread");
  }
  std::atomic<int> inside{0};
  node.create_wall_timer(1ms,
                         [&] {
                           ++inside;
                           if (eventually([&] { return inside >= 2; })) {
                             done();
                           }
                         },
                         {.group = node.create_callback_group(CallbackGroupType::kReentrant)});
  spin(*executor_with_two_threads());
  EXPECT_GE(inside, 2);
}

TEST_P(Scheduling, OverloadKeepsTheNewest) {
  if (is("wait_set")) {
    RCLRT_NOT_OFFERED("its loop looks at a subscription only when it is idle");
  }
  std::vector<std::int64_t> received;
  node.create_subscription<Int64>("topic", 5,
                                  [&](const Int64& message) {
                                    received.push_back(message.data);
                                    done();
                                  },
                                  {.overload = Overload::kKeepLast});
  const auto publisher = node.create_publisher<Int64>("topic", 5);
  ready = [&] {
    Int64 message;
    for (message.data = 1; message.data <= 3; ++message.data) {
      publisher->publish(message);
    }
  };
  spin(*executor());
  EXPECT_EQ(received, (std::vector<std::int64_t>{3}));
}

TEST_P(Scheduling, OverloadSkipsWhileRunning) {
  if (is("wait_set")) {
    RCLRT_NOT_OFFERED("its loop looks at a subscription only when it is idle");
  }
  int runs = 0;
  std::shared_ptr<GuardCondition> condition;
  const auto last = node.create_guard_condition([&] { done(); }, {.priority = -1});
  condition = node.create_guard_condition(
      [&] {
        ++runs;
        condition->trigger();  // while it runs: skipped
        last->trigger();
      },
      {.overload = Overload::kSkipIfRunning});
  ready = [&] { condition->trigger(); };
  spin(*executor());
  EXPECT_EQ(runs, 1);
}

TEST_P(Scheduling, TimersCatchUpWithReleasesTheyMissed) {
  std::vector<std::int64_t> releases;
  node.create_wall_timer(1ms,
                         [&](const InstanceInfo& info) {
                           releases.push_back(info.release_ns);
                           if (releases.size() == 1) {  // late by five periods
                             realtime::sleep_until_ns(info.release_ns + 5'500'000);
                           } else if (releases.size() == 4) {
                             done();
                           }
                         },
                         {}, {.overrun = OverrunPolicy::kCatchUp});
  auto options = one_cpu();
  options.workers_per_level = 1;
  spin(*executor(options));
  const bool all = releases[3] - releases[0] == 3'000'000;
  if (is("wait_set")) {
    EXPECT_FALSE(all);
    RCLRT_NOT_OFFERED("it skips missed releases, as rcl does");
  }
  EXPECT_TRUE(all);
}

TEST_P(Scheduling, DeadlinesWithAHandlerOfMisses) {
  struct Misses : executor::MissHandler {
    std::atomic<int> count{0};
    void missed(const executor::DeadlineMiss& /*miss*/) noexcept RCLRT_NONBLOCKING override {
      ++count;
    }
  } misses;
  node.create_wall_timer(1ms,
                         [&](const InstanceInfo& info) {
                           realtime::sleep_until_ns(info.release_ns + 2'000'000);
                           if (misses.count > 0) {
                             done();
                           }
                         },
                         {.deadline = 1ms});
  spin(*executor({.on_miss = &misses}));
  EXPECT_GT(misses.count, 0);
}

}  // namespace
}  // namespace rclrt::test

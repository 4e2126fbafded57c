// SPDX-License-Identifier: Apache-2.0
#include "timer_study/thread_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/stop_flag.hpp"

namespace rclrt::timer_study {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Fields of proc(5): 18 priority, 19 nice, 39 processor, 40 rt_priority, 41 policy.
std::string stat_line(const std::string& name, int priority, int nice, int cpu, int rt_priority,
                      int policy) {
  std::string line = "77 (" + name + ") S";
  for (int field = 4; field <= 52; ++field) {
    const int value = field == 18   ? priority
                      : field == 19 ? nice
                      : field == 39 ? cpu
                      : field == 40 ? rt_priority
                      : field == 41 ? policy
                                    : 0;
    line += " " + std::to_string(value);
  }
  return line;
}

TEST(ThreadList, AStatLineIsReadAsPsShowsIt) {
  const ThreadState real_time = parse_thread_stat(stat_line("dds.ev", -81, 0, 3, 80, 2));
  EXPECT_EQ(real_time.tid, 77);
  EXPECT_EQ(real_time.name, "dds.ev");
  EXPECT_EQ(real_time.policy, "RR");
  EXPECT_EQ(real_time.priority, 120);  // ps -o pri of a thread at real-time priority 80
  EXPECT_EQ(real_time.rt_priority, 80);
  EXPECT_EQ(real_time.cpu, 3);
  EXPECT_TRUE(real_time.realtime());
  const ThreadState time_sharing = parse_thread_stat(stat_line("a) (b", 25, 5, 0, 0, 0));
  EXPECT_EQ(time_sharing.name, "a) (b");
  EXPECT_EQ(time_sharing.policy, "TS");
  EXPECT_EQ(time_sharing.priority, 14);
  EXPECT_EQ(time_sharing.nice, 5);
  EXPECT_FALSE(time_sharing.realtime());
}

TEST(ThreadList, ALineThatIsNoStatLineIsRefused) {
  EXPECT_THAT([&] { parse_thread_stat(""); },
              ThrowsMessage<std::runtime_error>(HasSubstr("not a stat line of /proc: \"\"")));
  EXPECT_THAT([&] { parse_thread_stat("77 (name) S 1 2 3"); },
              ThrowsMessage<std::runtime_error>(
                  HasSubstr("a stat line of /proc ends early: \"77 (name) S 1 2 3\"")));
}

TEST(ThreadList, EachThreadBelongsToTheStepInWhichItCame) {
  realtime::StopFlag stop;
  ThreadList list;
  std::thread first([&] { stop.wait(); });
  EXPECT_EQ(list.end_step("one"), 1U);
  std::thread second([&] { stop.wait(); });
  std::thread third([&] { stop.wait(); });
  EXPECT_EQ(list.end_step("two"), 2U);
  EXPECT_EQ(list.end_step("three"), 0U);
  std::thread fourth([&] { stop.wait(); });
  const auto threads = list.read();
  stop.request_stop();
  for (std::thread* const each : {&first, &second, &third, &fourth}) {
    each->join();
  }
  const auto count = [&](const std::string& step) {
    return std::count_if(threads.begin(), threads.end(),
                         [&](const ThreadState& each) { return each.step == step; });
  };
  EXPECT_EQ(count("main"), 1);
  EXPECT_EQ(count("one"), 1);
  EXPECT_EQ(count("two"), 2);
  EXPECT_EQ(count("later"), 1);
}

TEST(ThreadList, APlainThreadInheritsThePolicyOfItsCreatorAsTheKernelSays) {
  const realtime::Scheduling wanted{realtime::Policy::kRoundRobin, 3};
  if (const auto reason = realtime::why_refused(wanted)) {
    GTEST_SKIP() << *reason;
  }
  realtime::StopFlag stop;
  std::vector<ThreadState> threads;
  std::thread creator([&] {
    ThreadList list;
    std::thread before([&] { stop.wait(); });
    list.end_step("before the policy");
    realtime::apply_scheduling(0, wanted);
    std::thread after([&] { stop.wait(); });
    list.end_step("after the policy");
    threads = list.read();
    stop.request_stop();
    before.join();
    after.join();
  });
  creator.join();
  for (const ThreadState& each : threads) {
    if (each.step == "before the policy") {
      EXPECT_EQ(each.policy, "TS");
    } else if (each.step == "after the policy") {
      EXPECT_EQ(each.policy, "RR");
      EXPECT_EQ(each.rt_priority, 3);
    }
  }
}

}  // namespace
}  // namespace rclrt::timer_study

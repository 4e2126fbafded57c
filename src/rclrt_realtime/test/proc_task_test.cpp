// SPDX-License-Identifier: Apache-2.0
#include "../src/proc_task.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::realtime {
namespace {

// The texts of a SCHED_FIFO thread at priority 37 (field 40) and of an ordinary thread with nice 5
// (field 19).
constexpr const char* kFifo =
    "19066 (cat) R 19061 19061 11115 0 -1 4194304 102 0 0 0 0 0 0 0 -38 0 1 0 1277118 3133440 412 "
    "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 37 1 0 0 0 0 0 0 0 0 0 0 0\n";
constexpr const char* kNice =
    "7 (a) b (c) S 1 1 1 0 -1 4194304 102 0 0 0 0 0 0 0 25 5 1 0 1277118 3133440 412 "
    "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

TEST(ProcStat, HasPolicyPriorityAndNice) {
  EXPECT_EQ(parse_proc_stat(kFifo), (ProcStat{.nice = 0, .realtime_priority = 37, .policy = 1}));
  EXPECT_EQ(parse_proc_stat(kNice), (ProcStat{.nice = 5, .realtime_priority = 0, .policy = 0}))
      << "a name may hold parentheses and blanks";
}

TEST(ProcStat, OfAnEndedThreadIsNothing) {
  EXPECT_EQ(parse_proc_stat(""), std::nullopt);
  EXPECT_EQ(parse_proc_stat("7 (a"), std::nullopt);
  EXPECT_EQ(parse_proc_stat("7 (a) S 1 1 1"), std::nullopt);
}

TEST(ProcStat, MayEndWithThePolicy) {
  const std::string text = std::string(kFifo).substr(0, std::string(kFifo).find(" 37 1 ") + 5);
  EXPECT_EQ(parse_proc_stat(text + "\n")->policy, SCHED_FIFO);
}

TEST(CpuList, HasNumbersAndRanges) {
  EXPECT_EQ(parse_cpu_list("0"), std::vector<int>{0});
  EXPECT_EQ(parse_cpu_list("0-2,5,7-8"), (std::vector<int>{0, 1, 2, 5, 7, 8}));
}

TEST(CpuList, RefusesWhatIsNone) {
  for (const auto* text : {"a", "1-", "-1", "3-1", "1,,2", "0-99999999", "1 2"}) {
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
  }
}

TEST(AllowedCpus, OfThisThreadAreThoseTheSystemCallTells) {
  EXPECT_EQ(parse_allowed_cpus(read_task_file(gettid(), "status")), allowed_cpus());
  EXPECT_EQ(parse_allowed_cpus("Name:\tx\n"), std::nullopt);
}

TEST(TaskFile, OfAThreadThatEndsMeanwhileIsEmptyInTheEnd) {
  for (int round = 0; round < 500; ++round) {
    std::atomic<pid_t> tid{0};
    std::thread thread([&] { tid = gettid(); });
    while (tid == 0) {
    }
    while (!read_task_file(tid, "stat").empty()) {
    }
    thread.join();
  }
}

}  // namespace
}  // namespace rclrt::realtime

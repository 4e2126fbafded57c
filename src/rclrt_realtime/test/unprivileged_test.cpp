// SPDX-License-Identifier: Apache-2.0
// The behaviour for a user without any privilege: everything runs, and reports what is missing and
// the fix. test/as_unprivileged starts this test.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/stop_signal.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/realtime/thread_plan.hpp"

namespace rclrt::realtime {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitizer = true;
#else
constexpr bool kSanitizer = false;
#endif

constexpr const char* kRtprioFix =
    "add \"rtprio 40\" for this user in /etc/security/limits.d and log in again (LimitRTPRIO=40 in "
    "a systemd unit, --ulimit rtprio=40 for a container), or run with CAP_SYS_NICE";

std::string refusal(const Scheduling& scheduling) {
  try {
    Thread({.name = "wanted", .scheduling = scheduling}, [] {}).join();
  } catch (const std::system_error& error) {
    return error.what();
  }
  return "no exception";
}

TEST(Unprivileged, IsWhatThisTestIs) {
  ASSERT_NE(geteuid(), 0U);
  rlimit limit{};
  getrlimit(RLIMIT_RTPRIO, &limit);
  ASSERT_EQ(limit.rlim_cur, 0U);
}

TEST(Unprivileged, RealTimeIsNotPermittedWithTheFix) {
  if (kSanitizer) {
    GTEST_SKIP() << "a sanitizer's build has another reason";
  }
  EXPECT_EQ(why_no_realtime(40).value_or("permitted"),
            std::string("SCHED_FIFO at priority 40 is not permitted: ") + kRtprioFix);
}

TEST(Unprivileged, AThreadThatAsksForTooMuchDoesNotStartAndTheFixIsNamed) {
  EXPECT_EQ(refusal({Policy::kFifo, 40}),
            std::string("starting thread \"wanted\": setting SCHED_FIFO priority 40 (") +
                kRtprioFix + "): Operation not permitted");
  EXPECT_THAT(refusal({Policy::kRoundRobin, 40}), HasSubstr("SCHED_RR priority 40"));
  EXPECT_THAT(refusal({.nice = -5}),
              AllOf(HasSubstr("SCHED_OTHER nice -5"), HasSubstr("add \"nice -5\" for this user")));
  EXPECT_THAT(refusal({.policy = Policy::kDeadline,
                       .reservation = {std::chrono::milliseconds(1), std::chrono::milliseconds(9),
                                       std::chrono::milliseconds(9)}}),
              AllOf(HasSubstr("SCHED_DEADLINE runtime 1000 us"), HasSubstr("CAP_SYS_NICE")));
}

TEST(Unprivileged, AThreadMayStillBeLessUrgentAndHaveACpu) {
  const Scheduling wanted{.cpus = {allowed_cpus().front()}, .nice = 5};
  Scheduling found;
  Thread({.name = "modest", .scheduling = wanted}, [&] { found = *read_scheduling(0); }).join();
  EXPECT_EQ(found, wanted);
}

TEST(Unprivileged, ARunningThreadKeepsItsPolicyAndTheFixIsNamed) {
  Thread thread({.name = "running"}, [](const StopFlag& stop) { stop.wait(); });
  try {
    thread.set_priority(Policy::kFifo, 40);
    FAIL() << "no exception";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("thread \"running\""), HasSubstr(kRtprioFix)));
  }
}

TEST(Unprivileged, APlanIsAppliedAsFarAsItMayBeAndTheRestReported) {
  const auto body = [](const StopFlag& stop) { stop.wait(); };
  const Thread control({.name = "control"}, body);
  const Thread logger({.name = "logger"}, body);
  const auto report =
      ThreadPlan{{{"control", {Policy::kFifo, 40}}, {"logger", {.nice = 10}}}}.apply();
  EXPECT_THAT(report.problems(),
              ElementsAre(AllOf(HasSubstr("thread \"control\""), HasSubstr(kRtprioFix))));
  for (const PlannedThread& thread : report.threads) {
    EXPECT_EQ(thread.found.policy, Policy::kOther) << thread.name;
    EXPECT_EQ(thread.found.nice, thread.name == "logger" ? 10 : 0);
  }
}

TEST(Unprivileged, AProcessIsPreparedAsFarAsItMayBeAndTheRestReported) {
  if (kSanitizer) {
    GTEST_SKIP() << "a sanitizer's build locks no memory, and says it did";
  }
  const auto process = prepare_process({.heap_prefault = 1 << 20, .stack_prefault = 64 << 10});
  std::string memory;
  std::string cpus;
  for (const ProcessStep& step : process.steps) {
    if (step.what == "lock memory") {
      memory = step.problem;
    } else if (step.what == "limit the wake-up time of the CPUs") {
      cpus = step.problem;
    } else {
      EXPECT_EQ(step.problem, "") << step.what;
    }
  }
  EXPECT_THAT(memory, AllOf(HasSubstr("the limit of locked memory is 64 KiB"),
                            HasSubstr("add \"memlock unlimited\" for this user")));
  EXPECT_THAT(cpus, HasSubstr("writing /dev/cpu_dma_latency ("));
  EXPECT_FALSE(process.cpu_wake_up.active());
}

TEST(Unprivileged, AStrictProcessIsNotPreparedAndEveryFixIsNamed) {
  try {
    const auto process = prepare_process({.strict = true});
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("the process cannot be prepared for real time:\n  "),
                                    HasSubstr("/dev/cpu_dma_latency")));
    if (!kSanitizer) {  // such a build locks no memory, but reports success
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("\n  lock memory: "), HasSubstr("memlock unlimited")));
    }
  }
}

TEST(Unprivileged, AStopSignalIsWatchedNevertheless) {
  const StopSignal stop;
  raise(SIGTERM);
  stop.wait();
  EXPECT_EQ(stop.signal(), SIGTERM);
}

}  // namespace
}  // namespace rclrt::realtime

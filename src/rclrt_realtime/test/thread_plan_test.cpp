// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/thread_plan.hpp"

#include <gmock/gmock.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void wait_for_stop(const StopFlag& stop) { stop.wait(); }

/// Returns the report's entry for the thread of this name.
const PlannedThread* find(const ThreadPlanReport& report, const std::string& name) {
  const auto thread = std::find_if(report.threads.begin(), report.threads.end(),
                                   [&](const PlannedThread& each) { return each.name == name; });
  return thread == report.threads.end() ? nullptr : &*thread;
}

/// A thread that rclrt did not create, such as a middleware's.
class ForeignThread {
 public:
  explicit ForeignThread(const char* name) {
    pthread_create(
        &handle_, nullptr,
        [](void* end) -> void* {
          static_cast<Semaphore*>(end)->wait();
          return nullptr;
        },
        &end_);
    pthread_setname_np(handle_, name);
  }
  ~ForeignThread() {
    end_.post();
    pthread_join(handle_, nullptr);
  }
  ForeignThread(const ForeignThread&) = delete;
  ForeignThread& operator=(const ForeignThread&) = delete;

 private:
  Semaphore end_;
  pthread_t handle_{};
};

TEST(ThreadName, IsMatchedAsAFileNameIs) {
  EXPECT_TRUE(thread_name_matches("dds.*", "dds.udp"));
  EXPECT_TRUE(thread_name_matches("worker-[0-3]", "worker-2"));
  EXPECT_TRUE(thread_name_matches("?", "x"));
  EXPECT_TRUE(thread_name_matches("*", "rtps/a b"));
  EXPECT_FALSE(thread_name_matches("dds.*", "adds.udp"));
  EXPECT_FALSE(thread_name_matches("worker-[0-3]", "worker-4"));
}

TEST(ThreadName, OfMoreThan15CharactersMatchesWhatTheKernelKeeps) {
  EXPECT_TRUE(thread_name_matches("a_name_of_more_than_15", "a_name_of_more_"));
  EXPECT_FALSE(thread_name_matches("a_name", "a_name_of_more_"));
}

TEST(ThreadPlan, PinsTheThreadThatAppliesItAndOthersToOtherCpus) {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) {
    GTEST_SKIP() << "one CPU";
  }
  ThreadPlanReport report;
  Thread({.name = "applies"}, [&] {
    const ForeignThread foreign("driver");  // after it in the list
    report =
        ThreadPlan{{{"applies", {.cpus = {cpus.front()}}}, {"driver", {.cpus = {cpus.back()}}}}}
            .apply();
  }).join();
  EXPECT_THAT(report.problems(), IsEmpty());
}

TEST(ThreadPlan, GivesAThreadThatOthersCreatedWhatItStates) {
  const Scheduling wanted{.cpus = {allowed_cpus().back()}, .nice = 3};
  const ForeignThread foreign("foreign-1");
  const auto report = ThreadPlan{{{"foreign-*", wanted}}}.apply();
  EXPECT_TRUE(report.ok());
  const auto* thread = find(report, "foreign-1");
  ASSERT_NE(thread, nullptr);
  EXPECT_EQ(thread->wanted, wanted);
  EXPECT_EQ(read_scheduling(thread->tid)->nice, 3);
  EXPECT_EQ(read_scheduling(thread->tid)->cpus, wanted.cpus);
  EXPECT_EQ(thread->found, *read_scheduling(thread->tid));
}

TEST(ThreadPlan, GivesRealTimePoliciesAndTakesThemAway) {
  if (const auto reason = why_no_realtime(5)) {
    GTEST_SKIP() << *reason;
  }
  const ForeignThread foreign("foreign");
  const auto given = ThreadPlan{{{"foreign", {Policy::kRoundRobin, 5}}}}.apply();
  EXPECT_TRUE(given.ok());
  EXPECT_EQ(find(given, "foreign")->found.policy, Policy::kRoundRobin);
  EXPECT_EQ(find(given, "foreign")->found.priority, 5);
  const auto taken = ThreadPlan{{{"foreign", {}}}}.apply();
  EXPECT_TRUE(taken.ok());
  EXPECT_EQ(find(taken, "foreign")->found.policy, Policy::kOther);
}

TEST(ThreadPlan, GivesADeadlineReservation) {
  const Scheduling wanted{
      .policy = Policy::kDeadline,
      .reservation = {std::chrono::milliseconds(1), std::chrono::milliseconds(50),
                      std::chrono::milliseconds(100)}};
  if (const auto reason = why_refused(wanted)) {
    GTEST_SKIP() << *reason;
  }
  const ForeignThread foreign("foreign");
  const auto report = ThreadPlan{{{"foreign", wanted}}}.apply();
  EXPECT_THAT(report.problems(), IsEmpty());
  EXPECT_EQ(find(report, "foreign")->found.reservation, wanted.reservation);
}

TEST(ThreadPlan, LetsTheFirstMatchingRuleWin) {
  const ForeignThread first("foreign-1");
  const ForeignThread second("foreign-2");
  const auto report = ThreadPlan{{{"foreign-1", {.nice = 4}}, {"foreign-*", {.nice = 6}}}}.apply();
  EXPECT_EQ(find(report, "foreign-1")->found.nice, 4);
  EXPECT_EQ(find(report, "foreign-1")->rule, 0U);
  EXPECT_EQ(find(report, "foreign-2")->found.nice, 6);
  EXPECT_EQ(find(report, "foreign-2")->rule, 1U);
}

TEST(ThreadPlan, NamesTheRulesThatNoThreadUsesAndTheThreadsWithoutARule) {
  const ForeignThread foreign("foreign");
  const Thread own({.name = "own"}, wait_for_stop);
  const auto report = ThreadPlan{{{"foreign", {}}, {"for*", {}}, {"nobody", {}}}}.apply();
  EXPECT_THAT(report.unused_rules, ElementsAre("for*", "nobody"));
  EXPECT_THAT(report.problems(),
              ElementsAre(HasSubstr("rule \"for*\": no thread"), HasSubstr("rule \"nobody\"")));
  EXPECT_FALSE(report.ok());
  const auto own_thread = std::find_if(report.unplanned.begin(), report.unplanned.end(),
                                       [](const auto& each) { return each.name == "own"; });
  EXPECT_NE(own_thread, report.unplanned.end());
}

TEST(ThreadPlan, ReportsWhatTheKernelRefusesWithThreadCauseAndFix) {
  const ForeignThread foreign("foreign");
  const auto report = ThreadPlan{{{"foreign", {.cpus = {100'000}}}}}.apply();
  ASSERT_EQ(report.problems().size(), 1U);
  EXPECT_THAT(report.problems().front(), HasSubstr("thread \"foreign\" ("));
  EXPECT_THAT(report.problems().front(), HasSubstr("CPU 100000 cannot be used"));
  EXPECT_THAT(report.problems().front(), HasSubstr("choose from "));
}

TEST(ThreadPlan, FindsWhatSomebodyChangedAfterItWasApplied) {
  const ForeignThread foreign("foreign");
  const ThreadPlan plan{{{"foreign", {.nice = 4}}}};
  ASSERT_TRUE(plan.apply().ok());
  apply_scheduling(find(plan.verify(), "foreign")->tid, {.nice = 9});
  const auto report = plan.verify();
  ASSERT_EQ(report.problems().size(), 1U);
  EXPECT_THAT(report.problems().front(), HasSubstr("it has SCHED_OTHER nice 9 on CPU"));
  EXPECT_THAT(report.problems().front(), HasSubstr("instead of SCHED_OTHER nice 4"));
}

TEST(ThreadsBefore, AreTheThreadsThatAPlanForNewOnesLeavesAlone) {
  const ForeignThread old("old");
  const ThreadsBefore before;
  EXPECT_THAT(before.new_threads(), IsEmpty());
  const ForeignThread first("first");
  const ForeignThread second("second");
  const auto report = ThreadPlan{{{"*", {.nice = 2}}}}.apply(before.new_threads());
  EXPECT_EQ(report.threads.size(), 2U);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(find(report, "first")->found.nice, 2);
  EXPECT_EQ(find(report, "old"), nullptr);
}

TEST(ThreadPlan, SaysNothingOfThreadsThatHaveEnded) {
  const ForeignThread other("other");  // a sanitizer starts its own thread with the first
  std::vector<pid_t> ids;
  {
    const ThreadsBefore before;
    const ForeignThread foreign("foreign");
    ids = before.new_threads();
  }
  ASSERT_EQ(ids.size(), 1U);
  // A joined thread may still be on the kernel's list for a moment.
  while (read_scheduling(ids.front())) {
  }
  const auto report = ThreadPlan{{{"*", {.nice = 2}}}}.apply(ids);
  EXPECT_THAT(report.threads, IsEmpty());
  EXPECT_THAT(report.unused_rules, ElementsAre("*"));
}

}  // namespace
}  // namespace rclrt::realtime

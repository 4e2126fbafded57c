// SPDX-License-Identifier: Apache-2.0
// Switches of threads: the kernel's records, their trace, and the CPU times of callbacks.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "robot.hpp"
#include "scheduling_trace.hpp"
#include "thread_switches.hpp"
#include "trace_reader.hpp"
#include "traced_results.hpp"

namespace rclrt::trace {
namespace {

namespace fs = std::filesystem;

/// A timer. The test writes the switches of its thread.
struct Scheduled : Robot {
  Scheduled() {
    node(1, "sensor");
    timer(20, 1, 10 * kMs, 21);
    becomes(ThreadState::kRuns);
  }
  void becomes(ThreadState state) {
    emit(EventKind::kThreadSwitch, {static_cast<std::uint64_t>(state)});
  }
  /// Takes the CPU from the thread for `time_ns`.
  void away(ThreadState state, std::int64_t time_ns) {
    becomes(state);
    now_ns += time_ns;
    becomes(ThreadState::kRuns);
  }
};

TEST(Scheduling, CpuTimeIsWithoutWhatPreemptedAndWithoutWaiting) {
  Scheduled robot;
  robot.start(21);
  robot.now_ns += kMs;
  robot.away(ThreadState::kPreempted, 5 * kMs);
  robot.now_ns += kMs;
  robot.away(ThreadState::kWaits, 3 * kMs);
  robot.away(ThreadState::kPreempted, 2 * kMs);
  robot.end(21, kMs);
  robot.away(ThreadState::kWaits, 7 * kMs);  // between two callbacks
  robot.start(21);
  robot.end(21, 2 * kMs);
  robot.becomes(ThreadState::kWaits);
  TracedModel made = robot.model();
  const auto& instances = robot.system.instances();
  ASSERT_EQ(instances.size(), 2U);
  EXPECT_TRUE(instances[0].scheduled);
  EXPECT_EQ(instances[0].preempted_ns, 7 * kMs);
  EXPECT_EQ(instances[0].waited_ns, 3 * kMs);
  EXPECT_EQ(instances[0].preemptions, 2U);
  EXPECT_EQ(instances[0].cpu_ns(), 3 * kMs);
  EXPECT_EQ(instances[1].cpu_ns(), 2 * kMs);
  EXPECT_EQ(made.application.callbacks[0].wcet, model::Nanoseconds(3 * kMs));
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_NE(made.notes[0].find("'sensor_timer_1' waited for up to 3.0 ms"), std::string::npos);
  std::vector<std::string> notes;
  const recorder::RunResults results =
      trace_results(robot.system, std::move(made), model::ExecutorKind::kWaitSet, {}, notes);
  EXPECT_EQ(results.records.front().cpu_ns, 3 * kMs);
  EXPECT_EQ(results.records.front().preemptions, 2U);
}

TEST(Scheduling, TheCpuOfEachPartIsThatOfTheSwitches) {
  Scheduled robot;
  robot.cpu = 2;
  robot.becomes(ThreadState::kRuns);
  const std::int64_t at_ns = robot.now_ns;
  robot.start(21);
  robot.now_ns += kMs;
  robot.becomes(ThreadState::kPreempted);
  robot.now_ns += 5 * kMs;
  robot.cpu = 0;
  robot.becomes(ThreadState::kRuns);
  robot.now_ns += kMs;
  robot.away(ThreadState::kWaits, 3 * kMs);
  robot.end(21, 2 * kMs);
  robot.start(21);
  robot.end(21, kMs);
  robot.becomes(ThreadState::kWaits);
  TracedModel made = robot.model();
  std::vector<std::string> notes;
  const recorder::RunResults results =
      trace_results(robot.system, std::move(made), model::ExecutorKind::kWaitSet, {}, notes);
  ASSERT_EQ(results.records.size(), 2U);
  const auto parts = parts_of(results.records[0], results.cpu_parts);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0], (recorder::CpuPart{2, at_ns, at_ns + kMs}));
  EXPECT_EQ(parts[1], (recorder::CpuPart{0, at_ns + 6 * kMs, at_ns + 7 * kMs}));
  EXPECT_EQ(parts[2], (recorder::CpuPart{0, at_ns + 10 * kMs, at_ns + 12 * kMs}));
  EXPECT_EQ(results.callbacks[0].migrations, 1U);
  EXPECT_TRUE(parts_of(results.records[1], results.cpu_parts).empty());
  EXPECT_EQ(results.records[1].first_cpu, 0);
}

TEST(Scheduling, WithoutSwitchesTheCpuIsKnownAtTheStartAndAtTheEnd) {
  Robot robot;
  robot.node(1, "sensor");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.cpu = 1;
  robot.start(21);
  robot.cpu = 3;
  robot.end(21, kMs);
  TracedModel made = robot.model();
  std::vector<std::string> notes;
  const recorder::RunResults results =
      trace_results(robot.system, std::move(made), model::ExecutorKind::kWaitSet, {}, notes);
  EXPECT_EQ(results.records.at(0).first_cpu, 1);
  EXPECT_EQ(results.records.at(0).last_cpu, 3);
  EXPECT_EQ(results.callbacks.at(0).migrations, 1U);
}

TEST(Scheduling, ACallbackWithinACallbackWaitsWithIt) {
  Scheduled robot;
  robot.timer(22, 1, 20 * kMs, 23);
  robot.start(21);
  robot.away(ThreadState::kPreempted, kMs);
  robot.start(23);
  robot.away(ThreadState::kPreempted, 2 * kMs);
  robot.end(23, kMs);
  robot.end(21, kMs);
  robot.becomes(ThreadState::kWaits);
  robot.system.finish();
  const auto& instances = robot.system.instances();
  EXPECT_EQ(instances[0].cpu_ns(), kMs);
  EXPECT_EQ(instances[1].preempted_ns, 3 * kMs);
  EXPECT_EQ(instances[1].cpu_ns(), 2 * kMs);
}

TEST(Scheduling, WhatIsNotKnownIsWallTime) {
  Scheduled robot;
  robot.start(21);
  robot.becomes(ThreadState::kRuns);  // the event of losing its CPU is missing
  robot.end(21, 4 * kMs);
  robot.start(21);
  robot.becomes(ThreadState::kPreempted);
  robot.emit(EventKind::kSwitchesLost, {3, static_cast<std::uint64_t>(robot.now_ns)});
  robot.end(21, 2 * kMs);
  robot.pid = robot.tid = 200;  // a process without switches
  robot.node(2, "other");
  robot.timer(40, 2, 10 * kMs, 41);
  robot.start(41);
  robot.end(41, kMs);
  const TracedModel made = robot.model();
  for (const TracedInstance& each : robot.system.instances()) {
    EXPECT_FALSE(each.scheduled);
    EXPECT_EQ(each.cpu_ns(), each.end_ns - each.start_ns);
  }
  const auto notes = made.notes;
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
    return note.find("execution times of 2 callbacks are wall time") != std::string::npos;
  }));
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
    return note.find("switches of threads are missing") != std::string::npos;
  }));
}

// Events as in a session of the kernel: they have a thread and no process.
TEST(Scheduling, TheKernelsOwnEventsAreRead) {
  Robot robot;
  robot.node(1, "sensor");
  robot.timer(20, 1, 10 * kMs, 21);
  robot.emit(EventKind::kKernelSwitch, {0, 100, 0});
  // Running; preempted while running (lttng-modules since Linux 4.14); asleep.
  for (const std::uint64_t state : {0x0U, 0x100U, 0x1U}) {
    robot.start(21);
    robot.emit(EventKind::kKernelSwitch, {100, 7, state});
    robot.now_ns += 2 * kMs;
    robot.emit(EventKind::kKernelSwitch, {7, 100, 0});
    robot.end(21, kMs);
  }
  robot.emit(EventKind::kKernelSwitch, {100, 7, 1});
  robot.system.finish();
  const auto& instances = robot.system.instances();
  EXPECT_EQ(instances[0].preempted_ns, 2 * kMs);
  EXPECT_EQ(instances[1].preempted_ns, 2 * kMs);
  EXPECT_EQ(instances[2].waited_ns, 2 * kMs);
  for (const TracedInstance& each : instances) {
    EXPECT_EQ(each.cpu_ns(), kMs);
  }
}

// The kernel reports lost records when it has room again.
TEST(Scheduling, WhatRanWhileSwitchesWereLostIsWallTime) {
  Scheduled robot;
  const auto run = [&] {
    robot.start(21);
    robot.away(ThreadState::kPreempted, kMs);
    robot.end(21, kMs);
  };
  run();
  robot.becomes(ThreadState::kWaits);
  const auto since = static_cast<std::uint64_t>(robot.now_ns);
  robot.now_ns += kMs;
  robot.start(21);
  robot.end(21, 5 * kMs);  // switches of this run are missing
  robot.now_ns += kMs;
  robot.emit(EventKind::kSwitchesLost, {3, since});
  run();
  robot.becomes(ThreadState::kWaits);
  robot.now_ns += kMs;
  robot.start(21);
  robot.end(21, 6 * kMs);  // after the recording of switches
  robot.system.finish();
  std::vector<bool> scheduled;
  for (const TracedInstance& each : robot.system.instances()) {
    scheduled.push_back(each.scheduled);
  }
  EXPECT_EQ(scheduled, (std::vector<bool>{true, false, true, false}));
}

TEST(Scheduling, AShortWaitIsPartOfTheExecutionTime) {
  Scheduled robot;
  robot.start(21);
  robot.away(ThreadState::kWaits, kMs / 4);
  robot.end(21, kMs);
  robot.becomes(ThreadState::kWaits);
  const TracedModel made = robot.model();
  EXPECT_EQ(made.application.callbacks[0].wcet, model::Nanoseconds(kMs + kMs / 4));
  EXPECT_TRUE(made.notes.empty());
}

class SchedulingFiles : public testing::Test {
 protected:
  SchedulingFiles() { fs::remove_all(directory_); }
  ~SchedulingFiles() override { fs::remove_all(directory_); }
  SchedulingFiles(const SchedulingFiles&) = delete;
  SchedulingFiles& operator=(const SchedulingFiles&) = delete;

  std::vector<TraceEvent> read() {
    std::vector<TraceEvent> events;
    counts_ = read_trace(directory_, [&](const TraceEvent& event) { events.push_back(event); });
    return events;
  }
  std::uint64_t bytes() const {
    std::uint64_t result = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_)) {
      result += entry.path().filename() == "metadata" ? 0 : entry.file_size();
    }
    return result;
  }

  const fs::path directory_ =
      fs::path(testing::TempDir()) / ("scheduling_" + std::to_string(getpid()));
  ReadCounts counts_;
};

TEST_F(SchedulingFiles, WhatIsWrittenIsRead) {
  {
    SchedulingTrace trace(directory_, 2, 1U << 20U);
    trace.add(0, {.time_ns = 1000, .pid = 5, .tid = 6, .state = ThreadState::kRuns});
    trace.add(1, {.time_ns = 1500, .pid = 5, .tid = 7, .state = ThreadState::kWaits});
    trace.add(0, {.time_ns = 2000, .pid = 5, .tid = 6, .state = ThreadState::kPreempted});
    trace.flush();
    trace.add(0, {.time_ns = 2500, .lost = 9});
    trace.flush();
  }
  const auto events = read();
  ASSERT_EQ(events.size(), 4U);
  EXPECT_TRUE(counts_.damage.empty());
  const auto expect = [&](std::size_t i, EventKind kind, std::int64_t time_ns, std::int64_t tid,
                          std::uint64_t number) {
    EXPECT_EQ(events[i].kind, kind);
    EXPECT_EQ(events[i].time_ns, time_ns);
    EXPECT_EQ(events[i].tid, tid);
    EXPECT_EQ(events[i].numbers[0], number);
  };
  expect(0, EventKind::kThreadSwitch, 1000, 6, 0);
  expect(1, EventKind::kThreadSwitch, 1500, 7, 2);
  expect(2, EventKind::kThreadSwitch, 2000, 6, 1);
  expect(3, EventKind::kSwitchesLost, 2500, 0, 9);
  EXPECT_EQ(events[3].numbers[1], 2000U);  // begin of the loss
  EXPECT_EQ(events[0].pid, 5);
  EXPECT_EQ(events[0].cpu, 0);
  EXPECT_EQ(events[1].cpu, 1);
}

TEST_F(SchedulingFiles, AreBoundedAndKeepTheNewestOfAllCpusFromOneTimeOn) {
  constexpr std::uint64_t kMost = 1U << 20U;
  constexpr std::int64_t kSwitches = 200'000;
  {
    SchedulingTrace trace(directory_, 2, kMost);
    for (std::int64_t i = 1; i <= kSwitches; ++i) {
      trace.add(0, {.time_ns = i * 10, .pid = 1, .tid = 1});
      if (i % 50 == 0) {  // CPU 1 has few events and keeps all of them
        trace.add(1, {.time_ns = i * 10 + 1, .pid = 1, .tid = 2});
      }
    }
    trace.flush();
  }
  EXPECT_LE(bytes(), kMost);
  EXPECT_GT(bytes(), kMost / 4);
  const auto events = read();
  ASSERT_FALSE(events.empty());
  EXPECT_TRUE(counts_.damage.empty());
  EXPECT_EQ(events.back().time_ns, kSwitches * 10 + 1);
  std::map<std::int64_t, std::vector<std::int64_t>> times;
  for (const TraceEvent& event : events) {
    times[event.tid].push_back(event.time_ns);
  }
  ASSERT_EQ(times.size(), 2U);
  EXPECT_GT(times[1].front(), 10);  // the first ones are dropped, also those of CPU 1
  EXPECT_GE(times[2].front(), times[1].front());
  for (std::size_t i = 1; i < times[1].size(); ++i) {
    ASSERT_EQ(times[1][i], times[1][i - 1] + 10);
  }
}

/// Runs a process that waits `times` times, until it has ended. Returns its number.
pid_t run_sleeper(int times) {
  const pid_t child = fork();
  if (child == 0) {
    const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    for (int i = 0; i < times; ++i) {
      nanosleep(&pause, nullptr);
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return child;
}

TEST(ThreadSwitches, FollowWhatTheProcessStarts) {
  std::unique_ptr<ThreadSwitches> switches;
  try {
    switches = std::make_unique<ThreadSwitches>(getpid());
  } catch (const std::system_error& error) {
    const int code = error.code().value();
    ASSERT_TRUE(code == EACCES || code == EPERM || code == ENOSYS) << error.what();
    GTEST_SKIP() << error.what();
  }
  constexpr int kSleeps = 20;
  const pid_t child = run_sleeper(kSleeps);
  std::map<std::int64_t, ThreadSwitch> changes;
  for (std::size_t cpu = 0; cpu < switches->cpus(); ++cpu) {
    std::int64_t last_ns = 0;
    switches->take(cpu, [&](const ThreadSwitch& each) {
      ASSERT_EQ(each.lost, 0U);
      EXPECT_GE(each.time_ns, last_ns);
      last_ns = each.time_ns;
      if (each.tid == child) {
        EXPECT_EQ(each.pid, child);
        changes[each.time_ns] = each;
      }
    });
    int more = 0;
    switches->take(cpu, [&](const ThreadSwitch& each) { more += each.tid == child ? 1 : 0; });
    EXPECT_EQ(more, 0);  // each switch is taken once
  }
  int waits = 0;
  bool runs = false;
  for (const auto& [time_ns, each] : changes) {
    EXPECT_NE(runs, each.state == ThreadState::kRuns) << "at " << time_ns;
    runs = each.state == ThreadState::kRuns;
    waits += each.state == ThreadState::kWaits ? 1 : 0;
  }
  EXPECT_GE(waits, kSleeps);
}

TEST(ThreadSwitches, SayWhyTheyCannot) {
  try {
    const ThreadSwitches switches(INT32_MAX);
    FAIL() << "no such process";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("perf_event_open"), std::string::npos);
  }
}

}  // namespace
}  // namespace rclrt::trace

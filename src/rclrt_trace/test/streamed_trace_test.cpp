// SPDX-License-Identifier: Apache-2.0
// Traces of any length: the same model as with all runs in memory, and bounded memory.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "long_trace.hpp"
#include "robot.hpp"

namespace rclrt::trace {
namespace {

namespace fs = std::filesystem;

constexpr RunLimits kFew{.all = 300, .latest = 60};

/// A robot with two processes. The first one has a timer, a filter and a logger on two threads that
/// overlap; the second one takes messages from outside.
struct Fleet : Robot {
  explicit Fleet(const RunLimits& limits) { system = TracedSystem(limits); }

  void make() {
    node(1, "sensor");
    publisher(10, 1, "/points");
    timer(20, 1, 10 * kMs, 21);
    timer(22, 1, 40 * kMs, 23);
    node(2, "filter");
    subscription(30, 2, "/points", 31);
    publisher(11, 2, "/filtered");
    subscription(32, 2, "/points", 33);
    pid = tid = 200;
    node(3, "motor");
    subscription(40, 3, "/filtered", 41);
    subscription(42, 3, "/joystick", 43);
  }
  void on(std::int64_t process, std::int64_t number) {
    pid = process;
    tid = number;
  }
  std::int64_t draw(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution(least, most)(random);
  }
  /// `switches`: the trace has the switches of the first process's threads.
  void run(int times, bool switches) {
    for (int i = 0; i < times; ++i) {
      const std::int64_t begin_ns = now_ns;
      cpu = static_cast<std::int32_t>(draw(0, 1));
      on(100, 100);
      start(21);
      publish(10, ++stamp);
      if (switches) {
        now_ns += 10'000;
        emit(EventKind::kThreadSwitch, {1});
        now_ns += draw(1'000, 400'000);
        emit(EventKind::kThreadSwitch, {0});
      }
      end(21, draw(100'000, kMs));
      take(30, stamp);
      start(31);
      now_ns += draw(10'000, 90'000);
      on(100, 101);
      take(32, stamp);
      start(33);  // overlaps
      now_ns += 5'000;
      on(100, 100);
      publish(11, stamp);
      end(31, draw(10'000, kMs));
      on(100, 101);
      end(33, draw(10'000, kMs));
      on(200, 200);
      take(40, stamp);
      start(41);
      end(41, draw(10'000, kMs));
      if (i % 4 == 0) {
        on(100, 100);
        start(23);
        end(23, draw(10'000, kMs));
        on(200, 200);
        take(42, 1'000'000'000 + static_cast<std::uint64_t>(now_ns));
        start(43);
        end(43, draw(10'000, kMs));
      }
      now_ns = begin_ns + 10 * kMs;
    }
  }

  std::uint64_t stamp = 0;
  std::mt19937 random{1};
};

TracedModel model_of(const RunLimits& limits, bool switches) {
  Fleet fleet(limits);
  fleet.make();
  fleet.run(1000, switches);
  EXPECT_EQ(fleet.system.streams(), limits.all == kFew.all);
  return fleet.model();
}

/// Removes the percentiles, which may be 0.1 % too large, after a comparison with the exact ones.
void compare_percentiles(model::Application& exact, model::Application& streamed) {
  ASSERT_EQ(exact.callbacks.size(), streamed.callbacks.size());
  for (std::size_t i = 0; i < exact.callbacks.size(); ++i) {
    model::ObservedTimes& one = exact.callbacks[i].observed.value();
    model::ObservedTimes& other = streamed.callbacks[i].observed.value();
    for (auto time : {&model::ObservedTimes::p50, &model::ObservedTimes::p99}) {
      EXPECT_GE(other.*time, one.*time);
      EXPECT_LE(static_cast<double>((other.*time).count()),
                1.001 * static_cast<double>((one.*time).count()) + 1);
      other.*time = one.*time;
    }
  }
}

TEST(StreamedTrace, HasTheModelOfAllRuns) {
  for (const bool switches : {false, true}) {
    TracedModel exact = model_of({}, switches);
    TracedModel streamed = model_of(kFew, switches);
    compare_percentiles(exact.application, streamed.application);
    EXPECT_EQ(model::to_yaml(streamed.application), model::to_yaml(exact.application));
    EXPECT_EQ(streamed.slot_of, exact.slot_of);
    ASSERT_FALSE(streamed.notes.empty());
    const auto is_own = [](const std::string& note) { return note.starts_with("the trace has "); };
    EXPECT_EQ(std::erase_if(streamed.notes, is_own), 1U);
    EXPECT_EQ(streamed.notes, exact.notes);
  }
}

TEST(StreamedTrace, StatesWhichRunsShowWaits) {
  EXPECT_TRUE(has_note(model_of(kFew, false), "the trace has 4500 runs of callbacks, of which"));
}

TEST(StreamedTrace, KeepsTheLatestRunsAndWhatBelongsToThem) {
  Fleet fleet(kFew);
  fleet.make();
  for (int i = 0; i < 20; ++i) {
    fleet.run(100, true);
    EXPECT_LE(fleet.system.instances().size(), 2 * kFew.latest);
    EXPECT_LE(fleet.system.cpu_parts().size(), 16 * kFew.latest);
    EXPECT_LE(fleet.system.publications(0).size(), 16 * kFew.latest);
  }
  fleet.system.finish();
  std::uint64_t runs = 0;
  for (const RunTotals& each : fleet.system.totals()) {
    runs += each.runs;
  }
  EXPECT_EQ(runs, 20 * 450U);
  EXPECT_EQ(fleet.system.publication_count(0).count, 2000U);
  for (const TracedInstance& each : fleet.system.instances()) {
    EXPECT_GE(each.end_ns, fleet.system.kept_since_ns());
    if (each.part_count > 0) {
      const recorder::CpuPart& first = fleet.system.cpu_parts().at(each.first_part);
      EXPECT_EQ(first.start_ns, each.start_ns);
    }
  }
}

TEST(StreamedTrace, CountsNoRunAsScheduledAfterTheLastSwitch) {
  Fleet fleets[] = {Fleet({}), Fleet(kFew)};
  for (Fleet& fleet : fleets) {
    fleet.make();
    fleet.run(100, true);
    fleet.run(400, false);  // the recording of switches has ended
    fleet.system.finish();
  }
  const auto scheduled = static_cast<std::uint64_t>(std::ranges::count_if(
      fleets[0].system.instances(),
      [](const TracedInstance& each) { return each.callback == 0 && each.scheduled; }));
  EXPECT_GT(scheduled, 90U);
  const RunTotals& timer = fleets[1].system.totals().at(0);
  EXPECT_EQ(timer.cpu.value().count(), scheduled);
  EXPECT_EQ(timer.wall.value().count(), 500 - scheduled);
}

/// Reads a trace in a process of its own, and returns the most memory that it had at once, in kB.
std::int64_t peak_kb(const fs::path& directory, std::size_t expected_runs) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    TracedSystem system({.all = 20'000, .latest = 5'000, .publications = 10'000});
    read_trace(directory, [&](const TraceEvent& event) { system.take(event); });
    system.finish();
    const TracedModel made = build_model(system, "robot");
    std::size_t runs = 0;
    for (const model::Callback& each : made.application.callbacks) {
      runs += each.observed.value().n;
    }
    std::int64_t peak = 0;
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      if (word == "VmHWM:") {
        status >> peak;
      }
    }
    peak = runs == expected_runs ? peak : -1;
    _exit(write(ends[1], &peak, sizeof(peak)) == sizeof(peak) ? 0 : 1);
  }
  std::int64_t peak = -1;
  close(ends[1]);
  EXPECT_EQ(read(ends[0], &peak, sizeof(peak)), static_cast<ssize_t>(sizeof(peak)));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return peak;
}

/// A directory that is removed at the end.
struct Scratch {
  Scratch() { fs::create_directories(path); }
  ~Scratch() { fs::remove_all(path); }
  fs::path path = fs::temp_directory_path() / ("rclrt_long_trace_" + std::to_string(getpid()));
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;  // their memory grows with what was ever allocated
#else
constexpr bool kIsSanitized = false;
#endif

TEST(StreamedTrace, TenTimesTheTraceTakesTheSameMemory) {
  if (kIsSanitized) {
    GTEST_SKIP() << "the memory of sanitizers grows";
  }
  const Scratch scratch;
  constexpr std::uint64_t kShort = 20'000;  // iterations: 13 MB, and 130 MB
  LongTrace(scratch.path / "short").write(kShort, 1'000'000);
  LongTrace(scratch.path / "long").write(10 * kShort, 10'000'000);
  const std::int64_t of_short = peak_kb(scratch.path / "short", 4 * kShort);
  const std::int64_t of_long = peak_kb(scratch.path / "long", 40 * kShort);
  ASSERT_GT(of_short, 0);
  ASSERT_GT(of_long, 0);
  EXPECT_LT(of_long, of_short + 8'000) << of_short << " kB for a tenth of the trace";
}

}  // namespace
}  // namespace rclrt::trace

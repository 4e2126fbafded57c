// SPDX-License-Identifier: Apache-2.0
// The guarantee of the whole package: after set-up, a real-time thread that uses every block
// neither allocates nor frees, waits for no lock without a protocol, and causes no page fault.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "rclrt/realtime/byte_ring.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/condition_variable.hpp"
#include "rclrt/realtime/cyclic_thread.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/flight_recorder.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/latest_value.hpp"
#include "rclrt/realtime/logging.hpp"
#include "rclrt/realtime/mailbox.hpp"
#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/rt_guard.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/spsc_queue.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "rclrt/realtime/tracer.hpp"

namespace rclrt::realtime {
namespace {

constexpr std::uint64_t kCycles = 100'000;
constexpr std::size_t kStackBytes = 256 * 1024;
constexpr int kPriority = 10;

struct Pose {
  double x, y, heading;
};

/// Advances its time instead of sleeping, so that the cycles follow one another at once.
class InstantClock final : public Clock {
 public:
  std::int64_t now_ns() const noexcept RCLRT_NONBLOCKING override { return now_ns_.load(); }
  void wait_until(EventCount& event, EventCount::Key /*key*/,
                  std::int64_t deadline_ns) noexcept RCLRT_WAITS override {
    event.cancel_wait();
    now_ns_.store(deadline_ns);
  }

 private:
  std::atomic<std::int64_t> now_ns_{0};
};

/// Counts the lines: nothing is printed.
class CountingSink final : public LogSink {
 public:
  void write(const LogLine& /*line*/) override { ++lines; }
  std::atomic<std::uint64_t> lines{0};
};

/// All blocks that a cycle uses, constructed at set-up.
class Blocks {
 public:
  Blocks(Tracer& tracer, FlightRecorder& recorder, bool realtime)
      : span_(tracer.name("cycle")), counter_(tracer.name("cycles")), recorder_(recorder) {
    if (realtime) {  // a ceiling is for real-time threads
      ceiling_.emplace(kPriority);
    }
  }

  void cycle(ThreadTracer& trace, ThreadLogger& log, const Release& release) noexcept RCLRT_WAITS {
    const TraceSpan span(trace, span_);
    const std::int64_t begin_ns = monotonic_now_ns();
    const auto i = static_cast<std::int64_t>(release.index);
    pose_.write({static_cast<double>(i), 0, 0});
    sum_ += pose_reader_.read().x;
    pass(spsc_, i);
    pass(mpsc_, i);
    mailbox_.post(i);
    std::int64_t received = 0;
    mailbox_.wait_until_ns(received, kPassed);
    mailbox_.wait_until_ns(received, kPassed);  // empty by now: to the kernel and back
    if (std::unique_lock lock(inheriting_, std::chrono::seconds(1)); lock.owns_lock()) {
      ++shared_;
      changed_.notify_one();
      changed_.wait_until_ns(lock, kPassed);
    }
    if (ceiling_) {
      const std::scoped_lock lock(*ceiling_);
      ++shared_;
    }
    event_.wait_until(event_.prepare_wait(), kPassed);
    event_.notify_all();
    if (stop_.wait_until(kPassed)) {
      recorder_.request_dump("never");
    }
    recorder_.request_dump("one dump too many");
    semaphore_.post();
    semaphore_.wait();
    trace.counter(counter_, static_cast<double>(i));
    trace.instant(span_, {.flow = 1, .value = i});
    log.info("cycle {} of {}", i, kCycles);
    log.warn(limit_, "a text: {}, a time: {}", "late", std::chrono::microseconds(i));
    durations_.record(monotonic_now_ns() - begin_ns);
  }

  const Histogram& durations() const { return durations_; }
  double sum() const { return sum_; }

 private:
  static constexpr std::int64_t kPassed = 1;  // a deadline

  template <typename Queue>
  static void pass(Queue& queue, std::int64_t value) noexcept RCLRT_NONBLOCKING {
    queue.try_push(value);
    std::int64_t popped = 0;
    queue.try_pop(popped);
  }

  const TraceName span_;
  const TraceName counter_;
  FlightRecorder& recorder_;
  LatestValue<Pose> pose_{1};
  LatestValue<Pose>::Reader pose_reader_ = pose_.reader();
  SpscQueue<std::int64_t> spsc_{16};
  MpscQueue<std::int64_t> mpsc_{16};
  Mailbox<std::int64_t> mailbox_{16};
  PiMutex inheriting_;
  PiConditionVariable changed_;
  std::optional<CeilingMutex> ceiling_;
  EventCount event_;
  Semaphore semaphore_;
  StopFlag stop_;
  LogRateLimit limit_{std::chrono::nanoseconds(1)};
  Histogram durations_;
  std::uint64_t shared_ = 0;
  double sum_ = 0;
};

TEST(EveryBlock, AThreadThatUsesThemAllAllocatesNothingAndFaultsNoPage) {
  if (const char* reason = RtGuard::blind()) {
    GTEST_SKIP() << reason;
  }
  const bool realtime = !why_no_realtime(kPriority);
  FlightRecorder recorder({.max_dumps = 0});  // takes requests and writes no file
  Tracer tracer({recorder});
  CountingSink sink;
  Logger logger({sink});
  Blocks blocks(tracer, recorder, realtime);
  InstantClock clock;
  std::optional<RtGuard> guard;
  std::optional<RtReport> report;
  std::optional<ThreadTracer> trace(std::in_place, tracer, "control");
  std::optional<ThreadLogger> log(std::in_place, logger, "control");

  CyclicOptions options{.thread = {.name = "control"}, .period_ns = 1'000'000, .clock = &clock};
  options.thread.stack_size = kStackBytes;
  options.thread.stack_prefault = kStackBytes / 2;
  if (realtime) {
    options.thread.scheduling = {.policy = Policy::kFifo, .priority = kPriority};
    options.thread.scheduling.cpus = {allowed_cpus().back()};
  }
  // Without the right to lock memory, pages may come and go: then the test checks only calls.
  const std::optional<std::string> unlocked = lock_memory();
  const RtGuardOptions watch{.action = RtGuardAction::kCount, .page_faults = !unlocked};
  CyclicThread thread(options, [&](const Release& release) {
    if (release.index == 0) {
      guard.emplace(watch);
    }
    blocks.cycle(*trace, *log, release);
    if (release.index + 1 < kCycles) {
      return LoopControl::kContinue;
    }
    report = guard->report();
    guard.reset();
    return LoopControl::kStop;
  });
  thread.start();
  thread.join();

  ASSERT_TRUE(report);
  EXPECT_TRUE(report->clean()) << report->text();
  EXPECT_EQ(report->allocations + report->deallocations, 0U);
  if (unlocked) {
    std::printf("page faults are not judged: %s\n", unlocked->c_str());
  } else {
    EXPECT_EQ(report->minor_faults + report->major_faults, 0U) << report->text();
  }
  // The thread has done its work.
  EXPECT_EQ(thread.counts().cycles, kCycles);
  EXPECT_EQ(blocks.durations().count(), kCycles);
  EXPECT_EQ(blocks.sum(), static_cast<double>(kCycles) * (kCycles - 1) / 2);
  trace.reset();
  log.reset();
  logger.flush();
  EXPECT_GE(sink.lines + logger.statistics().dropped, kCycles);  // a dropped line is counted
}

}  // namespace
}  // namespace rclrt::realtime

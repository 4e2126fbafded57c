// SPDX-License-Identifier: Apache-2.0
// These tests read a dump as bytes (names are plain text in it). trace_file_test.py reads one with
// Perfetto's own classes.
#include "rclrt/realtime/flight_recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::realtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class AFlightRecorder : public testing::Test {
 protected:
  AFlightRecorder()
      : directory_(std::filesystem::temp_directory_path() /
                   ("flight_recorder_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(directory_);
    options_.directory = directory_;
    options_.before = seconds(5);
    options_.after = milliseconds(0);
    options_.min_interval = milliseconds(0);
  }
  ~AFlightRecorder() override { std::filesystem::remove_all(directory_); }

  TraceEvent event(const char* name, std::int64_t begin_ns, std::int64_t end_ns,
                   TraceKind kind = TraceKind::kSpan) {
    return {.begin_ns = begin_ns,
            .end_ns = end_ns,
            .thread = thread_,
            .name = dictionary_.name(name),
            .kind = kind};
  }

  void add(FlightRecorder& recorder, const TraceEvent& event) {
    recorder.write({&event, 1}, dictionary_);
  }

  /// Requests a dump now, lets the recorder write it, and returns its bytes.
  std::string dump(FlightRecorder& recorder) {
    recorder.request_dump("deadline missed");
    recorder.pass_done(monotonic_now_ns(), dictionary_);
    const std::filesystem::path file = recorder.statistics().last_file;
    std::ifstream in(file, std::ios::binary);
    EXPECT_TRUE(in) << file;
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::filesystem::path directory_;
  FlightRecorderOptions options_;
  TraceDictionary dictionary_;
  const TraceThread thread_ = dictionary_.thread("control", 301);
  const std::int64_t now_ns_ = monotonic_now_ns();
};

TEST_F(AFlightRecorder, DumpsWhatHappenedAndWhy) {
  FlightRecorder recorder(options_);
  add(recorder, event("plan", now_ns_ - 2'000, now_ns_ - 1'000));
  const std::string bytes = dump(recorder);
  EXPECT_THAT(bytes, HasSubstr("plan"));
  EXPECT_THAT(bytes, HasSubstr("control"));
  EXPECT_THAT(bytes, HasSubstr("deadline missed"));
  EXPECT_EQ(recorder.statistics().dumps, 1U);
  EXPECT_EQ(recorder.statistics().last_file, directory_ / "flight-1.pftrace");
}

TEST_F(AFlightRecorder, WritesNothingUnasked) {
  FlightRecorder recorder(options_);
  add(recorder, event("plan", now_ns_ - 2'000, now_ns_ - 1'000));
  recorder.pass_done(now_ns_, dictionary_);
  recorder.finish(dictionary_);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(AFlightRecorder, LeavesOutWhatEndedBeforeItsReach) {
  FlightRecorder recorder(options_);
  constexpr std::int64_t kSecond = kNanosecondsPerSecond;
  add(recorder, event("too old", now_ns_ - 9 * kSecond, now_ns_ - 8 * kSecond));
  add(recorder, event("reaches in", now_ns_ - 9 * kSecond, now_ns_ - kSecond));
  const std::string bytes = dump(recorder);
  EXPECT_THAT(bytes, Not(HasSubstr("too old")));
  EXPECT_THAT(bytes, HasSubstr("reaches in"));
}

TEST_F(AFlightRecorder, NamesASpanThatBeganBeforeItsReachAndStillRuns) {
  FlightRecorder recorder(options_);
  constexpr std::int64_t kSecond = kNanosecondsPerSecond;
  const auto at = [&](std::int64_t seconds_ago) { return now_ns_ - seconds_ago * kSecond; };
  add(recorder, event("runaway", at(9), at(9), TraceKind::kBegin));
  add(recorder, event("finished", at(8), at(8), TraceKind::kBegin));
  add(recorder, event("finished", at(7), at(7), TraceKind::kEnd));
  recorder.pass_done(now_ns_, dictionary_);
  EXPECT_EQ(recorder.statistics().events, 0U) << "all of them are forgotten";
  const std::string bytes = dump(recorder);
  EXPECT_THAT(bytes, HasSubstr("runaway"));
  EXPECT_THAT(bytes, Not(HasSubstr("finished")));
}

TEST_F(AFlightRecorder, HoldsNoMoreThanItsBytesAndDropsTheOldest) {
  options_.max_bytes = 10 * sizeof(TraceEvent);
  FlightRecorder recorder(options_);
  add(recorder, event("first", now_ns_ - 900'000, now_ns_ - 900'000));
  for (int i = 0; i < 995; ++i) {
    add(recorder, event("between", now_ns_ - 800'000 + i, now_ns_ - 800'000 + i));
  }
  add(recorder, event("last", now_ns_, now_ns_));
  recorder.pass_done(now_ns_, dictionary_);
  EXPECT_EQ(recorder.statistics().events, 10U);
  EXPECT_EQ(recorder.statistics().capacity, 10U);
  const std::string bytes = dump(recorder);
  EXPECT_THAT(bytes, Not(HasSubstr("first")));
  EXPECT_THAT(bytes, HasSubstr("last"));
}

TEST_F(AFlightRecorder, GoesOnRecordingAfterADump) {
  options_.max_bytes = 10 * sizeof(TraceEvent);
  FlightRecorder recorder(options_);
  for (int i = 0; i < 14; ++i) {
    add(recorder, event("early", now_ns_ - 1'000 + i, now_ns_));
  }
  dump(recorder);
  for (int i = 0; i < 10; ++i) {
    add(recorder, event("late", now_ns_ + i, now_ns_ + i));
  }
  const std::string bytes = dump(recorder);
  EXPECT_THAT(bytes, Not(HasSubstr("early")));
  EXPECT_THAT(bytes, HasSubstr("late"));
}

TEST_F(AFlightRecorder, WaitsForWhatHappensShortlyAfterTheTrigger) {
  options_.after = milliseconds(100);
  FlightRecorder recorder(options_);
  recorder.request_dump("deadline missed");
  recorder.request_dump("another of the same dump");
  const std::int64_t triggered_ns = monotonic_now_ns();
  recorder.pass_done(triggered_ns, dictionary_);
  EXPECT_EQ(recorder.statistics().dumps, 0U);
  add(recorder, event("afterwards", triggered_ns + 1, triggered_ns + 2));
  recorder.pass_done(triggered_ns + 100'000'000, dictionary_);
  ASSERT_EQ(recorder.statistics().dumps, 1U);
  EXPECT_EQ(recorder.statistics().merged, 1U);
  std::ifstream in(recorder.statistics().last_file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  EXPECT_THAT(bytes, HasSubstr("afterwards"));
  EXPECT_THAT(bytes, HasSubstr("another of the same dump"));
}

TEST_F(AFlightRecorder, WritesAWaitingDumpWhenItEnds) {
  options_.after = seconds(3600);
  FlightRecorder recorder(options_);
  recorder.request_dump("deadline missed");
  recorder.finish(dictionary_);
  EXPECT_EQ(recorder.statistics().dumps, 1U);
}

TEST_F(AFlightRecorder, SuppressesRequestsThatComeTooSoon) {
  options_.min_interval = seconds(3600);
  FlightRecorder recorder(options_);
  dump(recorder);
  recorder.request_dump("again");
  recorder.pass_done(monotonic_now_ns(), dictionary_);
  EXPECT_EQ(recorder.statistics().dumps, 1U);
  EXPECT_EQ(recorder.statistics().suppressed, 1U);
}

TEST_F(AFlightRecorder, StopsAfterItsNumberOfDumpsAndNumbersThem) {
  options_.max_dumps = 2;
  std::ofstream(directory_ / "flight-2.pftrace") << "of an earlier run";
  FlightRecorder recorder(options_);
  for (int i = 0; i < 3; ++i) {
    recorder.request_dump("deadline missed");
    recorder.pass_done(monotonic_now_ns(), dictionary_);
  }
  EXPECT_EQ(recorder.statistics().dumps, 2U);
  EXPECT_EQ(recorder.statistics().suppressed, 1U);
  EXPECT_TRUE(std::filesystem::exists(directory_ / "flight-1.pftrace"));
  EXPECT_EQ(std::filesystem::file_size(directory_ / "flight-2.pftrace"), 17U);
  EXPECT_TRUE(std::filesystem::exists(directory_ / "flight-3.pftrace"));
}

TEST_F(AFlightRecorder, CountsRequestsThatAreTooManyAtOnce) {
  FlightRecorder recorder(options_);
  for (int i = 0; i < 1'000; ++i) {
    recorder.request_dump("storm");
  }
  recorder.pass_done(monotonic_now_ns(), dictionary_);
  const FlightRecorderStatistics statistics = recorder.statistics();
  EXPECT_EQ(statistics.dumps, 1U);
  EXPECT_EQ(statistics.merged + statistics.suppressed, 999U);
}

TEST_F(AFlightRecorder, ReportsADumpItCannotWriteAndGoesOn) {
  options_.directory = directory_ / "missing";
  FlightRecorder recorder(options_);
  recorder.request_dump("deadline missed");
  recorder.pass_done(monotonic_now_ns(), dictionary_);
  EXPECT_EQ(recorder.statistics().failed, 1U);
  EXPECT_THAT(recorder.statistics().last_error, HasSubstr("flight-1.pftrace"));
  std::filesystem::create_directories(options_.directory);
  recorder.request_dump("deadline missed");
  recorder.pass_done(monotonic_now_ns(), dictionary_);
  EXPECT_EQ(recorder.statistics().dumps, 1U);
}

TEST_F(AFlightRecorder, TakesRequestsFromManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kRequests = 2'000;
  FlightRecorder recorder(options_);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int request = 0; request < kRequests; ++request) {
        recorder.request_dump("deadline missed");
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    add(recorder, event("plan", now_ns_ + i, now_ns_ + i));
    recorder.pass_done(monotonic_now_ns(), dictionary_);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  recorder.finish(dictionary_);
  const FlightRecorderStatistics statistics = recorder.statistics();
  EXPECT_EQ(statistics.dumps + statistics.merged + statistics.suppressed,
            static_cast<std::uint64_t>(kThreads * kRequests));
}

TEST_F(AFlightRecorder, RefusesOptionsOutOfRange) {
  options_.max_bytes = 1;
  EXPECT_THAT(
      [&] { FlightRecorder{options_}; },
      ThrowsMessage<std::invalid_argument>(HasSubstr("max_bytes must have room for one event")));
  options_.max_bytes = 1'000;
  options_.after = milliseconds(-1);
  EXPECT_THAT([&] { FlightRecorder{options_}; },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("before, after and min_interval must be from 0 to a year")));
  options_.after = milliseconds(1);
  options_.before = milliseconds::max();  // in nanoseconds it would overflow
  EXPECT_THAT([&] { FlightRecorder{options_}; },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("before, after and min_interval must be from 0 to a year")));
}

}  // namespace
}  // namespace rclrt::realtime

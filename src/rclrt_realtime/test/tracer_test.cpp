// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/tracer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../src/trace_order.hpp"

namespace rclrt::realtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Keeps the events that it receives. Read them only after a flush, a remove or the end of the
/// tracer.
class Kept final : public TraceSink {
 public:
  void write(std::span<const TraceEvent> batch, const TraceDictionary& dictionary) override {
    for (const TraceEvent& event : batch) {
      events.push_back(event);
      if (event.kind != TraceKind::kDropped) {
        names.push_back(dictionary[event.name].text);
      }
      threads.push_back(dictionary[event.thread].name);
    }
  }
  void pass_done(std::int64_t, const TraceDictionary&) override {}
  void finish(const TraceDictionary&) override { ++finished; }

  std::vector<TraceEvent> events;
  std::vector<std::string> names;
  std::vector<std::string> threads;
  int finished = 0;
};

/// With this period no pass happens by itself while a test runs.
TracerOptions by_hand() { return {.period = std::chrono::hours(1)}; }

TEST(Tracer, RecordsASpanWithTheTimesOfItsEnds) {
  Kept kept;
  Tracer tracer({kept}, by_hand());
  const TraceName step = tracer.name("step", "control");
  ThreadTracer thread(tracer, "control");
  const std::int64_t before_ns = monotonic_now_ns();
  {
    const TraceSpan span(thread, step, {.flow = 7, .last_of_flow = true, .value = -3});
  }
  const std::int64_t after_ns = monotonic_now_ns();
  tracer.flush();
  ASSERT_EQ(kept.events.size(), 1U);
  const TraceEvent& span = kept.events.front();
  const std::int64_t error_ns =
      tracer.statistics().clock_error_ns + (after_ns - before_ns) / 1'000 + 1'000;
  EXPECT_EQ(span.kind, TraceKind::kSpan);
  EXPECT_EQ(span.name, step);
  EXPECT_EQ(span.flow, 7U);
  EXPECT_TRUE(span.last_of_flow);
  EXPECT_TRUE(span.has_value);
  EXPECT_EQ(span.value, -3);
  EXPECT_GE(span.begin_ns, before_ns - error_ns);
  EXPECT_GE(span.end_ns, span.begin_ns);
  EXPECT_LE(span.end_ns, after_ns + error_ns);
  EXPECT_EQ(kept.threads.front(), "control");
}

TEST(Tracer, HandsOverAThreadsEventsInOrderOfTheirBegin) {
  Kept kept;
  Tracer tracer({kept}, by_hand());
  ThreadTracer thread(tracer, "control");
  const TraceName outer = tracer.name("outer");
  const TraceName inner = tracer.name("inner");
  const TraceName mark = tracer.name("mark");
  const TraceName depth = tracer.name("depth", "messages");
  {
    const TraceSpan first(thread, outer);
    {
      const TraceSpan second(thread, inner);
      thread.instant(mark);
    }
    thread.counter(depth, 2.5);
  }
  thread.begin(outer);
  thread.end(outer);
  tracer.flush();
  EXPECT_THAT(kept.names, ElementsAre("outer", "inner", "mark", "depth", "outer", "outer"));
  EXPECT_EQ(kept.events.at(3).kind, TraceKind::kCounter);
  EXPECT_EQ(kept.events.at(3).number, 2.5);
  EXPECT_EQ(kept.events.at(4).kind, TraceKind::kBegin);
  EXPECT_EQ(kept.events.at(5).kind, TraceKind::kEnd);
  EXPECT_EQ(tracer.statistics().recorded, 6U);
}

// The time-stamp counter of a virtual machine may advance in steps of 10 ns and more.
TEST(Tracer, NestsEventsOfOneClockStepAsTheyRan) {
  const auto event = [](TraceKind kind, std::int64_t begin_ns, std::int64_t end_ns) {
    return TraceEvent{.begin_ns = begin_ns, .end_ns = end_ns, .kind = kind};
  };
  // As recorded: events without duration when they happen, spans when they end.
  const std::vector<TraceEvent> events = {
      event(TraceKind::kInstant, 20, 20),  // 0, inside 1
      event(TraceKind::kSpan, 20, 30),     // 1, inside 2
      event(TraceKind::kSpan, 20, 40),     // 2
      event(TraceKind::kCounter, 40, 40),  // 3
      event(TraceKind::kBegin, 40, 40),    // 4
      event(TraceKind::kSpan, 40, 40),     // 5, between 4 and 6
      event(TraceKind::kEnd, 40, 40),      // 6
      event(TraceKind::kInstant, 40, 40),  // 7, inside 8
      event(TraceKind::kSpan, 40, 50),     // 8, after 6
      event(TraceKind::kInstant, 10, 10),  // 9
  };
  std::vector<std::uint32_t> order;
  order_by_begin(
      events.size(), [&](std::size_t number) -> const TraceEvent& { return events[number]; },
      order);
  EXPECT_THAT(order, ElementsAre(9, 2, 1, 0, 3, 4, 5, 6, 8, 7));
}

TEST(Tracer, NamesAreOneNumberPerText) {
  Kept kept;
  Tracer tracer({kept}, by_hand());
  EXPECT_EQ(tracer.name("a", "x"), tracer.name("a", "x"));
  EXPECT_NE(tracer.name("a", "x"), tracer.name("a", "y"));
}

TEST(Tracer, RecordsOnlyWhileEnabled) {
  Kept kept;
  TracerOptions options = by_hand();
  options.enabled = false;
  Tracer tracer({kept}, options);
  ThreadTracer thread(tracer, "control");
  const TraceName mark = tracer.name("mark");
  thread.instant(mark, {.value = 1});
  tracer.enable(true);
  EXPECT_TRUE(thread.recording());
  thread.instant(mark, {.value = 2});
  tracer.enable(false);
  EXPECT_FALSE(tracer.enabled());
  thread.instant(mark, {.value = 3});
  tracer.flush();
  ASSERT_EQ(kept.events.size(), 1U);
  EXPECT_EQ(kept.events.front().value, 2);
}

TEST(Tracer, KeepsTheOldestRecordsOfAFullRingAndSaysHowManyWereLost) {
  Kept kept;
  TracerOptions options = by_hand();
  options.ring_records = 4;
  Tracer tracer({kept}, options);
  ThreadTracer thread(tracer, "control");
  const TraceName mark = tracer.name("mark");
  for (int i = 0; i < 7; ++i) {
    thread.instant(mark, {.value = i});
  }
  tracer.flush();
  ASSERT_EQ(kept.events.size(), 5U);
  EXPECT_EQ(kept.events.at(3).value, 3);
  EXPECT_EQ(kept.events.at(4).kind, TraceKind::kDropped);
  EXPECT_EQ(kept.events.at(4).value, 3);
  EXPECT_EQ(tracer.statistics().recorded, 4U);
  EXPECT_EQ(tracer.statistics().dropped, 3U);
  EXPECT_EQ(thread.dropped(), 3U);
}

TEST(Tracer, HandsOverWhatAThreadRecordedBeforeItsHandleEnded) {
  Kept kept;
  Tracer tracer({kept}, by_hand());
  const TraceName mark = tracer.name("mark");
  std::thread([&] {
    ThreadTracer thread(tracer, "short-lived");
    thread.instant(mark);
  }).join();
  tracer.flush();
  EXPECT_THAT(kept.threads, ElementsAre("short-lived"));
  EXPECT_EQ(tracer.statistics().threads, 1U);
  tracer.flush();
  EXPECT_EQ(tracer.statistics().threads, 0U) << "its ring is freed";
}

TEST(Tracer, HandsOverEverythingAndFinishesItsSinksWhenItEnds) {
  Kept kept;
  {
    Tracer tracer({kept}, by_hand());
    ThreadTracer thread(tracer, "control");
    thread.instant(tracer.name("mark"));
  }
  EXPECT_EQ(kept.events.size(), 1U);
  EXPECT_EQ(kept.finished, 1);
}

TEST(ThreadTracer, RecordsNothingAfterItsTracerHasEnded) {
  Kept kept;
  std::optional<Tracer> tracer(std::in_place, std::vector<std::reference_wrapper<TraceSink>>{kept},
                               by_hand());
  ThreadTracer thread(*tracer, "control");
  const TraceName mark = tracer->name("mark");
  tracer.reset();
  EXPECT_FALSE(thread.recording());
  thread.instant(mark);
  const TraceSpan span(thread, mark);
  EXPECT_EQ(thread.dropped(), 0U);
  EXPECT_TRUE(kept.events.empty());
}

TEST(ThreadTracer, MovesWithItsRing) {
  Kept kept;
  Tracer tracer({kept}, by_hand());
  ThreadTracer first(tracer, "control");
  const TraceName mark = tracer.name("mark");
  first.instant(mark, {.value = 1});
  ThreadTracer second(std::move(first));
  second.instant(mark, {.value = 2});
  tracer.flush();
  EXPECT_EQ(kept.events.size(), 2U);
}

TEST(ThreadTracer, IsTheTrackOfTheThreadThatAdoptedIt) {
  class Tid final : public TraceSink {
   public:
    void write(std::span<const TraceEvent> batch, const TraceDictionary& dictionary) override {
      tid = dictionary[batch.front().thread].tid;
    }
    void pass_done(std::int64_t, const TraceDictionary&) override {}
    void finish(const TraceDictionary&) override {}
    pid_t tid = 0;
  } sink;
  Tracer tracer({sink}, by_hand());
  ThreadTracer tracer_of_thread(tracer, "worker");
  pid_t expected = 0;
  std::thread([&] {
    tracer_of_thread.adopt();
    expected = gettid();
    tracer_of_thread.instant(tracer.name("mark"));
  }).join();
  tracer.flush();
  EXPECT_EQ(sink.tid, expected);
  EXPECT_NE(sink.tid, gettid());
}

TEST(Tracer, GivesUpASinkThatThrowsAndKeepsTheOthers) {
  class Broken final : public TraceSink {
   public:
    void write(std::span<const TraceEvent>, const TraceDictionary&) override {
      throw std::runtime_error("disk full");
    }
    void pass_done(std::int64_t, const TraceDictionary&) override { ++called; }
    void finish(const TraceDictionary&) override { ++called; }
    int called = 0;
  } broken;
  Kept kept;
  TracerStatistics statistics;
  {
    Tracer tracer({broken, kept}, by_hand());
    ThreadTracer thread(tracer, "control");
    thread.instant(tracer.name("mark"));
    tracer.flush();
    thread.instant(tracer.name("mark"));
    tracer.flush();
    statistics = tracer.statistics();
  }
  EXPECT_EQ(kept.events.size(), 2U);
  EXPECT_EQ(statistics.sink_errors, 1U);
  EXPECT_THAT(statistics.last_error, HasSubstr("disk full"));
  EXPECT_EQ(broken.called, 0);
}

TEST(Tracer, SinksComeAndGoWhileItRuns) {
  Kept first;
  Kept second;
  Tracer tracer({first}, by_hand());
  ThreadTracer thread(tracer, "control");
  const TraceName mark = tracer.name("mark");
  thread.instant(mark);
  tracer.flush();
  tracer.add_sink(second);
  thread.instant(mark);
  tracer.remove_sink(first);
  thread.instant(mark);
  tracer.flush();
  EXPECT_EQ(first.events.size(), 2U);
  EXPECT_EQ(first.finished, 1);
  EXPECT_EQ(second.events.size(), 2U);
}

TEST(Tracer, RefusesRingsAndPeriodsOfNothing) {
  EXPECT_THAT([&] { Tracer({}, {.ring_records = 0}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("Tracer: a thread's ring must hold at least 1 record")));
  EXPECT_THAT(
      [&] { Tracer({}, {.period = std::chrono::milliseconds(0)}); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("the drain's period must be at least 1 ms")));
}

// Under ThreadSanitizer this tests the lifetime of the rings: threads start and end while the
// tracer drains, and every event is either passed to the sinks or counted as dropped.
TEST(Tracer, LosesNothingUncountedWhileThreadsComeAndGo) {
  constexpr int kThreads = 4;
  constexpr int kHandles = 25;
  constexpr std::uint64_t kRecords = 500;
  Kept kept;
  std::uint64_t dropped = 0;
  {
    Tracer tracer({kept}, {.period = std::chrono::milliseconds(1), .ring_records = 256});
    const TraceName step = tracer.name("step");
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int handle = 0; handle < kHandles; ++handle) {
          ThreadTracer thread(tracer, "worker");
          for (std::uint64_t i = 0; i < kRecords; ++i) {
            const TraceSpan span(thread, step, {.value = static_cast<std::int64_t>(i)});
          }
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    tracer.flush();
    dropped = tracer.statistics().dropped;
    EXPECT_EQ(tracer.statistics().recorded + dropped, kThreads * kHandles * kRecords);
  }
  EXPECT_EQ(kept.names.size() + dropped, kThreads * kHandles * kRecords);
}

}  // namespace
}  // namespace rclrt::realtime

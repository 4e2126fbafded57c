// SPDX-License-Identifier: Apache-2.0
// A real-time function may use every block in the ways labelled nonblocking, and no other.
// REASON: must not call non-'nonblocking' function 'rclrt::realtime::Mailbox<int>::wait'
#include "rclrt/realtime/condition_variable.hpp"
#include "rclrt/realtime/cyclic_thread.hpp"
#include "rclrt/realtime/fake_clock.hpp"
#include "rclrt/realtime/flight_recorder.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/latest_value.hpp"
#include "rclrt/realtime/logging.hpp"
#include "rclrt/realtime/mailbox.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/spsc_queue.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/realtime/tracer.hpp"

using namespace rclrt::realtime;

struct Blocks {
  PiMutex mutex;
  PiConditionVariable changed;
  CeilingMutex ceiling{20};
  LatestValue<int> latest{1};
  LatestValue<int>::Reader reader = latest.reader();
  SpscQueue<int> spsc{2};
  Mailbox<int> mailbox{2};
  EventCount event;
  Semaphore semaphore;
  StopFlag stop;
  Histogram histogram;
  LogRateLimit limit{std::chrono::seconds(1)};
};

void cycle(Blocks& blocks, ThreadTracer& trace, ThreadLogger& log, FlightRecorder& recorder,
           TraceName name, CyclicThread& thread, const Clock& clock) noexcept RCLRT_NONBLOCKING {
  const TraceSpan span(trace, name, {.flow = 1});
  trace.instant(name, {.value = 2});
  trace.counter(name, 3.0);
  const std::int64_t begin_ns = clock.now_ns();
  if (blocks.mutex.try_lock()) {
    blocks.mutex.unlock();
    blocks.changed.notify_all();
  }
  if (blocks.ceiling.try_lock()) {
    blocks.ceiling.unlock();
  }
  blocks.latest.write(blocks.reader.read());
  int value = 0;
  blocks.spsc.try_push(1);
  blocks.spsc.try_pop(value);
  blocks.mailbox.post(value);
#ifdef WRONG
  blocks.mailbox.wait(value);
#else
  blocks.mailbox.try_take(value);
#endif
  blocks.event.notify_one();
  blocks.semaphore.post();
  if (blocks.stop.stop_requested()) {
    thread.request_stop();
  }
  log.warn(blocks.limit, "{} of {}", value, "text");
  blocks.histogram.record(clock.now_ns() - begin_ns);
  if (blocks.histogram.max() > 100) {
    recorder.request_dump("late");
  }
}

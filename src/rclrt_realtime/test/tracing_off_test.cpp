// SPDX-License-Identifier: Apache-2.0
// This file is compiled with RCLRT_TRACING=0.
#include <gtest/gtest.h>

#include <span>

#include "rclrt/realtime/tracer.hpp"

namespace rclrt::realtime {
namespace {

static_assert(RCLRT_TRACING == 0);

class Counted final : public TraceSink {
 public:
  void write(std::span<const TraceEvent> batch, const TraceDictionary&) override {
    events += batch.size();
  }
  void pass_done(std::int64_t, const TraceDictionary&) override {}
  void finish(const TraceDictionary&) override {}
  std::size_t events = 0;
};

template <typename Thread, typename Span>
void use_everything(Tracer& tracer) {
  Thread thread(tracer, "control");
  const TraceName name = tracer.name("step");
  {
    const Span span(thread, name, {.value = 1});
  }
  thread.begin(name);
  thread.end(name);
  thread.instant(name);
  thread.counter(name, 1);
  thread.span(name, thread.now(), thread.now());
}

TEST(Tracing, CompiledOutRecordsNothingThoughTheTracerIsOn) {
  Counted counted;
  Tracer tracer({counted});
  use_everything<ThreadTracer, TraceSpan>(tracer);
  tracer.flush();
  EXPECT_TRUE(tracer.enabled());
  EXPECT_EQ(counted.events, 0U);
}

TEST(Tracing, CompiledOutInOneFileIsStillThereForOthers) {
  Counted counted;
  Tracer tracer({counted});
  use_everything<BasicThreadTracer<true>, BasicTraceSpan<true>>(tracer);
  tracer.flush();
  EXPECT_EQ(counted.events, 6U);
}

}  // namespace
}  // namespace rclrt::realtime

// SPDX-License-Identifier: Apache-2.0
// The cost of a traced span, instant and counter for the calling thread. Their floor is
// floor_rdtsc_pair_and_ring_store.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "per_call.hpp"
#include "rclrt/realtime/flight_recorder.hpp"
#include "rclrt/realtime/tracer.hpp"

namespace {

using namespace rclrt::realtime;

class Nowhere final : public TraceSink {
 public:
  void write(std::span<const TraceEvent>, const TraceDictionary&) override {}
  void pass_done(std::int64_t, const TraceDictionary&) override {}
  void finish(const TraceDictionary&) override {}
};

/// A tracer that writes nowhere. Its rings are emptied only while the clock of the benchmark is
/// paused. So no ring is full, and no other thread uses the CPU during the measurement.
class Traced {
 public:
  static constexpr std::size_t kRing = 1U << 14U;

  explicit Traced(bool enabled = true)
      : tracer_({nowhere_},
                {.period = std::chrono::hours(1), .ring_records = kRing, .enabled = enabled}),
        name(tracer_.name("step")),
        thread(tracer_, "bench") {}

  template <typename Call>
  void run(benchmark::State& state, Call&& call) {
    per_call(state, kRing / 2, call, [&] { tracer_.flush(); });
    state.counters["dropped"] = static_cast<double>(thread.dropped());
  }

 private:
  Nowhere nowhere_;
  Tracer tracer_;

 public:
  TraceName name;
  ThreadTracer thread;
};

void trace_span(benchmark::State& state) {
  Traced traced;
  traced.run(state, [&] { const TraceSpan span(traced.thread, traced.name); });
}
BENCHMARK(trace_span)->Apply(per_call_settings);

void trace_span_with_flow_and_value(benchmark::State& state) {
  Traced traced;
  std::int64_t instance = 0;
  traced.run(state, [&] {
    const TraceSpan span(traced.thread, traced.name, {.flow = 7, .value = ++instance});
  });
}
BENCHMARK(trace_span_with_flow_and_value)->Apply(per_call_settings);

void trace_instant(benchmark::State& state) {
  Traced traced;
  traced.run(state, [&] { traced.thread.instant(traced.name); });
}
BENCHMARK(trace_instant)->Apply(per_call_settings);

void trace_counter(benchmark::State& state) {
  Traced traced;
  double value = 0;
  traced.run(state, [&] { traced.thread.counter(traced.name, value += 1); });
}
BENCHMARK(trace_counter)->Apply(per_call_settings);

void trace_span_when_off(benchmark::State& state) {
  Traced traced(false);
  traced.run(state, [&] { const TraceSpan span(traced.thread, traced.name); });
}
BENCHMARK(trace_span_when_off)->Apply(per_call_settings);

/// The cost of keeping an event for the drain thread.
void flight_recorder_keeps_an_event(benchmark::State& state) {
  FlightRecorder recorder;
  TraceDictionary dictionary;
  std::vector<TraceEvent> events(4096);
  for (TraceEvent& event : events) {
    event.thread = dictionary.thread("bench", 1);
    event.kind = TraceKind::kSpan;
  }
  for (auto _ : state) {
    recorder.write(events, dictionary);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(events.size()));
}
BENCHMARK(flight_recorder_keeps_an_event);

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Counting a latency, compared with usual code written by hand. The values are log-normal around 50
// µs, so that the buckets are as scattered in the cache as in a real run.
#include "rclrt/realtime/histogram.hpp"

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <vector>

namespace {

const std::vector<std::int64_t>& latencies() {
  static const std::vector<std::int64_t> kValues = [] {
    std::mt19937_64 random(1);
    std::lognormal_distribution<double> latency(10.8, 1.0);
    std::vector<std::int64_t> drawn(4096);
    for (auto& value : drawn) {
      value = static_cast<std::int64_t>(latency(random));
    }
    return drawn;
  }();
  return kValues;
}

/// Calls `record` with one latency after the other.
template <typename Record>
void run(benchmark::State& state, const Record& record) {
  const std::vector<std::int64_t>& values = latencies();
  std::size_t position = 0;
  for (auto _ : state) {
    record(values[position++ % values.size()]);
  }
}

void histogram_record_alone(benchmark::State& state) {
  rclrt::realtime::Histogram histogram;
  run(state, [&](std::int64_t value) { histogram.record_alone(value); });
}
BENCHMARK(histogram_record_alone);

void histogram_record(benchmark::State& state) {
  rclrt::realtime::Histogram histogram;
  run(state, [&](std::int64_t value) { histogram.record(value); });
}
BENCHMARK(histogram_record);

/// The lower limit for all that several threads share.
void histogram_floor_atomic_increment(benchmark::State& state) {
  std::atomic<std::uint64_t> count{0};
  run(state, [&](std::int64_t value) {
    benchmark::DoNotOptimize(value);
    count.fetch_add(1, std::memory_order_relaxed);
  });
}
BENCHMARK(histogram_floor_atomic_increment);

/// Keeps every sample, so it grows; is cleared at a million.
void histogram_beside_vector_push_back(benchmark::State& state) {
  std::vector<std::int64_t> samples;
  run(state, [&](std::int64_t value) {
    if (samples.size() == 1'000'000) {
      samples = {};
    }
    samples.push_back(value);
    benchmark::ClobberMemory();
  });
}
BENCHMARK(histogram_beside_vector_push_back);

void histogram_beside_mutex_and_map(benchmark::State& state) {
  std::mutex mutex;
  std::map<std::int64_t, std::uint64_t> counts;
  run(state, [&](std::int64_t value) {
    const std::lock_guard lock(mutex);
    ++counts[value / 100];  // resolution 0.1 µs
  });
}
BENCHMARK(histogram_beside_mutex_and_map);

void histogram_percentile(benchmark::State& state) {
  rclrt::realtime::Histogram histogram;
  for (const std::int64_t value : latencies()) {
    histogram.record(value);
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(histogram.percentile(99.0));
  }
}
BENCHMARK(histogram_percentile);

}  // namespace

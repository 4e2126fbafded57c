// SPDX-License-Identifier: Apache-2.0
// The lower limits of all times: a clock read, a time-stamped store into a ring, and what an
// executor reads for a record: the CPU, and the count of preemptions.
#include <benchmark/benchmark.h>
#include <sched.h>
#include <sys/resource.h>
#include <x86intrin.h>

#include <array>
#include <cstdint>

#include "rclrt/realtime/clock.hpp"

namespace {

void floor_clock_gettime(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(rclrt::realtime::monotonic_now_ns());
  }
}
BENCHMARK(floor_clock_gettime);

void floor_rdtsc_pair_and_ring_store(benchmark::State& state) {
  struct Entry {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t name;
  };
  std::array<Entry, 1024> ring{};
  std::size_t position = 0;
  for (auto _ : state) {
    const std::uint64_t begin = __rdtsc();
    benchmark::ClobberMemory();
    ring[position++ % ring.size()] = {begin, __rdtsc(), 7};
    benchmark::DoNotOptimize(ring.data());
  }
}
BENCHMARK(floor_rdtsc_pair_and_ring_store);

void floor_sched_getcpu(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(sched_getcpu());
  }
}
BENCHMARK(floor_sched_getcpu);

void floor_getrusage(benchmark::State& state) {
  rusage usage{};
  for (auto _ : state) {
    getrusage(RUSAGE_THREAD, &usage);
    benchmark::DoNotOptimize(usage);
  }
}
BENCHMARK(floor_getrusage);

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Times a call that fills a ring, in bursts that fit into the ring. The ring is emptied between
// bursts while the clock is paused.
#pragma once

#include <benchmark/benchmark.h>
#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Measures `call`, in bursts of `burst` calls; `empty` empties the ring between two bursts. The
/// reported time is the mean over a burst. The counters `p50_ns` and `p99_ns` are quantiles of
/// single calls between two rdtsc instructions, minus the time of the two instructions alone.
template <typename Call, typename Empty>
void per_call(benchmark::State& state, std::size_t burst, Call&& call, Empty&& empty) {
  using Clock = std::chrono::steady_clock;
  const auto ticks_of = [](auto&& timed, std::vector<std::uint64_t>& ticks) {
    for (std::uint64_t& of_call : ticks) {
      const std::uint64_t begin = __rdtsc();
      benchmark::ClobberMemory();
      timed();
      benchmark::ClobberMemory();
      of_call = __rdtsc() - begin;
    }
    std::sort(ticks.begin(), ticks.end());
  };
  for (std::size_t i = 0; i < burst; ++i) {  // touches all memory once
    call();
  }
  empty();

  double burst_ns = 0;
  for (auto _ : state) {
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < burst; ++i) {
      call();
    }
    burst_ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    state.SetIterationTime(burst_ns / static_cast<double>(burst) * 1e-9);
    empty();
  }

  std::vector<std::uint64_t> nothing(burst);
  std::vector<std::uint64_t> ticks(burst);
  const auto clock_begin = Clock::now();
  const std::uint64_t ticks_begin = __rdtsc();
  ticks_of([] {}, nothing);
  ticks_of(call, ticks);
  const double ns_per_tick =
      std::chrono::duration<double, std::nano>(Clock::now() - clock_begin).count() /
      static_cast<double>(__rdtsc() - ticks_begin);
  empty();
  const auto floor = static_cast<double>(nothing[burst / 2]);
  const auto percentile = [&](double share) {
    const auto at = static_cast<std::size_t>(static_cast<double>(burst - 1) * share);
    return (static_cast<double>(ticks[at]) - floor) * ns_per_tick;
  };
  state.counters["p50_ns"] = percentile(0.50);
  state.counters["p99_ns"] = percentile(0.99);
}

/// Sets a few hundred bursts, independent of the time that they take.
inline void per_call_settings(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Iterations(200);
}

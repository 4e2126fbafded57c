// SPDX-License-Identifier: Apache-2.0
// The cost of priority inheritance without contention: lock and unlock.
#include <benchmark/benchmark.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "rclrt/realtime/condition_variable.hpp"
#include "rclrt/realtime/mutex.hpp"

namespace {

using rclrt::realtime::kRobust;
using rclrt::realtime::PiConditionVariable;
using rclrt::realtime::PiMutex;

template <typename Mutex>
void lock_unlock(benchmark::State& state, Mutex& mutex) {
  for (auto _ : state) {
    mutex.lock();
    benchmark::ClobberMemory();
    mutex.unlock();
  }
}

std::mutex std_mutex;
std::timed_mutex std_timed_mutex;
// A throw would end the benchmark before it began.
PiMutex pi_mutex;                  // NOLINT(bugprone-throwing-static-initialization)
PiMutex robust_pi_mutex{kRobust};  // NOLINT(bugprone-throwing-static-initialization)
BENCHMARK_CAPTURE(lock_unlock, std_mutex, std_mutex)->Name("mutex/lock_unlock/std_mutex");
BENCHMARK_CAPTURE(lock_unlock, pi, pi_mutex)->Name("mutex/lock_unlock/rclrt_pi");
BENCHMARK_CAPTURE(lock_unlock, robust, robust_pi_mutex)->Name("mutex/lock_unlock/rclrt_pi_robust");

template <typename Mutex>
void try_lock_for(benchmark::State& state, Mutex& mutex) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(mutex.try_lock_for(std::chrono::milliseconds(1)));
    mutex.unlock();
  }
}
BENCHMARK_CAPTURE(try_lock_for, std_mutex, std_timed_mutex)
    ->Name("mutex/try_lock_for/std_timed_mutex");
BENCHMARK_CAPTURE(try_lock_for, pi, pi_mutex)->Name("mutex/try_lock_for/rclrt_pi");

/// Notifies without a waiting thread, as most notifications do.
template <typename Condition>
void notify_nobody(benchmark::State& state) {
  Condition condition;
  for (auto _ : state) {
    condition.notify_one();
    benchmark::ClobberMemory();
  }
}
BENCHMARK_TEMPLATE(notify_nobody, std::condition_variable)
    ->Name("condition_variable/notify_nobody/std");
BENCHMARK_TEMPLATE(notify_nobody, PiConditionVariable)
    ->Name("condition_variable/notify_nobody/rclrt_pi");

}  // namespace

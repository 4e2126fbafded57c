// SPDX-License-Identifier: Apache-2.0
// LatestValue compared with a mutex and with a sequence lock of atomic words. (The sequence lock's
// readers may have to retry for ever, and it copies word by word.) The value is a pose in the
// plane, 24 bytes.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include "rclrt/realtime/latest_value.hpp"

namespace {

struct Pose {
  double x;
  double y;
  double heading;
};

struct Ours {
  rclrt::realtime::LatestValue<Pose> value{4};
  struct Reader {
    rclrt::realtime::LatestValue<Pose>::Reader reader;
    Pose read() { return reader.read(); }
  };
  Reader reader() { return {value.reader()}; }
  void write(const Pose& pose) { value.write(pose); }
};

struct Mutex {
  std::mutex mutex;
  Pose value{};
  struct Reader {
    Mutex& source;
    Pose read() {
      const std::scoped_lock lock(source.mutex);
      return source.value;
    }
  };
  Reader reader() { return {*this}; }
  void write(const Pose& pose) {
    const std::scoped_lock lock(mutex);
    value = pose;
  }
};

struct SequenceLock {
  std::atomic<std::uint64_t> sequence{0};
  std::array<std::atomic<double>, 3> words{};
  struct Reader {
    SequenceLock& source;
    Pose read() {
      for (;;) {
        const std::uint64_t before = source.sequence.load(std::memory_order_acquire);
        std::array<double, 3> copy{};
        for (std::size_t i = 0; i < copy.size(); ++i) {
          copy[i] = source.words[i].load(std::memory_order_relaxed);
        }
        std::atomic_thread_fence(std::memory_order_acquire);
        if (before % 2 == 0 && source.sequence.load(std::memory_order_relaxed) == before) {
          return {copy[0], copy[1], copy[2]};
        }
      }
    }
  };
  Reader reader() { return {*this}; }
  void write(const Pose& pose) {
    const std::uint64_t before = sequence.load(std::memory_order_relaxed);
    sequence.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    words[0].store(pose.x, std::memory_order_relaxed);
    words[1].store(pose.y, std::memory_order_relaxed);
    words[2].store(pose.heading, std::memory_order_relaxed);
    sequence.store(before + 2, std::memory_order_release);
  }
};

template <typename Value>
void write(benchmark::State& state) {
  Value value;
  double i = 0;
  for (auto _ : state) {
    value.write({++i, 0, 0});
    benchmark::ClobberMemory();
  }
}

/// A read without a new value since the last one: the usual case in a fast loop.
template <typename Value>
void read_same(benchmark::State& state) {
  Value value;
  auto reader = value.reader();
  value.write({1, 2, 3});
  for (auto _ : state) {
    benchmark::DoNotOptimize(reader.read());
    benchmark::ClobberMemory();
  }
}

/// A write and the read of the new value: two operations.
template <typename Value>
void write_then_read(benchmark::State& state) {
  Value value;
  auto reader = value.reader();
  double i = 0;
  for (auto _ : state) {
    value.write({++i, 0, 0});
    benchmark::DoNotOptimize(reader.read());
    benchmark::ClobberMemory();
  }
}

/// Reads while another thread writes as fast as it can.
template <typename Value>
void read_contended(benchmark::State& state) {
  Value value;
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (double i = 0; !stop.load(std::memory_order_relaxed); ++i) {
      value.write({i, i, i});
    }
  });
  auto reader = value.reader();
  for (auto _ : state) {
    benchmark::DoNotOptimize(reader.read());
    benchmark::ClobberMemory();
  }
  stop.store(true, std::memory_order_relaxed);
  writer.join();
}

#define RCLRT_LATEST_VALUE(name, Value)                                                   \
  BENCHMARK_TEMPLATE(write, Value)->Name("latest_value/write/" name);                     \
  BENCHMARK_TEMPLATE(read_same, Value)->Name("latest_value/read_same/" name);             \
  BENCHMARK_TEMPLATE(write_then_read, Value)->Name("latest_value/write_then_read/" name); \
  BENCHMARK_TEMPLATE(read_contended, Value)                                               \
      ->Name("latest_value/read_contended/" name)                                         \
      ->UseRealTime()

RCLRT_LATEST_VALUE("rclrt", Ours);
RCLRT_LATEST_VALUE("std_mutex", Mutex);
RCLRT_LATEST_VALUE("sequence_lock", SequenceLock);

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// SpscQueue and MpscQueue compared with the queues of Debian. The work is the same for each: the
// queue is bounded, allocated before, with capacity 1024; a value is written, pushed, popped into a
// local and read.
//   one_thread:  push one, pop one (cost of the operations without a second thread)
//   filled:      push 512, pop 512 in one thread (cost when the ring leaves the nearest lines)
//   two_threads, three_threads: one or two producers on their own threads, the consumer is the
//                timed one; a refused push or pop yields the CPU and tries again
#include <benchmark/benchmark.h>
#include <concurrentqueue/concurrentqueue.h>
#include <readerwriterqueue/readerwriterqueue.h>

#include <array>
#include <atomic>
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/spsc_queue.hpp"

namespace {

constexpr std::size_t kCapacity = 1024;

template <std::size_t Bytes>
struct Item {
  std::array<std::uint64_t, Bytes / 8> words;
};

// All queues have the same interface here. A queue has room for kCapacity items. Each thread that
// uses it makes a Producer or a Consumer of its own.
template <typename Implementation>
struct Ours {
  Implementation queue{kCapacity};
  struct Producer {
    Implementation& queue;
    template <typename T>
    bool push(const T& item) {
      return queue.try_push(item);
    }
  };
  struct Consumer {
    Implementation& queue;
    template <typename T>
    bool pop(T& item) {
      return queue.try_pop(item);
    }
  };
  Producer producer() { return {queue}; }
  Consumer consumer() { return {queue}; }
};

/// readerwriterqueue: try_enqueue does not allocate. Its constructor rounds up by itself.
template <typename T>
struct ReaderWriter {
  moodycamel::ReaderWriterQueue<T, 1024> queue{kCapacity};
  struct Producer {
    moodycamel::ReaderWriterQueue<T, 1024>& queue;
    bool push(const T& item) { return queue.try_enqueue(item); }
  };
  struct Consumer {
    moodycamel::ReaderWriterQueue<T, 1024>& queue;
    bool pop(T& item) { return queue.try_dequeue(item); }
  };
  Producer producer() { return {queue}; }
  Consumer consumer() { return {queue}; }
};

template <typename Implementation>
struct Boost {
  Implementation queue;
  struct Producer {
    Implementation& queue;
    template <typename T>
    bool push(const T& item) {
      return queue.push(item);
    }
  };
  struct Consumer {
    Implementation& queue;
    template <typename T>
    bool pop(T& item) {
      return queue.pop(item);
    }
  };
  Producer producer() { return {queue}; }
  Consumer consumer() { return {queue}; }
};
template <typename T>
using BoostSpsc = Boost<boost::lockfree::spsc_queue<T, boost::lockfree::capacity<kCapacity>>>;
/// Boost's queue with a capacity that is stated at run time, as in rclrt's queue and
/// readerwriterqueue. With a constant capacity the compiler knows the mask, so the queue is faster.
template <typename T>
struct RunTimeSized : boost::lockfree::spsc_queue<T> {
  RunTimeSized() : boost::lockfree::spsc_queue<T>(kCapacity) {}
};
template <typename T>
using BoostSpscRunTime = Boost<RunTimeSized<T>>;
template <typename T>
using BoostQueue = Boost<boost::lockfree::queue<T, boost::lockfree::capacity<kCapacity>,
                                                boost::lockfree::fixed_sized<true>>>;

/// concurrentqueue with tokens, which is fastest according to its documentation.
template <typename T>
struct ConcurrentWithTokens {
  moodycamel::ConcurrentQueue<T> queue{kCapacity, 3, 0};
  struct Producer {
    moodycamel::ConcurrentQueue<T>& queue;
    moodycamel::ProducerToken token;
    bool push(const T& item) { return queue.try_enqueue(token, item); }
  };
  struct Consumer {
    moodycamel::ConcurrentQueue<T>& queue;
    moodycamel::ConsumerToken token;
    bool pop(T& item) { return queue.try_dequeue(token, item); }
  };
  Producer producer() { return {queue, moodycamel::ProducerToken(queue)}; }
  Consumer consumer() { return {queue, moodycamel::ConsumerToken(queue)}; }
};

/// concurrentqueue without tokens, the usual way.
template <typename T>
struct Concurrent {
  moodycamel::ConcurrentQueue<T> queue{kCapacity, 0, 3};
  struct Producer {
    moodycamel::ConcurrentQueue<T>& queue;
    bool push(const T& item) { return queue.try_enqueue(item); }
  };
  struct Consumer {
    moodycamel::ConcurrentQueue<T>& queue;
    bool pop(T& item) { return queue.try_dequeue(item); }
  };
  Producer producer() { return {queue}; }
  Consumer consumer() { return {queue}; }
};

template <template <typename> typename Queue, std::size_t Bytes>
void one_thread(benchmark::State& state) {
  Queue<Item<Bytes>> queue;
  auto producer = queue.producer();
  auto consumer = queue.consumer();
  std::uint64_t i = 0;
  for (auto _ : state) {
    Item<Bytes> item{{++i}};
    producer.push(item);
    consumer.pop(item);
    benchmark::DoNotOptimize(item);
  }
}

template <template <typename> typename Queue, std::size_t Bytes>
void filled(benchmark::State& state) {
  constexpr std::size_t kBatch = kCapacity / 2;
  Queue<Item<Bytes>> queue;
  auto producer = queue.producer();
  auto consumer = queue.consumer();
  while (state.KeepRunningBatch(kBatch)) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      producer.push(Item<Bytes>{{i}});
    }
    Item<Bytes> item{};
    for (std::size_t i = 0; i < kBatch; ++i) {
      consumer.pop(item);
      benchmark::DoNotOptimize(item);
    }
  }
}

/// Measures the time per item at the consumer while the producers push as fast as they can.
template <template <typename> typename Queue, std::size_t Bytes, int Producers>
void threads(benchmark::State& state) {
  Queue<Item<Bytes>> queue;
  std::atomic<bool> stop{false};
  std::vector<std::thread> producers;
  for (int p = 0; p < Producers; ++p) {
    producers.emplace_back([&] {
      auto producer = queue.producer();
      for (std::uint64_t i = 0; !stop.load(std::memory_order_relaxed);) {
        if (producer.push(Item<Bytes>{{i}})) {
          ++i;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  auto consumer = queue.consumer();
  for (auto _ : state) {
    Item<Bytes> item{};
    while (!consumer.pop(item)) {
      std::this_thread::yield();
    }
    benchmark::DoNotOptimize(item);
  }
  stop.store(true, std::memory_order_relaxed);
  for (auto& thread : producers) {
    thread.join();
  }
}

template <typename T>
using Spsc = Ours<rclrt::realtime::SpscQueue<T>>;
template <typename T>
using Mpsc = Ours<rclrt::realtime::MpscQueue<T>>;

#define RCLRT_SINGLE_PRODUCER(name, Queue)                                                   \
  BENCHMARK_TEMPLATE(one_thread, Queue, 8)->Name("spsc/one_thread/8/" name);                 \
  BENCHMARK_TEMPLATE(one_thread, Queue, 64)->Name("spsc/one_thread/64/" name);               \
  BENCHMARK_TEMPLATE(filled, Queue, 8)->Name("spsc/filled/8/" name);                         \
  BENCHMARK_TEMPLATE(filled, Queue, 64)->Name("spsc/filled/64/" name);                       \
  BENCHMARK_TEMPLATE(threads, Queue, 8, 1)->Name("spsc/two_threads/8/" name)->UseRealTime(); \
  BENCHMARK_TEMPLATE(threads, Queue, 64, 1)->Name("spsc/two_threads/64/" name)->UseRealTime()

RCLRT_SINGLE_PRODUCER("rclrt", Spsc);
RCLRT_SINGLE_PRODUCER("readerwriterqueue", ReaderWriter);
RCLRT_SINGLE_PRODUCER("boost_spsc_queue", BoostSpscRunTime);
RCLRT_SINGLE_PRODUCER("boost_spsc_queue_constant_capacity", BoostSpsc);

#define RCLRT_MANY_PRODUCERS(name, Queue)                                                      \
  BENCHMARK_TEMPLATE(one_thread, Queue, 8)->Name("mpsc/one_thread/8/" name);                   \
  BENCHMARK_TEMPLATE(one_thread, Queue, 64)->Name("mpsc/one_thread/64/" name);                 \
  BENCHMARK_TEMPLATE(filled, Queue, 8)->Name("mpsc/filled/8/" name);                           \
  BENCHMARK_TEMPLATE(filled, Queue, 64)->Name("mpsc/filled/64/" name);                         \
  BENCHMARK_TEMPLATE(threads, Queue, 8, 1)->Name("mpsc/two_threads/8/" name)->UseRealTime();   \
  BENCHMARK_TEMPLATE(threads, Queue, 64, 1)->Name("mpsc/two_threads/64/" name)->UseRealTime(); \
  BENCHMARK_TEMPLATE(threads, Queue, 8, 2)->Name("mpsc/three_threads/8/" name)->UseRealTime(); \
  BENCHMARK_TEMPLATE(threads, Queue, 64, 2)->Name("mpsc/three_threads/64/" name)->UseRealTime()

RCLRT_MANY_PRODUCERS("rclrt", Mpsc);
RCLRT_MANY_PRODUCERS("concurrentqueue", Concurrent);
RCLRT_MANY_PRODUCERS("concurrentqueue_tokens", ConcurrentWithTokens);
RCLRT_MANY_PRODUCERS("boost_queue", BoostQueue);

}  // namespace

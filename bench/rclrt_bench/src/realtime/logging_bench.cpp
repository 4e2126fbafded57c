// SPDX-License-Identifier: Apache-2.0
// The cost of a log call for the calling thread, compared with spdlog's asynchronous logger. Both
// queues are large enough for a burst, and are emptied while the clock of the benchmark is paused.
#include <benchmark/benchmark.h>
#include <spdlog/async.h>
#include <spdlog/sinks/null_sink.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "per_call.hpp"
#include "rclrt/realtime/logging.hpp"

namespace {

constexpr std::size_t kBurst = 2048;
constexpr const char* kText = "left_front_wheel";

class Nowhere final : public rclrt::realtime::LogSink {
 public:
  void write(const rclrt::realtime::LogLine& line) override {
    benchmark::DoNotOptimize(line.message.data());
  }
};

/// Formats the text and discards it.
class Ours {
 public:
  template <typename Call>
  void run(benchmark::State& state, Call&& call) {
    per_call(state, kBurst, [&] { call(log_); }, [&] { logger_.flush(); });
    state.counters["dropped"] = static_cast<double>(log_.dropped());
  }

 private:
  Nowhere nowhere_;
  rclrt::realtime::Logger logger_{{nowhere_},
                                  {.period = std::chrono::hours(1), .ring_bytes = 1U << 20U}};
  rclrt::realtime::ThreadLogger log_{logger_, "bench"};
};

class Formatted final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  std::atomic<std::size_t> lines{0};

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    benchmark::DoNotOptimize(message.payload.data());
    lines.fetch_add(1);
  }
  void flush_() override {}
};

/// spdlog formats on the calling thread and queues the text; its thread wakes for each line.
class Spdlog {
 public:
  Spdlog()
      : pool_(std::make_shared<spdlog::details::thread_pool>(2 * kBurst, 1)),
        sink_(std::make_shared<Formatted>()),
        log_(std::make_shared<spdlog::async_logger>(
            "bench", sink_, pool_, spdlog::async_overflow_policy::overrun_oldest)) {}

  template <typename Call>
  void run(benchmark::State& state, Call&& call) {
    std::size_t logged = 0;
    const auto counted = [&] {
      call(*log_);
      ++logged;
    };
    const auto empty = [&] {
      while (sink_->lines.load() + pool_->overrun_counter() < logged) {
      }
    };
    per_call(state, kBurst, counted, empty);
    state.counters["dropped"] = static_cast<double>(pool_->overrun_counter());
  }

 private:
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<Formatted> sink_;
  std::shared_ptr<spdlog::async_logger> log_;
};

template <typename Contender>
void log_without_arguments(benchmark::State& state) {
  Contender().run(state, [](auto& log) { log.info("something happened"); });
}
BENCHMARK(log_without_arguments<Ours>)->Apply(per_call_settings);
BENCHMARK(log_without_arguments<Spdlog>)->Apply(per_call_settings);

template <typename Contender>
void log_an_integer_and_a_double(benchmark::State& state) {
  std::int64_t cycle = 0;
  Contender().run(state, [&](auto& log) { log.info("cycle {} took {} us", ++cycle, 12.5); });
}
BENCHMARK(log_an_integer_and_a_double<Ours>)->Apply(per_call_settings);
BENCHMARK(log_an_integer_and_a_double<Spdlog>)->Apply(per_call_settings);

template <typename Contender>
void log_an_integer_and_a_string(benchmark::State& state) {
  std::int64_t cycle = 0;
  Contender().run(state, [&](auto& log) { log.info("cycle {}: {} slips", ++cycle, kText); });
}
BENCHMARK(log_an_integer_and_a_string<Ours>)->Apply(per_call_settings);
BENCHMARK(log_an_integer_and_a_string<Spdlog>)->Apply(per_call_settings);

void log_below_the_level(benchmark::State& state) {
  Ours().run(state, [](auto& log) { log.debug("cycle {} took {} us", 1, 12.5); });
}
BENCHMARK(log_below_the_level)->Apply(per_call_settings);

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// A run of eight hours of a loop of 2 kHz, from a source without a clock: the memory of its results
// has a bound by construction. The test counts what is held and measures no time and no process.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <rclrt/model/parse.hpp>
#include <span>

#include "rclrt/recorder/run_stream.hpp"
#include "sample_application.hpp"

namespace rclrt::recorder {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kParts = 20;  // these builds are as much slower
#else
constexpr std::int64_t kParts = 1;
#endif

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kPeriod_ns = 500 * kUs;
constexpr std::int64_t kLength_ns = 8 * 3600 * 1000 * kMs / kParts;
constexpr std::int64_t kStart_ns = 1000 * kMs;
constexpr std::uint64_t kLoops = kLength_ns / kPeriod_ns;  // 57.6 million
constexpr std::uint64_t kTells = kLoops / 20;              // 2.88 million
/// Every so many loops one takes 1 ms and misses its deadline.
constexpr std::uint64_t kLateEvery = 100'003;
/// One of these took longest of all.
constexpr std::uint64_t kWorst = kLoops / 3;

model::Application application() {
  return model::parse_application(R"(
rclrt: 1
name: loops
nodes: [{name: joints}, {name: state}]
callbacks:
  - {id: control, node: joints, timer: {period_ms: 0.5}, wcet_ms: 0.07}
  - {id: broadcast, node: state, timer: {period_ms: 10}, wcet_ms: 0.1}
chains:
  - {id: loop, callbacks: [control], priority: 2, deadline_ms: 0.5}
  - {id: tell, callbacks: [broadcast], priority: 1}
)")
      .application.value();
}

/// Makes the instances of the run one after the other.
class Source {
 public:
  /// Overwrites an instance that was made before, which is quicker than to make a new one.
  void next(LoggedInstance& instance) {
    if (loops_ > 0 && loops_ % 20 == 0 && tells_ < loops_ / 20) {
      set(instance, 1, tells_++, 10'000 * kUs, 100 * kUs);
    } else {
      set(instance, 0, loops_, kPeriod_ns, response_ns(loops_));
      ++loops_;
    }
  }

  static std::int64_t response_ns(std::uint64_t loop) {
    if (loop == kWorst) {
      return 3 * kMs;
    }
    return loop % kLateEvery == kLateEvery - 1 ? kMs
                                               : 70 * kUs + static_cast<std::int64_t>(loop % 1000);
  }

 private:
  static void set(LoggedInstance& instance, std::uint32_t callback, std::uint64_t number,
                  std::int64_t period_ns, std::int64_t length_ns) {
    InstanceRecord& record = instance.record;
    record.id = number;
    record.callback = callback;
    record.release_ns = kStart_ns + static_cast<std::int64_t>(number) * period_ns;
    record.ready_ns = record.start_ns = record.release_ns;
    record.end_ns = record.release_ns + length_ns;
    record.cpu_ns = length_ns;
    record.tokens = {};
    record.tokens.add({callback, number, record.release_ns});
  }

  std::uint64_t loops_ = 0;
  std::uint64_t tells_ = 0;
};

void expect_counted(const RunResults& results) {
  EXPECT_EQ(results.streamed->instances, kLoops + kTells);
  const ChainResult& loop = results.chains[0];
  EXPECT_EQ(loop.released, kLoops);
  EXPECT_EQ(loop.completed, kLoops);
  EXPECT_EQ(loop.missed, kLoops / kLateEvery + 1);
  EXPECT_EQ(loop.response->best_ns, 70 * kUs);
  EXPECT_EQ(loop.response->worst_ns, 3 * kMs);
  // Loop number i takes 70 µs + i % 1000 ns, all but one of a hundred thousand.
  EXPECT_NEAR(static_cast<double>(loop.response->p50_ns), 70'500, 71);
  EXPECT_NEAR(static_cast<double>(loop.response->p99_ns), 70'990, 71);
  EXPECT_EQ(results.chains[1].completed, kTells);
  EXPECT_EQ(results.chains[1].missed, 0U);
  EXPECT_EQ(results.callbacks[0].execution->count, kLoops);
  ASSERT_FALSE(results.misses.empty());
  EXPECT_TRUE(std::ranges::any_of(results.misses, [](const ChainMiss& miss) {
    return miss.instance.instance == kWorst && miss.late_ns == 2500 * kUs;
  }));
  EXPECT_LT(results.records.size(), 200'000U);
}

TEST(EightHours, AreCountedInMemoryThatDoesNotGrow) {
  RunResults frame;
  frame.application = application();
  frame.executor = model::ExecutorKind::kPreemptive;
  frame.window = {.start_ns = kStart_ns, .end_ns = kStart_ns + kLength_ns};
  frame.kernel_priorities.resize(frame.application.callbacks.size());
  // Few at a time, because then they stay in the CPU's cache.
  const StreamLimits limits{.keep_all = 100'000, .latest = 4'096, .step = 2'048};
  ASSERT_GT(expected_instances(frame.application, std::chrono::nanoseconds(kLength_ns)),
            limits.keep_all);
  RunStream stream(frame, 1, limits);

  Source source;
  std::array<LoggedInstance, 512> portion;
  RunStream::Held early{};
  bool looked = false;
  for (std::uint64_t left = kLoops + kTells; left > 0;) {
    const auto now = std::span(portion).first(std::min<std::uint64_t>(left, portion.size()));
    for (LoggedInstance& each : now) {
      source.next(each);
    }
    stream.add(now);
    left -= now.size();
    if (left % 16 != 0) {
      continue;  // held() looks at every counter
    }
    const RunStream::Held held = stream.held();
    if (stream.instances() < 1'000'000) {
      early.records = std::max(early.records, held.records);
      early.chain_instances = std::max(early.chain_instances, held.chain_instances);
      early.counters = std::max(early.counters, held.counters);
      continue;
    }
    looked = true;
    ASSERT_LE(held.records, early.records) << stream.instances();
    ASSERT_LE(held.chain_instances, early.chain_instances) << stream.instances();
    // The longest loop may need one block of counters more, in the chain and three in its callback.
    ASSERT_LE(held.counters, early.counters + 4 * 1024) << stream.instances();
  }
  EXPECT_TRUE(looked);
  RunResults results = frame;
  stream.finish(results);
  expect_counted(results);
}

}  // namespace
}  // namespace rclrt::recorder

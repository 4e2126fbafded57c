// SPDX-License-Identifier: Apache-2.0
// Values, messages and instances that a run that streams must remember for long.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <rclrt/model/parse.hpp>
#include <span>
#include <variant>

#include "random_run.hpp"

namespace rclrt::recorder {
namespace {

/// `sense` stores every ten seconds what `act` reads every 20 ms, beside a busy timer.
model::Application slow_writer() {
  return model::parse_application(R"(
rclrt: 1
name: slow_writer
nodes: [{name: n}]
callbacks:
  - {id: sense, node: n, timer: {period_ms: 10000}, wcet_ms: 1, stores: [x]}
  - {id: act, node: n, timer: {period_ms: 20}, wcet_ms: 1, reads: [x]}
  - {id: noise, node: n, timer: {period_ms: 1}, wcet_ms: 0.1}
chains:
  - {id: path, callbacks: [sense, act], max_reaction_ms: 9000, max_age_ms: 8000}
)")
      .application.value();
}

TEST(StreamMemory, AValueIsReadLongAfterTheRecordsOfItsWriterAreGone) {
  const model::Application application = slow_writer();
  RandomRun run;
  for (std::int64_t ms = 0; ms < 40'000; ++ms) {
    const auto add = [&](std::uint32_t callback, std::uint32_t chain, std::int64_t period_ms) {
      const ChainToken token{chain, static_cast<std::uint64_t>(ms / period_ms), kStart + ms * kMs};
      LoggedInstance& added = run.instances.emplace_back();
      added.record = callback == 2 ? ran(2, token.release_ns, token.release_ns + 100'000, {})
                                   : ran(callback, token.release_ns + callback * kMs,
                                         token.release_ns + (callback + 1) * kMs, {token});
      added.record.id = run.instances.size();
    };
    if (ms % 10'000 == 0) {
      add(0, 0, 10'000);
    }
    if (ms % 20 == 0) {
      add(1, 1, 20);
    }
    add(2, 0, 1);
  }
  const RunResults frame = frame_of(application, 40'000 * kMs);
  const CauseEffectResult exact = accounted(frame, run).cause_effect_chains.at(0);
  const CauseEffectResult found = streamed(frame, run, kSmall).cause_effect_chains.at(0);
  ASSERT_EQ(exact.outputs, 2000U);
  EXPECT_GT(exact.missed_age, 0U);
  EXPECT_EQ(found.outputs, exact.outputs);
  EXPECT_EQ(found.missed_age, exact.missed_age);
  EXPECT_EQ(found.missed_reaction, exact.missed_reaction);
  EXPECT_EQ(found.found.distinct, exact.found.distinct);
  EXPECT_EQ(found.found.initial, exact.found.initial);
  EXPECT_EQ(found.longest.age, exact.longest.age);
  EXPECT_EQ(found.longest.reaction, exact.longest.reaction);
  expect_same_times(found.age, exact.age);
  expect_same_times(found.reaction, exact.reaction);
}

TEST(StreamMemory, AMessageThatWaitsInASlowSynchroniserIsUnmatchedAfterItsRecordIsGone) {
  // `points` come every 50 ms, `objects` every two seconds, which is longer than the records last.
  model::Application application = sample_application();
  std::get<model::Timer>(application.callbacks[kCapture].trigger).period =
      std::chrono::milliseconds(2000);
  RandomRun run;
  const auto add = [&](std::uint32_t callback, std::int64_t start_ns,
                       std::initializer_list<ChainToken> tokens) -> InstanceRecord& {
    LoggedInstance& added = run.instances.emplace_back();
    added.record = ran(callback, start_ns, start_ns + kMs, tokens);
    added.record.id = run.instances.size();
    return added.record;
  };
  for (std::int64_t period = 0; period < 800; ++period) {
    const std::int64_t release_ns = kStart + period * kPeriod;
    const ChainToken obstacle{kObstacle, static_cast<std::uint64_t>(period), release_ns};
    add(kScan, release_ns, {obstacle});
    const bool completes = period % 40 == 39;
    InstanceRecord& fuse = add(kFuse, release_ns + kMs, {obstacle});
    fuse.outcome = completes ? Outcome::kRan : Outcome::kBuffered;
    fuse.stamp_ns = release_ns;
    for (int i = 0; i < 40; ++i) {  // other callbacks
      add(kPlan, release_ns + (2 + i) * kMs, {});
    }
    if (completes) {
      add(kBrake, release_ns + 45 * kMs, {obstacle});
    }
  }
  const RunResults frame = frame_of(application, 800 * kPeriod);
  const RunResults exact = accounted(frame, run);
  ASSERT_GT(exact.chains[kObstacle].unmatched, 700U);
  expect_same_counts(streamed(frame, run, kSmall), exact);
}

TEST(StreamMemory, AChainThatNeverCompletesIsPendingInBoundedMemory) {
  const model::Application application = sample_application();
  constexpr std::int64_t kPeriods = 100'000;
  const RunResults frame = frame_of(application, kPeriods * kPeriod);
  RunStream stream(frame, 2, kSmall);
  for (std::int64_t period = 0; period < kPeriods; ++period) {
    const std::int64_t release_ns = kStart + period * kPeriod;
    LoggedInstance scan;
    scan.record = ran(kScan, release_ns, release_ns + kMs,
                      {{kObstacle, static_cast<std::uint64_t>(period), release_ns}});
    scan.record.id = static_cast<std::uint64_t>(period);
    stream.add(std::span(&scan, 1));
  }
  EXPECT_LT(stream.held().chain_instances, 3 * 16'384U + 3 * 16'384U);
  RunResults found = frame;
  stream.finish(found);
  const ChainResult& chain = found.chains[kObstacle];
  EXPECT_EQ(chain.released, static_cast<std::uint64_t>(kPeriods));
  EXPECT_EQ(chain.pending, chain.released);
  EXPECT_EQ(chain.completed, 0U);
  // The last one is due 40 ms after its release, which is 10 ms before the end.
  EXPECT_EQ(chain.missed, chain.released);
}

}  // namespace
}  // namespace rclrt::recorder

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/run_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "random_run.hpp"

namespace rclrt::recorder {
namespace {

TEST(RunStream, KeepsAllInstancesOfAShortRun) {
  auto random = repeatable_random(1);
  const RandomRun run(random, 40);
  const RunResults frame = frame_of(sample_application(), 40 * kPeriod);
  const RunResults exact = accounted(frame, run);
  const RunResults found = streamed(frame, run, {});
  EXPECT_FALSE(found.streamed);
  EXPECT_EQ(found.chains, exact.chains);
  EXPECT_EQ(found.callbacks, exact.callbacks);
  EXPECT_EQ(found.misses, exact.misses);
  EXPECT_EQ(found.records.size(), run.instances.size());
}

TEST(RunStream, CountsAsIfItHadKeptEverything) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    auto random = repeatable_random(seed);
    const std::int64_t periods = 200 + static_cast<std::int64_t>(random() % 400);
    const RandomRun run(random, periods);
    // Not a multiple of the period, and it ends while instances run.
    const RunResults frame = frame_of(sample_application(), periods * kPeriod - 31 * kMs);
    const RunResults found = streamed(frame, run, kSmall);
    expect_same_counts(found, accounted(frame, run));
    ASSERT_TRUE(found.streamed);
    EXPECT_EQ(found.streamed->instances, run.instances.size());
  }
}

TEST(RunStream, GoesOverToStreamingInTheMiddle) {
  auto random = repeatable_random(2);
  const RandomRun run(random, 400);
  const RunResults frame = frame_of(sample_application(), 400 * kPeriod);
  StreamLimits limits = kSmall;
  limits.keep_all = run.instances.size() / 2;
  const RunResults found = streamed(frame, run, limits);
  ASSERT_TRUE(found.streamed);
  expect_same_counts(found, accounted(frame, run));
}

TEST(RunStream, ResultsInTheMiddleChangeNothing) {
  auto random = repeatable_random(3);
  const RandomRun run(random, 300);
  const RunResults frame = frame_of(sample_application(), 300 * kPeriod);
  const RunResults found = streamed(frame, run, kSmall, [&](RunStream& stream) {
    RunResults now = frame;
    now.window.end_ns = kStart + 10 * kPeriod;
    stream.fill(now, 20);
    require_consistent(now);
    EXPECT_LE(now.streamed->instances, run.instances.size());
  });
  expect_same_counts(found, accounted(frame, run));
}

TEST(RunStream, ResultsInTheMiddleAreThoseOfARunThatEndedThere) {
  auto random = repeatable_random(4);
  const RandomRun run(random, 200);
  RunResults frame = frame_of(sample_application(), 200 * kPeriod);
  RunStream stream(frame, 2, kSmall);
  stream.add_stalls(run.stalls);
  stream.add(run.instances);
  RunResults shorter = frame;
  shorter.window.end_ns -= 1000 * kMs;
  const RunResults exact = accounted(shorter, run);
  stream.fill(shorter);
  expect_same_counts(shorter, exact);
}

TEST(RunStream, KeepsTheWorstInstancesWithTheirExplanationsAndWhatRanMeanwhile) {
  auto random = repeatable_random(5);
  const RandomRun run(random, 600);
  const RunResults frame = frame_of(sample_application(), 600 * kPeriod);
  const RunResults exact = accounted(frame, run);
  const RunResults found = streamed(frame, run, kSmall);
  ASSERT_EQ(found.misses.size(), exact.misses.size());
  for (std::size_t i = 0; i < exact.misses.size(); ++i) {
    EXPECT_EQ(found.misses[i].chain, exact.misses[i].chain);
    EXPECT_EQ(found.misses[i].instance, exact.misses[i].instance);
    EXPECT_EQ(miss_text(found.application, found.records, found.misses[i]),
              miss_text(exact.application, exact.records, exact.misses[i]));
  }
  for (std::size_t chain = 0; chain < found.chains.size(); ++chain) {
    const auto& kept = found.chains[chain].instances;
    const std::int64_t worst_ns = found.chains[chain].response->worst_ns;
    const auto worst = std::ranges::find_if(
        kept, [&](const ChainInstance& one) { return one.response_ns() == worst_ns; });
    ASSERT_NE(worst, kept.end());
    // Its last callback is among the records.
    EXPECT_TRUE(std::ranges::any_of(found.records, [&](const InstanceRecord& record) {
      return record.callback == found.application.chains[chain].callbacks.back() &&
             record.end_ns == worst->completion_ns;
    }));
    EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &ChainInstance::instance));
    EXPECT_EQ(std::ranges::adjacent_find(kept, {}, &ChainInstance::instance), kept.end());
  }
}

TEST(RunStream, KeepsEachOfTheLatestInstances) {
  auto random = repeatable_random(6);
  const RandomRun run(random, 600);
  const RunResults frame = frame_of(sample_application(), 600 * kPeriod);
  const RunResults exact = accounted(frame, run);
  const RunResults found = streamed(frame, run, kSmall);
  const std::int64_t since_ns = found.streamed->latest_since_ns;
  EXPECT_GT(since_ns, frame.window.end_ns - 10'000 * kMs);
  EXPECT_LT(since_ns, frame.window.end_ns - 1000 * kMs);
  const auto is_late = [&](const auto& one) { return one.end_ns > since_ns; };
  EXPECT_EQ(std::ranges::count_if(found.records, is_late),
            std::ranges::count_if(exact.records, is_late));
  for (std::size_t chain = 0; chain < found.chains.size(); ++chain) {
    std::vector<ChainInstance> latest;
    std::ranges::copy_if(exact.chains[chain].instances, std::back_inserter(latest),
                         [&](const auto& one) { return one.release_ns >= since_ns; });
    const auto& kept = found.chains[chain].instances;
    ASSERT_GE(kept.size(), latest.size());
    EXPECT_TRUE(std::equal(latest.begin(), latest.end(),
                           kept.end() - static_cast<std::ptrdiff_t>(latest.size())));
  }
}

TEST(RunStream, ExpectsTheInstancesThatTimersCause) {
  // Two timers of 20 Hz, a synchroniser of both, and two subscriptions to it, for ten seconds.
  EXPECT_EQ(expected_instances(sample_application(), std::chrono::seconds(10)), 1000U);
}

}  // namespace
}  // namespace rclrt::recorder

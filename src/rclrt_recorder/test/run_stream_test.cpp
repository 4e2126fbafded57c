// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/run_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <rclrt/model/parse.hpp>
#include <set>
#include <string>
#include <vector>

#include "rclrt/recorder/run_accounting.hpp"
#include "repeatable_random.hpp"
#include "sample_application.hpp"

namespace rclrt::recorder {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t kStart = 1'000'000 * kMs;
constexpr std::int64_t kPeriod = 50 * kMs;
/// Limits at which a run of some seconds streams: 600 instances of the sample are about 6 s.
constexpr StreamLimits kSmall{.keep_all = 0, .latest = 600, .step = 50, .around = 64};

RunResults frame_of(const model::Application& application, std::int64_t length_ns) {
  RunResults frame;
  frame.application = application;
  frame.executor = model::ExecutorKind::kPreemptive;
  frame.window = {.start_ns = kStart, .end_ns = kStart + length_ns};
  frame.kernel_priorities.resize(application.callbacks.size());
  frame.host_stalls.valid = true;
  frame.host_stalls.threshold = std::chrono::microseconds(200);
  return frame;
}

/// A random run of the sample application: messages are lost before and in the synchroniser, and
/// some instances are late.
class RandomRun {
 public:
  RandomRun(std::mt19937& random, std::int64_t periods) : random_(random) {
    for (std::int64_t period = 0; period < periods; ++period) {
      make_period(period);
    }
    std::ranges::stable_sort(instances, {}, [](const auto& one) { return one.record.end_ns; });
    for (std::size_t i = 0; i < instances.size(); ++i) {
      instances[i].record.id = i;
    }
  }

  std::vector<LoggedInstance> instances;
  std::vector<HostStall> stalls;

 private:
  bool one_in(unsigned number) { return random_() % number == 0; }

  LoggedInstance& add(SampleCallback callback, std::int64_t start_ns, std::int64_t length_ns,
                      std::initializer_list<ChainToken> tokens) {
    LoggedInstance& added = instances.emplace_back();
    added.record = ran(callback, start_ns, start_ns + length_ns, tokens);
    added.record.level = callback == kPlan ? 1 : 2;
    added.record.preemptions = random_() % 3;
    added.record.first_cpu = 1;
    added.record.last_cpu = static_cast<std::int32_t>(random_() % 2);
    added.executor = callback == kPlan ? 1 : 0;
    return added;
  }

  void make_period(std::int64_t period) {
    const std::int64_t release_ns = kStart + period * kPeriod;
    const auto instance = static_cast<std::uint64_t>(period);
    const ChainToken obstacle{kObstacle, instance, release_ns};
    const ChainToken planning{kPlanning, instance, release_ns};
    const std::int64_t scanned_ns = release_ns + kMs + static_cast<int>(random_() % 5'000'000);
    add(kScan, release_ns, scanned_ns - release_ns, {obstacle});
    const bool captured = !one_in(8);
    if (!one_in(10)) {
      receive(0, scanned_ns, release_ns, {obstacle});
    }
    if (!captured) {
      return;
    }
    add(kCapture, scanned_ns + kMs, 2 * kMs, {planning});
    const std::int64_t fused_ns = scanned_ns + 4 * kMs;
    LoggedInstance& fuse = add(kFuse, fused_ns, kMs, {obstacle, planning});
    fuse.record.input = 1;
    fuse.record.stamp_ns = release_ns;
    finish(fused_ns + kMs, {obstacle, planning});
    if (one_in(10)) {
      stalls.push_back({.cpu = 1, .start_ns = fused_ns, .end_ns = fused_ns + 20 * kMs});
    }
  }

  void receive(std::uint32_t input, std::int64_t start_ns, std::int64_t stamp_ns,
               std::initializer_list<ChainToken> tokens) {
    LoggedInstance& kept = add(kFuse, start_ns, 10'000, tokens);
    kept.record.outcome = Outcome::kBuffered;
    kept.record.input = input;
    kept.record.stamp_ns = stamp_ns;
  }

  void finish(std::int64_t from_ns, std::initializer_list<ChainToken> tokens) {
    const std::int64_t braking_ns = static_cast<std::int64_t>(random_() % 60) * kMs + kMs;
    if (!one_in(12)) {
      LoggedInstance& brake = add(kBrake, from_ns, braking_ns, tokens);
      brake.publisher = kFuse;
      brake.published_ns = from_ns - static_cast<std::int64_t>(random_() % 100'000);
    }
    if (!one_in(15)) {
      add(kPlan, from_ns, static_cast<std::int64_t>(random_() % 70) * kMs + kMs, tokens);
    }
  }

  std::mt19937& random_;
};

void expect_same_times(const std::optional<Summary>& found, const std::optional<Summary>& exact) {
  ASSERT_EQ(found.has_value(), exact.has_value());
  if (!exact) {
    return;
  }
  EXPECT_EQ(found->count, exact->count);
  EXPECT_EQ(found->best_ns, exact->best_ns);
  EXPECT_EQ(found->worst_ns, exact->worst_ns);
  EXPECT_DOUBLE_EQ(found->mean_ns, exact->mean_ns);
  for (const auto member : {&Summary::p50_ns, &Summary::p99_ns}) {
    EXPECT_GE(*found.*member, *exact.*member);
    EXPECT_LE(*found.*member - *exact.*member, *exact.*member / 1000);
  }
}

void expect_same_counts(const RunResults& found, const RunResults& exact) {
  for (std::size_t i = 0; i < exact.chains.size(); ++i) {
    SCOPED_TRACE(exact.application.chains[i].id);
    const ChainResult& a = found.chains[i];
    const ChainResult& b = exact.chains[i];
    EXPECT_EQ(a.released, b.released);
    EXPECT_EQ(a.completed, b.completed);
    EXPECT_EQ(a.dropped, b.dropped);
    EXPECT_EQ(a.pending, b.pending);
    EXPECT_EQ(a.unmatched, b.unmatched);
    EXPECT_EQ(a.missed, b.missed);
    EXPECT_EQ(a.missed_host, b.missed_host);
    expect_same_times(a.response, b.response);
  }
  for (std::size_t i = 0; i < exact.callbacks.size(); ++i) {
    SCOPED_TRACE(exact.application.callbacks[i].id);
    expect_same_times(found.callbacks[i].response, exact.callbacks[i].response);
    expect_same_times(found.callbacks[i].dispatch, exact.callbacks[i].dispatch);
    expect_same_times(found.callbacks[i].execution, exact.callbacks[i].execution);
    EXPECT_EQ(found.callbacks[i].preemptions, exact.callbacks[i].preemptions);
    EXPECT_EQ(found.callbacks[i].migrations, exact.callbacks[i].migrations);
  }
  ASSERT_EQ(found.hops.size(), exact.hops.size());
  for (std::size_t i = 0; i < exact.hops.size(); ++i) {
    expect_same_times(found.hops[i].time, exact.hops[i].time);
  }
}

/// Returns the results of the run with everything in memory.
RunResults accounted(const RunResults& frame, const RandomRun& run) {
  RunResults results = frame;
  results.host_stalls.stalls = run.stalls;
  std::ranges::sort(results.host_stalls.stalls, {}, &HostStall::start_ns);
  account(results, run.instances, 2);
  return results;
}

/// Returns the results of a stream that gets the run in small portions. `look`: is called between.
template <typename Look>
RunResults streamed(const RunResults& frame, const RandomRun& run, const StreamLimits& limits,
                    Look look) {
  RunStream stream(frame, 2, limits);
  constexpr std::size_t kPortion = 37;
  const std::span<const LoggedInstance> all(run.instances);
  stream.add_stalls(run.stalls);
  for (std::size_t i = 0; i < all.size(); i += kPortion) {
    stream.add(all.subspan(i, std::min(kPortion, all.size() - i)));
    look(stream);
  }
  RunResults results = frame;
  stream.finish(results);
  return results;
}

RunResults streamed(const RunResults& frame, const RandomRun& run, const StreamLimits& limits) {
  return streamed(frame, run, limits, [](RunStream&) {});
}

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

TEST(RunStream, AChainThatNeverCompletesIsPendingInBoundedMemory) {
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

TEST(RunStream, ExpectsTheInstancesThatTimersCause) {
  // Two timers of 20 Hz, a synchroniser of both, and two subscriptions to it, for ten seconds.
  EXPECT_EQ(expected_instances(sample_application(), std::chrono::seconds(10)), 1000U);
}

}  // namespace
}  // namespace rclrt::recorder

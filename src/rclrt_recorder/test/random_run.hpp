// SPDX-License-Identifier: Apache-2.0
// Random runs of the sample application, and comparisons of two kinds of results of a run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "rclrt/recorder/run_accounting.hpp"
#include "rclrt/recorder/run_stream.hpp"
#include "repeatable_random.hpp"
#include "sample_application.hpp"

namespace rclrt::recorder {

inline constexpr std::int64_t kStart = 1'000'000 * kMs;
inline constexpr std::int64_t kPeriod = 50 * kMs;
/// Limits at which a run of some seconds streams: 600 instances of the sample are about 6 s.
inline constexpr StreamLimits kSmall{.keep_all = 0, .latest = 600, .step = 50, .around = 64};

inline RunResults frame_of(const model::Application& application, std::int64_t length_ns) {
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
  /// Makes an empty run.
  RandomRun() : random_(unused_) {}
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

  std::mt19937 unused_;
  std::mt19937& random_;
};

inline void expect_same_times(const std::optional<Summary>& found,
                              const std::optional<Summary>& exact) {
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

inline void expect_same_counts(const RunResults& found, const RunResults& exact) {
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
inline RunResults accounted(const RunResults& frame, const RandomRun& run) {
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

inline RunResults streamed(const RunResults& frame, const RandomRun& run,
                           const StreamLimits& limits) {
  return streamed(frame, run, limits, [](RunStream&) {});
}

}  // namespace rclrt::recorder

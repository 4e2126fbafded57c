// SPDX-License-Identifier: Apache-2.0
// A night of a robot that is recorded, from a source without a clock: the memory has a bound by
// construction. The test counts what is held and measures no time and no process.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "found_robot.hpp"

namespace rclrt::recorder {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kPeriods = 144'000;  // these builds are slower
#else
constexpr std::int64_t kPeriods = 1'440'000;  // four hours
#endif
/// The callbacks behind the timers appear after so many periods.
constexpr std::int64_t kLate = 20'000;
/// From here on nothing may grow.
constexpr std::int64_t kFull = 60'000;

struct Most {
  std::size_t records = 0;
  std::size_t chain_instances = 0;
  std::size_t counters = 0;
  std::size_t others = 0;

  void take(const RecordingStream::Held& held) {
    records = std::max(records, held.run.records);
    chain_instances = std::max(chain_instances, held.run.chain_instances);
    counters = std::max(counters, held.run.counters);
    others = std::max(others, held.waiting + held.publishers + held.messages);
  }
};

/// The night: the application that is found so far, and the stream.
class Night {
 public:
  Night() { stream_.grow({{"/points"}, {}}); }

  /// Records a period. At kLate the callbacks behind the timers appear.
  void record(std::int64_t period) {
    source_.next(instances_);
    if (period % 20 != 0) {
      return;
    }
    if (period == kLate) {
      frame_.application.callbacks.push_back(whole_.callbacks[kFilter]);
      frame_.application.callbacks.push_back(whole_.callbacks[kStop]);
      stream_.grow({{"/points"}, {"/stop"}});
    }
    for (LoggedInstance& each : instances_) {  // the noise is number 1, the others 2 and 3
      std::uint32_t& callback = each.record.callback;
      callback = callback == kLidar ? 0U : callback == kNoise ? 1U : callback + 1;
    }
    if (period < kLate) {
      std::erase_if(instances_, [](const auto& one) { return one.record.callback > 1; });
    }
    stream_.add(instances_);
    instances_.clear();
    stream_.advance();
  }

  RecordingStream::Held held() const { return stream_.held(); }

  RunResults finish() {
    RunResults results = frame_;
    stream_.finish(results, {true, true, true, true});
    return results;
  }

 private:
  static RunResults begin(const model::Application& whole) {
    RunResults frame = frame_of(whole, kPeriods * kRobotPeriod);
    frame.max_ages = {{3, std::chrono::milliseconds(6)}};
    model::Application& application = frame.application;
    application.callbacks.erase(application.callbacks.begin() + kFilter,
                                application.callbacks.begin() + kNoise);
    application.chains[1].callbacks = {1};
    return frame;
  }

  std::mt19937 random_ = repeatable_random(7);
  RobotSource source_{random_, true};
  const model::Application whole_ = found_robot();
  RunResults frame_ = begin(whole_);
  RecordingStream stream_{frame_, 2, true, {.latest = 4'096, .step = 2'048}};
  std::vector<LoggedInstance> instances_;
};

TEST(RecordedNight, IsCountedInMemoryThatDoesNotGrow) {
  Night night;
  Most early;
  Most late;
  for (std::int64_t period = 0; period < kPeriods; ++period) {
    night.record(period);
    if (period % 1'000 == 0) {  // held() looks at every counter
      (period < kFull ? early : late).take(night.held());
    }
  }
  // The latest ones, and up to 64 around each of the twenty worst instances of a chain, with
  // causes.
  constexpr std::size_t kRecords = 4'096 + 3 * 2'048 + 3 * 20 * (64 + 10);
  EXPECT_GT(late.records, 0U);
  EXPECT_LE(std::max(early.records, late.records), kRecords);
  EXPECT_LE(late.chain_instances, early.chain_instances);
  // Rare times may need one block of counters more, in each distribution.
  EXPECT_LE(late.counters, early.counters + 16 * 1024);
  EXPECT_LE(late.others, early.others + 64);

  const RunResults results = night.finish();
  constexpr auto kAll = static_cast<std::uint64_t>(kPeriods);
  EXPECT_EQ(results.chains[0].released, kAll);
  EXPECT_GE(results.chains[0].completed, kAll - 20);  // the last ones were not added
  EXPECT_EQ(results.chains[1].released, 2 * kAll);
  ASSERT_EQ(results.chains.size(), 3U);
  EXPECT_EQ(results.application.chains[2].callbacks, (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_GT(results.chains[2].completed, kAll - kLate - 500);
  EXPECT_LT(results.chains[2].released, kAll - kLate);
  EXPECT_GT(results.chains[2].missed, 0U);
  EXPECT_LT(results.records.size(), 10'000U);
  EXPECT_GT(results.streamed->instances, 4 * kAll);
}

}  // namespace
}  // namespace rclrt::recorder

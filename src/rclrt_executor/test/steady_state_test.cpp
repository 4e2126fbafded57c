// SPDX-License-Identifier: Apache-2.0
// After the warm-up, running instances allocates nothing and takes no lock without inheritance.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "all_executors.hpp"
#include "rclrt/realtime/rt_guard.hpp"

namespace rclrt::executor::test {
namespace {

constexpr std::uint64_t kWarmUp = 500;
constexpr std::uint64_t kWatched = 10'000;
constexpr std::size_t kLevels = 3;

struct CountingSink : InstanceSink {
  std::atomic<std::uint64_t> instances{0};
  void record(const InstanceRecord& /*record*/) noexcept RCLRT_NONBLOCKING override { ++instances; }
};

/// Called by every instance. Observes all operations of each worker, from its first instance after
/// the warm-up to its first one after the last that counts.
class Watch {
 public:
  explicit Watch(std::size_t workers) : workers_(workers) {}

  /// Returns true once: when the required number of workers have reported. Others may report before
  /// the spin ends.
  bool operator()() {
    thread_local std::optional<realtime::RtGuard> guard;
    thread_local bool reported = false;
    const std::uint64_t number = ++ran_;
    if (number > kWarmUp && !guard) {
      guard.emplace(realtime::RtGuardOptions{
          .action = realtime::RtGuardAction::kCount, .free_locks = true, .page_faults = false});
    }
    if (number <= kWarmUp + kWatched || reported) {
      return false;
    }
    reported = true;
    auto report = guard->report();
    const std::scoped_lock lock(mutex_);
    reports_.push_back(std::move(report));
    return reports_.size() == workers_;
  }
  const std::vector<realtime::RtReport>& reports() const { return reports_; }

 private:
  const std::size_t workers_;
  std::atomic<std::uint64_t> ran_{0};
  realtime::PiMutex mutex_;
  std::vector<realtime::RtReport> reports_;
};

/// Whether the kind promises a steady state: rcl_wait allocates, and so does the start of a thread.
bool is_steady(std::string_view kind) { return kind != "wait_set" && kind != "thread_dispatch"; }

class SteadyState : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, SteadyState, ::testing::ValuesIn(executor_names()), kind_name);

/// Timers at each level, callbacks that they release, two groups across the levels, each overload
/// policy, a sink. One worker per level. Under producer_consumer the consumers are observed. Under
/// edf two workers always run; a third level of preemption is chance, but is observed, too. Under
/// per_group each of the two groups has one worker, and kinds that never preempt have one. Any
/// thread of workshop's pool may run.
TEST_P(SteadyState, AllocatesNothingAndTakesNoLockWithoutInheritance) {
  if (!is_steady(GetParam())) {
    GTEST_SKIP() << "not offered";
  }
  if (const char* const reason = realtime::RtGuard::blind()) {
    GTEST_SKIP() << reason;
  }
  CountingSink sink;
  auto options = on_one_cpu(&sink);
  options.workers_per_level = 1;
  auto executor = make(GetParam(), options);
  const bool one = never_preempts(GetParam()) || GetParam() == "workshop";
  const bool two = GetParam() == "edf" || GetParam() == "per_group";
  const std::size_t workers = one ? 1 : two ? 2 : kLevels;
  Watch watch(workers);
  const auto watched = [&] {
    if (watch()) {
      executor->cancel();
    }
  };
  const std::array<std::shared_ptr<Group>, 2> groups = {std::make_shared<Group>(),
                                                        std::make_shared<Group>()};
  for (std::size_t i = 0; i < 2 * kLevels; ++i) {
    const int level = static_cast<int>(i % kLevels);
    CallbackOptions released = named("released", static_cast<int>((i + 1) % kLevels));
    released.group = groups[i % 2];
    released.overload = static_cast<Overload>(i % 3);
    const auto callback =
        std::make_shared<TestCallback>(released, [&](const InstanceInfo&) { watched(); });
    CallbackOptions ticking = timer_named("t" + std::to_string(i), level);
    if (GetParam() != "edf") {  // under edf no callback could preempt a member
      ticking.group = groups[i / kLevels];
    }
    executor->add(std::make_shared<TestTimer>(
        ticking, TimerOptions{.period_ns = 500'000 + static_cast<std::int64_t>(i) * 70'000},
        [&, raw = callback.get()](const InstanceInfo&) {
          raw->release_now();
          watched();
        }));
    executor->add(callback);
  }
  executor->spin();
  EXPECT_GE(watch.reports().size(), workers);
  for (const auto& report : watch.reports()) {
    EXPECT_TRUE(report.clean()) << report.text();
  }
  EXPECT_GE(sink.instances, kWatched);
}

}  // namespace
}  // namespace rclrt::executor::test

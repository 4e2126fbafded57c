// SPDX-License-Identifier: Apache-2.0
/// The verdicts of judge(), attacked where the machine decides them: the kernel's limit is not
/// reached where a deadline is proved, an unmeasured machine proves nothing, and a file that
/// contradicts the conditions of its bounds is not feasible. RCLRT_SOUNDNESS_TRIALS sets the number
/// of applications.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "random_application.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Collects when the CPU was busy.
class BusyIntervals : public SimulationObserver {
 public:
  void ran(const SimulatedInterval& interval) override {
    intervals_.emplace_back(interval.from_ns, interval.to_ns);
  }

  /// Returns the longest time in which the CPU was busy within a second.
  std::int64_t busiest_second() {
    std::ranges::sort(intervals_);
    sums_.assign(1, 0);
    for (const auto& [from, to] : intervals_) {
      sums_.push_back(sums_.back() + to - from);
    }
    std::int64_t most = 0;
    for (const auto& [from, to] : intervals_) {
      most = std::max({most, busy_until(from + kSecond) - busy_until(from),
                       busy_until(to) - busy_until(to - kSecond)});
    }
    return most;
  }

 private:
  /// Returns how long the one CPU was busy before this time.
  std::int64_t busy_until(std::int64_t time) const {
    const auto next = std::ranges::lower_bound(intervals_, std::pair(time, std::int64_t{0}));
    const auto begun = static_cast<std::size_t>(next - intervals_.begin());
    const std::int64_t beyond =
        begun > 0 ? std::max<std::int64_t>(0, intervals_[begun - 1].second - time) : 0;
    return sums_[begun] - beyond;
  }

  std::vector<std::pair<std::int64_t, std::int64_t>> intervals_;
  std::vector<std::int64_t> sums_;
};

/// Makes all times of the application longer, so that a second has few releases.
void stretch(model::Application& application, int factor) {
  for (model::Callback& callback : application.callbacks) {
    callback.wcet *= factor;
    if (auto* timer = std::get_if<model::Timer>(&callback.trigger)) {
      timer->period *= factor;
      timer->offset *= factor;
    } else if (auto* sync = std::get_if<model::Sync>(&callback.trigger)) {
      sync->window *= factor;
    }
  }
  for (model::Chain& chain : application.chains) {
    chain.deadline *= factor;
  }
}

TEST(SoundnessOfVerdicts, AProvedApplicationDoesNotReachTheKernelsLimit) {
  const std::uint64_t applications = test::trials(100);
  std::size_t proved = 0;
  std::size_t conditional = 0;
  double closest = 0;
  for (const std::uint64_t seed : test::seeds(applications)) {
    RandomApplication random(seed);
    model::Application application = random.make();
    stretch(application, static_cast<int>(random.uniform(10, 40)));
    const Machine machine{
        .realtime_share = std::min(0.99, application.utilisation() + random.uniform(0.01, 0.4))};
    const Judgement judgement = judge(application, ExecutorKind::kPreemptive, machine);
    ASSERT_NO_FATAL_FAILURE(test::check_verdicts(application, judgement)) << "seed " << seed;
    const auto has = [&](Verdict verdict) {
      return std::ranges::any_of(judgement.chains,
                                 [&](const ChainBound& chain) { return chain.verdict == verdict; });
    };
    conditional += has(Verdict::kConditional) ? 1 : 0;
    if (!has(Verdict::kProved)) {
      continue;
    }
    ++proved;
    for (int phasing = 0; phasing < 4; ++phasing) {
      if (phasing > 0) {
        random.move_phases(application);
      }
      BusyIntervals busy;
      simulate(simulated_system(application, ExecutorKind::kPreemptive),
               {.horizon_ns = 8 * kSecond, .seed = seed}, &busy);
      const auto limit = machine.realtime_share * static_cast<double>(kSecond);
      const auto found = static_cast<double>(busy.busiest_second());
      ASSERT_LE(found, limit + 1) << "seed " << seed << "\n" << describe(application);
      closest = std::max(closest, found / limit);
    }
  }
  EXPECT_GT(proved, applications / 10);
  EXPECT_GT(conditional, applications / 10);
  EXPECT_GT(closest, 0.9) << "the attack comes close";
}

TEST(SoundnessOfVerdicts, AnUnmeasuredMachineProvesNothingAndRefutesNothing) {
  const std::uint64_t applications = test::trials(100);
  for (const std::uint64_t seed : test::seeds(applications)) {
    const model::Application application = RandomApplication(seed).make();
    for (const ExecutorKind kind :
         {ExecutorKind::kPreemptive, ExecutorKind::kWaitSet, ExecutorKind::kEdf}) {
      const Judgement model = judge(application, kind, Machine{});
      const Judgement real = judge(application, kind, Machine::unmeasured());
      ASSERT_NO_FATAL_FAILURE(test::check_verdicts(application, real)) << "seed " << seed;
      ASSERT_EQ(real.feasible, model.feasible) << "seed " << seed;
      for (std::size_t i = 0; i < real.chains.size(); ++i) {
        ASSERT_EQ(real.chains[i].bound, model.chains[i].bound);
        ASSERT_NE(real.chains[i].verdict, Verdict::kProved);
      }
    }
  }
}

}  // namespace
}  // namespace rclrt::analysis

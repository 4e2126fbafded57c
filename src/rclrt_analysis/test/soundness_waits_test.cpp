// SPDX-License-Identifier: Apache-2.0
/// No simulated response exceeds a proved bound, over random applications with callbacks that wait.
/// RCLRT_SOUNDNESS_TRIALS sets their number.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "random_application.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

class WaitingApplication : public RandomApplication {
 public:
  using RandomApplication::RandomApplication;

  /// Lets some callbacks wait, all for a short time or all for a long one.
  void let_wait(model::Application& application) {
    const double share = chance(0.5) ? 0.2 : 0.7;
    const double longest = chance(0.5) ? 0.5 : 3;
    for (model::Callback& callback : application.callbacks) {
      if (chance(share)) {
        callback.waits = ms(uniform(0.05, longest));
      }
    }
  }
};

/// Simulates the application in several phasings, and expects no response above a bound. Returns
/// the number of proved bounds.
std::size_t expect_no_response_above(WaitingApplication& random, model::Application& application,
                                     ExecutorKind kind, const Overheads& overheads,
                                     std::uint64_t seed, test::Tightness& tightness) {
  const Judgement judgement = judge(application, kind, {.overheads = overheads});
  std::vector<std::int64_t> worst(judgement.chains.size());
  for (int phasing = 0; phasing < 12; ++phasing) {
    if (phasing > 0) {
      random.move_phases(application);
    }
    const SimulatedTimes times{.lowest_execution = phasing % 4 == 3 ? 0.3 : 1.0,
                               .extremes = phasing % 3 == 1,
                               .dispatch_ns = overheads.dispatch,
                               .scheduler_ns = overheads.scheduler,
                               .polling_ns = overheads.polling};
    const auto result =
        simulate(simulated_system(application, kind, times),
                 {.horizon_ns = 400'000'000, .seed = seed + static_cast<std::uint64_t>(phasing)});
    for (std::size_t i = 0; i < worst.size(); ++i) {
      worst[i] = std::max(worst[i], result.chains[i].response.worst_ns);
    }
  }
  std::size_t proved = 0;
  for (std::size_t i = 0; i < worst.size(); ++i) {
    const ChainBound& bound = judgement.chains[i];
    EXPECT_TRUE(bound.bound || !bound.note.empty()) << "seed " << seed;
    if (bound.bound && bound.assumptions.empty()) {
      ++proved;
      tightness.add(*bound.bound, worst[i]);
      EXPECT_LE(worst[i], *bound.bound)
          << traits(kind).name << ", seed " << seed << ", " << application.chains[i].id
          << ", dispatch " << overheads.dispatch << "\n"
          << describe(application);
    }
  }
  return proved;
}

constexpr std::array kKinds{ExecutorKind::kPreemptive,
                            ExecutorKind::kProducerConsumer,
                            ExecutorKind::kThreadDispatch,
                            ExecutorKind::kWaitSet,
                            ExecutorKind::kEdf,
                            ExecutorKind::kEvents,
                            ExecutorKind::kPicas,
                            ExecutorKind::kPerGroup,
                            ExecutorKind::kStaticOrder,
                            ExecutorKind::kWorkshop};

TEST(SoundnessOfWaits, NoSimulatedResponseIsAboveABound) {
  const std::uint64_t applications = test::trials(60);
  for (const ExecutorKind kind : kKinds) {
    test::Tightness tightness;
    std::size_t proved = 0;
    for (const std::uint64_t seed : test::seeds(applications)) {
      WaitingApplication random(seed);
      model::Application application = random.make();
      random.let_wait(application);
      if (kind == ExecutorKind::kEdf) {
        random.add_deadlines(application);
      }
      if (seed % 5 == 0) {  // no bounds, but the reason
        random.spread(application, kind != ExecutorKind::kEdf);
      }
      Overheads overheads;
      if (seed % 2 == 0) {
        overheads.dispatch = ms(random.uniform(0, 0.1)).count();
        overheads.scheduler = seed % 4 == 0 ? ms(random.uniform(0, 0.1)).count() : 0;
      }
      proved += expect_no_response_above(random, application, kind, overheads, seed, tightness);
    }
    EXPECT_GT(proved, applications / 4) << traits(kind).name;
    tightness.print("chains with callbacks that wait, " + std::string(traits(kind).name));
  }
}

}  // namespace
}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
/// No simulated response exceeds a bound that uses an order: that of deadlines, of the callbacks of
/// a ready set, or of releases with stated offsets. Some releases are events with jitter, in
/// bunches as dense as they may be. RCLRT_SOUNDNESS_TRIALS sets the number of applications.
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

class Drawn : public RandomApplication {
 public:
  explicit Drawn(std::uint64_t seed) : RandomApplication(seed) {}

  /// Makes an application with events, and with offsets and periods that are multiples of half a
  /// millisecond, so that many releases come together.
  model::Application draw() {
    model::Application application = make();
    const bool stated = chance(0.7);
    for (model::Callback& callback : application.callbacks) {
      auto* const timer = std::get_if<model::Timer>(&callback.trigger);
      if (timer == nullptr) {
        continue;
      }
      if (chance(0.3)) {
        make_event(callback, timer->period);
        continue;
      }
      timer->offset_stated = stated && chance(0.9);
      if (timer->offset_stated) {
        constexpr std::array kPeriods{4.0, 4.5, 6.0, 7.0, 8.0, 10.0, 12.0, 18.0, 20.0, 34.0};
        timer->period = ms(kPeriods.at(static_cast<std::size_t>(between(0, 9))));
        timer->offset = ms(chance(0.5) ? 0 : between(0, 12) * 0.5);
      }
    }
    const double share = chance(0.5) ? 1 : 0.4;  // short busy periods, with few sets
    for (model::Callback& callback : application.callbacks) {
      callback.wcet = model::Nanoseconds(
          static_cast<std::int64_t>(static_cast<double>(callback.wcet.count()) * share));
    }
    return application;
  }

  /// Chooses when events begin, as dense as possible or at random.
  void move_events(model::Application& application) {
    for (model::Callback& callback : application.callbacks) {
      if (auto* event = std::get_if<model::Event>(&callback.trigger)) {
        event->offset = ms(between(0, 40) * 0.25);
        event->seed =
            chance(0.6) ? model::Event::kDensest : static_cast<std::uint64_t>(between(0, 99));
      }
    }
  }

 private:
  void make_event(model::Callback& callback, model::Nanoseconds period) {
    model::Event event{.depth = 20};
    event.period = period * between(1, 2);
    event.jitter = event.period * between(0, 5) / 2;
    event.min_interval = std::max(event.period - event.jitter, event.period / 8);
    event.max_interval = event.period + event.jitter;
    callback.trigger = event;
  }
};

void try_kind(ExecutorKind executor, std::uint64_t first, test::Tightness& tightness) {
  const std::uint64_t applications = test::trials(250);
  for (std::uint64_t seed = first; seed < first + applications; ++seed) {
    Drawn random(seed);
    model::Application application = random.draw();
    if (executor == ExecutorKind::kEdf) {
      random.add_deadlines(application);
    }
    if (seed % 4 == 0) {
      random.spread(application, true);
    }
    Overheads overheads;
    if (seed % 3 == 0) {
      overheads.timer_jitter = ms(random.uniform(0, 1)).count();
    }
    if (seed % 5 == 0) {
      overheads.dispatch = ms(random.uniform(0, 0.05)).count();
    }
    const Judgement judgement = judge(application, executor, {.overheads = overheads});
    std::vector<std::int64_t> worst(judgement.chains.size());
    for (int phasing = 0; phasing < 8; ++phasing) {
      random.move_phases(application);
      random.move_events(application);
      const SimulatedTimes times{
          .lowest_execution = phasing % 4 == 3 ? 0.3 : 1.0,
          .dispatch_ns = overheads.dispatch,
          .lateness = TimeDistribution::uniform(0, overheads.timer_jitter),
      };
      const auto result = simulate(simulated_system(application, executor, times),
                                   {.horizon_ns = 400'000'000, .seed = seed});
      for (std::size_t i = 0; i < worst.size(); ++i) {
        worst[i] = std::max(worst[i], result.chains[i].response.worst_ns);
        const ChainBound& bound = judgement.chains[i];
        if (bound.bound && bound.assumptions.empty()) {
          ASSERT_LE(result.chains[i].response.worst_ns, *bound.bound)
              << "seed " << seed << ", " << application.chains[i].id << ", late "
              << overheads.timer_jitter << ", dispatch " << overheads.dispatch << "\n"
              << describe(application);
        }
      }
    }
    for (std::size_t i = 0; i < worst.size(); ++i) {
      const ChainBound& bound = judgement.chains[i];
      if (bound.bound && bound.assumptions.empty()) {
        tightness.add(*bound.bound, worst[i]);
      }
    }
  }
}

TEST(SoundnessOfOrders, OfDeadlinesOfSetsAndOfOffsets) {
  for (const ExecutorKind executor : {ExecutorKind::kEdf, ExecutorKind::kStaticOrder,
                                      ExecutorKind::kWaitSet, ExecutorKind::kEvents}) {
    test::Tightness tightness;
    ASSERT_NO_FATAL_FAILURE(try_kind(executor, 1, tightness)) << traits(executor).name;
    ASSERT_GT(tightness.count(), 100U);
    tightness.print("chains with events and offsets, " + std::string(traits(executor).name));
  }
}

}  // namespace
}  // namespace rclrt::analysis

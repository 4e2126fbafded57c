// SPDX-License-Identifier: Apache-2.0
/// Events: their bounds assume the highest rate; a simulation uses the actual one.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/counter_example.hpp"
#include "rclrt/analysis/sensitivity.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "rclrt/model/event_times.hpp"

namespace rclrt::analysis {
namespace {

constexpr std::size_t kBumper = 0;

/// bumper 2 every 10 to 40, then stop 1; a timer of 3 every 10 is less urgent.
model::Application stopping() {
  model::Application application = Builder()
                                       .timer("bumper", 10, 2)
                                       .subscription("stop", "bumper", 1)
                                       .timer("plan", 10, 3)
                                       .chain("stop", {"bumper", "stop"}, 2)
                                       .chain("plan", {"plan"}, 1)
                                       .done();
  application.callbacks[kBumper].trigger =
      model::Event{.min_interval = ms(10), .max_interval = ms(40), .depth = 10};
  return application;
}

model::Application as_timer(model::Application application) {
  application.callbacks[kBumper].trigger = model::Timer{.period = ms(10)};
  return application;
}

TEST(Events, HaveTheBoundOfATimerOfTheirShortestInterval) {
  for (const ExecutorKind executor :
       {ExecutorKind::kPreemptive, ExecutorKind::kEdf, ExecutorKind::kWaitSet}) {
    const auto bounds = chain_bounds(stopping(), executor);
    const auto expected = chain_bounds(as_timer(stopping()), executor);
    ASSERT_EQ(bounds.size(), expected.size());
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      EXPECT_EQ(bounds[i].bound, expected[i].bound);
      EXPECT_EQ(bounds[i].verdict, Verdict::kProved);
    }
  }
}

// The event is due 40 after it occurs, so the timer, which is due 10 after its release, never waits
// for it: 2. By its jitter of 100, three are due at 40 to 42: 3 * 4 and, by 16, two of the timer.
// The last of the three occurs 2 after the first.
TEST(Events, UnderEdfAreDueAfterTheyOccurHoweverMuchJitterTheyHave) {
  model::Application application = Builder()
                                       .timer("fast", 10, 2)
                                       .timer("burst", 40, 4)
                                       .chain("fast", {"fast"}, 0)
                                       .chain("burst", {"burst"}, 0)
                                       .done();
  application.callbacks[1].trigger = model::Event{.min_interval = ms(1),
                                                  .max_interval = ms(140),
                                                  .depth = 10,
                                                  .period = ms(40),
                                                  .jitter = ms(100)};
  const auto bounds = chain_bounds(application, ExecutorKind::kEdf);
  EXPECT_EQ(bounds[0].bound, ms(2).count());
  EXPECT_EQ(bounds[1].bound, ms(3 * 4 + 2 * 2 - 2).count());
}

TEST(Events, HaveAReactionAfterTheirLongestInterval) {
  const ChainBound bound = chain_bounds(stopping()).front();
  EXPECT_EQ(bound.bound, ms(3).count());
  EXPECT_EQ(bound.reaction, ms(40 + 3).count());
}

// A message of the other timer waits for an event until the timer's next message has arrived, which
// an event would take in its place.
TEST(Events, InASyncComeBeforeTheNextMessageOfTheOtherInput) {
  model::Application application = Builder()
                                       .timer("a", 10, 1)
                                       .timer("b", 10, 1)
                                       .sync("s", "a", "b", 1, 25)
                                       .chain("a", {"a", "s"}, 1)
                                       .done();
  const auto before = chain_bounds(application).front().bound;
  application.callbacks[1].trigger =
      model::Event{.min_interval = ms(10), .max_interval = ms(60), .depth = 10};
  const ChainBound bound = chain_bounds(application).front();
  ASSERT_TRUE(before && bound.bound);
  EXPECT_GT(*bound.bound, *before);
  EXPECT_EQ(bound.bound, ms((10 + 3) + 1 + 1 + 1).count());
  EXPECT_FALSE(bound.reaction) << "a message of a may find no partner";
}

// An event waits for the timer's next release like a timer's message of the same interval, with a
// window shorter or longer than the interval.
TEST(Events, InASyncWaitForTheNextReleaseOfATimer) {
  for (const double window : {8.0, 25.0}) {
    model::Application application = Builder()
                                         .timer("a", 10, 1)
                                         .timer("b", 4, 1)
                                         .sync("s", "a", "b", 1, window)
                                         .chain("a", {"a", "s"}, 1)
                                         .done();
    const auto before = chain_bounds(application).front().bound;
    application.callbacks[0].trigger =
        model::Event{.min_interval = ms(10), .max_interval = ms(60), .depth = 10};
    ASSERT_TRUE(before);
    EXPECT_EQ(chain_bounds(application).front().bound, before);
    EXPECT_LT(*before, ms(window).count());
  }
}

TEST(Events, AreSimulatedAtTheirTimes) {
  struct Releases : SimulationObserver {
    void ended(const SimulatedInstance& instance) override {
      if (instance.callback == kBumper) {
        seen.push_back(instance.tokens.front().release_ns);
        EXPECT_EQ(instance.tokens.front().instance, seen.size() - 1);
      }
    }
    std::vector<std::int64_t> seen;
  };
  const auto application = stopping();
  for (const ExecutorKind executor :
       {ExecutorKind::kPreemptive, ExecutorKind::kThreadDispatch, ExecutorKind::kProducerConsumer,
        ExecutorKind::kEdf, ExecutorKind::kWaitSet}) {
    Releases releases;
    const auto result = simulate(simulated_system(application, executor),
                                 {.horizon_ns = ms(1000).count()}, &releases);
    model::EventTimes times(std::get<model::Event>(application.callbacks[kBumper].trigger),
                            "bumper");
    ASSERT_GT(releases.seen.size(), 25U);
    for (const std::int64_t release : releases.seen) {
      EXPECT_EQ(release, times.next().count());
    }
    EXPECT_EQ(result.chains[0].response.count, releases.seen.size());
  }
}

TEST(Events, ThatComeAsOftenAsTheyMayRefuteADeadline) {
  model::Application application = stopping();
  application.chains[1].deadline = ms(5);  // plan: 3, and 3 of the event
  const auto found = find_counter_examples(application, {false, true}, {});
  ASSERT_TRUE(found[1]);
  EXPECT_EQ(found[1]->response_ns, ms(6).count());
  EXPECT_EQ(replay(application, *found[1]), ms(6).count());
}

TEST(Events, HaveAShortestIntervalThatKeepsTheProof) {
  const Sensitivity margins = sensitivity(stopping(), ExecutorKind::kPreemptive, {});
  // plan's 3 and two events of 3 take 9. A third event would arrive before 9 if they were closer.
  EXPECT_EQ(margins.periods[kBumper].limit, ms(4.5).count());
}

model::Event with_jitter(double period, double jitter, double distance = 0) {
  return {.min_interval = std::max(ms(distance), ms(period) - ms(jitter)),
          .max_interval = ms(period) + ms(jitter),
          .depth = 10,
          .period = ms(period),
          .jitter = ms(jitter)};
}

/// camera: 30 Hz, each image up to 10 ms late; a less urgent timer of 40 every 100.
model::Application watching(double image = 8) {
  model::Application application = Builder()
                                       .timer("camera", 33, image)
                                       .timer("plan", 100, 40)
                                       .chain("camera", {"camera"}, 2)
                                       .chain("plan", {"plan"}, 1)
                                       .done();
  application.callbacks[0].trigger = with_jitter(33, 10);
  return application;
}

std::vector<ExecutorKind> by_priority() {
  return {ExecutorKind::kPreemptive, ExecutorKind::kProducerConsumer, ExecutorKind::kThreadDispatch,
          ExecutorKind::kPerGroup, ExecutorKind::kWorkshop};
}

std::vector<ExecutorKind> all_kinds() {
  std::vector<ExecutorKind> result = by_priority();
  for (const ExecutorKind other : {ExecutorKind::kEdf, ExecutorKind::kEvents, ExecutorKind::kPicas,
                                   ExecutorKind::kWaitSet, ExecutorKind::kStaticOrder}) {
    result.push_back(other);
  }
  return result;
}

// plan: R = 40 + ceil((R + 10) / 33) 8, so 56 with 2 images. With one image every 23, it is 64.
TEST(EventsWithJitter, DelayOthersAsOftenAsPeriodAndJitterAllow) {
  model::Application application = watching();
  EXPECT_DOUBLE_EQ(application.utilisation(), 8.0 / 33 + 0.4);
  for (const ExecutorKind kind : by_priority()) {
    const auto bounds = chain_bounds(application, kind);
    EXPECT_EQ(bounds[0].bound, ms(8).count()) << name_of(kind);
    EXPECT_EQ(bounds[1].bound, ms(56).count()) << name_of(kind);
  }
  application.callbacks[0].trigger =
      model::Event{.min_interval = ms(23), .max_interval = ms(43), .depth = 10};
  EXPECT_EQ(chain_bounds(application)[1].bound, ms(64).count());
}

// camera 20, below a timer of 3 every 10. The first image comes 10 late and takes 29, the second
// one is on time: it comes after 23 and ends at 40 + 6 * 3 = 58. One image every 23 would be too
// much.
TEST(EventsWithJitter, RespondFromTheirArrival) {
  model::Application application = Builder()
                                       .timer("camera", 33, 20)
                                       .timer("control", 10, 3)
                                       .chain("camera", {"camera"}, 1)
                                       .chain("control", {"control"}, 2)
                                       .done();
  application.callbacks[0].trigger = with_jitter(33, 10);
  for (const ExecutorKind kind : by_priority()) {
    const auto bounds = chain_bounds(application, kind);
    EXPECT_EQ(bounds[0].bound, ms(58 - 23).count()) << name_of(kind);
    EXPECT_EQ(bounds[0].reaction, ms(33 + 10 + 58 - 23).count()) << name_of(kind);
  }
  application.chains[0].deadline = ms(58 - 23) - model::Nanoseconds(1);
  const auto found = find_counter_examples(application, {true, false}, {});
  ASSERT_TRUE(found[0]);
  EXPECT_EQ(found[0]->response_ns, ms(58 - 23).count());
  EXPECT_EQ(replay(application, *found[0]), ms(58 - 23).count());
  application.callbacks[0].trigger =
      model::Event{.min_interval = ms(23), .max_interval = ms(43), .depth = 10};
  EXPECT_FALSE(chain_bounds(application)[0].bound);
}

// Four of a burst take 4: R = 5 + min(ceil((R + 300) / 100), ceil(R / D)).
TEST(EventsWithJitter, OfABurstKeepTheirDistance) {
  model::Application application = Builder()
                                       .timer("burst", 100, 1)
                                       .timer("plan", 100, 5)
                                       .chain("burst", {"burst"}, 2)
                                       .chain("plan", {"plan"}, 1)
                                       .done();
  for (const auto& [distance, bound] : {std::pair(4.0, 7.0), {2.0, 9.0}, {0.001, 9.0}}) {
    application.callbacks[0].trigger = with_jitter(100, 300, distance);
    for (const ExecutorKind kind : by_priority()) {
      EXPECT_EQ(chain_bounds(application, kind)[1].bound, ms(bound).count())
          << name_of(kind) << " " << distance;
    }
  }
  EXPECT_EQ(queue_bounds(application)[0].pending, 4);
}

TEST(EventsWithJitter, HaveBoundsUnderEveryKindThatNoScheduleExceeds) {
  for (const ExecutorKind kind : all_kinds()) {
    for (const double image : {8.0, 18.0}) {  // a load of 1.18 by the shortest interval
      model::Application application = watching(image);
      for (model::Chain& chain : application.chains) {
        chain.deadline = ms(1000);  // is never missed, so the search goes on
      }
      const auto bounds = chain_bounds(application, kind);
      const auto found = search_schedules(application, {.chains = {true, true}},
                                          {.executor = kind, .effort = {.instances = 20'000}});
      for (std::size_t i = 0; i < bounds.size(); ++i) {
        ASSERT_TRUE(bounds[i].bound) << name_of(kind) << " " << bounds[i].note;
        EXPECT_GE(static_cast<double>(*bounds[i].bound), found.closest[i] * 1e9) << name_of(kind);
      }
    }
  }
}

TEST(EventsWithJitter, HaveAShortestPeriodThatKeepsTheProof) {
  model::Application application = watching();
  application.chains[1].deadline = ms(56);
  const Sensitivity margins = sensitivity(application, ExecutorKind::kPreemptive, {});
  EXPECT_EQ(margins.periods[0].limit, ms(33).count());  // of three images: (56 + 10) / 2
}

// An interval that follows from the period and the jitter shrinks with the period.
TEST(EventsWithJitter, AreProvedWithTheirShortestPeriod) {
  const auto camera = [](Ticks period) {
    auto application = Builder()
                           .timer("camera", 33, 8)
                           .timer("plan", 100, 5)
                           .chain("see", {"camera"}, 2, 33)
                           .chain("plan", {"plan"}, 1, 21)
                           .done();
    const model::Nanoseconds time(period);
    application.callbacks[0].trigger = model::Event{.min_interval = time - ms(10),
                                                    .max_interval = time + ms(10),
                                                    .depth = 10,
                                                    .period = time,
                                                    .jitter = ms(10)};
    return application;
  };
  const auto is_proved = [](const ChainBound& bound) { return bound.verdict == Verdict::kProved; };
  const Sensitivity margins = sensitivity(camera(ms(33).count()), ExecutorKind::kPreemptive, {});
  const Ticks limit = *margins.periods[0].limit;
  EXPECT_TRUE(std::ranges::all_of(chain_bounds(camera(limit)), is_proved));
  EXPECT_FALSE(std::ranges::all_of(chain_bounds(camera(limit - 1)), is_proved));
}

// A burst of 101 packets takes long, and ends.
TEST(EventsWithJitter, OfALongBurstAreNoReasonToStarve) {
  auto application = Builder()
                         .timer("packet", 10, 5)
                         .timer("plan", 10, 1)
                         .chain("packets", {"packet"}, 2, 3000)
                         .chain("plan", {"plan"}, 1, 600)
                         .done();
  application.callbacks[0].trigger = model::Event{.min_interval = ms(0.001),
                                                  .max_interval = ms(1010),
                                                  .depth = 10000,
                                                  .period = ms(10),
                                                  .jitter = ms(1000)};
  ASSERT_EQ(chain_bounds(application)[1].bound, ms(1006).count());
  const auto found = search_schedules(application, {.chains = {false, true}},
                                      {.executor = ExecutorKind::kPreemptive});
  ASSERT_TRUE(found.examples[1]);
  EXPECT_FALSE(found.examples[1]->never_runs);
  EXPECT_GT(found.examples[1]->response_ns, ms(600).count());
}

}  // namespace
}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
/// Events: their bounds assume the highest rate; a simulation uses the actual one.
#include <gtest/gtest.h>

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

TEST(Events, HaveAReactionAfterTheirLongestInterval) {
  const ChainBound bound = chain_bounds(stopping()).front();
  EXPECT_EQ(bound.bound, ms(3).count());
  EXPECT_EQ(bound.reaction, ms(40 + 3).count());
}

// A message of the other timer waits for an event for up to the window.
TEST(Events, InASyncComeWheneverTheWindowLets) {
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
  EXPECT_EQ(bound.bound, ms(25 + 1 + 1 + 1).count());
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

}  // namespace
}  // namespace rclrt::analysis

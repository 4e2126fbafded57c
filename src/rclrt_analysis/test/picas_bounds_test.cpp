// SPDX-License-Identifier: Apache-2.0
/// PiCAS's published bounds: their values, the cases in which no response is longer, and for each
/// reason that makes them unsafe an application with a longer response in the simulation.
#include "rclrt/analysis/picas_bounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "application_builder.hpp"
#include "random_application.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "rclrt/analysis/synthesis.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

struct Place {
  int cpu;
  int top_priority;
};

/// Returns the application with executors at these places; `executor_of` has the callbacks that are
/// not in the first executor.
model::Application placed(const Builder& builder, const std::vector<Place>& places,
                          const std::map<std::string, std::size_t>& executor_of) {
  model::Application result = builder.done();
  result.executors.clear();
  for (const Place& place : places) {
    result.executors.push_back({.name = "e" + std::to_string(result.executors.size()),
                                .cpus = {place.cpu},
                                .top_priority = place.top_priority});
  }
  for (const auto& [id, executor] : executor_of) {
    result.callbacks[builder.index(id)].executor = executor;
  }
  return result;
}

void start_at(model::Application& application, const std::string& id, double offset) {
  for (model::Callback& callback : application.callbacks) {
    if (callback.id == id) {
      std::get<model::Timer>(callback.trigger).offset = ms(offset);
    }
  }
}

/// Returns the longest response of the first chain.
Ticks longest(const model::Application& application, double horizon = 2000) {
  const auto simulated = simulate(simulated_system(application, ExecutorKind::kPicas),
                                  {.horizon_ns = ms(horizon).count()});
  return simulated.chains.front().response.worst_ns;
}

Ticks in_ns(double time) { return ms(time).count(); }

/// Expects that a response exceeds the first chain's bound for this reason, and none that of
/// chain_bounds().
void expect_unsafe(const model::Application& application, double bound, const std::string& reason,
                   double horizon = 2000) {
  const PicasBound found = picas_bounds(application).front();
  ASSERT_TRUE(found.bound) << found.note;
  EXPECT_EQ(*found.bound, in_ns(bound));
  EXPECT_THAT(found.unsafe, ElementsAre(HasSubstr(reason)));
  const Ticks worst = longest(application, horizon);
  EXPECT_GT(worst, *found.bound);
  const auto sound = chain_bounds(application, ExecutorKind::kPicas).front().bound;
  EXPECT_TRUE(!sound || worst <= *sound);
}

TEST(PicasBounds, AreThoseOfTheRecurrenceOnOneCpu) {
  // In one executor, of a: B = 9 (low), C = 3, and ceil(R / 20) x 2 of high.
  const Builder one = Builder()
                          .timer("a", 50, 1)
                          .priority(2)
                          .subscription("b", "a", 2)
                          .priority(3)
                          .timer("high", 20, 2)
                          .priority(9)
                          .timer("low", 100, 9)
                          .priority(1)
                          .chain("own", {"a", "b"}, 0)
                          .chain("high", {"high"}, 0)
                          .chain("low", {"low"}, 0);
  const auto found = picas_bounds(one.done());
  EXPECT_EQ(found[0].bound, in_ns(9 + 3 + 2));
  EXPECT_EQ(found[1].bound, in_ns(2 + 9));
  EXPECT_EQ(found[2].bound, in_ns(9 + 3 + 2));
  for (const PicasBound& each : found) {
    EXPECT_THAT(each.unsafe, IsEmpty());
  }
  // `high` is in a more urgent executor, and `low` in a less urgent one, where it does not block a.
  const auto apart = placed(one, {{0, 80}, {0, 90}, {0, 70}}, {{"high", 1}, {"low", 2}});
  EXPECT_EQ(picas_bounds(apart)[0].bound, in_ns(3 + 2));
  EXPECT_EQ(picas_bounds(apart)[1].bound, in_ns(2));
}

// While a is pending, the timer below it cannot run again: callbacks above a that it releases count
// once.
TEST(PicasBounds, CountOnceWhatALessUrgentTimerStarts) {
  const Builder builder = Builder()
                              .timer("a", 100, 30)
                              .priority(5)
                              .timer("t", 10, 1)
                              .priority(1)
                              .subscription("s", "t", 2)
                              .priority(9)
                              .chain("own", {"a"}, 0)
                              .chain("other", {"t", "s"}, 0);
  EXPECT_EQ(picas_bounds(builder.done())[0].bound, in_ns(30 + 1 + 2));
  EXPECT_THAT(picas_bounds(builder.done())[0].unsafe, IsEmpty());
}

TEST(PicasBounds, SumUpOverTheCpusOfAChain) {
  const Builder builder = Builder()
                              .timer("a", 50, 1)
                              .priority(2)
                              .subscription("b", "a", 2)
                              .priority(3)
                              .timer("high", 20, 4)
                              .priority(9)
                              .chain("own", {"a", "b"}, 0)
                              .chain("high", {"high"}, 0);
  const auto found = picas_bounds(placed(builder, {{0, 80}, {1, 80}}, {{"b", 1}}));
  EXPECT_EQ(found[0].bound, in_ns(1 + 4 + 2));
  EXPECT_THAT(found[0].unsafe, IsEmpty());
}

TEST(PicasBounds, SayNothingOfWhatTheAnalysisDoesNotKnow) {
  const auto sync = Builder()
                        .timer("a", 10, 1)
                        .timer("b", 10, 1)
                        .sync("s", "a", "b", 1)
                        .chain("own", {"a", "s"}, 1)
                        .chain("other", {"b", "s"}, 2)
                        .done();
  EXPECT_FALSE(picas_bounds(sync)[0].bound);
  EXPECT_THAT(picas_bounds(sync)[0].note, HasSubstr("callback 's' takes"));
  const auto free = Builder().timer("a", 10, 1).timer("b", 10, 1).chain("own", {"a"}, 1).done();
  EXPECT_THAT(picas_bounds(free)[0].note, HasSubstr("callback 'b' is on no chain"));
}

TEST(PicasBounds, HaveNoLimitWhereMoreUrgentCallbacksTakeTheCpu) {
  const auto application = Builder()
                               .timer("a", 100, 1)
                               .priority(1)
                               .timer("b", 10, 11)
                               .priority(2)
                               .chain("own", {"a"}, 0)
                               .chain("other", {"b"}, 0)
                               .done();
  EXPECT_FALSE(picas_bounds(application)[0].bound);
  EXPECT_FALSE(picas_bounds(application)[0].note.empty());
}

TEST(PicasBounds, LeaveOutWhatIsAsUrgent) {
  const auto application = Builder()
                               .timer("a", 100, 10)
                               .timer("b", 100, 10)
                               .chain("own", {"b"}, 1)
                               .chain("other", {"a"}, 1)
                               .done();
  expect_unsafe(application, 10, "'a' is as urgent as 'b'");
}

TEST(PicasBounds, CountOnceWhatATimerOfAMoreUrgentExecutorStarts) {
  const Builder builder = Builder()
                              .timer("a", 100, 10)
                              .priority(5)
                              .timer("t", 4, 2)
                              .priority(1)
                              .chain("own", {"a"}, 0)
                              .chain("other", {"t"}, 0);
  expect_unsafe(placed(builder, {{0, 70}, {0, 80}}, {{"t", 1}}), 10 + 2, "'t' counts once");
}

TEST(PicasBounds, LeaveOutTheJitterFromAnotherCpu) {
  const Builder builder = Builder()
                              .timer("a", 100, 5)
                              .priority(1)
                              .timer("t", 10, 1)
                              .priority(2)
                              .subscription("d", "t", 4)
                              .priority(9)
                              .timer("x", 100, 8)
                              .priority(9)
                              .chain("own", {"a"}, 0)
                              .chain("other", {"t", "d"}, 0)
                              .chain("third", {"x"}, 0);
  auto application = placed(builder, {{0, 80}, {1, 80}}, {{"t", 1}, {"x", 1}});
  start_at(application, "a", 9.5);  // d begins at 9, and comes again at 11
  expect_unsafe(application, 5 + 4, "'d' comes by way of another CPU");
}

TEST(PicasBounds, LookAtTheExecutorOfTheLeastUrgentCallbackOnly) {
  const Builder builder = Builder()
                              .timer("a", 100, 1)
                              .priority(2)
                              .subscription("b", "a", 1)
                              .priority(5)
                              .timer("y", 100, 20)
                              .priority(9)
                              .chain("own", {"a", "b"}, 0)
                              .chain("other", {"y"}, 0);
  expect_unsafe(placed(builder, {{0, 80}, {0, 70}}, {{"b", 1}, {"y", 1}}), 2,
                "'b' of the chain is in a less urgent executor than 'a'");
}

TEST(PicasBounds, CountTwoVisitsToACpuAsOne) {
  const Builder builder = Builder()
                              .timer("a", 100, 1)
                              .priority(1)
                              .subscription("b", "a", 5.5)
                              .priority(1)
                              .subscription("c", "b", 1)
                              .priority(1)
                              .timer("y", 10, 4)
                              .priority(9)
                              .chain("own", {"a", "b", "c"}, 0)
                              .chain("other", {"y"}, 0);
  expect_unsafe(placed(builder, {{0, 80}, {1, 80}}, {{"b", 1}}), 4 + 2 + 5.5,
                "comes back to a CPU");
}

TEST(PicasBounds, AddOnePeriodForAllEarlierInstances) {
  const auto application = Builder()
                               .timer("a", 10, 6)
                               .priority(1)
                               .timer("y", 10, 5)
                               .priority(9)
                               .chain("own", {"a"}, 0)
                               .chain("other", {"y"}, 0)
                               .done();
  expect_unsafe(application, 16 + 10, "longer than its period");
}

// If a chain's last callback gets no CPU time, its first callbacks still run once in each period.
TEST(PicasBounds, TakeAChainThatNeedsMoreThanItsPeriodForASlowerOne) {
  const auto application = Builder()
                               .timer("a", 203, 10)
                               .priority(5)
                               .timer("t", 5, 2)
                               .priority(9)
                               .subscription("m", "t", 20)
                               .priority(1)
                               .chain("own", {"a"}, 0)
                               .chain("other", {"t", "m"}, 0)
                               .done();
  expect_unsafe(application, 20 + 10 + 2 * 2,
                "'t' counts as if it came once in the time that its chain's work takes", 20'000);
}

// A callback without work waits for instances that are released at the very end of the bound.
TEST(PicasBounds, LeaveOutWhatIsReleasedAtTheirEnd) {
  const auto application = Builder()
                               .timer("a", 100, 0)
                               .priority(1)
                               .timer("y", 4, 2)
                               .priority(9)
                               .timer("x", 100, 2)
                               .priority(5)
                               .chain("own", {"a"}, 0)
                               .chain("y", {"y"}, 0)
                               .chain("x", {"x"}, 0)
                               .done();
  expect_unsafe(application, 2 + 2, "'a' takes no time");
}

TEST(PicasBounds, AreOfChainsThatStartAtATimerOrAnEvent) {
  const auto application =
      Builder().subscription("a", "nobody", 1).chain("own", {"a"}, 1, 10).done();
  EXPECT_THAT([&] { picas_bounds(application); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("chain 'own' does not start at a timer or an event")));
}

/// A random application with different priorities: PiCAS's, or any.
model::Application random_application(RandomApplication& random, std::uint64_t seed) {
  model::Application result = random.make();
  const bool spread = seed % 3 != 0;
  if (spread) {
    random.spread(result, seed % 2 == 0);
  }
  const auto values = synthesize_priorities(result, ChainPriorities::kPicas);
  std::vector<int> priorities;
  for (const SynthesizedPriority& value : values) {
    priorities.push_back(value.priority);
  }
  if (seed % 4 == 0) {
    std::mt19937_64 order(seed);
    std::shuffle(priorities.begin(), priorities.end(), order);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.callbacks[i].priority = priorities[i];
    if ((seed + i) % 11 == 0) {
      result.callbacks[i].wcet = {};
    }
  }
  return result;
}

TEST(PicasBounds, NoSimulatedResponseIsAboveOneWithoutAReasonToBeUnsafe) {
  test::Tightness tightness;
  std::uint64_t unsafe = 0;
  const std::uint64_t trials = test::trials(600);
  for (const std::uint64_t seed : test::seeds(trials)) {
    RandomApplication random(seed);
    model::Application application = random_application(random, seed);
    const auto bounds = picas_bounds(application);
    std::vector<Ticks> worst(bounds.size());
    for (int phasing = 0; phasing < 8; ++phasing) {
      const auto simulated = simulate(simulated_system(application, ExecutorKind::kPicas),
                                      {.horizon_ns = ms(200).count()});
      for (std::size_t i = 0; i < worst.size(); ++i) {
        worst[i] = std::max(worst[i], simulated.chains[i].response.worst_ns);
      }
      random.move_phases(application);
    }
    for (std::size_t i = 0; i < worst.size(); ++i) {
      unsafe += bounds[i].unsafe.empty() ? 0 : 1;
      if (!bounds[i].bound || !bounds[i].unsafe.empty()) {
        continue;
      }
      tightness.add(*bounds[i].bound, worst[i]);
      ASSERT_LE(worst[i], *bounds[i].bound)
          << "seed " << seed << ", " << application.chains[i].id << "\n"
          << describe(application);
    }
  }
  tightness.print("PiCAS's own");
  std::printf("[ unsafe    ] %llu more\n", static_cast<unsigned long long>(unsafe));
  EXPECT_GE(tightness.count(), trials / 6);
}

}  // namespace
}  // namespace rclrt::analysis

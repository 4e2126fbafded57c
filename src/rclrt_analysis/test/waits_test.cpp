// SPDX-License-Identifier: Apache-2.0
// Bounds, simulation and counter-examples of callbacks that wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "rclrt/analysis/counter_example_file.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/refute.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Lets the callback wait for up to this many milliseconds.
model::Application with_wait(model::Application application, const std::string& id, double waits) {
  const auto found = std::ranges::find(application.callbacks, id, &model::Callback::id);
  found->waits = ms(waits);
  return application;
}

// The example of docs/explanation/bounds.md.
Builder scan_and_detect() {
  Builder builder;
  builder.timer("scan", 20, 1).timer("detect", 40, 6);
  return builder;
}

Builder& with_chains(Builder& builder) {
  return builder.chain("fast", {"scan"}, 2).chain("slow", {"detect"}, 1);
}

Builder in_one_group() {
  Builder builder;
  builder.timer("scan", 20, 1).group("g").timer("detect", 40, 6).group("g");
  return builder;
}

std::int64_t worst_ns(const model::Application& application, std::size_t chain,
                      ExecutorKind executor, double lowest = 1, bool extremes = false) {
  std::int64_t worst = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto result = simulate(
        simulated_system(application, executor, {.lowest_execution = lowest, .extremes = extremes}),
        {.horizon_ns = 400'000'000, .seed = seed});
    worst = std::max(worst, result.chains[chain].response.worst_ns);
  }
  return worst;
}

TEST(Waits, CountAsWorkOfTheCallbackAndNotOfMoreUrgentOnes) {
  Builder builder = scan_and_detect();
  const auto application = with_wait(with_chains(builder).done(), "detect", 8);
  EXPECT_THAT(bounds_ms(application), ElementsAre(1, 15));
  EXPECT_EQ(worst_ns(application, 1, ExecutorKind::kPreemptive), ms(15).count());
  EXPECT_NEAR(application.utilisation(), 0.2, 1e-9);  // 1 / 20 + 6 / 40: the CPU is free meanwhile
}

TEST(Waits, JoinTheLevelsOfAGroup) {
  Builder builder = in_one_group();
  const auto application = with_wait(with_chains(builder).done(), "detect", 8);
  EXPECT_THAT(bounds_ms(application), ElementsAre(15, 15));
}

TEST(Waits, NameTheTimeInTheTermsOfTheBound) {
  Builder builder = scan_and_detect();
  const auto application = with_wait(with_chains(builder).done(), "detect", 8);
  const auto bounds = chain_bounds(application, ExecutorKind::kPreemptive);
  const auto& why = bounds[1].why;
  const auto found = std::ranges::find(why, Contribution::Kind::kWaits, &Contribution::kind);
  ASSERT_NE(found, why.end());
  EXPECT_EQ(found->total, ms(8).count());
  EXPECT_EQ(application.callbacks[found->callback].id, "detect");
  Ticks sum = bounds[1].waited;
  for (const Contribution& each : why) {
    sum += each.total;
  }
  EXPECT_EQ(sum, *bounds[1].bound);
}

// While high waits, low starts and holds the group of middle: 1 + 3 + 1 + 7. Without waits, low
// runs only if it has started before high: 1 + 1 + 7.
TEST(Waits, LetALessUrgentCallbackStartAndHoldAGroup) {
  const auto application = Builder()
                               .timer("high", 50, 1)
                               .priority(9)
                               .timer("middle", 50, 1)
                               .priority(5)
                               .group("g")
                               .timer("low", 50, 7)
                               .priority(1)
                               .group("g")
                               .chain("first", {"high"}, 9)
                               .chain("second", {"middle"}, 5)
                               .done();
  EXPECT_THAT(bounds_ms(application), ElementsAre(1, 9));
  EXPECT_THAT(bounds_ms(with_wait(application, "high", 3)), ElementsAre(4, 12));
}

TEST(Waits, AreLikeExecutionForASingleThread) {
  Builder builder = scan_and_detect();
  const auto application = with_chains(builder).done();
  auto executing = application;
  executing.callbacks[1].wcet = ms(14);
  for (const ExecutorKind kind : {ExecutorKind::kWaitSet, ExecutorKind::kEvents,
                                  ExecutorKind::kPicas, ExecutorKind::kStaticOrder}) {
    const auto waiting = with_wait(application, "detect", 8);
    EXPECT_EQ(bounds_ms(waiting, kind), bounds_ms(executing, kind)) << traits(kind).name;
    EXPECT_EQ(worst_ns(waiting, 0, kind), worst_ns(executing, 0, kind)) << traits(kind).name;
  }
}

// Each callback of the long chain executes for 1 ms and waits for 1 ms. A ready set has one of
// them, so short waits for two: 1 + 2 * 2. With several threads and priorities there are no turns:
// all of the long chain is more urgent than the short one, and low joins their levels.
TEST(Waits, TakeTurnsOnlyWithASingleThread) {
  Builder builder;
  builder.timer("a", 100, 2).priority(9);
  for (const std::string before : {"a", "b", "c", "d"}) {
    builder.subscription({static_cast<char>(before[0] + 1)}, before, 2).priority(9);
  }
  builder.timer("short", 100, 1).priority(5).chain("short", {"short"}, 5);
  const auto executing = builder.done();
  auto waiting = executing;
  for (std::size_t i = 0; i < 5; ++i) {
    waiting.callbacks[i].wcet = waiting.callbacks[i].waits = ms(1);
  }
  for (const ExecutorKind kind : {ExecutorKind::kWaitSet, ExecutorKind::kStaticOrder}) {
    EXPECT_THAT(bounds_ms(waiting, kind), ElementsAre(5)) << traits(kind).name;
  }
  for (const ExecutorKind kind :
       {ExecutorKind::kWaitSet, ExecutorKind::kStaticOrder, ExecutorKind::kEvents}) {
    EXPECT_EQ(bounds_ms(waiting, kind), bounds_ms(executing, kind)) << traits(kind).name;
    EXPECT_LE(worst_ns(waiting, 0, kind), *chain_bounds(waiting, kind)[0].bound);
  }
  auto mixed = with_wait(builder.timer("w", 100, 1)
                             .priority(9)
                             .group("g")
                             .timer("low", 100, 1)
                             .priority(1)
                             .group("g")
                             .done(),
                         "w", 1);
  EXPECT_THAT(bounds_ms(mixed), ElementsAre(14));  // 10 of the long chain, 2 of w, 1 of low, 1
  set_offset(mixed, 6, 50);                        // w: it would hold up the long chain
  EXPECT_EQ(worst_ns(mixed, 0, ExecutorKind::kPreemptive), ms(11).count());
}

TEST(Waits, AThreadThatIsNeverFreeIsNamed) {
  Builder builder = scan_and_detect();
  const auto application = with_wait(with_chains(builder).done(), "detect", 36);
  const auto bounds = chain_bounds(application, ExecutorKind::kWaitSet);
  EXPECT_FALSE(bounds[0].bound);
  EXPECT_THAT(bounds[0].note, AllOf(HasSubstr("the thread of executor 'main' is never free"),
                                    HasSubstr("110 %"), HasSubstr("'detect' waits")));
  EXPECT_THAT(bounds_ms(application), ElementsAre(1, -1));  // preemptive: scan goes first
}

TEST(Waits, WithoutAProofHaveNoBoundAndTheNoteNamesTheCallback) {
  Builder builder = scan_and_detect();
  const auto application = with_wait(with_chains(builder).done(), "detect", 8);
  const auto expect_none = [](const model::Application& tried, ExecutorKind kind,
                              const Overheads& overheads, const std::string& reason) {
    const auto bounds = chain_bounds(tried, kind, overheads);
    EXPECT_FALSE(bounds[0].bound) << traits(kind).name;
    EXPECT_EQ(bounds[0].verdict, Verdict::kUnknown);
    EXPECT_THAT(bounds[0].note,
                AllOf(HasSubstr("callback 'detect' waits (waits_ms)"), HasSubstr(reason)));
    EXPECT_FALSE(queue_bounds(tried, kind, overheads)[0].pending);
  };
  auto on_two = application;
  on_two.executors[0].cpus = {0, 1};
  for (const ExecutorKind kind :
       {ExecutorKind::kPreemptive, ExecutorKind::kProducerConsumer, ExecutorKind::kPerGroup}) {
    expect_none(on_two, kind, {}, "several CPUs");
  }
  auto scheduled = application;
  scheduled.executors[0].scheduler_cpus = {0};
  expect_none(scheduled, ExecutorKind::kThreadDispatch, {}, "states scheduler_cpus");
  auto two = application;
  two.executors.push_back({.name = "second", .cpus = {0}});
  two.callbacks[0].executor = 1;
  expect_none(two, ExecutorKind::kPreemptive, {}, "executors share a CPU");
  expect_none(application, ExecutorKind::kThreadDispatch, {.scheduler = 1000}, "scheduler thread");
  expect_none(application, ExecutorKind::kThreadDispatch, {.dispatch = 1000}, "has a thread");
  expect_none(application, ExecutorKind::kWorkshop, {.dispatch = 1000}, "pick-up");
  Builder group = in_one_group();
  expect_none(with_wait(with_chains(group).done(), "detect", 8), ExecutorKind::kPreemptive,
              {.dispatch = 1000}, "share a group");
}

// Only the executors that a wait concerns have other levels. Without waits in z, lo waits for all
// 50 ms of the executor y, and so it does with them.
TEST(Waits, LeaveOtherComponentsAsTheyAre) {
  auto application = Builder()
                         .timer("hi", 1000, 1)
                         .priority(9)
                         .group("g")
                         .timer("mid", 1000, 1)
                         .priority(5)
                         .timer("lo", 1000, 1)
                         .priority(1)
                         .group("g")
                         .timer("other", 1000, 50)
                         .priority(1)
                         .timer("apart", 1000, 1)
                         .priority(9)
                         .chain("low", {"lo"}, 1)
                         .done();
  application.executors = {{.name = "x", .cpus = {0}, .top_priority = 50},
                           {.name = "y", .cpus = {0}, .top_priority = 49},
                           {.name = "z", .cpus = {1}}};
  application.callbacks[3].executor = 1;
  application.callbacks[4].executor = 2;
  EXPECT_EQ(bounds_ms(with_wait(application, "apart", 1)), bounds_ms(application));
}

// A wake-up interrupts more urgent callbacks: all levels are one.
TEST(Waits, CountTheDispatchAfterThemAtAllLevels) {
  Builder builder = scan_and_detect();
  const auto application = with_wait(with_chains(builder).done(), "detect", 8);
  const auto bounds =
      bounds_ms(application, ExecutorKind::kPreemptive, {.dispatch = ms(0.1).count()});
  EXPECT_THAT(bounds, ElementsAre(15.3, 15.3));  // 1 + 6 + 8, and three dispatches
}

// Without dispatching, `scan` is delayed by nothing: 1.
TEST(Waits, TheNoteSaysThatTheDispatchJoinsLevels) {
  Builder builder = scan_and_detect();
  const auto application = with_wait(with_chains(builder).done(), "detect", 8);
  const Overheads dispatching{.dispatch = ms(0.1).count()};
  const auto bounds = chain_bounds(application, ExecutorKind::kPreemptive, dispatching);
  EXPECT_EQ(bounds[0].note,
            "'detect' waits (waits_ms) and dispatching takes time, so all priorities of executor "
            "'main' count as one (docs/explanation/bounds.md#callbacks-that-wait)");
  EXPECT_EQ(bounds[1].note, "") << "`detect` has the lowest priority";
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kPreemptive)[0].note, "");
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kEvents, dispatching)[0].note, "");
  auto short_deadline = application;
  short_deadline.chains[0].deadline = ms(5);
  EXPECT_THAT(chain_bounds(short_deadline, ExecutorKind::kPreemptive, dispatching)[0].note,
              AllOf(StartsWith("the bound is above the deadline, which proves nothing; 'detect' "),
                    HasSubstr("bounds.md#callbacks-that-wait")));
  Builder group = in_one_group();  // their levels are joined in any case
  const auto grouped = with_wait(with_chains(group).done(), "detect", 8);
  EXPECT_EQ(chain_bounds(grouped, ExecutorKind::kPreemptive)[0].note, "");
}

TEST(Waits, HaveNoBoundOnReactionTimesAndDataAges) {
  const auto read = model::parse_application(R"(rclrt: 1
name: sampled
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: w, node: n, timer: {period_ms: 100, offset_ms: 0}, wcet_ms: 1, waits_ms: 50, stores: [v], priority: 9}
  - {id: r, node: n, timer: {period_ms: 100, offset_ms: 40}, wcet_ms: 1, reads: [v], priority: 1}
chains:
  - {id: writes, callbacks: [w]}
  - {id: reads, callbacks: [r]}
  - {id: whole, callbacks: [w, r], max_reaction_ms: 1000, max_age_ms: 1000}
)");
  ASSERT_TRUE(read.application) << to_string(read.diagnostics.front(), "sampled");
  const Judgement judgement = judge(*read.application, ExecutorKind::kPreemptive, {});
  ASSERT_EQ(judgement.cause_effect_chains.size(), 1U);
  EXPECT_FALSE(judgement.cause_effect_chains[0].age);
  EXPECT_EQ(judgement.cause_effect_chains[0].verdict, Verdict::kUnknown);
  EXPECT_THAT(judgement.cause_effect_chains[0].note, HasSubstr("callback 'w' waits"));
}

// One instance executes before its deadline, and the next one at once: 980 ms in one second.
TEST(Waits, AreOnlyConditionalIfTheKernelHoldsThreadsBack) {
  const auto application =
      with_wait(Builder().timer("x", 1000, 490).chain("c", {"x"}, 1).done(), "x", 510);
  const Judgement limited =
      judge(application, ExecutorKind::kEvents, {.overheads = {}, .realtime_share = 0.95});
  EXPECT_EQ(limited.chains[0].verdict, Verdict::kConditional);
  EXPECT_EQ(judge(application, ExecutorKind::kEvents, {}).chains[0].verdict, Verdict::kProved);
}

// The second release comes just when the first instance ends.
TEST(Waits, MayBePendingAtTheNextRelease) {
  const auto application =
      with_wait(Builder().timer("x", 10, 2).chain("c", {"x"}, 1).done(), "x", 8);
  for (const ExecutorKind kind : {ExecutorKind::kPreemptive, ExecutorKind::kEvents}) {
    EXPECT_EQ(queue_bounds(application, kind, {})[0].pending, 2) << traits(kind).name;
  }
}

// detect waits from 0 to 8 or later, and log runs meanwhile, although it is less urgent.
TEST(Simulation, LessUrgentCallbacksRunWhileOneWaits) {
  const auto application = with_wait(Builder()
                                         .timer("detect", 40, 1)
                                         .timer("log", 40, 2)
                                         .chain("first", {"detect"}, 2)
                                         .chain("second", {"log"}, 1)
                                         .done(),
                                     "detect", 8);
  EXPECT_EQ(worst_ns(application, 0, ExecutorKind::kPreemptive), ms(9).count());
  EXPECT_LE(worst_ns(application, 1, ExecutorKind::kPreemptive), ms(3).count());
  EXPECT_EQ(worst_ns(application, 1, ExecutorKind::kEvents), ms(11).count());  // one thread
}

class WaitObserver : public SimulationObserver {
 public:
  void ended(const SimulatedInstance& instance) override {
    cpu_ns = instance.cpu_ns;
    longest_ns = std::max(longest_ns, instance.end_ns - instance.start_ns);
    shortest_ns = std::min(shortest_ns, instance.end_ns - instance.start_ns);
  }
  void ran(const SimulatedInterval& interval) override {
    parts.push_back(interval.to_ns - interval.from_ns);
  }
  std::int64_t cpu_ns = 0;
  std::int64_t longest_ns = 0;
  std::int64_t shortest_ns = INT64_MAX;
  std::vector<std::int64_t> parts;
};

TEST(Simulation, ExtremeWaitsAreAtTheBeginInTheMiddleOrJustBeforeTheEnd) {
  const auto application =
      with_wait(Builder().timer("a", 10, 2).chain("c", {"a"}, 1).done(), "a", 3);
  WaitObserver seen;
  simulate(simulated_system(application, ExecutorKind::kPreemptive, {.extremes = true}),
           {.horizon_ns = ms(2000).count()}, &seen);
  EXPECT_EQ(seen.cpu_ns, ms(2).count());
  EXPECT_EQ(seen.shortest_ns, ms(2).count());
  EXPECT_EQ(seen.longest_ns, ms(5).count());
  const std::int64_t all_ns = ms(2).count();
  const std::array parts_ns{std::int64_t{1}, all_ns - 1, all_ns / 2, all_ns / 2 - 1, all_ns};
  EXPECT_TRUE(std::ranges::all_of(seen.parts, [&](std::int64_t part_ns) {
    return std::ranges::find(parts_ns, part_ns) != parts_ns.end() || part_ns == all_ns / 2 + 1;
  }));
  EXPECT_GT(std::ranges::count(seen.parts, 1), 0);
  EXPECT_GT(std::ranges::count(seen.parts, all_ns), 0);
}

TEST(CounterExample, OfACallbackThatWaitsReplays) {
  const auto application = with_wait(Builder()
                                         .timer("scan", 20, 1)
                                         .priority(2)
                                         .group("g")
                                         .timer("detect", 40, 6)
                                         .priority(1)
                                         .group("g")
                                         .chain("fast", {"scan"}, 2, 14.5)
                                         .done(),
                                     "detect", 8);
  const auto found = find_counter_examples(
      application, {true},
      {.executor = ExecutorKind::kPreemptive, .effort = {.instances = 200'000}});
  ASSERT_TRUE(found[0]);
  EXPECT_GT(found[0]->response_ns, ms(14.5).count());
  EXPECT_EQ(replay(application, *found[0]), found[0]->response_ns);
  const auto read = parse_counter_example(to_text(*found[0], application), application);
  ASSERT_TRUE(read.example);
  EXPECT_EQ(replay(application, *read.example), found[0]->response_ns);
}

// `slow` is delayed by two runs of `fast` only if one waits first and the next one executes first.
TEST(CounterExample, HasTheWaitsThatItsDrawsGive) {
  const auto application = with_wait(Builder()
                                         .timer("fast", 10, 2)
                                         .timer("slow", 50, 5.5)
                                         .chain("a", {"fast"}, 2)
                                         .chain("b", {"slow"}, 1, 9.45)
                                         .done(),
                                     "fast", 3);
  int with_extremes = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto found =
        find_counter_examples(application, {false, true},
                              {.executor = ExecutorKind::kPreemptive,
                               .effort = {.instances = 50'000, .per_trial = 500, .seed = seed}});
    if (found[1]) {
      with_extremes += found[1]->extremes ? 1 : 0;
      EXPECT_EQ(replay(application, *found[1]), found[1]->response_ns) << "seed " << seed;
    }
  }
  EXPECT_GT(with_extremes, 0);
}

}  // namespace
}  // namespace rclrt::analysis

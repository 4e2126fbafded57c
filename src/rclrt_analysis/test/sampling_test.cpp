// SPDX-License-Identifier: Apache-2.0
/// Reaction times and data ages of chains that sample: examples by hand, and published cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "rclrt/analysis/counter_example.hpp"
#include "rclrt/analysis/judge.hpp"
#include "sampling.hpp"

namespace rclrt::analysis {
namespace {

using test::as_ms;
using test::longest_reactions;
using test::sampling_application;
using test::sampling_bound;
using test::two_timers;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Sampling, DuerrsPairsHaveTheirPublishedBounds) {
  // One CPU: periods 10 and 20, execution times 1 and 2, the first one is more urgent. Davare's
  // bound is 34 in both directions.
  const std::string fast = "timer: {period_ms: 10}, wcet_ms: 1, priority: 2";
  const std::string slow = "timer: {period_ms: 20}, wcet_ms: 2, priority: 1";
  EXPECT_EQ(as_ms(sampling_bound(sampling_application(two_timers(fast, slow))).reaction), 33);
  EXPECT_EQ(as_ms(sampling_bound(sampling_application(two_timers(slow, fast))).reaction), 34);
}

TEST(Sampling, WithLogicalExecutionTimeDuerrsPairsHaveTheSumOfPeriodsAndDeadlines) {
  // Deadlines of 7 and 8: 10 + 7 + 20 + 8 = 45 in both directions.
  const auto application = [](const std::string& deadlines) {
    const std::string tasks =
        "executors: [{name: main, cpus: [0]}]\nnodes: [{name: n}]\ncallbacks:\n"
        "  - {id: a, node: n, timer: {period_ms: 10}, wcet_ms: 1, priority: 2, reads: [y], "
        "stores: [x]}\n"
        "  - {id: b, node: n, timer: {period_ms: 20}, wcet_ms: 2, priority: 1, reads: [x], "
        "stores: [y]}\nchains:\n";
    return sampling_application(tasks + deadlines +
                                "  - {id: there, callbacks: [a, b], max_reaction_ms: 45}\n"
                                "  - {id: back, callbacks: [b, a], max_reaction_ms: 45}\n");
  };
  const auto logical = application(
      "  - {id: first, callbacks: [a], deadline_ms: 7, let: true}\n"
      "  - {id: second, callbacks: [b], deadline_ms: 8, let: true}\n");
  const Judgement found = judge(logical, ExecutorKind::kPreemptive, {});
  for (const CauseEffectBound& each : found.cause_effect_chains) {
    EXPECT_EQ(as_ms(each.reaction), 45);
    EXPECT_EQ(each.verdict, Verdict::kProved);
    EXPECT_EQ(each.why.at(1).kind, CauseEffectTerm::Kind::kLogical);
  }
  EXPECT_EQ(as_ms(found.cause_effect_chains.at(0).age), 7 + 10 + 8);
  EXPECT_EQ(as_ms(found.cause_effect_chains.at(1).age), 8 + 20 + 7);
  // The search comes within a nanosecond: a value moves just after it was read.
  const SearchResult searched =
      search_schedules(logical, {.chains = {false, false}, .cause_effect_chains = {true, true}},
                       {.executor = ExecutorKind::kPreemptive, .effort = {.instances = 50'000}});
  EXPECT_EQ(searched.worst_reaction_ns[0], 45'000'000 - 1);
  EXPECT_EQ(searched.worst_reaction_ns[1], 45'000'000 - 1);

  const auto too_short = application(
      "  - {id: first, callbacks: [a], deadline_ms: 7, let: true}\n"
      "  - {id: second, callbacks: [b], deadline_ms: 2.5, let: true}\n");
  const CauseEffectBound late = sampling_bound(too_short);
  EXPECT_FALSE(late.reaction);
  EXPECT_THAT(late.note, HasSubstr("'second' move at its deadline (let), which is not proved"));
}

TEST(Sampling, SchlatowsTaskChainsHaveTheirPublishedLatencies) {
  // Schlatow and Ernst, "Response-time analysis for task chains in communicating threads", RTAS
  // 2016: two chains on one CPU, the first one with a period of 25 and a jitter of 5. Asynchronous,
  // as messages are: 70 and 36. (Their 34 and 26 are for chains that wait for their own end.)
  const model::Application application = sampling_application(R"(
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: a1, node: n, event: {period_ms: 25, jitter_ms: 5}, wcet_ms: 10, priority: 9, publishes: [a1]}
  - {id: a2, node: n, subscription: {topic: a1}, wcet_ms: 2, priority: 4, publishes: [a2]}
  - {id: a3, node: n, subscription: {topic: a2}, wcet_ms: 4, priority: 7, publishes: [a3]}
  - {id: a4, node: n, subscription: {topic: a3}, wcet_ms: 5, priority: 5}
  - {id: b1, node: n, timer: {period_ms: 100}, wcet_ms: 3, priority: 6, publishes: [b1]}
  - {id: b2, node: n, subscription: {topic: b1}, wcet_ms: 9, priority: 7}
chains:
  - {id: s1, callbacks: [a1, a2, a3, a4]}
  - {id: s2, callbacks: [b1, b2]}
)");
  const Judgement found = judge(application, ExecutorKind::kPreemptive, {});
  EXPECT_EQ(as_ms(found.chains.at(0).bound), 70);
  EXPECT_EQ(as_ms(found.chains.at(1).bound), 36);
  const SearchResult simulated = search_schedules(application, {.chains = {true, true}},
                                                  {.executor = ExecutorKind::kPreemptive});
  EXPECT_LE(simulated.closest[0] * as_ms(application.chains[0].deadline.count()), 70);
  EXPECT_LE(simulated.closest[1] * as_ms(application.chains[1].deadline.count()), 36);
}

TEST(Sampling, GuenzelsTwoControllersAndABusHaveTheirPublishedTimes) {
  // Guenzel et al., RTAS 2021: controller 0 with two tasks (10, 5), a message (200, 1), controller
  // 1 with (100, 30) and the more urgent (60, 10). Reaction 30, 210, and 441 joined; age 20, 150,
  // 381.
  const model::Application application = sampling_application(R"(
executors: [{name: zero, cpus: [0]}, {name: bus, cpus: [1]}, {name: one, cpus: [2]}]
nodes: [{name: z, executor: zero}, {name: b, executor: bus}, {name: o, executor: one}]
callbacks:
  - {id: a, node: z, timer: {period_ms: 10}, wcet_ms: 5, priority: 2, stores: [xa]}
  - {id: b, node: z, timer: {period_ms: 10}, wcet_ms: 5, priority: 1, reads: [xa], stores: [xb]}
  - {id: m, node: b, timer: {period_ms: 200}, wcet_ms: 1, reads: [xb], stores: [xm]}
  - {id: c, node: o, timer: {period_ms: 100}, wcet_ms: 30, priority: 1, reads: [xm], stores: [xc]}
  - {id: d, node: o, timer: {period_ms: 60}, wcet_ms: 10, priority: 2, reads: [xc]}
chains:
  - {id: zero, callbacks: [a, b]}
  - {id: one, callbacks: [c, d]}
  - {id: joined, callbacks: [a, b, m, c, d]}
)");
  const Judgement found = judge(application, ExecutorKind::kPreemptive, {});
  std::vector<double> reactions;
  std::vector<double> ages;
  for (const CauseEffectBound& each : found.cause_effect_chains) {
    reactions.push_back(as_ms(each.reaction));
    ages.push_back(as_ms(each.age));
  }
  EXPECT_THAT(reactions, ElementsAre(30, 210, 441));
  EXPECT_THAT(ages, ElementsAre(20, 150, 381));
}

/// Teper et al., RTSS 2022: two sensors, filters, a fusion of two inputs, a filter and an actuator
/// on one single-threaded executor, in the order of registration, all phases 0. The fusion and the
/// actuator run by subscription, or by a timer that samples.
std::string teper(bool by_timer) {
  const std::string sensor = by_timer ? "timer: {period_ms: 480}" : "timer: {period_ms: 360}";
  std::string text =
      "executors: [{name: main, cpus: [0]}]\nnodes: [{name: n}]\ncallbacks:\n"
      "  - {id: sensor1, node: n, " +
      sensor +
      ", wcet_ms: 10, publishes: [s1]}\n"
      "  - {id: sensor2, node: n, " +
      sensor + ", wcet_ms: 20, publishes: [s2]}\n";
  if (by_timer) {
    text +=
        "  - {id: fusion, node: n, timer: {period_ms: 960}, wcet_ms: 30, reads: [x1, x2], "
        "publishes: [fused]}\n"
        "  - {id: actuator, node: n, timer: {period_ms: 960}, wcet_ms: 30, reads: [x3]}\n";
  }
  text +=
      "  - {id: filter1, node: n, subscription: {topic: s1}, wcet_ms: 10, publishes: [f1]}\n"
      "  - {id: filter2, node: n, subscription: {topic: s2}, wcet_ms: 20, publishes: [f2]}\n";
  if (by_timer) {
    return text +
           "  - {id: store1, node: n, subscription: {topic: f1}, wcet_ms: 30, stores: [x1]}\n"
           "  - {id: store2, node: n, subscription: {topic: f2}, wcet_ms: 30, stores: [x2]}\n"
           "  - {id: filter3, node: n, subscription: {topic: fused}, wcet_ms: 30, publishes: "
           "[f3]}\n"
           "  - {id: store3, node: n, subscription: {topic: f3}, wcet_ms: 30, stores: [x3]}\n"
           "chains:\n"
           "  - {id: chain1, callbacks: [sensor1, filter1, store1, fusion, filter3, store3, "
           "actuator]}\n"
           "  - {id: chain2, callbacks: [sensor2, filter2, store2, fusion, filter3, store3, "
           "actuator]}\n";
  }
  return text +
         "  - {id: second, node: n, subscription: {topic: f2}, wcet_ms: 30, stores: [x]}\n"
         "  - {id: fusion, node: n, subscription: {topic: f1}, wcet_ms: 30, reads: [x], publishes: "
         "[fused]}\n"
         "  - {id: filter3, node: n, subscription: {topic: fused}, wcet_ms: 30, publishes: [f3]}\n"
         "  - {id: actuator, node: n, subscription: {topic: f3}, wcet_ms: 30}\n"
         "chains:\n"
         "  - {id: chain1, callbacks: [sensor1, filter1, fusion, filter3, actuator], max_age_ms: "
         "1000}\n"
         "  - {id: chain2, callbacks: [sensor2, filter2, second, fusion, filter3, actuator]}\n";
}

TEST(Sampling, TepersSystemsReactAsPublished) {
  struct Case {
    bool by_timer;
    std::vector<double> published;  ///< simulated by its authors
    std::vector<double> bounds;     ///< by its authors
  };
  // Their times begin when a sensor's callback starts, ours at its release. Sensor 2 starts when
  // sensor 1 has ended, 10 ms after both releases.
  constexpr std::array kStart{0.0, 10.0};
  for (const Case& each :
       {Case{false, {540, 530}, {1430, 2490}}, Case{true, {2490, 2480}, {4730, 4720}}}) {
    const model::Application application = sampling_application(teper(each.by_timer));
    const auto found = longest_reactions(application, ExecutorKind::kWaitSet);
    const Judgement judgement = judge(application, ExecutorKind::kWaitSet, {});
    for (std::size_t i = 0; i < kStart.size(); ++i) {
      EXPECT_EQ(found[i] - kStart[i], each.published[i]);
      const double bound = as_ms(judgement.cause_effect_chains[i].reaction) - kStart[i];
      EXPECT_GE(bound, each.published[i]);
      EXPECT_LE(bound, each.bounds[i]);
      RecordProperty("bound_" + std::to_string(each.by_timer) + std::to_string(i),
                     std::to_string(bound));
    }
  }
}

TEST(Sampling, TheExampleOfTheDocumentation) {
  // docs/explanation/sampling-chains.md, with one CPU for each segment.
  const model::Application application = sampling_application(R"(
executors: [{name: see, cpus: [0]}, {name: plan, cpus: [1]}, {name: act, cpus: [2]}]
nodes: [{name: s, executor: see}, {name: p, executor: plan}, {name: a, executor: act}]
callbacks:
  - {id: detect, node: s, timer: {period_ms: 50}, wcet_ms: 19, publishes: [obstacle]}
  - {id: store_obstacle, node: s, subscription: {topic: obstacle}, wcet_ms: 1, stores: [obstacles]}
  - {id: plan, node: p, timer: {period_ms: 100}, wcet_ms: 29, reads: [obstacles], publishes: [path]}
  - {id: store_path, node: p, subscription: {topic: path}, wcet_ms: 1, stores: [paths]}
  - {id: control, node: a, timer: {period_ms: 10}, wcet_ms: 2, reads: [paths]}
chains:
  - {id: path, callbacks: [detect, store_obstacle, plan, store_path, control], max_reaction_ms: 212,
     max_age_ms: 202}
)");
  const CauseEffectBound found = sampling_bound(application);
  EXPECT_EQ(as_ms(found.reaction), 212);
  EXPECT_EQ(as_ms(found.age), 202);
  EXPECT_EQ(found.verdict, Verdict::kProved);
  Ticks reaction = 0;
  for (const CauseEffectTerm& term : found.why) {
    reaction += term.reaction;
  }
  EXPECT_EQ(reaction, found.reaction);
}

TEST(Sampling, StatedOffsetsShortenTheWait) {
  const auto at = [](int offset) {
    return sampling_application(
        two_timers("timer: {period_ms: 10, offset_ms: 0}, wcet_ms: 2, priority: 1",
                   "timer: {period_ms: 20, offset_ms: " + std::to_string(offset) +
                       "}, wcet_ms: 1, priority: 2"));
  };
  // The writer ends at most 3 ms after its release. The reader comes 5 ms after a release of the
  // writer, or 1 ms: then it reads the value before.
  EXPECT_EQ(as_ms(sampling_bound(at(5)).age), 5 + 1);
  EXPECT_EQ(as_ms(sampling_bound(at(1)).age), 11 + 1);
  EXPECT_EQ(as_ms(sampling_bound(at(5)).reaction), 10 + 3 + 12 + 1);
}

TEST(Sampling, TheReactionToAnEventDoesNotWaitForATimer) {
  const CauseEffectBound found = sampling_bound(sampling_application(
      two_timers("event: {min_interval_ms: 10, max_interval_ms: 30}, wcet_ms: 1, "
                 "priority: 1",
                 "timer: {period_ms: 20}, wcet_ms: 2, priority: 2")));
  EXPECT_EQ(as_ms(found.reaction), 3 + 20 + 2);
  EXPECT_EQ(as_ms(found.age), 3 + 30 + 2);
}

TEST(Sampling, AReaderThatMayOvertakeTheWriterWaitsForItsResponse) {
  const auto with = [](const std::string& more, const Machine& machine = {}) {
    return as_ms(sampling_bound(sampling_application(two_timers(
                                    "timer: {period_ms: 10}, wcet_ms: 1, priority: 2",
                                    "timer: {period_ms: 20}, wcet_ms: 2, priority: 1" + more)),
                                ExecutorKind::kPreemptive, machine)
                     .age);
  };
  EXPECT_EQ(with(""), 10 + 3);
  Machine late;
  late.overheads.timer_jitter = 500'000;
  EXPECT_EQ(with("", late), 10 + 0.5 + 3.5);
  Machine slow;  // the message of a longer segment may be on its way while the reader starts
  slow.overheads.near = {.min = 0, .max = 100'000};
  EXPECT_EQ(with("", slow), 10 + 1 + 3);
}

TEST(Sampling, TheNewestMessageOfATopicIsStoredWhenItHasArrived) {
  // As a variable, and the time of the message: 0.1 ms within an executor, 0.5 ms to another one.
  const auto application = [](const std::string& reader) {
    return sampling_application(
        "executors: [{name: main, cpus: [0]}, {name: other, cpus: [1], process: apart}]\n"
        "nodes: [{name: n, executor: main}, {name: m, executor: other}]\ncallbacks:\n"
        "  - {id: a, node: n, timer: {period_ms: 10}, wcet_ms: 2, priority: 1, publishes: [x]}\n"
        "  - {id: b, node: " +
        reader +
        ", timer: {period_ms: 20}, wcet_ms: 1, priority: 2, reads: [{topic: x}]}\n"
        "chains: [{id: path, callbacks: [a, b], max_age_ms: 14}]\n");
  };
  Machine machine;
  machine.overheads.near = {.min = 0, .max = 100'000};
  machine.overheads.far = {.min = 0, .max = 500'000};
  const auto bound = [&](const std::string& reader, const Machine& with) {
    return sampling_bound(application(reader), ExecutorKind::kPreemptive, with);
  };
  EXPECT_EQ(as_ms(bound("n", {}).age), 10 + 3 + 1);
  EXPECT_EQ(as_ms(bound("n", machine).age), 10 + 3.1 + 1);
  EXPECT_EQ(as_ms(bound("n", machine).reaction), 10 + 3.1 + 20 + 1);
  EXPECT_EQ(as_ms(bound("m", {}).age), 10 + 2 + 1);
  EXPECT_EQ(as_ms(bound("m", machine).age), 10 + 2.5 + 1);
  EXPECT_EQ(bound("n", {}).verdict, Verdict::kProved);
  EXPECT_THAT(bound("n", {}).assumptions, IsEmpty());
}

TEST(Sampling, ANewestMessageOfAnotherProcessNeedsTheMiddleware) {
  const auto bound = [](const std::string& more, const std::string& process) {
    return sampling_bound(sampling_application(
        more + "executors: [{name: main, cpus: [0]}, {name: other, cpus: [1]" + process +
        "}]\nnodes: [{name: n, executor: main}, {name: m, executor: other}]\ncallbacks:\n"
        "  - {id: a, node: n, timer: {period_ms: 10}, wcet_ms: 2, publishes: [x]}\n"
        "  - {id: b, node: m, timer: {period_ms: 20}, wcet_ms: 1, reads: [{topic: x}]}\n"
        "chains: [{id: path, callbacks: [a, b], max_age_ms: 14}]\n"));
  };
  const CauseEffectBound apart = bound("", ", process: apart");
  EXPECT_EQ(apart.verdict, Verdict::kConditional);
  EXPECT_THAT(apart.assumptions,
              ElementsAre(HasSubstr("do not keep the middleware from handing messages over")));
  EXPECT_EQ(bound("", "").verdict, Verdict::kProved);
  const std::string above = "threads: [{name: middleware, policy: fifo, priority: 96}]\n";
  EXPECT_EQ(bound(above, ", process: apart").verdict, Verdict::kProved);
}

TEST(Sampling, TheTimesOfMessagesMatterForNewestMessages) {
  const auto matter = [](const std::string& reads, const std::string& writes) {
    const Judgement found =
        judge(sampling_application(
                  "executors: [{name: main, cpus: [0]}]\nnodes: [{name: n}]\ncallbacks:\n"
                  "  - {id: a, node: n, timer: {period_ms: 10}, wcet_ms: 2, " +
                  writes + "}\n  - {id: b, node: n, timer: {period_ms: 20}, wcet_ms: 1, reads: [" +
                  reads + "]}\nchains: [{id: path, callbacks: [a, b], max_age_ms: 14}]\n"),
              ExecutorKind::kPreemptive, {});
    return std::ranges::find(found.assumptions, "messages", &Assumption::id)->relevant;
  };
  EXPECT_TRUE(matter("{topic: x}", "publishes: [x]"));
  EXPECT_FALSE(matter("x", "stores: [x]"));
}

TEST(Sampling, TheVerdictNamesWhatIsMissing) {
  const std::string writer = "timer: {period_ms: 10}, wcet_ms: 2, priority: 1";
  const std::string reader = "timer: {period_ms: 20}, wcet_ms: 1, priority: 2";
  EXPECT_EQ(
      sampling_bound(sampling_application(two_timers(writer, reader, ", max_age_ms: 14"))).verdict,
      Verdict::kProved);
  const CauseEffectBound old =
      sampling_bound(sampling_application(two_timers(writer, reader, ", max_age_ms: 13")));
  EXPECT_EQ(old.verdict, Verdict::kUnknown);
  EXPECT_THAT(old.note, HasSubstr("the bound on the data age is above the limit"));
  const CauseEffectBound unmeasured =
      sampling_bound(sampling_application(two_timers(writer, reader, ", max_age_ms: 14")),
                     ExecutorKind::kPreemptive, Machine::unmeasured());
  EXPECT_EQ(unmeasured.verdict, Verdict::kConditional);
  EXPECT_FALSE(unmeasured.assumptions.empty());
  const model::Application overloaded = sampling_application(
      two_timers("timer: {period_ms: 10}, wcet_ms: 12, priority: 1", reader, ", max_age_ms: 100"));
  const CauseEffectBound none = sampling_bound(overloaded);
  EXPECT_FALSE(none.age);
  EXPECT_THAT(none.note, HasSubstr("'path_1'"));
  EXPECT_FALSE(judge(overloaded, ExecutorKind::kPreemptive, {}).feasible);
}

TEST(Sampling, NeedsABoundForEachChain) {
  const model::Application application = sampling_application(
      two_timers("timer: {period_ms: 10}, wcet_ms: 2", "timer: {period_ms: 20}, wcet_ms: 1"));
  EXPECT_THROW(cause_effect_bounds(application, ExecutorKind::kPreemptive, {}, {}),
               std::invalid_argument);
}

}  // namespace
}  // namespace rclrt::analysis

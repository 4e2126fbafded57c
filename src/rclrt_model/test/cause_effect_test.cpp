// SPDX-License-Identifier: Apache-2.0
/// Chains that read variables: their segments, and the reaction times and ages of their runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "rclrt/model/cause_effect_times.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/model/write.hpp"

namespace rclrt::model {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

/// An estimator of 10 ms, a controller of 20 ms that samples it, and what the parts below add.
std::string robot(const std::string& chains, const std::string& more = "") {
  return R"(rclrt: 1
name: robot
executors: [{name: main, cpus: [0]}, {name: other, cpus: [0], process: apart}]
nodes: [{name: base, executor: main}, {name: apart, executor: other}]
callbacks:
  - {id: estimate, node: base, timer: {period_ms: 10}, wcet_ms: 1, publishes: [state]}
  - {id: store, node: base, subscription: {topic: state}, wcet_ms: 0.1, stores: [latest]}
  - {id: control, node: base, timer: {period_ms: 20}, wcet_ms: 2, reads: [latest], publishes: [go]}
  - {id: drive, node: base, subscription: {topic: go}, wcet_ms: 0.5}
)" + more +
         "chains:\n" + chains;
}

constexpr const char* kWhole =
    "  - {id: whole, callbacks: [estimate, store, control, drive], priority: 3, max_age_ms: 50}\n";

std::vector<std::string> problems(const std::string& text) {
  std::vector<std::string> result;
  for (const Diagnostic& each : parse_application(text).diagnostics) {
    result.push_back(std::to_string(each.line) + ": " + each.message);
  }
  return result;
}

Application read_robot(const std::string& text) {
  ParseResult result = parse_application(text);
  EXPECT_THAT(problems(text), ElementsAre());
  return result.application.value();
}

TEST(CauseEffectChains, SegmentsThatNoChainStatesAreAdded) {
  const Application robot_with = read_robot(robot(kWhole));
  ASSERT_EQ(robot_with.chains.size(), 2U);
  EXPECT_EQ(robot_with.chains[0], (Chain{"whole_1", {0, 1}, 3, std::chrono::hours(1)}));
  EXPECT_EQ(robot_with.chains[1], (Chain{"whole_2", {2, 3}, 3, std::chrono::hours(1)}));
  ASSERT_EQ(robot_with.cause_effect_chains.size(), 1U);
  const CauseEffectChain& whole = robot_with.cause_effect_chains.front();
  EXPECT_THAT(whole.callbacks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(whole.segments, ElementsAre(Segment{0, 0}, Segment{1, 0}));
  EXPECT_EQ(whole.max_age, milliseconds(50));
  EXPECT_FALSE(whole.max_reaction);
}

TEST(CauseEffectChains, ChainsOfTheFileAreUsedAsSegments) {
  const Application found =
      read_robot(robot("  - {id: whole, callbacks: [estimate, store, control, drive]}\n"
                       "  - {id: act, callbacks: [control, drive], priority: 7, deadline_ms: 8}\n"
                       "  - {id: sense, callbacks: [estimate, store], priority: 1}\n"));
  ASSERT_EQ(found.chains.size(), 2U);
  EXPECT_THAT(found.cause_effect_chains.front().segments,
              ElementsAre(Segment{1, 0}, Segment{0, 0}));
}

TEST(CauseEffectChains, ASegmentOfTwoEntriesHasTheHigherPriority) {
  const std::string log =
      "  - {id: log, node: base, timer: {period_ms: 500}, wcet_ms: 1, reads: [latest]}\n";
  const std::string slow =
      "  - {id: slow, callbacks: [estimate, store, log], priority: 1, max_age_ms: 900}\n";
  for (const std::string& chains : {slow + kWhole, kWhole + slow}) {
    const Application found = read_robot(robot(chains, log));
    EXPECT_EQ(found.effective_priority(0), 3) << chains;
    EXPECT_EQ(found.chains.size(), 3U) << chains;
  }
}

TEST(CauseEffectChains, AMessageMayTriggerTheReader) {
  const std::string fusion =
      "  - {id: look, node: base, timer: {period_ms: 30}, wcet_ms: 1, publishes: [image]}\n"
      "  - {id: fuse, node: base, subscription: {topic: image}, wcet_ms: 1, reads: [latest]}\n";
  const std::string path = "  - {id: whole, callbacks: [estimate, store, fuse]}\n";
  const Application found =
      read_robot(robot(path + "  - {id: sight, callbacks: [look, fuse]}\n", fusion));
  EXPECT_THAT(found.cause_effect_chains.front().segments,
              ElementsAre(Segment{1, 0}, Segment{0, 1}));
  EXPECT_THAT(problems(robot(path, fusion)),
              ElementsAre(HasSubstr("13: chain 'whole' reads a variable in 'fuse', which messages "
                                    "trigger, and no chain leads to it; expected a chain from a "
                                    "timer or an event that passes 'fuse' and ends with 'fuse'")));
}

TEST(CauseEffectChains, AChainOfMessagesMayStateTheLimits) {
  const Application found =
      read_robot(robot("  - {id: act, callbacks: [control, drive], max_reaction_ms: 30}\n"));
  ASSERT_EQ(found.cause_effect_chains.size(), 1U);
  EXPECT_EQ(found.cause_effect_chains.front(),
            (CauseEffectChain{"act", {2, 3}, {{0, 0}}, milliseconds(30), {}}));
}

TEST(CauseEffectChains, AreWrittenAsTheyWereRead) {
  for (const std::string& text :
       {robot(kWhole), robot("  - {id: act, callbacks: [control, drive], max_reaction_ms: 30, "
                             "max_age_ms: 3.5}\n" +
                             std::string(kWhole))}) {
    const Application first = read_robot(text);
    EXPECT_EQ(read_robot(to_yaml(first)), first) << to_yaml(first);
  }
}

TEST(CauseEffectChains, WrongInputsAreReportedOnce) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = robot(kWhole);
    return problems(text.replace(text.find(from), from.size(), to));
  };
  EXPECT_THAT(with("reads: [latest]", "reads: [latests]"),
              ElementsAre(HasSubstr("8: the variable 'latests' is stored by no callback")));
  EXPECT_THAT(with("reads: [latest]", "reads: []"), ElementsAre(HasSubstr("8: reads is an empty")));
  EXPECT_THAT(with("reads: [latest]", "reads: [latest, latest]"),
              ElementsAre(HasSubstr("8: 'reads' lists the variable 'latest' twice")));
  EXPECT_THAT(with("wcet_ms: 0.5", "wcet_ms: 0.5, stores: [latest]"),
              ElementsAre(HasSubstr("9: the variable 'latest' is also stored by 'store'")));
  EXPECT_THAT(with(", reads: [latest]", ""),
              ElementsAre(HasSubstr("'store' stores ('stores: [x]') and 'control' reads")));
  EXPECT_THAT(with("max_age_ms", "deadline_ms"),
              ElementsAre(HasSubstr("samples a variable, and has a 'deadline_ms'; expected "
                                    "'max_reaction_ms'")));
  EXPECT_THAT(problems(robot("  - {id: sense, callbacks: [estimate, store]}\n"
                             "  - {id: act, callbacks: [control, drive]}\n" +
                             std::string(kWhole))),
              ElementsAre(HasSubstr("states a priority, but each of its segments is a chain")));
  EXPECT_THAT(problems(robot(kWhole + std::string("  - {id: whole_1, callbacks: [estimate]}\n"))),
              ElementsAre(HasSubstr("segment 1 of chain 'whole' is named 'whole_1', as the chain "
                                    "on line 12 is; expected another name for one of the two")));
  EXPECT_THAT(problems(robot("  - {id: odd_, callbacks: [estimate, store, control, drive]}\n")),
              ElementsAre(HasSubstr("an id that does not end with '_'")));
  EXPECT_THAT(
      problems(robot("  - {id: act, callbacks: [control]}\n",
                     "  - {id: far, node: apart, timer: {period_ms: 5}, wcet_ms: 1, "
                     "reads: [latest]}\n")),
      ElementsAre(HasSubstr("10: the variable 'latest' is stored in another process, by 'store'")));
}

/// Passes runs of the robot's callbacks, in milliseconds.
class Runs {
 public:
  explicit Runs(const Application& application) : times_(application) {}

  /// A run of a chain of the robot: estimate and store, or control and drive.
  Runs& estimate(std::uint64_t instance, int release, int end) {
    run(0, 0, instance, release, release, end);
    return run(1, 0, instance, release, end, end);
  }
  Runs& control(std::uint64_t instance, int release, int start, int end) {
    run(2, 1, instance, release, start, end);
    return run(3, 1, instance, release, end, end);
  }
  CauseEffectOutputs found() const { return times_.outputs().front(); }
  LongestWays longest() const { return times_.details(0).longest; }

 private:
  Runs& run(std::size_t callback, std::size_t chain, std::uint64_t instance, int release, int start,
            int end) {
    times_.add({.callback = callback,
                .chain = chain,
                .instance = instance,
                .release = milliseconds(release),
                .start = milliseconds(start),
                .end = milliseconds(end)});
    return *this;
  }

  CauseEffectTimes times_;
};

TEST(CauseEffectTimes, AReaderTakesTheLatestValueBeforeItsStart) {
  const Application robot_with = read_robot(robot(kWhole));
  Runs runs(robot_with);
  runs.control(0, 0, 0, 1);     // nothing is stored yet
  runs.estimate(0, 0, 2);       // over-written
  runs.estimate(1, 10, 12);     // read twice
  runs.control(1, 20, 20, 24);  // starts before the next value is stored
  runs.estimate(2, 20, 22);     // over-written
  runs.control(2, 40, 20, 44);  // as if it had started before
  runs.estimate(3, 30, 35);
  runs.control(3, 60, 60, 63);
  EXPECT_EQ(runs.found().initial, 1U);
  EXPECT_EQ(runs.found().inputs, 4U);
  EXPECT_EQ(runs.found().distinct, 2U);
  EXPECT_THAT(
      runs.found().outputs,
      ElementsAre(
          CauseEffectOutput{milliseconds(10), milliseconds(24), {}, 1},
          CauseEffectOutput{milliseconds(10), milliseconds(44), {}, 2},
          // This output is the first one that shows what happened right after the release at 10 ms.
          CauseEffectOutput{milliseconds(30), milliseconds(63), milliseconds(53), 3}));
  EXPECT_EQ(runs.found().outputs.back().age(), milliseconds(33));
}

TEST(CauseEffectTimes, TheWaysOfTheLongestTimesAreKnown) {
  const Application robot_with = read_robot(robot(kWhole));
  Runs runs(robot_with);
  EXPECT_FALSE(runs.longest().age || runs.longest().reaction);
  runs.estimate(0, 0, 2).control(0, 3, 4, 5);
  runs.estimate(1, 10, 12).estimate(2, 20, 24);
  runs.control(1, 23, 26, 30);  // is released before the value that it uses is stored
  runs.control(2, 43, 45, 47);  // uses it again
  const auto ms = [](int time) { return milliseconds(time); };
  // Instance 1 is the first one that shows what happened right after 0. The output uses instance 2.
  EXPECT_EQ(runs.longest().reaction,
            (CauseEffectWay{ms(0), {{1, ms(10), ms(12)}, {1, ms(23), ms(30)}}}));
  EXPECT_EQ(runs.longest().reaction->length(), runs.found().outputs[1].reaction);
  EXPECT_EQ(runs.longest().age,
            (CauseEffectWay{ms(20), {{2, ms(20), ms(24)}, {2, ms(43), ms(47)}}}));
  runs.estimate(3, 30, 57).control(3, 50, 58, 70);  // the reader was released while it waited
  EXPECT_EQ(runs.longest().age,
            (CauseEffectWay{ms(30), {{3, ms(30), ms(57)}, {3, ms(57), ms(70)}}}));
}

TEST(CauseEffectTimes, WhatHasHadNoReactionYetIsKnown) {
  const Application robot_with = read_robot(robot(kWhole));
  Runs runs(robot_with);
  EXPECT_FALSE(runs.found().open_since);
  runs.estimate(0, 0, 2);
  EXPECT_EQ(runs.found().open_since, milliseconds(0));
  runs.estimate(1, 10, 12).control(1, 20, 20, 24);
  EXPECT_EQ(runs.found().open_since, milliseconds(10));
}

TEST(CauseEffectTimes, TheReactionToAnEventThatWasDroppedCounts) {
  std::string text = robot(kWhole);
  const std::string timer = "timer: {period_ms: 10}";
  text.replace(text.find(timer), timer.size(), "event: {min_interval_ms: 5}");
  const Application application = read_robot(text);
  CauseEffectTimes times(application);
  const auto run = [&](std::size_t callback, std::size_t chain, std::uint64_t instance, int release,
                       int start, int end) {
    times.add(
        {callback, chain, instance, milliseconds(release), milliseconds(start), milliseconds(end)});
  };
  for (const int release : {0, 6, 50}) {
    times.release(0, static_cast<std::uint64_t>(release == 50 ? 2 : release / 6),
                  milliseconds(release));
  }
  run(1, 0, 0, 0, 0, 1);
  run(0, 0, 0, 0, 0, 1);
  run(2, 1, 0, 2, 2, 3);
  run(3, 1, 0, 2, 3, 3);
  run(0, 0, 2, 50, 50, 51);  // instance 1, at 6 ms, found no room
  run(1, 0, 2, 50, 51, 51);
  run(2, 1, 1, 60, 60, 61);
  run(3, 1, 1, 60, 61, 61);
  EXPECT_EQ(times.outputs().front().outputs.back().reaction, milliseconds(61 - 6));
  EXPECT_FALSE(times.outputs().front().open_since);
}

TEST(CauseEffectTimes, TheReactionToAnEventBeginsWithItsRelease) {
  std::string text = robot(kWhole);
  const std::string timer = "timer: {period_ms: 10}";
  text.replace(text.find(timer), timer.size(), "event: {min_interval_ms: 5}");
  const Application application = read_robot(text);
  Runs runs(application);
  runs.estimate(0, 0, 2).control(0, 3, 3, 4);
  runs.estimate(1, 6, 8).estimate(2, 11, 13).control(1, 23, 23, 25);
  EXPECT_THAT(
      runs.found().outputs,
      ElementsAre(CauseEffectOutput{milliseconds(0), milliseconds(4), {}, 0},
                  CauseEffectOutput{milliseconds(11), milliseconds(25), milliseconds(19), 1}));
}

TEST(LogicalExecutionTime, ValuesMoveAtTheReleaseAndAtTheDeadline) {
  const Application application = read_robot(
      robot("  - {id: state, callbacks: [estimate, store], deadline_ms: 8, let: true}\n"
            "  - {id: act, callbacks: [control, drive], deadline_ms: 15, let: true}\n"
            "  - {id: whole, callbacks: [estimate, store, control, drive], max_age_ms: 50}\n"));
  EXPECT_TRUE(application.chains[0].logical_execution);
  const std::string written = to_yaml(application);
  EXPECT_THAT(written, HasSubstr("deadline_ms: 8, let: true}"));
  EXPECT_EQ(parse_application(written).application, application);
  Runs runs(application);
  // The first run of `control` starts after the end of instance 1, but reads at its release, when
  // instance 1 is before its deadline at 18.
  runs.estimate(0, 0, 2).estimate(1, 10, 12).control(0, 17, 19, 24);
  runs.control(1, 37, 38, 60);  // too late for its deadline at 52
  EXPECT_THAT(
      runs.found().outputs,
      ElementsAre(CauseEffectOutput{milliseconds(0), milliseconds(17 + 15), {}, 0},
                  CauseEffectOutput{milliseconds(10), milliseconds(60), milliseconds(60), 1}));
  EXPECT_EQ(runs.longest().age, (CauseEffectWay{milliseconds(10),
                                                {{1, milliseconds(10), milliseconds(18)},
                                                 {1, milliseconds(37), milliseconds(60)}}}));
}

TEST(LogicalExecutionTime, IsOfSegmentsAndOfNoPathWithAVariable) {
  std::string text(kWhole);
  text.replace(text.find("max_age_ms"), 0, "let: true, ");
  EXPECT_THAT(problems(robot(text)),
              ElementsAre(HasSubstr("chain 'whole' samples a variable, and states 'let'; expected "
                                    "'let: true' in the chains that are its segments")));
  text.replace(text.find("let: true"), 9, "let: maybe");
  EXPECT_THAT(problems(robot(text)), ElementsAre(HasSubstr("let")));
}

}  // namespace
}  // namespace rclrt::model

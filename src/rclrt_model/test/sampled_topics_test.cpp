// SPDX-License-Identifier: Apache-2.0
/// Callbacks that read the newest message of a topic.
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
using testing::IsEmpty;

/// An estimator of 10 ms, and a controller of 20 ms in another process that reads its newest
/// message.
std::string sampling_topic(const std::string& more = "",
                           const std::string& reads = "{topic: state}",
                           const std::string& chains = "") {
  return R"(rclrt: 1
name: robot
executors: [{name: main, cpus: [0]}, {name: other, cpus: [1], process: apart}]
nodes: [{name: base, executor: main}, {name: wheels, executor: other}]
callbacks:
  - {id: estimate, node: base, timer: {period_ms: 10}, wcet_ms: 1, publishes: [state]}
  - {id: control, node: wheels, timer: {period_ms: 20}, wcet_ms: 2, reads: [)" +
         reads + "], publishes: [go]}\n" + more +
         "chains:\n  - {id: whole, callbacks: [estimate, control], priority: 3, max_age_ms: 50}\n" +
         chains;
}

std::vector<std::string> problems_of(const std::string& text) {
  std::vector<std::string> result;
  for (const Diagnostic& each : parse_application(text).diagnostics) {
    result.push_back(std::to_string(each.line) + ": " + each.message);
  }
  return result;
}

TEST(SampledTopics, JoinSegmentsAlsoBetweenProcesses) {
  ASSERT_THAT(problems_of(sampling_topic()), IsEmpty());
  const Application found = parse_application(sampling_topic()).application.value();
  EXPECT_THAT(found.callbacks[1].samples, ElementsAre("state"));
  EXPECT_THAT(found.callbacks[1].reads, IsEmpty());
  EXPECT_THAT(found.successors(0), IsEmpty());  // it triggers nothing
  ASSERT_EQ(found.cause_effect_chains.size(), 1U);
  EXPECT_THAT(found.cause_effect_chains[0].segments, ElementsAre(Segment{0, 0}, Segment{1, 0}));
  EXPECT_EQ(sampled_topic(found.callbacks[0], found.callbacks[1]), "state");
  EXPECT_EQ(sampled_topic(found.callbacks[1], found.callbacks[0]), std::nullopt);
}

TEST(SampledTopics, AVariableThatBothShareLeadsInPlaceOfTheTopic) {
  Callback from;
  from.publishes = {"state"};
  from.stores = {"latest"};
  Callback to;
  to.samples = {"state"};
  EXPECT_EQ(sampled_topic(from, to), "state");
  to.reads = {"latest"};
  EXPECT_EQ(sampled_topic(from, to), std::nullopt);
}

TEST(SampledTopics, AreWrittenAsTheyWereRead) {
  const std::string text = sampling_topic(
      "  - {id: keep, node: wheels, timer: {period_ms: 5}, wcet_ms: 1, stores: [kept]}\n",
      "kept, {topic: state}");
  ASSERT_THAT(problems_of(text), IsEmpty());
  const Application first = parse_application(text).application.value();
  const std::string written = to_yaml(first);
  EXPECT_THAT(written, HasSubstr("reads: [kept, {topic: state}]"));
  EXPECT_EQ(parse_application(written).application, first);
}

TEST(SampledTopics, WrongInputsAreReportedOnce) {
  const auto reading = [](const std::string& reads) {
    return problems_of(sampling_topic("", reads));
  };
  EXPECT_THAT(reading("{topic: stat}"),
              ElementsAre(HasSubstr("7: topic 'stat' is published by no callback; expected")));
  EXPECT_THAT(reading("{topic: state}, {topic: state}"),
              ElementsAre(HasSubstr("7: 'reads' lists the topic 'state' twice")));
  EXPECT_THAT(reading("{topics: state}"), ElementsAre(HasSubstr("'topics'")));
  EXPECT_THAT(reading("{}"), ElementsAre(HasSubstr("has no 'topic'")));
  EXPECT_THAT(reading("{topic: '1'}"), testing::Contains(HasSubstr("names separated by '/'")));
  EXPECT_THAT(problems_of(sampling_topic("  - {id: echo, node: base, timer: {period_ms: 5}, "
                                         "wcet_ms: 1, publishes: [state]}\n")),
              ElementsAre(HasSubstr("7: the newest message of topic 'state' may be that of any of "
                                    "'estimate' or 'echo'; expected a topic that one callback "
                                    "publishes")));
  EXPECT_THAT(problems_of(sampling_topic("  - {id: log, node: base, subscription: {topic: state}, "
                                         "wcet_ms: 1, reads: [{topic: state}]}\n")),
              ElementsAre(HasSubstr("8: callback 'log' reads the newest message of topic 'state', "
                                    "of which each message triggers it")));
}

TEST(SampledTopics, AtMostAHundredAreRead) {
  std::string reads;
  std::string publishes;
  for (int i = 0; i <= 100; ++i) {
    reads += (i == 0 ? "{topic: t" : ", {topic: t") + std::to_string(i) + "}";
    publishes += (i == 0 ? "t" : ", t") + std::to_string(i);
  }
  EXPECT_THAT(
      problems_of(sampling_topic("  - {id: all, node: base, timer: {period_ms: 5}, wcet_ms: 1, "
                                 "publishes: [" +
                                     publishes + "]}\n",
                                 reads)),
      ElementsAre(HasSubstr("7: 'reads' lists 101 topics; expected at most 100")));
}

TEST(SampledTopics, OneSpellingIsForOneTopic) {
  EXPECT_THAT(problems_of(sampling_topic("", "{topic: /state}")),
              testing::Contains(HasSubstr("topic '/state' is published by no callback")));
}

/// `track` publishes for each of its inputs on another topic.
std::string tracker(const std::string& read) {
  return R"(rclrt: 1
name: tracker
nodes: [{name: n}]
callbacks:
  - {id: front, node: n, timer: {period_ms: 10}, wcet_ms: 1, publishes: [front]}
  - {id: rear, node: n, timer: {period_ms: 10}, wcet_ms: 1, publishes: [rear]}
  - {id: track, node: n, subscription: {topics: [front, rear]}, wcet_ms: 1,
     publishes: {front: [front_tracks], rear: [rear_tracks]}}
  - {id: steer, node: n, timer: {period_ms: 20}, wcet_ms: 1, reads: [{topic: )" +
         read + R"(}]}
chains:
  - {id: path, callbacks: [front, track, steer], max_age_ms: 50}
)";
}

TEST(SampledTopics, AChainFollowsTheRoutes) {
  EXPECT_THAT(problems_of(tracker("front_tracks")), IsEmpty());
  EXPECT_THAT(
      problems_of(tracker("rear_tracks")),
      ElementsAre(HasSubstr("chain 'path' enters 'track' by an input for which it publishes "
                            "nothing that 'steer' reads")));
}

TEST(SampledTopics, TimesFollowWhatARunReadAndStored) {
  const Application robot = parse_application(sampling_topic()).application.value();
  CauseEffectTimes times(robot);
  const auto run = [&](std::size_t callback, std::uint64_t instance, int release, int start,
                       int end) {
    return ChainRun{.callback = callback,
                    .chain = callback,
                    .instance = instance,
                    .release = milliseconds(release),
                    .start = milliseconds(start),
                    .end = milliseconds(end)};
  };
  times.add(run(0, 0, 0, 0, 2));
  // It published before its end, and the reader took that: by the end, it would have been late.
  ChainRun early = run(0, 1, 10, 10, 16);
  early.stored = milliseconds(12);
  times.add(early);
  ChainRun reader = run(1, 0, 5, 5, 14);
  reader.read = milliseconds(13);
  times.add(reader);
  const auto outputs = times.outputs().at(0).outputs;
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].age(), milliseconds(4));
}

TEST(SampledTopics, TheOutputOfAChainEndsWithItsRun) {
  const Application robot = parse_application(sampling_topic()).application.value();
  CauseEffectTimes times(robot);
  times.add({.callback = 0,
             .chain = 0,
             .instance = 0,
             .release = milliseconds(0),
             .start = milliseconds(0),
             .end = milliseconds(1)});
  ChainRun reader{.callback = 1,
                  .chain = 1,
                  .instance = 0,
                  .release = milliseconds(5),
                  .start = milliseconds(5),
                  .end = milliseconds(8)};
  reader.stored = milliseconds(6);  // of another path
  times.add(reader);
  EXPECT_EQ(times.outputs().at(0).outputs.at(0).age(), milliseconds(8));
}

}  // namespace
}  // namespace rclrt::model

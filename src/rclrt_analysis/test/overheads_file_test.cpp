// SPDX-License-Identifier: Apache-2.0
// The file of `rclrt calibrate`, and the machine that it describes.
#include "rclrt/analysis/overheads_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "application_builder.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/yaml/file.hpp"

namespace rclrt::analysis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kMeasured = R"({
  "rclrt": 1, "kind": "overheads",
  "executors": {
    "preemptive": {
      "dispatch_us": {"n": 1000, "min": 2, "p50": 3, "p99": 5, "max": 40},
      "timer_lateness_us": {"n": 1000, "p50": 10, "p99": 20, "max": 300.5}},
    "thread_dispatch": {"dispatch_us": 30, "timer_lateness_us": 50, "scheduler_us": 8}},
  "hop_us": {"intra_process": {"min": 4, "p99": 60, "max": 90}, "same_host": 500},
  "background_us": {"max": 9, "max_undisturbed": 7},
  "rt_bandwidth": {"share": 0.95, "longest_wait_us": 50000, "period_us": 1e6},
  "seconds": 3.5, "steal_ms": 0, "host_stalls": 0, "realtime": true,
  "machine": {"message_bytes": 1024, "cpu": {"model": "any"}}
})";

OverheadsFile measured() { return *parse_overheads(kMeasured, "o.json").file; }

Machine machine(ExecutorKind executor = ExecutorKind::kPreemptive,
                const MachineChoice& choice = {}) {
  return machine_of(measured(), control_loop(), executor, choice);
}

std::vector<std::string> texts(const Machine& of) {
  std::vector<std::string> result;
  std::ranges::transform(of.assumptions, std::back_inserter(result), &Assumption::text);
  return result;
}

TEST(OverheadsFile, StatesTheMiddlewareAndWhere) {
  const auto with = [](const std::string& rmw) {
    return parse_overheads(
        "{rclrt: 1, kind: overheads, executors: {preemptive: {dispatch_us: 1}},\n machine: {rmw: " +
            rmw + "}}",
        "o.json");
  };
  const auto found = with("rmw_cyclonedds_cpp").file;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rmw, "rmw_cyclonedds_cpp");
  EXPECT_EQ(found->rmw_at.line, 2);
  EXPECT_EQ(measured().rmw, "") << "not stated";
  for (const std::string bad : {"", "[]", "{}", "'a b'", "\"\\e[2J\"", "../x", "Rmw"}) {
    const OverheadsFileResult refused = with(bad);
    ASSERT_EQ(refused.diagnostics.size(), 1U) << bad;
    EXPECT_THAT(refused.diagnostics[0].message, HasSubstr("machine.rmw")) << bad;
  }
  EXPECT_EQ(with(std::string(65, 'a')).diagnostics.size(), 1U);
}

TEST(OverheadsFile, StatesHowManyCpusTheMachineHas) {
  const auto with = [](const std::string& cpus) {
    return parse_overheads(
        "{rclrt: 1, kind: overheads, executors: {preemptive: {dispatch_us: 1}}, machine: {cpus: " +
            cpus + "}}",
        "o.json");
  };
  const auto four = with("4").file;
  ASSERT_TRUE(four);
  EXPECT_EQ(machine_of(*four, control_loop(), ExecutorKind::kPreemptive).overheads.cpus, 4);
  EXPECT_EQ(machine().overheads.cpus, 0) << "not stated";
  for (const std::string bad : {"0", "-1", "many", "1.5"}) {
    const auto refused = with(bad);
    ASSERT_EQ(refused.diagnostics.size(), 1U) << bad;
    EXPECT_THAT(refused.diagnostics[0].message, HasSubstr("machine.cpus")) << bad;
  }
}

TEST(OverheadsFile, TheMaximumIsTheDefaultAndAnAssumption) {
  const Machine found = machine();
  EXPECT_EQ(found.overheads, (Overheads{.dispatch = 40'000,
                                        .timer_jitter = 300'500,
                                        .background = 9'000,
                                        .far = {4'000, 90'000}}));
  EXPECT_EQ(found.realtime_share, 0.95);
  EXPECT_THAT(found.conditions, IsEmpty());
  EXPECT_THAT(texts(found), Contains("no overhead exceeds the measured maximum (o.json)"));
  EXPECT_THAT(texts(found), Contains("no message is faster than the fastest measured (o.json)"));
  EXPECT_EQ(judge(control_loop(), ExecutorKind::kPreemptive, found).chains[0].verdict,
            Verdict::kProved);
}

TEST(OverheadsFile, OtherStatisticsCountWhereTheFileHasThem) {
  const Machine undisturbed =
      machine(ExecutorKind::kPreemptive, {.statistic = Statistic::kMaxUndisturbed});
  EXPECT_EQ(undisturbed.overheads.background, 7'000);
  EXPECT_EQ(undisturbed.overheads.dispatch, 40'000) << "its maximum";
  EXPECT_THAT(undisturbed.conditions, IsEmpty());
  EXPECT_THAT(texts(undisturbed), Contains(HasSubstr("the host does not stall")));
  const Machine p99 = machine(ExecutorKind::kPreemptive, {.statistic = Statistic::kP99});
  EXPECT_EQ(p99.overheads.dispatch, 5'000);
  EXPECT_EQ(p99.overheads.far.max, 60'000);
  EXPECT_THAT(p99.conditions,
              ElementsAre("no overhead exceeds the p99 of those measured (o.json)"));
  EXPECT_EQ(machine(ExecutorKind::kPreemptive, {.statistic = Statistic::kP50}).overheads.dispatch,
            3'000);
}

TEST(OverheadsFile, AnExecutorWithoutADispatchTimeHasConditionalBounds) {
  const Machine found = machine(ExecutorKind::kProducerConsumer);
  EXPECT_THAT(found.conditions, ElementsAre("dispatch_us of producer_consumer, not in o.json, is "
                                            "zero (rclrt calibrate measures it)"));
  EXPECT_THAT(texts(found), Contains("scheduler_us of producer_consumer, not in o.json, is zero"));
  EXPECT_EQ(judge(control_loop(), ExecutorKind::kProducerConsumer, found).chains[0].verdict,
            Verdict::kConditional);
  EXPECT_THAT(texts(machine(ExecutorKind::kWaitSet)),
              Contains("polling_us of wait_set, not in o.json, is zero"));
}

TEST(OverheadsFile, AHandoverBetweenCpusIsATimeOfTheExecutor) {
  const auto file = parse_overheads(
      R"({"rclrt": 1, "kind": "overheads", "executors": {"preemptive": {"dispatch_us": 20,
          "timer_lateness_us": 50, "handover_us": {"p99": 15, "max": 30}}}})",
      "o.json");
  ASSERT_TRUE(file.file);
  const auto found = machine_of(*file.file, control_loop(), ExecutorKind::kPreemptive);
  EXPECT_EQ(found.overheads.handover, 30'000);
}

TEST(OverheadsFile, StatedTimesReplaceMeasuredOnesAndTheirAssumptions) {
  const Machine found =
      machine(ExecutorKind::kProducerConsumer,
              {.stated = {.dispatch = 1, .timer_jitter = 2, .scheduler = 3, .hop = 4}});
  EXPECT_EQ(
      found.overheads,
      (Overheads{
          .dispatch = 1, .timer_jitter = 2, .scheduler = 3, .background = 9'000, .far = {0, 4}}));
  EXPECT_THAT(found.conditions, IsEmpty());
  EXPECT_THAT(texts(found), Not(Contains(HasSubstr("is zero"))));
}

TEST(OverheadsFile, TheHopIsThatOfTheApplicationsProcesses) {
  model::Application application = control_loop();
  application.executors.push_back({.name = "other", .cpus = {1}, .process = "far"});
  const Machine far = machine_of(measured(), application, ExecutorKind::kPreemptive);
  EXPECT_EQ(far.overheads.far, (Hop{4'000, 500'000}));
  EXPECT_THAT(texts(far), Contains("executors are processes of this host"));
  const Machine near = machine_of(measured(), application, ExecutorKind::kPreemptive,
                                  {.hops = HopKind::kIntraProcess});
  EXPECT_EQ(near.overheads.far.max, 90'000);
  OverheadsFile without = measured();
  without.same_host.reset();
  try {
    machine_of(without, application, ExecutorKind::kPreemptive);
    ADD_FAILURE() << "hops that were not measured";
  } catch (const yaml::FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("o.json: hop_us.same_host is missing"));
  }
}

TEST(OverheadsFile, LargerMessagesThanTheMeasuredOnesAreACondition) {
  model::Application application = control_loop();
  application.topics.push_back({"image", 1024});
  EXPECT_THAT(machine_of(measured(), application, ExecutorKind::kPreemptive).conditions, IsEmpty());
  application.topics.push_back({"points", 1025});
  EXPECT_THAT(
      machine_of(measured(), application, ExecutorKind::kPreemptive, {.statistic = Statistic::kP99})
          .conditions,
      ElementsAre(HasSubstr("the p99"),
                  HasSubstr("a message of 1025 bytes takes no longer than one of 1024")));
}

TEST(OverheadsFile, WithoutAFileOnlyAStatedDispatchTimeProves) {
  const Machine jitter = machine_of(StatedOverheads{.timer_jitter = 5});
  EXPECT_EQ(jitter.overheads.timer_jitter, 5);
  EXPECT_THAT(jitter.conditions, ElementsAre(HasSubstr("dispatching takes no time")));
  EXPECT_THAT(machine_of(StatedOverheads{.dispatch = 0}).conditions, IsEmpty());
}

TEST(OverheadsFile, TimesAreRoundedToTheSafeSide) {
  const auto found = parse_overheads(
      R"({rclrt: 1, kind: overheads, executors: {preemptive: {dispatch_us: 0.0001}},
          hop_us: {intra_process: 1.2345}})",
      "o.yaml");
  ASSERT_TRUE(found.file);
  const Overheads overheads =
      machine_of(*found.file, control_loop(), ExecutorKind::kPreemptive).overheads;
  EXPECT_EQ(overheads.dispatch, 1);
  EXPECT_EQ(overheads.far, (Hop{1'234, 1'235}));
}

TEST(OverheadsFile, AWrongFileHasLocatedErrors) {
  struct Case {
    const char* text;
    const char* error;
  };
  const std::vector<Case> cases{
      {"", "expected"},
      {"[]", "1:1: the file of overheads is a list; expected a mapping"},
      {"{rclrt: 2, kind: overheads, executors: {}}", "1:9: rclrt is '2'; expected 1"},
      {"{rclrt: 1, kind: overheads, executors: {}}",
       "expected the times of at least one executor, such as {preemptive: {dispatch_us: 20}}; "
       "rclrt calibrate measures them"},
      {R"({"rclrt": 1, "kind": "results", "executors": {}})",
       "1:22: kind is the text 'results'; expected 'overheads'"},
      {"{rclrt: 1, kind: overheads}", "1:1: the file of overheads has no 'executors'"},
      {"{rclrt: 1, kind: overheads, executors: {rr: {}}}",
       "1:41: an executor is 'rr'; expected one of wait_set"},
      {"{rclrt: 1, kind: overheads, executors: {edf: {dispatch_u: 1}}}",
       "1:47: unknown key 'dispatch_u' in the executors.edf"},
      {"{rclrt: 1, kind: overheads, executors: {edf: {dispatch_us: -1}}}",
       "1:60: executors.edf.dispatch_us is '-1'; expected a number of microseconds from 0"},
      {"{rclrt: 1, kind: overheads, executors: {edf: {dispatch_us: '1'}}}",
       "executors.edf.dispatch_us is the text '1'"},
      {"{rclrt: 1, kind: overheads, executors: {edf: {dispatch_us: {min: 1}}}}",
       "executors.edf.dispatch_us has no 'max'"},
      {"{rclrt: 1, kind: overheads, executors: {}, background_us: {p50: 9, p99: 3, max: 10}}",
       "background_us.p99 is '3'; expected no less than p50"},
      {"{rclrt: 1, kind: overheads, executors: {}, background_us: 1e10}",
       "background_us is '1e10'; expected a number of microseconds"},
      {"{rclrt: 1, kind: overheads, executors: {}, background_us: NaN}",
       "background_us is 'NaN'; expected a number of microseconds"},
      {"{rclrt: 1, kind: overheads, executors: {}, rt_bandwidth: {share: 1.5}}",
       "rt_bandwidth.share is '1.5'; expected a share from 0 to 1"},
      {"{rclrt: 1, kind: overheads, executors: {}, rt_bandwidth: {}}", "has no 'share'"},
      {"{rclrt: 1, kind: overheads, executors: {}, machine: 3}", "machine is '3'"},
      {"{rclrt: 1, kind: overheads, executors: {}, executors: {}}",
       "1:44: the key 'executors' is given twice"}};
  for (const Case& each : cases) {
    const OverheadsFileResult result = parse_overheads(each.text, "o.json");
    EXPECT_FALSE(result.file) << each.text;
    std::string said;
    for (const yaml::Diagnostic& diagnostic : result.diagnostics) {
      said += yaml::to_string(diagnostic, "o.json") + "\n";
    }
    EXPECT_THAT(said, HasSubstr(each.error)) << each.text;
  }
}

TEST(OverheadsFile, AFileThatIsNotThereIsAnError) {
  EXPECT_THAT([] { load_overheads("no/such.json"); },
              testing::ThrowsMessage<yaml::FileError>(
                  HasSubstr("no/such.json: the file cannot be read: No such file or directory")));
}

}  // namespace
}  // namespace rclrt::analysis

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "test_files.hpp"

namespace rclrt::model {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string all_messages(const ParseResult& result) {
  std::string text;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    text += to_string(diagnostic, "x") + "\n";
  }
  return text;
}

Application parse_good(std::string_view yaml) {
  ParseResult result = parse_application(yaml);
  EXPECT_TRUE(result.application.has_value()) << all_messages(result);
  return result.application.value_or(Application{});
}

constexpr std::string_view kFull = R"(
rclrt: 1
name: autonomous_vehicle
description: "everything that the format has"
executors: [{name: fast, cpus: [1, 3], scheduler_cpus: [0], process: motion}, {name: slow}]
nodes:
  - {name: lidar, namespace: /front/left, executor: fast}
  - {name: fusion, executor: slow}
callbacks:
  - {id: scan, node: lidar, timer: {period_ms: 50, offset_ms: 0.5, overrun: rebase}, wcet_ms: 2.25,
     publishes: [/points, /raw]}
  - {id: look, node: fusion, timer: {period_ms: 50, overrun: skip}, wcet_ms: 0, publishes: [/objects]}
  - {id: fuse, node: fusion, sync: {topics: [/points, /objects], policy: approximate, window_ms: 300,
     depth: 5}, wcet_ms: 3.0, publishes: [/fused], group: work, workload: {name: fft, iterations: 3},
     waits_ms: 0.25}
  - {id: join, node: fusion, sync: {topics: [/raw, /objects], policy: exact}, wcet_ms: 1}
  - {id: brake, node: fusion, subscription: {topic: /fused, depth: 3, reliability: best_effort,
     intra_process: true}, wcet_ms: 1.000001, priority: 7,
     observed: {n: 12, p50_ms: 0.5, p99_ms: 1, max_ms: 1.000001}, overload: keep_last,
     deadline_ms: 4.5}
topics: [{name: /fused, size_bytes: 100000}, {name: /raw}]
chains:
  - {id: obstacle, callbacks: [scan, fuse, brake], priority: 2, deadline_ms: 49.5}
  - {id: seen, callbacks: [look, join], priority: 1000000}
threads: [{name: middleware, policy: rr, priority: 98, cpus: [0]}]
)";

TEST(AppYaml, KeepsEverythingThatTheFileStates) {
  Application expected;
  expected.name = "autonomous_vehicle";
  expected.description = "everything that the format has";
  expected.executors = {{"fast", {1, 3}, {0}, "motion"}, {"slow"}};
  expected.nodes = {{"lidar", "/front/left", 0}, {"fusion", "/", 1}};
  expected.callbacks = {
      {"scan",
       0,
       Timer{milliseconds(50), microseconds(500), OverrunPolicy::kRebase, true},
       microseconds(2250),
       {"/points", "/raw"},
       std::nullopt,
       std::nullopt},
      {"look",
       1,
       Timer{milliseconds(50), milliseconds(0), OverrunPolicy::kSkip},
       milliseconds(0),
       {"/objects"},
       std::nullopt,
       std::nullopt},
      {"fuse",
       1,
       Sync{{"/points", "/objects"}, SyncPolicy::kApproximate, milliseconds(300), 5},
       milliseconds(3),
       {"/fused"},
       "work",
       std::nullopt},
      {"join",
       1,
       Sync{{"/raw", "/objects"}, SyncPolicy::kExact, milliseconds(0), 10},
       milliseconds(1),
       {},
       std::nullopt,
       std::nullopt},
      {"brake",
       1,
       Subscription{{"/fused"}, 3, Reliability::kBestEffort, true},
       Nanoseconds(1'000'001),
       {},
       std::nullopt,
       7,
       Overload::kKeepLast,
       microseconds(4'500)}};
  expected.callbacks[2].workload = Workload{"fft", 3};
  expected.callbacks[2].waits = microseconds(250);
  expected.callbacks[4].observed =
      ObservedTimes{12, microseconds(500), milliseconds(1), Nanoseconds(1'000'001)};
  expected.chains = {{"obstacle", {0, 2, 4}, 2, microseconds(49'500)},
                     {"seen", {1, 3}, 1'000'000, milliseconds(50)}};
  expected.topics = {{"/points", 0}, {"/raw", 0}, {"/objects", 0}, {"/fused", 100'000}};
  expected.threads = {{"middleware", {Policy::kRoundRobin, 98, {0}}}};
  EXPECT_EQ(parse_good(kFull), expected);
}

constexpr std::string_view kShared = R"(
rclrt: 1
name: shared
nodes: [{name: n}]
callbacks:
  - {id: a, node: n, timer: {period_ms: 50}, wcet_ms: 1, publishes: [x]}
  - {id: b, node: n, timer: {period_ms: 50}, wcet_ms: 1, publishes: [y, z]}
  - {id: m, node: n, subscription: {topics: [x, y, z]}, wcet_ms: 1,
     publishes: {z: [q, p], x: [p]}}
  - {id: one, node: n, subscription: {topics: [p]}, wcet_ms: 1, publishes: {p: [r]}}
  - {id: join, node: n, sync: {topics: [q, r, x]}, wcet_ms: 1}
chains: [{id: c, callbacks: [a, m, one, join], priority: 2}]
)";

TEST(AppYaml, ASubscriptionMayTakeSeveralTopicsAndAnswerEachOnItsOwn) {
  const Application app = parse_good(kShared);
  ASSERT_EQ(app.callbacks.size(), 5U);
  const Callback& shared = app.callbacks[2];
  EXPECT_EQ(inputs(shared), (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(shared.publishes, (std::vector<std::string>{"q", "p"}));
  EXPECT_EQ(shared.routes, (std::vector<std::vector<std::size_t>>{{1}, {}, {0, 1}}));
  EXPECT_EQ(app.callbacks[3].publishes, std::vector<std::string>{"r"});
  EXPECT_TRUE(app.callbacks[3].routes.empty()) << "a single topic leaves no choice";
  EXPECT_EQ(inputs(app.callbacks[4]), (std::vector<std::string>{"q", "r", "x"}));
}

constexpr std::string_view kShort = R"(rclrt: 1
name: short
nodes: [{name: a}]
callbacks:
  - {id: t, node: a, timer: {period_ms: 20}, wcet_ms: 1, publishes: [x]}
  - {id: u, node: a, timer: {period_ms: 20}, wcet_ms: 1, publishes: [y]}
  - {id: s, node: a, subscription: {topic: x}, wcet_ms: 1}
  - {id: m, node: a, sync: {topics: [x, y]}, wcet_ms: 1}
chains: [{id: c, callbacks: [t, s]}]
)";

TEST(AppYaml, FillsInTheDocumentedDefaults) {
  const Application app = parse_good(kShort);
  EXPECT_EQ(app.description, "");
  EXPECT_EQ(app.executors, (std::vector<Executor>{{"main", {}}}));
  EXPECT_EQ(app.nodes, (std::vector<Node>{{"a", "/", 0}}));
  EXPECT_EQ(std::get<Timer>(app.callbacks[0].trigger),
            (Timer{milliseconds(20), milliseconds(0), OverrunPolicy::kCatchUp}));
  EXPECT_EQ(std::get<Subscription>(app.callbacks[2].trigger),
            (Subscription{{"x"}, 10, Reliability::kReliable}));
  EXPECT_EQ(std::get<Sync>(app.callbacks[3].trigger),
            (Sync{{"x", "y"}, SyncPolicy::kApproximate, milliseconds(1000), 10}));
  EXPECT_EQ(app.chains[0].deadline, milliseconds(20)) << "the timer's period";
  EXPECT_EQ(app.chains[0].priority, 0);
  EXPECT_EQ(app.effective_priority(0), 0);
  EXPECT_TRUE(app.threads.empty());
}

TEST(AppYaml, AChainWithoutAPriorityLeavesTheOrderToTheOthersAndToItsCallbacks) {
  std::string text(kShort);
  text.replace(text.find("chains:"), std::string::npos,
               "chains: [{id: c, callbacks: [t, s]}, {id: d, callbacks: [u, m], priority: 3},\n"
               "         {id: e, callbacks: [t, m]}]\n");
  const Application app = parse_good(text);
  EXPECT_EQ(app.chains[0], (Chain{"c", {0, 2}, 0, milliseconds(20)}));
  EXPECT_EQ(app.effective_priorities(), (std::vector<int>{0, 3, 0, 3}));
}

TEST(AppYaml, ReadsTheSectionsInAnyOrder) {
  std::string reversed = "chains: [{id: c, callbacks: [t, s], priority: 0}]\ncallbacks:\n";
  const std::string text(kShort);
  const auto first = text.find("  - {id: t");
  reversed += text.substr(first, text.find("chains:") - first);
  reversed += "nodes: [{name: a}]\nname: short\nrclrt: 1\n";
  EXPECT_EQ(parse_good(reversed), parse_good(kShort));
}

TEST(AppYaml, IgnoresAByteOrderMarkAndWindowsLineEnds) {
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : kShort) {
    windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  }
  EXPECT_EQ(parse_good(windows), parse_good(kShort));
}

TEST(AppYaml, TakesReservedWordsAndNumbersAsTextsInQuotes) {
  std::string text(kShort);
  text.replace(text.find("name: short"), 11, "name: \"on\"\ndescription: '42'");
  const Application app = parse_good(text);
  EXPECT_EQ(app.name, "on");
  EXPECT_EQ(app.description, "42");
}

TEST(AppYaml, AcceptsOneTopicFromSeveralPublishers) {
  std::string text(kShort);
  text.replace(text.find("publishes: [y]"), 14, "publishes: [y, x]");
  EXPECT_EQ(parse_good(text).callbacks[1].publishes, (std::vector<std::string>{"y", "x"}));
}

TEST(AppYaml, CountsColumnsInCharactersAndNotInBytes) {
  const auto result = parse_application(
      "rclrt: 1\n\"gr\xC3\xB6\xC3\x9F"
      "e\": {a: &x 1}\n");
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_EQ(result.diagnostics.back().line, 2U);
  EXPECT_EQ(result.diagnostics.back().column, 14U);
}

class Example : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Example, IsAValidApplication) {
  const Application app = load_application(GetParam());
  EXPECT_EQ(app.name, GetParam().parent_path().filename().string());
  EXPECT_FALSE(app.chains.empty());
}

INSTANTIATE_TEST_SUITE_P(All, Example, testing::ValuesIn(test::example_files()),
                         [](const auto& file) {
                           return file.param.parent_path().filename().string();
                         });

TEST(Examples, HaveTheUtilisationThatTheirReadmesState) {
  const std::filesystem::path examples(RCLRT_EXAMPLES_DIR);
  const std::vector<std::pair<std::string, double>> stated = {{"autonomous_vehicle", 0.612},
                                                              {"fig_5_4", 0.48},
                                                              {"fig_5_5", 0.28},
                                                              {"fig_5_6", 0.51},
                                                              {"fig_5_7", 1.00},
                                                              {"autoware_reference", 0.60}};
  for (const auto& [name, utilisation] : stated) {
    EXPECT_NEAR(load_application(examples / name / "app.yaml").utilisation(), utilisation, 0.0005)
        << name;
  }
}

TEST(LoadApplication, NamesTheFileInEveryLineOfItsError) {
  std::string text(kFull);
  text.replace(text.find("[1, 3]"), 6, "[-1, 1, 1]");
  const std::string file = testing::TempDir() + "two_mistakes." + std::to_string(getpid());
  std::ofstream(file) << text;
  EXPECT_THAT([&] { load_application(file); },
              ThrowsMessage<ModelError>(
                  file + ":5:33: the CPU is '-1'; expected a whole number from 0 to 1023\n" + file +
                  ":5:40: CPU 1 is listed twice; expected each CPU once"));
  std::filesystem::remove(file);
}

TEST(LoadApplication, SaysWhyAFileCannotBeRead) {
  const auto message_for = [](const std::filesystem::path& file) -> std::string {
    try {
      load_application(file);
    } catch (const ModelError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message_for("/nowhere/app.yaml"),
            "/nowhere/app.yaml: the file cannot be read: No such file or directory; expected a "
            "readable app.yaml");
  EXPECT_EQ(message_for("/"),
            "/: the file cannot be read: it is a directory; expected a readable app.yaml");
}

TEST(LoadApplication, RefusesAnEndlessFile) {
  EXPECT_THAT(
      [&] { load_application("/dev/zero"); },
      ThrowsMessage<ModelError>(HasSubstr("/dev/zero:1:1: the file is larger than 16 MiB")));
}

}  // namespace
}  // namespace rclrt::model

// SPDX-License-Identifier: Apache-2.0
// The command line: rttest's units and defaults, and refused values.
#include <gtest/gtest.h>

#include "timer_study/study_options.hpp"

namespace rclrt::timer_study {
namespace {

StudyOptions parse(const std::vector<std::string>& arguments) {
  return parse_study_options("init_thread", "Measures.", arguments);
}

std::string refusal(const std::vector<std::string>& arguments) {
  try {
    parse(arguments);
  } catch (const text::UsageError& error) {
    return error.what();
  }
  return "";
}

std::string rttest_refusal(const std::string& option, const std::string& value) {
  return refusal({"--rttest_args", option, value});
}

TEST(RttestOptions, DefaultsAreRttestsExceptForTheHeap) {
  const RttestOptions options = parse({}).rttest;
  EXPECT_EQ(options.iterations, 1000U);
  EXPECT_EQ(options.period_ns, 1'000'000);
  EXPECT_EQ(options.priority, 80);
  EXPECT_EQ(options.policy, realtime::Policy::kRoundRobin);
  EXPECT_EQ(options.stack_prefault, 1U << 20);
  EXPECT_EQ(options.heap_prefault, 64U << 20);  // rttest: 8 GiB
}

TEST(RttestOptions, APeriodHasFourUnitsAndWithoutOneItIsMicroseconds) {
  EXPECT_EQ(parse_period("250"), 250'000);
  EXPECT_EQ(parse_period("250ns"), 250);
  EXPECT_EQ(parse_period("250us"), 250'000);
  EXPECT_EQ(parse_period("10ms"), 10'000'000);
  EXPECT_EQ(parse_period("2s"), 2'000'000'000);
}

TEST(RttestOptions, ASizeHasFourUnitsAndWithoutOneItIsMegabytes) {
  EXPECT_EQ(parse_bytes("2"), 2U << 20);
  EXPECT_EQ(parse_bytes("200mb"), 200U << 20);
  EXPECT_EQ(parse_bytes("3KB"), 3U << 10);
  EXPECT_EQ(parse_bytes("17b"), 17U);
  EXPECT_EQ(parse_bytes("1gb"), std::size_t{1} << 30);
}

TEST(RttestOptions, TheStudysExampleIsUnderstood) {
  const StudyOptions options = parse({"--use_realtime_child_thread",
                                      "--timeseries_filename",
                                      "t.csv",
                                      "--hist_filename",
                                      "h.csv",
                                      "--topn_filename",
                                      "n.csv",
                                      "--rttest_args",
                                      "-m",
                                      "200mb",
                                      "-d",
                                      "200mb",
                                      "-t",
                                      "98",
                                      "-s",
                                      "rr",
                                      "-u",
                                      "10ms",
                                      "-i",
                                      "720000",
                                      "-f",
                                      "f.csv"});
  EXPECT_EQ(options.policy_set, PolicySet::kBeforeInit);
  EXPECT_EQ(options.timeseries_filename, "t.csv");
  EXPECT_EQ(options.hist_filename, "h.csv");
  EXPECT_EQ(options.topn_filename, "n.csv");
  EXPECT_EQ(options.rttest.stack_prefault, 200U << 20);
  EXPECT_EQ(options.rttest.priority, 98);
  EXPECT_EQ(options.rttest.period_ns, 10'000'000);
  EXPECT_EQ(options.rttest.iterations, 720'000U);
  EXPECT_EQ(options.rttest.file, "f.csv");
}

TEST(RttestOptions, WhatCannotBeIsRefusedWithOptionValueAndWhatWasExpected) {
  const std::vector<std::pair<std::string, std::string>> wrong{{"-i", "-1"},
                                                               {"-i", "many"},
                                                               {"-i", ""},
                                                               {"-u", "0"},
                                                               {"-u", "11s"},
                                                               {"-u", "1h"},
                                                               {"-u", "1.5ms"},
                                                               {"-t", "0"},
                                                               {"-t", "100"},
                                                               {"-s", "other"},
                                                               {"-m", "1tb"},
                                                               {"-d", "-1"},
                                                               {"-d", "99999999999999999999"}};
  for (const auto& [option, value] : wrong) {
    const std::string text = rttest_refusal(option, value);
    const std::string named = "--rttest_args " + option + (value.empty() ? ":" : " " + value);
    EXPECT_NE(text.find(named), std::string::npos) << text;
    EXPECT_NE(text.find("expected"), std::string::npos) << text;
  }
  EXPECT_NE(rttest_refusal("-x", "1").find("unknown option --rttest_args -x"), std::string::npos);
  EXPECT_NE(refusal({"--rttest_args", "-i"}).find("expected"), std::string::npos);
}

TEST(StudyOptions, TheMomentOfThePolicyIsStatedInThreeWaysAndNotTwice) {
  EXPECT_EQ(parse({}).policy_set, PolicySet::kBeforeLoop);
  EXPECT_EQ(parse({"--unuse_realtime_child_thread"}).policy_set, PolicySet::kBeforeLoop);
  EXPECT_EQ(parse({"--set_policy_before", "node"}).policy_set, PolicySet::kBeforeNode);
  EXPECT_EQ(parse({"--use_realtime_child_thread", "--set_policy_before", "init"}).policy_set,
            PolicySet::kBeforeInit);
  EXPECT_NE(refusal({"--use_realtime_child_thread", "--unuse_realtime_child_thread"}), "");
  EXPECT_NE(refusal({"--set_policy_before", "lunch"}).find("init, node or loop"),
            std::string::npos);
}

TEST(StudyOptions, RosArgumentsArePassedOnAndNotRead) {
  const StudyOptions options = parse({"--rttest_args", "-i", "5", "--ros-args", "-r", "__ns:=/a"});
  EXPECT_EQ(options.rttest.iterations, 5U);
  EXPECT_EQ(options.ros_arguments, (std::vector<std::string>{"--ros-args", "-r", "__ns:=/a"}));
}

TEST(StudyOptions, WhatCannotBeIsRefused) {
  EXPECT_NE(refusal({"--hist_filname", "a"})
                .find("unknown option --hist_filname; did you mean --hist_filename?"),
            std::string::npos);
  EXPECT_NE(refusal({"--hist_filename"}).find("expected a value"), std::string::npos);
  EXPECT_NE(refusal({"--hist_filename", "--rttest_args"}).find("expected a value"),
            std::string::npos);
  EXPECT_NE(refusal({"--nodes", "0"}).find("1 to 9"), std::string::npos);
  EXPECT_NE(refusal({"--hist_filename", "a", "--topn_filename", "a"}).find("twice"),
            std::string::npos);
  // A run without an end has a series without an end.
  EXPECT_NE(refusal({"--timeseries_filename", "a", "--rttest_args", "-i", "0"}).find("-i"),
            std::string::npos);
  EXPECT_NE(refusal({"--rttest_args", "-f", "a", "-i", "1000000000"}).find("at most"),
            std::string::npos);
}

}  // namespace
}  // namespace rclrt::timer_study

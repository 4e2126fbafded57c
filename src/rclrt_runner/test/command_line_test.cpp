// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rclrt/executors.hpp"

namespace rclrt::runner {
namespace {

CommandLine parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "rclrt_runner");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

std::string error_of(const std::vector<const char*>& arguments) {
  try {
    parse(arguments);
  } catch (const text::UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CommandLine, HoldsWhatWasAskedFor) {
  const auto command = parse({"app.yaml", "--executor", "preemptive", "--seconds", "2.5", "--out",
                              "dir", "--strict", "--priorities", "p.yaml", "--not-alone", "--keep",
                              "5000", "--ros-args", "--not-ours"});
  EXPECT_EQ(command.application, "app.yaml");
  EXPECT_EQ(command.executor, model::ExecutorKind::kPreemptive);
  EXPECT_EQ(command.duration, std::chrono::milliseconds(2500));
  EXPECT_EQ(command.output, "dir");
  EXPECT_TRUE(command.strict);
  EXPECT_EQ(command.priorities, "p.yaml");
  EXPECT_FALSE(command.alone);
  EXPECT_EQ(command.keep_all, 5000U);
}

TEST(CommandLine, HelpNeedsNothingElse) { EXPECT_TRUE(parse({"--help"}).answer); }

TEST(CommandLine, EachMistakeHasItsOwnMessage) {
  EXPECT_EQ(error_of({}), "no APP.yaml; expected the path of an app.yaml");
  EXPECT_EQ(error_of({"a", "b"}), "unexpected argument 'b'; see --help");
  EXPECT_EQ(error_of({"a"}),
            "no --executor; expected one of wait_set, producer_consumer, thread_dispatch, "
            "preemptive, edf, events, picas, per_group, static_order, workshop");
  EXPECT_EQ(error_of({"a", "--executor", "fast"}),
            "--executor: unknown executor 'fast'; expected one of wait_set, producer_consumer, "
            "thread_dispatch, preemptive, edf, events, picas, per_group, static_order, workshop");
  EXPECT_EQ(error_of({"a", "--executor", "picas:threads=2"}),
            "--executor: executor picas has no options; expected its name alone, without "
            "'threads=2'");
  EXPECT_EQ(error_of({"a", "--executor", "fp_nonpreemptive"}),
            "--executor: 'fp_nonpreemptive' can only be simulated; expected one of wait_set, "
            "producer_consumer, thread_dispatch, preemptive, edf, events, picas, per_group, "
            "static_order, workshop");
  EXPECT_EQ(error_of({"a", "--executor", "preemptive"}), "no --seconds; expected how long to run");
  for (const char* bad : {"0", "-1", "nan", "inf", "1e9", "2s", ""}) {
    EXPECT_EQ(error_of({"a", "--executor", "preemptive", "--out", "d", "--seconds", bad}),
              *bad == '\0'
                  ? "--seconds: expected a value after it, a number of seconds from 0.01 to 86400"
                  : "--seconds " + std::string(bad) +
                        ": expected a number of seconds from 0.01 to 86400");
  }
  EXPECT_EQ(error_of({"a", "--executor", "preemptive", "--seconds", "1"}),
            "no --out; expected a directory for the results");
  EXPECT_EQ(error_of({"a", "--fast"}), "unknown option --fast; see --help");
  EXPECT_EQ(error_of({"a", "--out"}), "--out: expected a value after it");
  EXPECT_EQ(error_of({"a", "--out", "--strict"}),
            "--out: expected a value after it; found --strict");
  EXPECT_EQ(error_of({"a", "--out", "--ros-args"}), "--out: expected a value after it");
  EXPECT_EQ(error_of({"a", "--strict=yes"}), "--strict: takes no value; expected it without =yes");
  EXPECT_EQ(error_of({"a", "--out", "x", "--out", "y"}), "--out is given twice; expected it once");
}

TEST(CommandLine, OffersTheExecutorsThatRclrtHas) {
  std::string names;
  for (const std::string& name : executor_names()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  EXPECT_EQ(names, model::executor_names());
}

}  // namespace
}  // namespace rclrt::runner

// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rclrt::latency {
namespace {

using realtime::Policy;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

CommandLine parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "rclrt_latency");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

/// Returns the message for a wrong command line.
std::string problem(const std::vector<const char*>& arguments) {
  try {
    parse(arguments);
  } catch (const text::UsageError& error) {
    return error.what();
  }
  return "nothing is wrong";
}

TEST(CommandLine, MeasuresAsCyclictestDoesWithoutOptions) {
  const Settings settings = parse({}).settings;
  EXPECT_THAT(settings.policies, ElementsAre(Policy::kFifo));
  EXPECT_EQ(settings.priority, 80);
  EXPECT_EQ(settings.interval, std::chrono::milliseconds(1));
  EXPECT_TRUE(settings.keep_cpus_awake);
  EXPECT_EQ(settings.threshold(), std::chrono::microseconds(200));
}

TEST(CommandLine, TakesEveryOption) {
  const Settings settings = parse({"--policy",
                                   "other,rr",
                                   "--priority",
                                   "7",
                                   "--cpus",
                                   "1,0",
                                   "--interval",
                                   "250.5",
                                   "--seconds",
                                   "0.5",
                                   "--loops",
                                   "9",
                                   "--rounds",
                                   "3",
                                   "--stalls",
                                   "none",
                                   "--stall-threshold",
                                   "20",
                                   "--stress",
                                   "--no-dma-latency",
                                   "--break-above",
                                   "300",
                                   "--dump-directory",
                                   "/",
                                   "--histogram-log",
                                   "x.hlog",
                                   "--live"})
                                .settings;
  EXPECT_THAT(settings.policies, ElementsAre(Policy::kOther, Policy::kRoundRobin));
  EXPECT_EQ(settings.priority, 7);
  EXPECT_THAT(settings.cpus, ElementsAre(0, 1));
  EXPECT_EQ(settings.interval, std::chrono::nanoseconds(250'500));
  EXPECT_EQ(settings.duration, std::chrono::milliseconds(500));
  EXPECT_EQ(settings.loops, 9U);
  EXPECT_EQ(settings.rounds, 3);
  EXPECT_EQ(settings.stalls, StallMethod::kNone);
  EXPECT_EQ(settings.threshold(), std::chrono::microseconds(20));
  EXPECT_TRUE(settings.stress);
  EXPECT_FALSE(settings.keep_cpus_awake);
  EXPECT_EQ(settings.break_above, std::chrono::microseconds(300));
  EXPECT_EQ(settings.dump_directory, "/");
  EXPECT_EQ(settings.histogram_log, "x.hlog");
  EXPECT_TRUE(settings.live);
}

TEST(CommandLine, SaysWhatIsWrongAndWhatWasExpected) {
  EXPECT_THAT(problem({"--priority", "100"}),
              AllOf(HasSubstr("--priority 100"), HasSubstr("from 1 to 99")));
  EXPECT_THAT(problem({"--priority"}),
              HasSubstr("--priority: expected a value after it, a whole number from 1 to 99"));
  EXPECT_THAT(problem({"--interval", "1"}), HasSubstr("from 50 to 1000000"));
  EXPECT_THAT(problem({"--interval", "nan"}), HasSubstr("from 50 to 1000000"));
  EXPECT_THAT(problem({"--seconds", "1s"}), HasSubstr("from 0.1 to 86400"));
  EXPECT_THAT(problem({"--loops", "-1"}), HasSubstr("whole number"));
  EXPECT_THAT(problem({"--policy", "fifo,batch"}),
              HasSubstr("'batch' is not known; expected fifo, rr, other or deadline"));
  EXPECT_THAT(problem({"--policy", "fifo,fifo"}), HasSubstr("each once"));
  EXPECT_THAT(problem({"--cpus", "0,,1"}), HasSubstr("whole number"));
  EXPECT_THAT(problem({"--cpus", "1,1"}),
              HasSubstr("'1' is listed more than once; list each once"));
  EXPECT_THAT(problem({"--stalls", "guess"}), HasSubstr("probe, spin or none"));
  EXPECT_THAT(problem({"--dump-directory", "/nowhere"}), HasSubstr("is no directory"));
  EXPECT_THAT(problem({"--speed", "1"}), HasSubstr("unknown option --speed"));
  EXPECT_THAT(problem({"--stress", "--stress"}), HasSubstr("given twice"));
}

TEST(CommandLine, RefusesOptionsThatExcludeEachOther) {
  EXPECT_THAT(problem({"--stress", "--stalls", "spin"}), HasSubstr("--stalls probe"));
  EXPECT_THAT(problem({"--policy", "deadline", "--cpus", "0"}), HasSubstr("use every CPU"));
}

}  // namespace
}  // namespace rclrt::latency

// SPDX-License-Identifier: Apache-2.0
#include "exercise/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rclrt::demos {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Exercise kExercise{"2-1", "a flaw", "a fix", 80, false};
constexpr Exercise kWithThreads{"1", "a flaw", "a fix", 80, true};

Options parse(std::vector<const char*> arguments, const Exercise& exercise = kExercise) {
  arguments.insert(arguments.begin(), "exercise");
  return parse_options(exercise, static_cast<int>(arguments.size()), arguments.data());
}

std::string error_of(const std::vector<const char*>& arguments,
                     const Exercise& exercise = kExercise) {
  try {
    parse(arguments, exercise);
  } catch (const text::UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ExerciseOptions, ByDefaultTheFlawRunsForTenSecondsAndWritesNothing) {
  const Options options = parse({});
  EXPECT_FALSE(options.solution);
  EXPECT_EQ(options.duration, 10s);
  EXPECT_TRUE(options.json.empty());
  EXPECT_TRUE(options.trace.empty());
}

TEST(ExerciseOptions, EachOptionIsTaken) {
  const Options options = parse({"--solution", "--seconds", "2.5", "--json", "a.json", "--trace",
                                 "a.pftrace", "--threads", "3"},
                                kWithThreads);
  EXPECT_TRUE(options.solution);
  EXPECT_EQ(options.duration, 2500ms);
  EXPECT_EQ(options.json, "a.json");
  EXPECT_EQ(options.trace, "a.pftrace");
  EXPECT_EQ(options.threads, 3U);
}

TEST(ExerciseOptions, SecondsAreAPositiveNumberUpToAnHour) {
  for (const char* const wrong : {"0", "-1", "abc", "1s", "inf", "nan", "3600.1", "0x10"}) {
    EXPECT_THAT(error_of({"--seconds", wrong}),
                HasSubstr("--seconds " + std::string(wrong) + ": expected a number of seconds"));
  }
  EXPECT_EQ(parse({"--seconds", "3600"}).duration, 3600s);
  EXPECT_EQ(parse({"--seconds", "1e-3"}).duration, 1ms);
}

TEST(ExerciseOptions, OnlyTheExerciseWithThreadsTakesTheirNumber) {
  EXPECT_THAT(error_of({"--threads", "2"}), HasSubstr("unknown option --threads; see --help"));
  for (const char* const wrong : {"0", "-1", "2.5", "two"}) {
    EXPECT_THAT(error_of({"--threads", wrong}, kWithThreads),
                HasSubstr("expected a whole number from 1 on"));
  }
}

TEST(ExerciseOptions, AnythingElseIsRefused) {
  EXPECT_THAT(error_of({"--sulution"}),
              HasSubstr("unknown option --sulution; did you mean --solution?"));
  EXPECT_THAT(error_of({"file"}), HasSubstr("unexpected argument 'file'; see --help"));
  EXPECT_THAT(error_of({"--json"}), HasSubstr("--json: expected a value"));
  EXPECT_THAT(error_of({"--json", ""}), HasSubstr("--json: expected a value"));
  EXPECT_THAT(error_of({"--json", "a", "--trace", "a"}), HasSubstr("the same file"));
}

TEST(ExerciseOptions, TheHelpNamesTheFlawTheFixAndTheOptions) {
  const std::string help = parse({"--help"}).answer.value_or("");
  EXPECT_THAT(help, HasSubstr("usage: exercise_2_1 [--solution]"));
  EXPECT_THAT(help, HasSubstr("a flaw"));
  EXPECT_THAT(help, HasSubstr("a fix"));
  EXPECT_THAT(help, HasSubstr("above 0 and up to 3600; default 10"));
  EXPECT_THAT(help, Not(HasSubstr("--threads")));
  const std::string with_threads = parse({"--help"}, kWithThreads).answer.value_or("");
  EXPECT_THAT(with_threads, HasSubstr("usage: exercise_1 "));
  EXPECT_THAT(with_threads, HasSubstr("--threads N"));
}

}  // namespace
}  // namespace rclrt::demos
